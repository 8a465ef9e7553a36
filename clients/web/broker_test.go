package web_test

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"callboard/bridge/robots"
	"callboard/clients/web"
	"callboard/subscribe/condition"
	"callboard/subscribe/protocol"
)

// broker is a scripted broker: it speaks callboard.v1 to the page, and moves
// its robots when the test says so. It knows the conditions in verdicts.
type broker struct {
	t      *testing.T
	server *httptest.Server

	running   sync.WaitGroup
	stop      chan struct{}
	mu        sync.Mutex
	changed   chan struct{}       // closed and replaced at every change, for wait
	refusing  bool                // new connections get 503
	silent    bool                // no heartbeats
	heartbeat float64             // s, in welcome; four without a word and the page goes
	sessions  map[string]*session // by client id; those without by one that no client has
	births    int
	robots    []robot
	time      float64 // s, the robots'
	commands  []protocol.Command
	forbid    bool // commands are
	unlisted  bool // lists get no answer
	brokers   any  // what `list brokers` returns
	tally     any  // and /api/roam; nil: 404
	field     any  // and /api/adhoc; nil: 404
	standby   any  // and /api/standby; nil: 404

	replay   *replaying       // /api/replay; nil: not told of
	searched []map[string]any // by it

	subscriptions []object // what `list subscriptions` returns
}

// session is a client's.
type session struct {
	id         string
	anonymous  bool // its client has no id: it ends with its connection, and nothing is kept
	attachment uint64
	conn       *websocket.Conn // nil while absent
	hello      protocol.Hello  // the newest
	subs       map[string]protocol.Subscription
	seq        uint64
	acked      uint64
	kept       []protocol.Notify // after acked
	last       map[string]bool   // state of trigger change, by id and robot
	deaf       bool              // nothing matches for it
}

type robot struct {
	name    string
	x, y    float64
	yaw     float64
	scanner bool
	state   string
}

const source = "fake.1"

// policy is the strictest that the page works under.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// verdicts are the conditions that the broker knows: whether one matches a
// reading of an interface.
var verdicts = map[string]func(r robot, interf string, reading map[string]any) bool{
	"time >= 0":          func(robot, string, map[string]any) bool { return true },
	"position.time >= 0": func(_ robot, i string, _ map[string]any) bool { return i == "position2d" },
	"laser.count >= 0":   func(_ robot, i string, _ map[string]any) bool { return i == "laser" },
	"sonar.count >= 0":   func(_ robot, i string, _ map[string]any) bool { return i == "sonar" },
	"laser.min < 1":      func(r robot, i string, _ map[string]any) bool { return i == "laser" && r.name == "r1" },
	"laser.min < 9":      func(_ robot, i string, _ map[string]any) bool { return i == "laser" },
	"position.x > 2":     func(r robot, i string, _ map[string]any) bool { return i == "position2d" && r.x > 2 },
}

func newBroker(t *testing.T, crew ...robot) *broker {
	b := &broker{t: t, stop: make(chan struct{}), changed: make(chan struct{}), sessions: map[string]*session{}, robots: crew, time: 100, heartbeat: 5}
	mux := http.NewServeMux()
	files := http.FileServerFS(web.FS())
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		files.ServeHTTP(w, r)
	})
	mux.HandleFunc("/ws", b.serve)
	mux.HandleFunc("/api/worlds/{name}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("name") != "hall" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, hall)
	})
	mux.HandleFunc("/api/words", func(w http.ResponseWriter, _ *http.Request) {
		b.do(func() {
			extras := []string{}
			if b.replay != nil {
				extras = append(extras, "replay")
			}
			b.answer(w, struct {
				condition.Words
				Zones  map[string][][2]float64 `json:"zones"`
				Extras []string                `json:"extras"`
			}{condition.Vocabulary(), map[string][][2]float64{"dock": {{-5, -3}, {-3, -3}, {-3, -1}, {-5, -1}}}, extras})
		})
	})
	b.serveReplay(mux)
	for name, give := range map[string]func() any{"roam": func() any { return b.tally }, "adhoc": func() any { return b.field }, "standby": func() any { return b.standby }} {
		mux.HandleFunc("/api/"+name, func(w http.ResponseWriter, r *http.Request) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if give() == nil {
				http.NotFound(w, r)
				return
			}
			b.answer(w, give())
		})
	}
	b.server = httptest.NewServer(mux)
	b.running.Go(b.beat)
	t.Cleanup(func() {
		close(b.stop)
		b.refuse(true)
		b.cut()
		b.server.Close()
		b.running.Wait()
	})
	return b
}

