package foxglove

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"

	"callboard/bridge/push/ros"
	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

// service is what a client may call.
type service struct {
	id     uint32
	name   string
	kind   string
	node   string
	served *rosgraph.Service // nil: one of the two for conditions
}

// ownServices are those for conditions, and what they take and answer.
var ownServices = map[string][2]string{
	subscribeTopic: {
		`{"type":"object","properties":{"id":{"type":"string"},"condition":{"type":"string"},"robots":{"type":"array","items":{"type":"string"}},"devices":{"type":"array","items":{"type":"string"}},"trigger":{"type":"string"},"min_interval":{"type":"number"},"for":{"type":"number"},"select":{"type":"object"},"keep":{"type":"string"}}}`,
		`{"type":"object","properties":{"ok":{"type":"boolean"},"topic":{"type":"string"},"robots":{"type":"integer"},"error":{"type":"string"},"line":{"type":"integer"},"column":{"type":"integer"}}}`,
	},
	unsubscribeService: {
		`{"type":"object","properties":{"id":{"type":"string"}}}`,
		`{"type":"object","properties":{"ok":{"type":"boolean"},"error":{"type":"string"}}}`,
	},
}

const unsubscribeService = "/callboard/unsubscribe"

// side is what one side of a service says.
type side struct {
	Encoding       string `json:"encoding"`
	SchemaName     string `json:"schemaName"`
	SchemaEncoding string `json:"schemaEncoding"`
	Schema         string `json:"schema"`
}

type advertisedService struct {
	ID       uint32 `json:"id"`
	Name     string `json:"name"`
	Type     string `json:"type"`
	Request  side   `json:"request"`
	Response side   `json:"response"`
}

func sides(kind, request, response string) (side, side) {
	return side{"json", kind + "_Request", "jsonschema", request}, side{"json", kind + "_Response", "jsonschema", response}
}

// changedServices tells the client which services there are now. mu is held.
func (c *client) changedServices(write func(*said)) {
	there := map[uint32]bool{}
	var added []advertisedService
	add := func(s *service, request, response string) {
		s.id = c.dialect.id("service " + s.name + " " + s.kind)
		there[s.id] = true
		if c.services[s.id] == nil {
			in, out := sides(s.kind, request, response)
			added = append(added, advertisedService{s.id, s.name, s.kind, in, out})
		}
		c.services[s.id] = s
	}
	for _, served := range c.member.Services() {
		of := ros.LookupService(served.Type)
		add(&service{name: served.Name, kind: served.Type, node: served.Robot.Node(), served: served}, c.dialect.schema(of.Request), c.dialect.schema(of.Response))
	}
	if c.member.Grant.Subscribe {
		for name, schemas := range ownServices {
			add(&service{name: name, kind: "callboard" + strings.TrimPrefix(name, "/callboard"), node: rosgraph.Node}, schemas[0], schemas[1])
		}
	}
	var gone []uint32
	for id := range c.services {
		if !there[id] {
			gone = append(gone, id)
			delete(c.services, id)
		}
	}
	if len(gone) > 0 {
		slices.Sort(gone)
		write(message("unadvertiseServices", object{"serviceIds": gone}))
	}
	if len(added) > 0 {
		slices.SortFunc(added, func(a, b advertisedService) int { return int(a.ID) - int(b.ID) })
		write(message("advertiseServices", object{"services": added}))
	}
}

// call is a call of a service.
type call struct {
	client   *client
	service  uint32
	id       uint32
	encoding string
}

// maxCalls is how many calls of a client are under way at a time.
const maxCalls = 32

// response is what a service has answered.
type response struct {
	call    *call
	payload []byte
}

// Op names it for metrics.
func (*response) Op() string { return "serviceResponse" }

// append appends the message.
func (r *response) append(b []byte) []byte {
	b = append(b, 3)
	b = binary.LittleEndian.AppendUint32(b, r.call.service)
	b = binary.LittleEndian.AppendUint32(b, r.call.id)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.call.encoding)))
	return append(append(b, r.call.encoding...), r.payload...)
}

// answer answers a call.
func (c *call) answer(payload []byte) {
	c.client.done()
	c.client.conn.Send(&response{c, payload})
}

// object answers a call with JSON.
func (c *call) object(o object) { c.answer(protocol.AppendJSON(nil, o)) }

// fail says that a call has failed. Lichtblick waits for ever then: it is for
// what no person does.
func (c *call) fail(text string) {
	c.client.done()
	c.client.conn.Send(message("serviceCallFailure", object{"serviceId": c.service, "callId": c.id, "message": text}))
}

