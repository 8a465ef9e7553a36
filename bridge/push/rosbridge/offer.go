package rosbridge

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"

	"callboard/bridge/attach"
	"callboard/bridge/push/ros"
	"callboard/subscribe/protocol"
)

// Services that programs offer are queues of tasks: who advertises one serves the queue
// of its name, who calls it requests a task. So the other may as well speak callboard.v1,
// and hang on another broker.

// A client may offer so many services, and have so many calls under way.
const (
	maxOffers = 100
	maxCalls  = protocol.MaxAtOnce
)

// offers are the services that clients offer at this broker, for rosapi.
type offers struct {
	mu    sync.Mutex
	kinds map[string][]string // by queue, each client's, with the newest last
}

func (o *offers) add(queue, kind string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kinds[queue] = append(o.kinds[queue], kind)
}

func (o *offers) remove(queue, kind string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kinds := o.kinds[queue]
	if i := slices.Index(kinds, kind); i >= 0 {
		kinds = slices.Delete(kinds, i, i+1)
	}
	if o.kinds[queue] = kinds; len(kinds) == 0 {
		delete(o.kinds, queue)
	}
}

// seen returns the kinds of services by name, of those that a client may call.
func (o *offers) seen(c *client) map[string]string {
	all := map[string]string{}
	g := c.member.Grant
	o.mu.Lock()
	defer o.mu.Unlock()
	for queue, kinds := range o.kinds {
		if g.Request && g.AllowsQueue(queue) {
			all["/"+queue] = kinds[len(kinds)-1]
		}
	}
	return all
}

// offer is a service that a client offers.
type offer struct {
	id    string // of what it serves
	name  string // as it spells it
	queue string
	kind  string
}

// tasks are those of a client's services and calls. What is said of them comes in two
// goroutines.
type tasks struct {
	mu      sync.Mutex
	count   uint64
	offers  map[string]*offer // by queue
	inHand  map[string]string // words of tasks, by the ids of calls that the client was sent
	calls   map[string]*call  // of services that others offer, by the ids of requests
	refused []string          // words of tasks that came when their service was offered no more
}

func newTasks() tasks {
	return tasks{offers: map[string]*offer{}, inHand: map[string]string{}, calls: map[string]*call{}}
}

// queueOf returns the queue that is a service's.
func queueOf(service string) string { return strings.TrimPrefix(service, "/") }

// advertiseService has the client serve.
func (c *client) advertiseService(ctx context.Context, m message) error {
	name, err := m.needs("service")
	if err != nil {
		return err
	}
	kind, err := m.needs("type")
	if err != nil {
		return err
	}
	o := &offer{name: name, queue: queueOf(name), kind: kind}
	t := &c.tasks
	t.mu.Lock()
	old, many := t.offers[o.queue], len(t.offers) >= maxOffers
	t.mu.Unlock()
	switch {
	case o.queue == "" || len(o.queue) > protocol.MaxQueue || len(kind) > maxText:
		return wrong("service: a name of %d bytes, of a type of %d; expected 1 to %d, and at most %d", len(o.queue), len(kind), protocol.MaxQueue, maxText)
	case c.services(false)["/"+o.queue].kind != "":
		return wrong("service: %s is there already, and no program's", name)
	case old != nil:
		t.mu.Lock()
		old.name = name
		t.mu.Unlock()
		return nil
	case many:
		return wrong("%d services are offered; expected fewer", maxOffers)
	}
	t.mu.Lock()
	o.id = c.number("service:")
	t.offers[o.queue] = o
	t.mu.Unlock()
	atOnce := uint64(maxCalls)
	if err := c.conn.Task(ctx, &protocol.Serve{Op: protocol.OpServe, ID: o.id, Queue: o.queue, AtOnce: &atOnce}); err != nil {
		t.mu.Lock()
		delete(t.offers, o.queue)
		t.mu.Unlock()
		return err
	}
	c.dialect.offers.add(o.queue, o.kind)
	return nil
}

// number returns an id that was not used before. tasks.mu is held.
func (c *client) number(prefix string) string {
	c.tasks.count++
	return prefix + strconv.FormatUint(c.tasks.count, 10)
}

// unadvertiseService ends that. What was called before may still be answered.
func (c *client) unadvertiseService(ctx context.Context, m message) error {
	name, err := m.needs("service")
	if err != nil {
		return err
	}
	o := c.withdraw(func(o *offer) bool { return o.queue == queueOf(name) })
	if o == nil {
		return nil
	}
	return c.conn.Task(ctx, &protocol.Unserve{Op: protocol.OpUnserve, ID: o.id})
}

// withdraw forgets the client's first offer that is meant; nil if there is none.
func (c *client) withdraw(meant func(*offer) bool) *offer {
	c.tasks.mu.Lock()
	defer c.tasks.mu.Unlock()
	for _, o := range c.tasks.offers {
		if meant(o) {
			delete(c.tasks.offers, o.queue)
			c.dialect.offers.remove(o.queue, o.kind)
			return o
		}
	}
	return nil
}

// called has the client do a task.
func (c *client) called(to attach.Messages, m *protocol.Task) {
	t := &c.tasks
	t.mu.Lock()
	o := t.offers[m.Queue]
	if o == nil || o.id != m.ID {
		t.refused = append(t.refused, m.Task)
		t.mu.Unlock()
		return
	}
	id := c.number("service_request:/" + o.queue + ":")
	t.inHand[id] = m.Task
	name := o.name
	t.mu.Unlock()
	b := protocol.AppendText([]byte(`{"op":"call_service","id":`), id)
	b = append(protocol.AppendText(append(b, `,"service":`...), name), `,"args":`...)
	if args := bytes.TrimSpace(m.Body); len(args) == 0 || string(args) == "null" {
		b = append(b, "{}"...)
	} else {
		b = append(b, args...)
	}
	c.writeText(to, append(b, '}'), 0)
}