// beat sends heartbeats until the end.
func (b *broker) beat() {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-b.stop:
			return
		case <-ticker.C:
		}
		b.do(func() {
			for _, s := range b.sessions {
				if !b.silent {
					s.send(protocol.Heartbeat{Op: protocol.OpHeartbeat, Broker: "fake", Time: 1.7e9})
				}
			}
		})
	}
}

// hall is a floor plan: a room with a door, and a pillar of colour.
const hall = `{"name": "hall", "bounds": [-6, -4, 6, 4], "outlines": [
	{"points": [[-6,-4],[6,-4],[6,4],[1,4],[1,3.8],[5.8,3.8],[5.8,-3.8],[-5.8,-3.8],[-5.8,3.8],[-0.4,3.8],[-0.4,4],[-6,4]], "closed": true, "color": "#000000"},
	{"points": [[-2,-1.5],[-1.2,-1.5],[-1.2,-0.7],[-2,-0.7]], "closed": true, "color": "#ff0000"},
	{"points": [[2,-3.8],[2,-1]], "closed": false, "color": "#404040"}]}`

// wait waits until check, which runs under the lock, is true.
func (b *broker) wait(what string, check func() bool) {
	b.t.Helper()
	deadline := time.After(patience)
	for {
		b.mu.Lock()
		done, changed := check(), b.changed
		b.mu.Unlock()
		if done {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			b.t.Fatalf("waited too long for: %s", what)
		}
	}
}

// touch wakes wait; the caller holds the lock.
func (b *broker) touch() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// do runs f under the lock.
func (b *broker) do(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f()
	b.touch()
}

// one returns the session of the user's subscriptions, the only one of a client
// with an id; the caller holds the lock.
func (b *broker) one() *session { return b.session(false) }

// viewer returns the session that the map lives on, without a client id; the
// caller holds the lock.
func (b *broker) viewer() *session { return b.session(true) }

// drafts returns the session of what is being written, without a client id too; the
// caller holds the lock.
func (b *broker) drafts() *session {
	for _, s := range b.sessions {
		if s.subs["draft.state"].Condition != "" {
			return s
		}
	}
	return &session{}
}

func (b *broker) session(anonymous bool) *session {
	found := &session{}
	for _, s := range b.sessions {
		if s.anonymous == anonymous && (found.id == "" || s.subs["page.position"].Condition != "") {
			found = s
		}
	}
	return found
}

// tell sends a message to all sessions. The lock is held.
func (b *broker) tell(m any) {
	for _, s := range b.sessions {
		s.send(m)
	}
}

// cut ends every connection without a word.
func (b *broker) cut() {
	b.do(func() {
		for _, s := range b.sessions {
			b.lose(s)
		}
	})
}

// lose ends a session's connection without a word. The lock is held.
func (b *broker) lose(s *session) {
	if s.conn != nil {
		s.conn.Close()
		b.left(s)
	}
}

// left takes note that a session's connection has ended. The lock is held.
func (b *broker) left(s *session) {
	s.conn = nil
	if s.anonymous {
		delete(b.sessions, s.id)
	}
}

func (b *broker) refuse(on bool) { b.do(func() { b.refusing = on }) }

func (b *broker) serve(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	refusing := b.refusing
	if !refusing {
		b.running.Add(1)
		defer b.running.Done()
	}
	b.mu.Unlock()
	if refusing {
		http.Error(w, "not now", http.StatusServiceUnavailable)
		return
	}
	upgrader := websocket.Upgrader{Subprotocols: []string{protocol.Subprotocol}}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	var s *session
	for {
		_, data, err := conn.ReadMessage()
		if err != nil {
			b.do(func() {
				if s != nil && s.conn == conn {
					b.left(s)
				}
			})
			return
		}
		b.mu.Lock()
		s = b.receive(conn, s, data)
		b.touch()
		b.mu.Unlock()
	}
}