// done says that a call is no longer under way.
func (c *client) done() {
	c.mu.Lock()
	c.calls--
	c.mu.Unlock()
}

// call calls a service.
func (c *client) call(ctx context.Context, call *call, b []byte) {
	c.mu.Lock()
	s := c.services[call.service]
	c.calls++
	many := c.calls > maxCalls
	c.mu.Unlock()
	switch {
	case s == nil:
		call.fail("Service " + uintText(call.service) + " is not advertised")
	case many:
		call.fail("Too many calls at a time; expected at most 32")
	case call.encoding != "json" && (call.encoding != "ros1" || s.served == nil):
		call.fail("The encoding of a call is json, or of a ROS service ros1")
	case s.name == subscribeTopic:
		if refused, err := c.subscribeCondition(ctx, b, call); err != nil {
			call.object(refused)
		}
	case s.name == unsubscribeService:
		c.unsubscribeCondition(b, call)
	default:
		c.callROS(ctx, s.served, call, b)
	}
}

// callROS calls a service of ROS.
func (c *client) callROS(ctx context.Context, s *rosgraph.Service, call *call, b []byte) {
	format := ros.JSON
	if call.encoding == "ros1" {
		format = ros.ROS1
	}
	args, err := read(ros.LookupService(s.Type).Request, call.encoding, b)
	if err == nil {
		err = c.member.Call(ctx, s, args, func(write func(*ros.Encoder), err error) {
			if err != nil {
				call.fail(protocol.ProblemOf(err).Message)
				return
			}
			e := ros.Begin(nil, format)
			write(&e)
			call.answer(e.Bytes())
		})
	}
	if err != nil {
		call.fail(protocol.ProblemOf(err).Message)
	}
}

// subscribeCondition makes a condition a channel of the client's. The call, if
// there is one, is answered when the broker has taken it; on an error refused says
// why not.
func (c *client) subscribeCondition(ctx context.Context, b []byte, by *call) (refused object, err error) {
	var m struct {
		ID string `json:"id"`
		rosgraph.Options
	}
	fail := func(text string, at *protocol.Position) (object, error) {
		o := object{"ok": false, "error": text}
		if at != nil {
			o["line"], o["column"] = at.Line, at.Column
		}
		return o, wrong("%s", text)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return fail("not understood: "+err.Error(), nil)
	}
	switch {
	case !validID(m.ID):
		return fail("id: expected 1 to 64 letters, digits, '_', '-' or '.'", nil)
	case m.Condition == "":
		return fail("condition: missing; expected one", nil)
	}
	c.mu.Lock()
	_, used := c.conditions[m.ID]
	c.mu.Unlock()
	if used {
		return fail("id: in use; expected another, or a call of "+unsubscribeService+" before", nil)
	}
	cond := &condition{id: m.ID, call: by}
	cond.channel = &channel{id: c.dialect.id(""), condition: cond}
	cond.sub = &subscription{channel: cond.channel}
	cond.waiting = message("advertise", object{"channels": []advertisedChannel{{
		cond.channel.id, conditionTopics + cond.id, "json", cond.schemaName(), cond.schema(m.Select, m.Trigger), "jsonschema",
	}}})
	c.mu.Lock()
	c.conditions[m.ID] = cond
	c.mu.Unlock()
	if err := c.asked.Ask(ctx, c.conn, cond.sub, &cond.sub.broker, m.Subscription("")); err != nil {
		c.mu.Lock()
		delete(c.conditions, m.ID)
		c.mu.Unlock()
		p := protocol.ProblemOf(err)
		return fail(p.Message, p.Position)
	}
	return nil, nil
}

// unsubscribeCondition ends a condition's channel.
func (c *client) unsubscribeCondition(b []byte, by *call) {
	var m struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(b, &m); err != nil {
		by.object(object{"ok": false, "error": "not understood: " + err.Error()})
		return
	}
	c.mu.Lock()
	cond := c.conditions[m.ID]
	if cond != nil && cond.waiting != nil {
		cond = nil // the broker has not taken it yet
	}
	if cond != nil {
		delete(c.conditions, m.ID)
		c.removeChannel(cond.channel)
		c.forget(cond.sub)
	}
	c.mu.Unlock()
	if cond == nil {
		by.object(object{"ok": false, "error": "id: no condition has it"})
		return
	}
	c.conn.Send(message("unadvertise", object{"channelIds": []uint32{cond.channel.id}}))
	by.object(object{"ok": true})
}
