package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"callboard/clients/web"
	"callboard/subscribe/protocol"
)

// stage is a page that is empty but for a client of callboard.js, and the
// server that it attaches to, whose words are the test's.
type stage struct {
	*page
	peers chan *peer
}

// peer is one connection of the client's.
type peer struct {
	t     *testing.T
	conn  *websocket.Conn
	token string      // in the request's address
	got   chan []byte // closed at the connection's end
}

// newStage opens the page. In it, make(config) makes the client that the page
// calls c, and ends the one before; told lists what c has said, as text; die()
// ends c as a page that goes does, which saves nothing.
func newStage(t *testing.T, chromium context.Context) *stage {
	t.Helper()
	s := &stage{peers: make(chan *peer, 8)}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServerFS(web.FS()))
	mux.HandleFunc("/empty", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><link rel="icon" href="/icon.svg"><title>empty</title>`)
	})
	mux.HandleFunc("/ws", func(w http.ResponseWriter, r *http.Request) {
		upgrader := websocket.Upgrader{Subprotocols: []string{protocol.Subprotocol}}
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			t.Error(err)
			return
		}
		p := &peer{t: t, conn: conn, token: r.URL.Query().Get("token"), got: make(chan []byte, 256)}
		s.peers <- p
		defer close(p.got)
		for {
			_, data, err := conn.ReadMessage()
			if err != nil {
				return
			}
			p.got <- data
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	s.page = visit(t, chromium, server.URL+"/empty")
	value[bool](s.page, `import("/callboard.js").then(({ Client }) => {
		window.told = [];
		window.kept = null;
		window.store = { load: () => kept, save: (state) => { kept = structuredClone(state); } };
		window.die = () => { const left = kept; c.close(); kept = left; };
		window.make = (config) => {
			window.c?.close();
			window.c = new Client({ brokers: [location.origin.replace("http", "ws") + "/ws"], backoff: [1, 1], ...config });
			c.on("notify", (m) => told.push(m.source + " " + m.seq));
			c.on("gap", (m) => told.push(m.source + " " + m.from + " to " + (m.to ?? "the end") + (m.next ? " before " + m.next : "")));
			c.on("fault", (m) => told.push(m.reason));
			c.on("error", (m) => told.push(m.code));
			return true;
		};
		return true; })`)
	t.Cleanup(func() { s.do(`window.c?.close()`) })
	return s
}

// do carries out JavaScript.
func (s *stage) do(text string) {
	s.t.Helper()
	s.run(chromedp.Evaluate[chromedp.Void](text + "; 0"))
}

// says waits until c has said so many things and returns them.
func (s *stage) says(n int) []string {
	s.t.Helper()
	s.until(fmt.Sprintf(`told.length >= %d`, n))
	return value[[]string](s.page, `told`)
}

// accept takes the client's next connection.
func (s *stage) accept() *peer {
	s.t.Helper()
	select {
	case p := <-s.peers:
		s.t.Cleanup(func() { p.conn.Close() })
		return p
	case <-time.After(patience):
		s.t.Fatalf("the client does not connect; its state is %s", value[string](s.page, `JSON.stringify(c.state)`))
		return nil
	}
}

// expect returns the next message, passing acknowledgements by; it has an op.
func expect[T any](p *peer, op string) T {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case data, open := <-p.got:
			var head struct{ Op string }
			if !open {
				p.t.Fatalf("the connection has ended; expected %s", op)
			}
			if err := json.Unmarshal(data, &head); err != nil {
				p.t.Fatal(err)
			}
			if head.Op == protocol.OpAck {
				continue
			}
			if head.Op != op {
				p.t.Fatalf("the client sent %s; expected %s", data, op)
			}
			return decode[T](p.t, data)
		case <-deadline:
			p.t.Fatalf("waited too long for %s", op)
		}
	}
}

func (p *peer) send(messages ...any) {
	p.t.Helper()
	for _, m := range messages {
		if err := p.conn.WriteJSON(m); err != nil {
			p.t.Fatal(err)
		}
	}
}

// say sends text as it is.
func (p *peer) say(text string) {
	p.t.Helper()
	if err := p.conn.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

// cut ends the connection without a word.
func (p *peer) cut() { p.conn.Close() }

// hello takes the client's hello.
func (p *peer) hello() protocol.Hello {
	p.t.Helper()
	return expect[protocol.Hello](p, protocol.OpHello)
}

// welcome answers a hello that was taken. Silence ends no connection.
func (p *peer) welcome(h protocol.Hello) protocol.Hello {
	p.t.Helper()
	number := uint64(1)
	if h.Attachment != nil {
		number = *h.Attachment
	}
	p.send(protocol.Welcome{Op: protocol.OpWelcome, Broker: "b", Client: h.Client, Session: "one", Attachment: number, Heartbeat: 3600, Window: 1024})
	return h
}

// number returns a hello's attachment, 0 if it leaves that to the broker.
func number(h protocol.Hello) uint64 {
	if h.Attachment == nil {
		return 0
	}
	return *h.Attachment
}

func conflictWith(number uint64) protocol.Error {
	return protocol.Error{Op: protocol.OpError, Code: protocol.Conflict, Message: "taken over", Attachment: &number}
}

func notification(source string, seq uint64) object {
	return object{"op": protocol.OpNotify, "source": source, "seq": seq, "robot": "r0"}
}

func subscribedTo(id string, sources ...string) protocol.Subscribed {
	return protocol.Subscribed{Op: protocol.OpSubscribed, ID: id, Sources: sources}
}

// testLibrary runs callboard.js against brokers that are scripted word by word.
func testLibrary(t *testing.T, chromium context.Context) {
	for name, test := range map[string]func(*testing.T, *stage){
		"a first hello that is taken late":            testLateHello,
		"a number is used once":                       testNumbers,
		"hello tells of all sources":                  testNamedSources,
		"a gap begins behind what was given":          testGapBegin,
		"what is asked between hello and welcome":     testBetween,
		"a refused hello's subscription":              testListedRefused,
		"what was not told as handled is not resumed": testAnonymousAgain,
		"a large hello shows its token":               testLargeHello,
		"what is malformed ends the connection":       testMalformed,
		"a stored state that is none":                 testStored,
		"a broker that is not there":                  testNotThere,
		"latest is acknowledged at once":              testPromptAck,
	} {
		t.Run(name, func(t *testing.T) { test(t, newStage(t, chromium)) })
	}
}

// The next reading of a device that only keep latest wants waits for the
// acknowledgement of the one before; others are acknowledged by and by.
func testPromptAck(t *testing.T, s *stage) {
	s.do(`make({}); c.subscribe({ id: "newest", condition: "true", keep: "latest" }); c.subscribe({ id: "all", condition: "true" }); c.connect()`)
	p := s.accept()
	p.welcome(p.hello())
	for range 2 {
		p.send(subscribedTo(expect[protocol.Subscribe](p, protocol.OpSubscribe).ID, "b"))
	}
	s.do(`window.setTimeout = () => 1`) // what is not acknowledged at once never is
	named := func(seq uint64, ids ...string) object {
		m := notification("b", seq)
		var all []object
		for _, id := range ids {
			all = append(all, object{"id": id})
		}
		m["subscriptions"] = all
		return m
	}
	p.send(named(1, "newest", "all"), named(2, "all"), named(3, "newest"))
	select {
	case data := <-p.got:
		if a := decode[protocol.Ack](t, data); a.Op != protocol.OpAck || a.Num != 3 {
			t.Errorf("the client sent %s; expected an acknowledgement of 3", data)
		}
	case <-time.After(patience):
		t.Error("nothing was acknowledged")
	}
}

// What the client counts with is checked: what is malformed is told, given to
// nobody, and ends the connection, and the client comes back.
func testMalformed(t *testing.T, s *stage) {
	s.do(`make({}); window.errors = []; c.on("state", (s) => s.error && errors.push(s.error.code + ": " + s.error.message)); c.connect()`)
	p := s.accept()
	p.welcome(p.hello())
	for n, test := range []struct{ message, want string }{
		{`{`, `a message that is not JSON`},
		{`null`, `a message without op, expected an object that has one`},
		{`[]`, `a message without op`},
		{`{"op":"notify","source":"b","seq":"1"}`, `notify with seq "1", expected a number from 1`},
		{`{"op":"notify","source":"b"}`, `notify with seq left out, expected a number from 1`},
		{`{"op":"notify","source":"b","seq":null}`, `notify with seq null`},
		{`{"op":"notify","source":"b","seq":0}`, `notify with seq 0`},
		{`{"op":"notify","source":"b","seq":1.5}`, `notify with seq 1.5`},
		{`{"op":"notify","source":"b","seq":9007199254740992}`, `notify with seq 9007199254740992`},
		{`{"op":"notify","seq":1}`, `notify with source left out, expected text`},
		{`{"op":"notify","source":"b","seq":2,"skipped":"1"}`, `notify with skipped "1", expected a number below seq`},
		{`{"op":"notify","source":"b","seq":2,"skipped":2}`, `notify with skipped 2, expected a number below seq`},
		{`{"op":"notify","source":"b","seq":1,"subscriptions":[null]}`, `notify with subscriptions [null], expected a list of objects with id`},
		{`{"op":"gap","source":"b","from":"1","to":2}`, `gap with from "1", expected a number from 1`},
		{`{"op":"gap","source":"b","from":3,"to":2}`, `gap with to 2, expected a number not below from`},
		{`{"op":"gap","source":"b","from":1,"next":5}`, `gap with next 5, expected text`},
		{`{"op":"subscribed","id":"a","sources":"b"}`, `subscribed with sources "b", expected a list of texts`},
		{`{"op":"robot","robot":"r0"}`, `robot with state left out, expected text`},
		{`{"op":"reply","id":"a"}`, `reply with ok left out, expected true or false`},
		{`{"op":"error","code":"conflict","attachment":"9"}`, `error with attachment "9", expected a number from 0`},
	} {
		s.until(`c.state.name === "attached"`)
		p.say(test.message)
		p = s.accept()
		h := p.hello()
		s.until(fmt.Sprintf(`errors.length > %d`, n))
		if got := value[string](s.page, fmt.Sprintf(`errors[%d]`, n)); !strings.HasPrefix(got, "bad_message: the broker broke the protocol: "+test.want) {
			t.Errorf("%s: %s, want %s", test.message, got, test.want)
		}
		p.welcome(h)
	}
	p.send(notification("b", 1))
	if got := s.says(1); len(got) != 1 || got[0] != "b 1" {
		t.Errorf("told %q", got)
	}
	for _, message := range []string{
		`{"op":"welcome","broker":"b","session":"one","attachment":"2","heartbeat":1}`,
		`{"op":"welcome","broker":"b","session":"one","attachment":9007199254740991,"heartbeat":1}`,
		`{"op":"welcome","broker":"b","attachment":2,"heartbeat":1}`,
		`{"op":"welcome","broker":"b","session":"one","attachment":2}`,
	} {
		p.cut()
		p = s.accept()
		p.hello()
		p.say(message)
		p = s.accept()
		p.welcome(p.hello())
		s.until(`c.state.name === "attached"`)
		if got := value[string](s.page, `errors.at(-1)`); !strings.Contains(got, "welcome with ") {
			t.Errorf("%s: %s", message, got)
		}
	}
}

// A state that another program stored is no state: the client begins anew.
func testStored(t *testing.T, s *stage) {
	for _, state := range []string{
		`"x"`, `[]`, `{ client: 5 }`, `{ client: "x", session: "one", attachment: "7" }`, `{ client: "x", session: "one", num: { b: "5" } }`,
		`{ client: "x", session: "one", subscriptions: {} }`, `{ client: "x", session: "one", attachment: 2 ** 53 - 1 }`,
	} {
		s.do(`kept = ` + state + `; make({ store }); c.connect()`)
		p := s.accept()
		if h := p.hello(); h.Client == "" || h.Client == "x" || h.Session != "" || h.Attachment != nil {
			t.Errorf("%s: %+v", state, h)
		}
	}
}

// An attempt that fails is told at once, and another follows.
func testNotThere(t *testing.T, s *stage) {
	s.do(`make({ brokers: ["ws://127.0.0.1:9/ws", location.origin.replace("http", "ws") + "/none", location.origin.replace("http", "ws") + "/ws"] });
		window.errors = []; c.on("state", (s) => s.error && errors.push(s.error.code)); c.connect()`)
	p := s.accept()
	p.welcome(p.hello())
	s.until(`c.state.name === "attached"`)
	if got := value[[]string](s.page, `errors`); len(got) != 2 || got[0] != "unavailable" || got[1] != "unavailable" {
		t.Errorf("told %q", got)
	}
}

// A hello that is too large for a client whose token is not known yet has it in
// the request's address.
func testLargeHello(t *testing.T, s *stage) {
	s.do(`make({ token: "s3cret" }); c.subscribe({ id: "large", condition: "true && ".repeat(5000) + "true" }); c.connect()`)
	p := s.accept()
	if h := p.hello(); p.token == "" || h.Token != "s3cret" {
		t.Errorf("a large hello came with %q", p.token)
	}
	s.do(`kept = { client: "guard", session: "s", away: [...Array(3000).keys()].map((i) => "robot" + i) }; make({ token: "s3cret", store }); kept = null; c.connect()`)
	p = s.accept()
	if h := p.hello(); p.token == "" || h.Away == nil || len(*h.Away) != 3000 {
		t.Errorf("a hello with many robots that are away came with %q", p.token)
	}
	s.do(`make({ token: "s3cret" }); c.subscribe({ id: "small", condition: "true" }); c.connect()`)
	p = s.accept()
	if h := p.hello(); p.token != "" || h.Token != "s3cret" {
		t.Errorf("a small hello came with %q", p.token)
	}
}

// A first hello that nobody answered has no number that the client knows: when
// a broker takes it late, that is no other program, but for once and for minutes.
func testLateHello(t *testing.T, s *stage) {
	overloaded := protocol.Error{Op: protocol.OpError, Code: protocol.Overloaded, Message: "no room"}
	for _, c := range []struct {
		name      string
		first     func(*peer)
		later     string // JavaScript
		explained int    // conflicts that are about hellos of our own
	}{
		{"late", (*peer).cut, ``, 1},
		{"given up twice", func(p *peer) { p.cut(); p = s.accept(); p.hello(); p.cut() }, ``, 2},
		{"by another page", func(*peer) { s.do(`die(); make({ store }); c.connect()`) }, ``, 1},
		{"refused", func(p *peer) { p.send(overloaded); p.cut() }, ``, 0},
		{"long after", (*peer).cut, `{ const now = Date.now; Date.now = () => now() + 6 * 60_000; }`, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func(whole *testing.T) { s.t = whole }(s.t)
			s.t = t
			s.do(`kept = null; make({ store }); c.connect()`)
			p := s.accept()
			first := p.hello()
			c.first(p)
			p = s.accept()
			h := p.welcome(p.hello())
			if first.Attachment != nil || h.Attachment != nil || h.Client != first.Client {
				t.Errorf("%+v, then %+v; want one client, and no number", first, h)
			}
			s.until(`c.state.name === "attached"`)
			s.do(c.later)
			newest := uint64(2)
			for range c.explained {
				p.send(conflictWith(newest))
				p = s.accept()
				if h := p.welcome(p.hello()); number(h) != newest+1 || h.Session != "one" {
					t.Errorf("%+v, want session one resumed as attachment %d", h, newest+1)
				}
				s.until(fmt.Sprintf(`c.state.name === "attached" && c.attachment === %d`, newest+1))
				newest += 2
			}
			p.send(conflictWith(newest))
			s.until(`c.state.name === "taken-over"`)
		})
	}
}

// A hello may be taken although it got no answer: the next has a number above
// it, so that it counts, and what names a number used is no other program.
func testNumbers(t *testing.T, s *stage) {
	s.do(`make({ store }); c.connect()`)
	p := s.accept()
	p.welcome(p.hello())
	s.until(`c.state.name === "attached"`)
	p.cut()
	p = s.accept()
	if h := p.hello(); number(h) != 2 {
		t.Errorf("attachment %d, want 2", number(h))
	}
	s.do(`die(); make({ store }); c.connect()`) // another page comes before the answer
	p = s.accept()
	if h := p.hello(); number(h) != 3 || h.Session != "one" {
		t.Errorf("attachment %d in session %q, want 3 in one", number(h), h.Session)
	}
	p.cut()
	p = s.accept()
	if h := p.welcome(p.hello()); number(h) != 4 {
		t.Errorf("attachment %d, want 4", number(h))
	}
	s.until(`c.state.name === "attached"`)
	p.send(conflictWith(3))
	p = s.accept()
	if h := p.welcome(p.hello()); number(h) != 5 {
		t.Errorf("attachment %d, want 5", number(h))
	}
	s.until(`c.state.name === "attached" && c.attachment === 5`)
}

// hello names the sources that the broker has named, too: by their names a
// broker knows what has ended and what follows it.
func testNamedSources(t *testing.T, s *stage) {
	s.do(`make({ store }); c.subscribe({ id: "near", condition: "laser.min < 1" }); c.connect()`)
	p := s.accept()
	p.welcome(p.hello())
	expect[protocol.Subscribe](p, protocol.OpSubscribe)
	p.send(subscribedTo("near", "b1.5", "b2.7"))
	s.until(`c.subscriptions.get("near").sources.length === 2`)
	p.cut()
	p = s.accept()
	h := p.welcome(p.hello())
	if diff := cmp.Diff(map[string]uint64{"b1.5": 0, "b2.7": 0}, h.Num); diff != "" {
		t.Errorf("what nothing came of yet (-want +got):\n%s", diff)
	}
	p.send(subscribedTo("near", "b1.5", "b2.7"), notification("b1.5", 1),
		protocol.Gap{Op: protocol.OpGap, Source: "b1.5", From: 2, Why: "its store was lost", Next: "b1.9"})
	s.says(2)
	s.do(`make({ store }); c.subscribe({ id: "near", condition: "laser.min < 1" }); c.connect()`)
	p = s.accept()
	h = p.welcome(p.hello())
	if diff := cmp.Diff(map[string]uint64{"b1.9": 0, "b2.7": 0}, h.Num); diff != "" {
		t.Errorf("what follows a sequence, by another page (-want +got):\n%s", diff)
	}
	p.send(subscribedTo("near", "b1.9", "b2.7"), notification("b1.9", 1), notification("b2.7", 1))
	want := []string{"b1.5 1", "b1.5 2 to the end before b1.9", "b1.9 1", "b2.7 1"}
	if diff := cmp.Diff(want, s.says(len(want))); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// A broker ends a sequence from what it knows to be handled; what was given before
// is not lost. Only what lies ahead breaks the protocol.
func testGapBegin(t *testing.T, s *stage) {
	s.do(`make({}); c.connect()`)
	p := s.accept()
	p.welcome(p.hello())
	to := uint64(5)
	for seq := range uint64(3) {
		p.send(notification("s", seq+1))
	}
	p.send(
		protocol.Gap{Op: protocol.OpGap, Source: "s", From: 3, To: &to, Why: "full"},
		protocol.Gap{Op: protocol.OpGap, Source: "s", From: 2, Why: "lost"},
		protocol.Gap{Op: protocol.OpGap, Source: "s", From: 6, Why: "lost"}, // once more
		notification("u", 1),
		protocol.Gap{Op: protocol.OpGap, Source: "u", From: 5, Why: "lost"},
	)
	want := []string{
		"s 1", "s 2", "s 3", "gap from 3 follows 3", "s 4 to 5", "s 6 to the end", "s 6 to the end",
		"u 1", "gap from 5 follows 1", "u 5 to the end",
	}
	if diff := cmp.Diff(want, s.says(len(want))); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

// hello was made without what is asked for before its answer: that is asked
// behind it, and only the answer to that counts.
func testBetween(t *testing.T, s *stage) {
	s.do(`make({ store }); for (const id of ["goes", "stays", "stored"]) c.subscribe({ id, condition: "laser.min < 1" }); c.connect()`)
	p := s.accept()
	p.welcome(p.hello())
	for _, id := range []string{"goes", "stays", "stored"} {
		expect[protocol.Subscribe](p, protocol.OpSubscribe)
		p.send(subscribedTo(id))
	}
	s.until(`kept.subscriptions.length === 3`)
	s.do(`{ make({ store }); window.answers = [];
		for (const id of ["goes", "stays"]) c.subscribe({ id, condition: "laser.min < 1" });
		c.connect(); }`)
	p = s.accept()
	h := p.hello()
	if len(h.Subscriptions) != 2 {
		t.Errorf("%+v, want two subscriptions", h)
	}
	s.do(`c.subscribe({ id: "stored", condition: "laser.min < 1" }).then(() => answers.push("stored"), (e) => answers.push(e.message))`)
	p.welcome(h)
	p.send(subscribedTo("goes"), subscribedTo("stays"))
	if m := expect[protocol.Subscribe](p, protocol.OpSubscribe); m.ID != "stored" {
		t.Errorf("%+v, want stored, which the hello did not list", m)
	}
	p.send(subscribedTo("stored"))
	s.until(`answers.join() === "stored"`)

	p.cut()
	p = s.accept()
	h = p.hello()
	if len(h.Subscriptions) != 3 {
		t.Errorf("%+v, want three subscriptions", h)
	}
	s.do(`answers = [];
		c.subscriptions.get("goes").unsubscribe().then(() => answers.push("goes"), (e) => answers.push(e.message));
		c.subscriptions.get("stays").update({ condition: "laser.min < 2" }).then(() => answers.push("stays"), (e) => answers.push(e.message))`)
	p.welcome(h)
	p.send(subscribedTo("goes"), subscribedTo("stays"), subscribedTo("stored"))
	if m := expect[protocol.Unsubscribe](p, protocol.OpUnsubscribe); m.ID != "goes" {
		t.Errorf("%+v, want goes, which the hello listed", m)
	}
	if m := expect[protocol.Update](p, protocol.OpUpdate); m.ID != "stays" {
		t.Errorf("%+v", m)
	}
	s.until(`c.state.name === "attached"`)
	if got := value[[]string](s.page, `answers`); len(got) > 0 {
		t.Errorf("%q, want no answer before the broker's", got)
	}
	p.send(protocol.Reply{Op: protocol.OpReply, ID: "goes", OK: true}, subscribedTo("stays"))
	s.until(`answers.join() === "goes,stays" && c.subscriptions.size === 2`)

	// With the welcome told, all is sent at once, and once.
	s.do(`c.on("state", (state) => { if (state.name === "attached") {
		c.subscribe({ id: "new", condition: "laser.min < 3" });
		c.subscriptions.get("stored").unsubscribe(); } })`)
	p.cut()
	p = s.accept()
	p.welcome(p.hello())
	expect[protocol.Subscribe](p, protocol.OpSubscribe)
	expect[protocol.Unsubscribe](p, protocol.OpUnsubscribe)
	s.do(`c.list("robots").catch(() => {})`)
	expect[protocol.List](p, protocol.OpList)
}

// An error for what hello listed is not the answer to what was asked behind it.
func testListedRefused(t *testing.T, s *stage) {
	s.do(`make({}); window.answers = []; for (const id of ["goes", "stays"]) c.subscribe({ id, condition: "laser.min < 1" }, { error: (e, ended) => answers.push(id + ": " + e.code + " " + ended) }); c.connect()`)
	p := s.accept()
	p.welcome(p.hello())
	for _, id := range []string{"goes", "stays"} {
		expect[protocol.Subscribe](p, protocol.OpSubscribe)
		p.send(subscribedTo(id))
	}
	s.until(`[...c.subscriptions.values()].every((s) => s.known)`)
	p.cut()
	p = s.accept()
	h := p.hello()
	s.do(`c.subscriptions.get("goes").unsubscribe().then(() => answers.push("gone"), (e) => answers.push("goes: " + e.code));
		c.subscriptions.get("stays").update({ condition: "laser.min < 2" }).then(() => answers.push("stays"), (e) => answers.push("update: " + e.code))`)
	p.welcome(h)
	expect[protocol.Unsubscribe](p, protocol.OpUnsubscribe)
	expect[protocol.Update](p, protocol.OpUpdate)
	for _, id := range []string{"goes", "stays"} {
		p.send(protocol.Error{Op: protocol.OpError, ID: id, Code: protocol.BadCondition, Message: "no more"})
	}
	p.send(
		protocol.Reply{Op: protocol.OpReply, ID: "goes", Error: &protocol.ErrorInfo{Code: protocol.NotFound, Message: "none"}},
		protocol.Error{Op: protocol.OpError, ID: "stays", Code: protocol.NotFound, Message: "none"})
	s.until(`c.subscriptions.size === 0`)
	if diff := cmp.Diff([]string{"stays: bad_condition true", "gone", "update: not_found"}, value[[]string](s.page, `answers`)); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if got := value[[]string](s.page, `told`); len(got) > 0 {
		t.Errorf("told %q, want nothing", got)
	}
}

// A client without an id reports nothing as handled, whatever the session's name.
func testAnonymousAgain(t *testing.T, s *stage) {
	s.do(`make({ anonymous: true }); c.connect()`)
	p := s.accept()
	p.welcome(p.hello())
	p.send(notification("s", 1))
	s.says(1)
	p.cut()
	p = s.accept()
	p.welcome(p.hello())
	s.until(`c.state.name === "attached" && !c.state.resumed`)
	p.send(notification("s", 1), notification("s", 2))
	if diff := cmp.Diff([]string{"s 1", "s 1", "s 2"}, s.says(3)); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