// receive carries out one message. The lock is held.
func (b *broker) receive(conn *websocket.Conn, s *session, data []byte) *session {
	var head struct{ Op, ID string }
	if err := json.Unmarshal(data, &head); err != nil {
		b.t.Errorf("the page sent %q: %v", data, err)
		return s
	}
	if s == nil && head.Op != protocol.OpHello {
		b.t.Errorf("the page sent %q before hello", head.Op)
		return s
	}
	switch head.Op {
	case protocol.OpHello:
		return b.hello(conn, data)
	case protocol.OpSubscribe:
		m := decode[protocol.Subscribe](b.t, data)
		b.subscribe(s, m.Subscription)
	case protocol.OpUpdate:
		b.update(s, data)
	case protocol.OpUnsubscribe:
		delete(s.subs, head.ID)
		s.send(protocol.Reply{Op: protocol.OpReply, ID: head.ID, OK: true})
	case protocol.OpAck:
		if s.anonymous {
			b.t.Errorf("a client without id acknowledges: %s", data)
		}
		s.ack(decode[protocol.Ack](b.t, data).Num)
	case protocol.OpList:
		if b.unlisted {
			break
		}
		s.send(protocol.Reply{Op: protocol.OpReply, ID: head.ID, OK: true, Result: b.list(decode[protocol.List](b.t, data).What)})
	case protocol.OpCommand:
		b.command(s, decode[protocol.Command](b.t, data))
	default:
		b.t.Errorf("the page sent the op %q", head.Op)
	}
	return s
}

func (b *broker) hello(conn *websocket.Conn, data []byte) *session {
	m := decode[protocol.Hello](b.t, data)
	if m.Client == "" && (m.Session != "" || m.Attachment != nil || m.Num != nil) {
		b.t.Errorf("a client without id resumes: %s", data)
	}
	s := b.sessions[m.Client]
	if s != nil && m.Attachment != nil && *m.Attachment <= s.attachment {
		conn.WriteJSON(protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Message: "attachment is not above the current one", Attachment: &s.attachment})
		conn.Close()
		return nil
	}
	if s == nil || s.id != m.Session {
		b.births++
		s = &session{id: fmt.Sprintf("session-%d", b.births), anonymous: m.Client == "", last: map[string]bool{}}
	}
	s.takeover(conn)
	s.conn, s.hello, s.subs = conn, m, map[string]protocol.Subscription{}
	s.attachment++
	if m.Attachment != nil {
		s.attachment = *m.Attachment
	}
	key := m.Client
	if s.anonymous {
		key = s.id
	}
	b.sessions[key] = s
	welcome := protocol.Welcome{Op: protocol.OpWelcome, Broker: "fake", Client: m.Client, Session: s.id, Attachment: s.attachment, Heartbeat: b.heartbeat, Window: 1024,
		Brokers: []protocol.BrokerURL{{ID: "fake", URL: b.server.URL}}}
	if b.standby != nil {
		welcome.Sides = []protocol.SideURL{{URL: b.server.URL}, {URL: "ws://127.0.0.1:9/ws"}} // the page must not go there
	}
	s.send(welcome)
	for _, sub := range m.Subscriptions {
		b.subscribe(s, sub)
	}
	s.ack(m.Num[source])
	for _, n := range s.kept {
		s.send(n)
	}
	return s
}

// subscribe answers as the real broker does, with its wording simplified.
func (b *broker) subscribe(s *session, sub protocol.Subscription) {
	if p := problem(sub.Condition); p != nil {
		p.ID = sub.ID
		s.send(p)
		return
	}
	s.subs[sub.ID] = sub
	s.send(protocol.Subscribed{Op: protocol.OpSubscribed, ID: sub.ID, Sources: []string{source}, Robots: len(b.robots)})
}

