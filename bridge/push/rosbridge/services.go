package rosbridge

import (
	"context"
	"errors"
	"strings"

	"callboard/bridge/push/ros"
	"callboard/subscribe/protocol"
)

// callService calls a service. Every call has one answer.
func (c *client) callService(ctx context.Context, m message) error {
	name, err := m.needs("service")
	if err != nil {
		return err
	}
	fragment, err := m.number("fragment_size", protocol.MaxMessage)
	if err != nil {
		return err
	}
	call := &call{client: c, message: m, name: name, fragment: fragment}
	whole := "/" + strings.TrimPrefix(name, "/")
	if own, ok := strings.CutPrefix(whole, "/rosapi/"); ok {
		if api := c.dialect.rosapi[own]; api != nil {
			call.own(api.kind, api.answer)
			return nil
		}
	}
	if whole == "/republish_tfs" {
		args, err := call.args(ros.LookupService("tf2_web_republisher/RepublishTFs"))
		if err == nil {
			var topic string
			topic, err = c.republishTopic(ctx, args)
			call.answer(struct {
				TopicName string `json:"topic_name"`
			}{topic}, err)
			return nil
		}
		call.answer(nil, err)
		return nil
	}
	s := c.member.FindService(whole)
	if s == nil {
		if err := c.callProgram(ctx, call, queueOf(whole)); err != nil {
			call.answer(nil, err)
		}
		return nil
	}
	args, err := call.args(ros.LookupService(s.Type))
	if err == nil {
		err = c.member.Call(ctx, s, args, func(write func(*ros.Encoder), err error) {
			if err != nil {
				call.answer(nil, err)
				return
			}
			e := ros.Begin(nil, ros.JSON)
			write(&e)
			call.values(e.Bytes())
		})
	}
	if err != nil {
		call.answer(nil, err)
	}
	return nil
}

// call is a call of a service.
type call struct {
	client   *client
	message  message
	name     string
	fragment int
	accepted bool // of a program's service: it is there
}

func notThere(service string) string {
	return "Service " + service[:min(len(service), maxText)] + " does not exist"
}

// args reads the call's arguments.
func (c *call) args(of *ros.Service) (ros.Message, error) {
	return of.Request.FromJSON(c.message["args"], ros.Stamp{})
}

// own answers a call of one of rosapi's services.
func (c *call) own(kind string, answer func(*client, ros.Message) (any, error)) {
	args, err := c.args(ros.LookupService(kind))
	if err != nil {
		c.answer(nil, err)
		return
	}
	c.answer(answer(c.client, args))
}

// answer answers with an object, or an error.
func (c *call) answer(values any, err error) {
	if err == nil {
		c.values(protocol.AppendJSON(nil, values))
		return
	}
	var p *protocol.Problem
	text := err.Error()
	if errors.As(err, &p) {
		text = p.Message
	}
	c.client.conn.Send(c.failure(text))
}

// values answers with an object.
func (c *call) values(object []byte) { c.client.conn.Send(c.response(object, "true")) }

// failure returns the answer of a call that has failed.
func (c *call) failure(text string) *said { return c.response(protocol.AppendText(nil, text), "false") }

func (c *call) response(values []byte, result string) *said {
	b := protocol.AppendText([]byte(`{"op":"service_response","service":`), c.name)
	b = append(append(b, `,"values":`...), values...)
	b = append(b, `,"result":`+result...)
	if id := c.message.id(); id != nil {
		b = append(append(b, `,"id":`...), id...)
	}
	return &said{op: "service_response", text: append(b, '}'), fragment: c.fragment}
}
