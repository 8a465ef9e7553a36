package overlay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"callboard/subscribe/protocol"
)

// TestTranscripts plays scripts against a broker: each command is an input,
// what it prints are the outputs. Between commands the store keeps what the
// broker records, so that "crash" brings it back from there.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		s := &script{t: t}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			s.t = t
			return s.run(d)
		})
	})
}

type script struct {
	t       *testing.T
	b       *Broker
	cfg     Config
	now     Instant
	conns   map[string]Conn
	names   map[Conn]string
	asked   []*Install // not answered yet
	records []Record
	robots  int // that every subscription matches
}

func (s *script) run(d *datadriven.TestData) string {
	if d.Cmd == "broker" {
		return s.begin(d)
	}
	s.now += 1000
	var out strings.Builder
	hold := d.HasArg("hold")
	for _, in := range s.inputs(d) {
		s.step(&out, in)
	}
	if d.Cmd == "show" {
		return s.show()
	}
	for !hold && len(s.asked) > 0 {
		a := s.asked[0]
		s.asked = s.asked[1:]
		in := &Installed{Handle: a.Handle, Set: a.Set, Robots: map[string]int{}}
		for _, id := range a.Count {
			in.Robots[id] = s.robots
		}
		s.step(&out, in)
	}
	if d.HasArg("records") {
		for _, r := range s.records {
			fmt.Fprintf(&out, "store: %s\n", describeRecord(r))
		}
		s.records = nil
	}
	return out.String()
}

func (s *script) begin(d *datadriven.TestData) string {
	s.cfg = Config{ID: "b1", Brokers: []protocol.BrokerURL{{ID: "b1", URL: "ws://b1/ws"}}}
	number := func(name string, into *int) {
		if d.HasArg(name) {
			d.ScanArgs(s.t, name, into)
		}
	}
	number("count", &s.cfg.Inbox.Count)
	number("bytes", &s.cfg.Inbox.Bytes)
	number("window", &s.cfg.Window)
	number("windowbytes", &s.cfg.WindowBytes)
	number("subscriptions", &s.cfg.Subscriptions)
	number("clients", &s.cfg.Clients)
	var keep int
	number("keep", &keep)
	s.cfg.Inbox.Keep = Duration(keep) * Second
	s.cfg.Queues = queuesOf(d)
	s.now, s.conns, s.names, s.asked, s.records, s.robots = 10*Instant(Second), map[string]Conn{}, map[Conn]string{}, nil, nil, 1
	s.b = newBroker(s.t, s.cfg)
	var out strings.Builder
	s.step(&out, &Start{})
	return out.String()
}

func newBroker(t interface{ Fatal(...any) }, cfg Config) *Broker {
	b, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// arg returns the values of an argument of the command, joined.
func arg(d *datadriven.TestData, name string) string {
	for _, a := range d.CmdArgs {
		if a.Key == name {
			return strings.Join(a.Vals, ",")
		}
	}
	return ""
}

func (s *script) conn(name string) Conn {
	if s.conns[name] == 0 {
		c := Conn(len(s.names) + 1)
		s.conns[name], s.names[c] = c, name
	}
	return s.conns[name]
}

// subs reads "a b:latest c@r1*": ids with keep and robot pattern.
func subs(text string) (all []*Subscription) {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		word, robots, _ := strings.Cut(word, "@")
		id, keep, _ := strings.Cut(word, ":")
		sub := &Subscription{Subscription: protocol.Subscription{ID: id, Condition: "true", Keep: keep}}
		if robots != "" {
			sub.Robots = []string{robots}
		}
		all = append(all, sub)
	}
	return all
}

func (s *script) inputs(d *datadriven.TestData) []Input {
	first, second := "", ""
	if len(d.CmdArgs) > 0 {
		first = d.CmdArgs[0].Key
	}
	if len(d.CmdArgs) > 1 {
		second = d.CmdArgs[1].Key
	}
	if in := s.taskInputs(d); in != nil {
		return in
	}
	switch d.Cmd {
	case "robot":
		in := []Input{&Advertise{Robot: first}}
		if devices := arg(d, "devices"); devices != "" {
			in[0].(*Advertise).Devices = strings.Split(devices, ",")
		}
		if state := arg(d, "state"); state != "" {
			r := &RobotState{Robot: first, State: state, Since: s.now}
			if lost, err := strconv.ParseUint(arg(d, "lost"), 10, 64); err == nil {
				r.Lost = &lost
			}
			in = append(in, r)
		}
		return in
	case "withdraw":
		return []Input{&Withdraw{Robot: first}}
	case "hello":
		return []Input{s.hello(d, first)}
	case "subscribe":
		return []Input{&Subscribe{Conn: s.conn(first), Subscription: s.subscription(d, second)}}
	case "update":
		return []Input{&Update{Conn: s.conn(first), Subscription: s.subscription(d, second)}}
	case "unsubscribe":
		return []Input{&Unsubscribe{Conn: s.conn(first), ID: second}}
	case "ack":
		num, _ := strconv.ParseUint(d.CmdArgs[2].Key, 10, 64)
		return []Input{&Ack{Conn: s.conn(first), Source: second, Num: num}}
	case "drop":
		return []Input{&Disconnected{Conn: s.conn(first), Goodbye: d.HasArg("goodbye"), Closed: d.HasArg("closed")}}
	case "reading":
		return s.readings(d, first)
	case "fails":
		return []Input{&RunFailed{Handle: s.handle(first), ID: second, Message: "it failed", Position: &protocol.Position{Line: 1, Column: 2}}}
	case "wait":
		seconds, err := strconv.ParseFloat(first, 64)
		if err != nil {
			s.t.Fatal(err)
		}
		s.now += Instant(seconds * float64(Second))
		return []Input{&Tick{}}
	case "crash":
		return s.crash(d.HasArg("lost"))
	case "robots":
		s.robots, _ = strconv.Atoi(first)
	case "installed", "show":
	default:
		d.Fatalf(s.t, "unknown command %q", d.Cmd)
	}
	return nil
}