func problem(condition string) *protocol.Error {
	if at := strings.Index(condition, "lazer"); at >= 0 {
		before := condition[:at]
		line := strings.Count(before, "\n") + 1
		column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
		return &protocol.Error{Op: protocol.OpError, Code: protocol.BadCondition, Message: "unknown name lazer; did you mean laser?", Position: &protocol.Position{Line: line, Column: column}}
	}
	if verdicts[condition] == nil {
		return &protocol.Error{Op: protocol.OpError, Code: protocol.BadCondition, Message: "unexpected end; expected a value", Position: &protocol.Position{Line: 1, Column: utf8.RuneCountInString(condition) + 1}}
	}
	return nil
}

func (b *broker) update(s *session, data []byte) {
	m := decode[protocol.Update](b.t, data)
	sub, ok := s.subs[m.ID]
	if !ok {
		s.send(protocol.Error{Op: protocol.OpError, ID: m.ID, Code: protocol.NotFound, Message: "no such subscription"})
		return
	}
	if err := json.Unmarshal(data, &sub); err != nil {
		b.t.Errorf("update %q: %v", data, err)
	}
	b.subscribe(s, sub)
}

// Where the robots' devices sit. The scanner looks askew, the ring sits behind.
var (
	body    = robots.Geometry{Pose: [6]float64{0.1, 0, 1e300, -7, 1e300, 0}, Size: [3]float64{0.6, 0.4, -1e300}}
	scanner = robots.Geometry{Pose: [6]float64{0.25, -0.1, 0.2, 0, 0, 0.5}, Size: [3]float64{0.1, 0.1, 0.1}}
	ring    = robots.Geometry{Pose: [6]float64{-0.1, 0, 0.2, 0, 0, 0.2}, Elements: [][6]float64{{0.1, 0.2, 0, 0, 0, 1}, {0.2, 0, 0, 0, 0, 0}, {0.1, -0.2, 0, 0, 0, -1}}}
)

// at returns where something on a robot, at x, y, yaw, is in the world.
func (r robot) at(pose [6]float64) robot {
	s, c := math.Sincos(r.yaw)
	return robot{x: r.x + pose[0]*c - pose[1]*s, y: r.y + pose[0]*s + pose[1]*c, yaw: r.yaw + pose[5]}
}

func (b *broker) list(what string) any {
	switch what {
	case "brokers":
		return b.brokers
	case "subscriptions":
		return b.subscriptions
	}
	var out []map[string]any
	for _, r := range b.robots {
		devices := []map[string]any{{"interface": "position2d", "index": 0, "driver": "fake"}}
		if r.scanner { // r2 does not tell where its devices sit
			devices[0]["geometry"] = body
			devices = append(devices,
				map[string]any{"interface": "laser", "index": 0, "driver": "fake", "geometry": scanner},
				map[string]any{"interface": "sonar", "index": 0, "driver": "fake", "geometry": ring})
		}
		out = append(out, map[string]any{"robot": r.name, "source": source, "world": "hall", "state": r.state, "since": 1.7e9, "devices": devices})
	}
	return out
}

func (b *broker) command(s *session, m protocol.Command) {
	b.commands = append(b.commands, m)
	reply := protocol.Reply{Op: protocol.OpReply, ID: m.ID, OK: !b.forbid}
	if b.forbid {
		reply.Error = &protocol.ErrorInfo{Code: protocol.Forbidden, Message: "the token may not command " + m.Robot}
	}
	s.send(reply)
}

func (s *session) send(m any) {
	if s.conn != nil {
		s.conn.WriteJSON(m) // a lost connection is the test's doing
	}
}

func (s *session) takeover(by *websocket.Conn) {
	if s.conn == nil || s.conn == by {
		return
	}
	newest := s.attachment + 1
	s.send(protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Message: "another connection has taken over", Attachment: &newest})
	s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(4409, "taken over"), time.Now().Add(time.Second))
	s.conn.Close()
}

func (s *session) ack(num uint64) {
	s.acked = max(s.acked, num)
	s.kept = slices.DeleteFunc(s.kept, func(n protocol.Notify) bool { return n.Seq <= num })
}