// serviceResponse takes the client's answer to a call.
func (c *client) serviceResponse(ctx context.Context, m message) error {
	id, err := m.needs("id")
	if err != nil {
		return err
	}
	t := &c.tasks
	t.mu.Lock()
	word := t.inHand[id]
	delete(t.inHand, id)
	t.mu.Unlock()
	if word == "" {
		return nil // of a call that it was not sent, or an answer that came twice
	}
	ok := true
	if m.given("result") && json.Unmarshal(m["result"], &ok) != nil {
		err, ok = wrong("result: %s; expected true or false", short(m["result"])), false
	}
	done := &protocol.Done{Op: protocol.OpDone, Task: word}
	switch {
	case !ok: // roslib sends no values then
		done.Error = &protocol.TaskError{Message: "the service has failed"}
		if text, _ := m.text("values"); text != "" {
			done.Error.Message = strings.ToValidUTF8(text[:min(len(text), maxText)], "")
		}
	case m.given("values"):
		done.Body = m["values"]
	default:
		done.Body = json.RawMessage("{}")
	}
	if failed := c.conn.Task(ctx, done); failed != nil {
		return failed
	}
	return err
}

// refuse gives back what came when its service was offered no more.
func (c *client) refuse(ctx context.Context) {
	c.tasks.mu.Lock()
	refused := c.tasks.refused
	c.tasks.refused = nil
	c.tasks.mu.Unlock()
	for _, word := range refused {
		_ = c.conn.Task(ctx, &protocol.Done{Op: protocol.OpDone, Task: word, Error: &protocol.TaskError{Message: "the service is offered no more"}})
	}
}

// callProgram calls a service that a program may offer.
func (c *client) callProgram(ctx context.Context, call *call, queue string) error {
	args, err := call.object(c.dialect.offers.seen(c)["/"+queue])
	if err != nil {
		return err
	}
	r := &protocol.Request{Op: protocol.OpRequest, Queue: queue, Body: args}
	switch timeout, err := call.message.float("timeout"); {
	case err != nil:
		return err
	case timeout > 0:
		ttl := min(timeout, protocol.MaxTTL)
		r.TTL = &ttl
	}
	t := &c.tasks
	t.mu.Lock()
	if len(t.calls) >= maxCalls {
		t.mu.Unlock()
		return wrong("%d calls are under way; expected fewer", maxCalls)
	}
	r.ID = c.number("call:")
	t.calls[r.ID] = call
	t.mu.Unlock()
	if err := c.conn.Task(ctx, r); err != nil {
		t.mu.Lock()
		delete(t.calls, r.ID)
		t.mu.Unlock()
		return err
	}
	return nil
}

// accepted notes that a service that was called is there.
func (c *client) accepted(id string) {
	c.tasks.mu.Lock()
	defer c.tasks.mu.Unlock()
	if call := c.tasks.calls[id]; call != nil {
		call.accepted = true
	}
}

// replied answers a call with what has come of its task.
func (c *client) replied(to attach.Messages, r *protocol.Reply) {
	t := &c.tasks
	t.mu.Lock()
	call := t.calls[r.ID]
	delete(t.calls, r.ID)
	t.mu.Unlock()
	if call == nil {
		return // to the end of an offer
	}
	said := call.failure("the service has failed")
	switch {
	case r.OK:
		said = call.response(values(r.Result), "true")
	case r.Error != nil && r.Error.Code == protocol.Unavailable && !call.accepted:
		said = call.failure(notThere(call.name))
	case r.Error != nil:
		said = call.failure(r.Error.Message)
	}
	c.writeText(to, said.text, said.fragment)
}

// values returns an answer as an object: what a program that is not of ROS has
// answered need not be one.
func values(result any) []byte {
	text := bytes.TrimSpace(protocol.AppendJSON(nil, result))
	switch {
	case len(text) > 0 && text[0] == '{':
		return text
	case len(text) == 0 || string(text) == "null":
		return []byte("{}")
	}
	return append(append([]byte(`{"data":`), text...), '}')
}

// object returns a call's arguments as an object. A list is in the order of the
// fields of the service's type.
func (c *call) object(kind string) (json.RawMessage, error) {
	args := bytes.TrimSpace(c.message["args"])
	switch {
	case !c.message.given("args"):
		return json.RawMessage("{}"), nil
	case args[0] == '{':
		return args, nil
	case args[0] != '[':
		return nil, wrong("args: %s; expected an object, or a list", short(args))
	}
	var list []json.RawMessage
	if err := json.Unmarshal(args, &list); err != nil {
		return nil, wrong("args: %s; expected a list", short(args))
	}
	of := ros.LookupService(kind)
	switch {
	case len(list) == 0:
		return json.RawMessage("{}"), nil
	case of == nil:
		return nil, wrong("args: a list; expected an object, since the type of service %s is not known here", c.name[:min(len(c.name), maxName)])
	case len(list) > len(of.Request.Fields):
		return nil, wrong("args: %d; expected at most %d, as %s has", len(list), len(of.Request.Fields), of.Name)
	}
	b := []byte{'{'}
	for i, one := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(protocol.AppendText(b, of.Request.Fields[i].Name), ':'), one...)
	}
	return append(b, '}'), nil
}
