package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"

	"github.com/nats-io/nats.go/micro"
)

// maxAtOnce bounds what is under way at once; more is refused.
const maxAtOnce = 1000

// Headers of a request.
const (
	headerTTL = "Callboard-TTL" // s
	headerKey = "Callboard-Key"
)

// maxWait is how long a command may take beyond its own time to live.
const maxWait = 10 * time.Second

// service answers what comes from NATS: relays of one prefix share it.
type service struct {
	ctx     context.Context
	client  *callboard.Client
	prefix  string
	places  chan struct{} // one for each that is under way
	working sync.WaitGroup
}

// serve takes commands and requests until it is stopped.
func serve(ctx context.Context, r *relay, client *callboard.Client) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	s := &service{ctx: ctx, client: client, prefix: r.Prefix, places: make(chan struct{}, maxAtOnce)}
	all, err := micro.AddService(r.conn, micro.Config{
		Name: "callboard-relay", Version: "1.0.0", Description: "commands for robots, and tasks of queues, of a Callboard broker",
		Metadata: map[string]string{"client": r.Client.Client},
	})
	if err != nil {
		cancel()
		return nil, fmt.Errorf("taking commands from NATS: %w", err)
	}
	stop = func() {
		_ = all.Stop()
		cancel()
		s.working.Wait()
	}
	for name, do := range map[string]func(context.Context, micro.Request, string) (json.RawMessage, error){
		"command": s.command, "request": s.request,
	} {
		if err == nil {
			err = all.AddEndpoint(name, s.beside(name, do), micro.WithEndpointSubject(r.Prefix+"."+name+".*"))
		}
	}
	if err != nil {
		stop()
		return nil, fmt.Errorf("taking commands from NATS at %s.>: %w", r.Prefix, err)
	}
	return stop, nil
}

// beside answers each beside the others. What is named is the last word of its subject.
func (s *service) beside(name string, do func(context.Context, micro.Request, string) (json.RawMessage, error)) micro.HandlerFunc {
	return func(q micro.Request) {
		select {
		case s.places <- struct{}{}:
		default:
			_ = q.Error(string(protocol.Overloaded), fmt.Sprintf("the relay has %d under way", maxAtOnce), nil)
			return
		}
		s.working.Go(func() {
			defer func() { <-s.places }()
			answer, err := do(s.ctx, q, word(strings.TrimPrefix(q.Subject(), s.prefix+"."+name+".")))
			var failed *callboard.Error
			switch {
			case err == nil && len(answer) == 0:
				err = q.Respond([]byte("null"))
			case err == nil:
				err = q.Respond(answer)
			case errors.As(err, &failed):
				err = q.Error(string(failed.Code), failed.Message, nil)
			default:
				err = q.Error(string(protocol.Unknown), err.Error(), nil)
			}
			_ = err // nobody waits for the answer any more
		})
	}
}

// errBody is a body that makes no command.
func errBody(format string, words ...any) error {
	return &callboard.Error{Code: protocol.BadMessage, Message: fmt.Sprintf(format, words...)}
}

// command has a robot do what the body says: the protocol's command object, or words
// as `callboard send` takes them.
func (s *service) command(ctx context.Context, q micro.Request, robot string) (json.RawMessage, error) {
	command := callboard.Command{}
	if body := bytes.TrimSpace(q.Data()); bytes.HasPrefix(body, []byte("{")) {
		d := json.NewDecoder(bytes.NewReader(body))
		d.DisallowUnknownFields()
		if err := d.Decode(&command); err != nil {
			return nil, errBody(`the command: %v; expected as {"name":"velocity","args":[0.5,0,0]}`, err)
		}
	} else {
		words := strings.Fields(string(body))
		if len(words) == 0 {
			return nil, errBody("an empty command, expected as: velocity 0.5 0 0")
		}
		command.Name = words[0]
		for _, text := range words[1:] {
			if number, err := strconv.ParseFloat(text, 64); err == nil && number-number == 0 {
				command.Args = append(command.Args, number)
			} else {
				command.Args = append(command.Args, text)
			}
		}
	}
	if command.Robot != "" && command.Robot != robot {
		return nil, errBody("a command for %q at the subject of %q", command.Robot, robot)
	}
	if !(command.TTL >= 0 && command.TTL <= protocol.MaxTTL) {
		return nil, errBody("ttl %g, expected s, up to %d", command.TTL, protocol.MaxTTL)
	}
	command.Robot = robot
	if command.Key == "" {
		command.Key = q.Headers().Get(headerKey)
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait+time.Duration(command.TTL*float64(time.Second)))
	defer cancel()
	return s.client.Command(ctx, command)
}

// request has a program that serves a queue do a task. The body is JSON, or else text.
func (s *service) request(ctx context.Context, q micro.Request, queue string) (json.RawMessage, error) {
	r := callboard.Request{Queue: queue, Key: q.Headers().Get(headerKey)}
	switch body := q.Data(); {
	case json.Valid(body):
		r.Body = json.RawMessage(body)
	case len(body) > 0:
		r.Body = strings.ToValidUTF8(string(body), "\uFFFD")
	}
	if text := q.Headers().Get(headerTTL); text != "" {
		ttl, err := strconv.ParseFloat(text, 64)
		if err != nil || !(ttl > 0 && ttl <= protocol.MaxTTL) {
			return nil, errBody("%s: %q, expected s, up to %d", headerTTL, text, protocol.MaxTTL)
		}
		r.TTL = time.Duration(ttl * float64(time.Second))
	}
	return s.client.Request(ctx, r)
}