// step moves the robots by 0.1 s and sends what matches.
func (b *broker) step() {
	b.do(func() {
		b.time += 0.1
		for i := range b.robots {
			r := &b.robots[i]
			if r.state == protocol.RobotAway {
				continue
			}
			r.x += 0.05 * math.Cos(r.yaw)
			r.y += 0.05 * math.Sin(r.yaw)
			r.yaw = math.Remainder(r.yaw+0.04, 2*math.Pi)
			b.reading(*r, "position2d", map[string]any{"x": r.x, "y": r.y, "yaw": r.yaw, "vx": 0.5, "vy": 0, "vyaw": 0.4, "speed": 0.5, "stall": false, "time": b.time, "index": 0})
			if r.scanner {
				b.reading(*r, "laser", b.scan(*r))
			}
			b.reading(*r, "sonar", map[string]any{"ranges": []float64{1.2, 0.8, 2.0}, "count": 3, "min": 0.8, "max": 2.0, "nearest": 1, "bearing": 0.0, "time": b.time, "index": 0})
		}
	})
}

// scan is a laser reading: what a robot's scanner sees of the hall's outer walls.
func (b *broker) scan(r robot) map[string]any {
	r = r.at(scanner.Pose)
	const beams, limit = 91, 5.0
	ranges := make([]any, beams)
	least, at := limit, 0.0
	for i := range ranges {
		a := -math.Pi/2 + float64(i)*math.Pi/(beams-1)
		d := math.Min(limit, wall(r, r.yaw+a))
		ranges[i] = d
		if d < least {
			least, at = d, a
		}
	}
	ranges[3] = nil // not finite
	return map[string]any{"ranges": ranges, "intensities": []any{}, "count": beams, "min": least, "max": limit, "bearing": at, "angle_min": -math.Pi / 2, "angle_max": math.Pi / 2,
		"resolution": math.Pi / (beams - 1), "max_range": limit, "front": least, "left": limit, "right": limit, "time": b.time, "index": 0}
}

// wall is how far the hall's wall is in a direction.
func wall(r robot, a float64) float64 {
	d := math.Inf(1)
	if c := math.Cos(a); c != 0 {
		d = math.Min(d, (math.Copysign(5.8, c)-r.x)/c)
	}
	if s := math.Sin(a); s != 0 {
		d = math.Min(d, (math.Copysign(3.8, s)-r.y)/s)
	}
	return math.Max(0, d)
}

// reading sends a reading to the sessions that it matches for. The lock is held.
func (b *broker) reading(r robot, interf string, reading map[string]any) {
	body, err := json.Marshal(reading)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, s := range b.sessions {
		var matches []protocol.Matched
		for id, sub := range s.subs {
			if m := s.match(id, sub, r, interf, reading); m != nil {
				matches = append(matches, *m)
			}
		}
		if len(matches) == 0 || s.deaf {
			continue
		}
		slices.SortFunc(matches, func(a, b protocol.Matched) int { return strings.Compare(a.ID, b.ID) })
		s.seq++
		n := protocol.Notify{Op: protocol.OpNotify, Source: source, Seq: s.seq, Robot: r.name, Interface: interf, Time: b.time, Subscriptions: matches, Reading: body}
		if !s.anonymous {
			s.kept = append(s.kept, n)
		}
		s.send(n)
	}
}

func (s *session) match(id string, sub protocol.Subscription, r robot, interf string, reading map[string]any) *protocol.Matched {
	if len(sub.Robots) > 0 && !slices.Contains(sub.Robots, r.name) {
		return nil
	}
	holds := verdicts[sub.Condition](r, interf, reading)
	m := protocol.Matched{ID: id}
	if sub.Trigger == protocol.TriggerChange {
		key := id + " " + r.name
		if last, told := s.last[key]; interf != "position2d" || told && last == holds {
			return nil
		}
		s.last[key] = holds
		m.State = &holds
	} else if !holds {
		return nil
	}
	for name := range sub.Select {
		values, _ := json.Marshal(map[string]any{name: reading["min"]})
		m.Values = values
	}
	return &m
}

func decode[T any](t *testing.T, data []byte) T {
	var m T
	if err := json.Unmarshal(data, &m); err != nil {
		t.Errorf("the page sent %q: %v", data, err)
	}
	return m
}