func (s *script) subscription(d *datadriven.TestData, id string) *Subscription {
	sub := subs(id)[0]
	if c := arg(d, "condition"); c != "" {
		sub.Condition = c
	}
	for _, group := range strings.Fields(arg(d, "needs")) {
		sub.Needs = append(sub.Needs, strings.Split(group, "|"))
	}
	if devices := arg(d, "devices"); devices != "" {
		sub.Devices = strings.Split(devices, ",")
	}
	return sub
}

func (s *script) hello(d *datadriven.TestData, conn string) *Hello {
	h := &Hello{Conn: s.conn(conn), Client: arg(d, "client"), Session: arg(d, "session"), Subscriptions: subs(arg(d, "subs")), Foreign: d.HasArg("foreign")}
	if n, err := strconv.ParseUint(arg(d, "attachment"), 10, 64); err == nil {
		h.Attachment = &n
	}
	if nums := arg(d, "num"); nums != "" {
		h.Num = map[string]uint64{}
		for _, n := range strings.Split(nums, ",") {
			word, num, _ := strings.Cut(n, ":")
			h.Num[word], _ = strconv.ParseUint(num, 10, 64)
		}
	}
	if words := arg(d, "tasks"); words != "" {
		h.Tasks = strings.Split(words, ",")
	}
	if id := arg(d, "refused"); id != "" {
		h.Refused = []protocol.Error{{ID: id, Code: protocol.BadCondition, Message: "it is wrong"}}
	}
	return h
}

// handle returns the live key of a client.
func (s *script) handle(client string) Handle {
	session := s.b.edge.sessions[client]
	if session == nil {
		if conn := s.b.edge.conns[s.conns[client]]; conn != nil {
			session = conn.session
		}
	}
	if session == nil || session.local == nil {
		return 0
	}
	return session.local.handle
}

// readings makes n readings (default 1) of a robot's device that match the
// named subscriptions of each client: "x=(a,b)".
func (s *script) readings(d *datadriven.TestData, robot string) (all []Input) {
	n, size, set := 1, 2, uint64(0)
	interf := "laser"
	for _, a := range d.CmdArgs {
		switch a.Key {
		case "n":
			n, _ = strconv.Atoi(a.Vals[0])
		case "size":
			size, _ = strconv.Atoi(a.Vals[0])
		case "set":
			set, _ = strconv.ParseUint(a.Vals[0], 10, 64)
		case "of":
			interf = a.Vals[0]
		}
	}
	for range n {
		m := &Matched{Reading: &Reading{Robot: robot, Interface: interf, Time: float64(s.now) / 1e6, JSON: make([]byte, size)}}
		for _, a := range d.CmdArgs[1:] {
			if slices.Contains([]string{"n", "size", "set", "of"}, a.Key) {
				continue
			}
			hit := Hit{Handle: s.handle(a.Key), Set: set}
			if e := s.b.source.entries[hit.Handle]; e != nil && set == 0 {
				hit.Set = e.set
			}
			for _, id := range a.Vals {
				hit.Names = append(hit.Names, protocol.Matched{ID: id})
			}
			m.Hits = append(m.Hits, hit)
		}
		all = append(all, m)
	}
	return all
}

// crash takes the broker away and makes another from what was stored.
func (s *script) crash(lost bool) []Input {
	s.b = newBroker(s.t, s.cfg)
	s.conns, s.asked = map[string]Conn{}, nil
	var records []Record
	for _, r := range s.records {
		records = append(records, keepRecord(r))
	}
	s.records = nil
	return []Input{&Restore{Records: records}, &Start{StoreLost: lost}}
}

func (s *script) step(out *strings.Builder, in Input) {
	if _, ok := in.(*Restore); ok {
		s.records = append(s.records, in.(*Restore).Records...)
	}
	s.b.Step(s.now, in)
	for _, r := range s.b.Records() {
		s.records = append(s.records, keepRecord(r))
	}
	for _, o := range s.b.Outputs() {
		if in, ok := o.(*Install); ok {
			s.asked = append(s.asked, in)
		}
		if _, ok := o.(*Heartbeat); !ok || s.t.Name() == "TestTranscripts/heartbeat" {
			fmt.Fprintln(out, s.describe(o))
		}
	}
	check(s.t, s.b)
}

func (s *script) show() string {
	var out strings.Builder
	for _, c := range s.b.Clients() {
		fmt.Fprintf(&out, "%q attached=%t", c.Client, c.Attached)
		for _, sub := range c.Subscriptions {
			fmt.Fprintf(&out, " %s(%d)", sub.ID, sub.Robots)
		}
		for _, src := range c.Sources {
			fmt.Fprintf(&out, " %s num=%d last=%d sent=%d waiting=%d", src.Source, src.Num, src.Last, src.Sent, src.Waiting)
		}
		out.WriteString("\n")
	}
	st := s.b.Stats()
	fmt.Fprintf(&out, "held=%d stamp=%d\n", st.HeldBytes, s.b.Stamp())
	return out.String()
}
