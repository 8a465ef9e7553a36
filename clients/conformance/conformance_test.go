//go:build linux

// Package conformance holds the client libraries against one description: scripts
// in testdata say what a broker does and what a client has to do. Each library has
// a driver that prints what its client does. See DESIGN.md.
package conformance

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"callboard/bridge"
	"callboard/bridge/benchtest"
)

// driving tells this program, started anew, to be the Go library's driver.
const driving = "CALLBOARD_TEST_DRIVER"

func TestMain(m *testing.M) {
	if os.Getenv(driving) != "" {
		drive()
		return
	}
	benchtest.ServeIfAsked(bridge.Config{})
	os.Exit(m.Run())
}

// TestConformance runs each script with each library.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, l := range libraries {
		t.Run(l.name, func(t *testing.T) {
			for _, file := range files {
				t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
					t.Parallel()
					run(t, l, file)
				})
			}
		})
	}
}

// play is a script that is being played.
type play struct {
	t       *testing.T
	library library
	brokers map[string]*broker
	driver  *driver
	kept    map[string]object // results that nobody has asked for yet
	state   any               // of the client, as the script has last asked for it
}

func run(t *testing.T, l library, file string) {
	steps := readScript(t, file)
	if only := steps[0]; only.who == "only" {
		if !slices.Contains(strings.Fields(only.verb+" "+only.rest), l.name) {
			t.Skip("it is for others")
		}
		steps = steps[1:]
	}
	p := &play{t: t, library: l, brokers: map[string]*broker{}, kept: map[string]object{}}
	for _, name := range []string{"a", "b", "c"} {
		p.brokers[name] = newBroker(t, name)
	}
	for _, s := range steps { // who is not told to be down at first is up
		if b := p.brokers[s.who]; b != nil && b.server == nil && b.last == nil {
			if s.verb != "down" {
				b.up(t)
			}
			b.last = &request{}
		}
	}
	for _, s := range steps {
		if err := p.play(s); err != nil {
			t.Fatalf("%s:%d: %s %s %s: %v", file, s.line, s.who, s.verb, s.rest, err)
		}
	}
	if err := p.quiet(); err != nil {
		t.Fatalf("%s: at the end: %v", file, err)
	}
}

// quiet reports whether something has come that the script does not say.
func (p *play) quiet() error {
	select {
	case m, open := <-p.driver.events:
		if open {
			return fmt.Errorf("event %s", shown(m))
		}
	default:
	}
	for _, b := range p.brokers {
		if b.conn == nil {
			continue
		}
		select {
		case m, open := <-b.conn.got:
			if open {
				return fmt.Errorf("%s got %s", b.name, shown(m))
			}
		default:
		}
		b.conn.mu.Lock()
		defer b.conn.mu.Unlock()
		if b.conn.wrong != "" {
			return errors.New(b.conn.wrong)
		}
	}
	return nil
}

// expand puts addresses and the state in place of their names.
func (p *play) expand(v any) any {
	switch v := v.(type) {
	case string:
		if v == "$state" {
			return p.state
		}
		if b := p.brokers[strings.TrimPrefix(v, "$")]; b != nil && v[0] == '$' {
			return b.url()
		}
		v = strings.ReplaceAll(v, "$huge", strings.Repeat("x", 1<<20))
		return strings.ReplaceAll(v, "$long", strings.Repeat("true && ", 5000))
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = p.expand(v[i])
		}
		return all
	case object:
		all := object{}
		for name := range v {
			all[name] = p.expand(v[name])
		}
		return all
	}
	return v
}

func (p *play) object(text string) (object, error) {
	v, err := value(text)
	if err != nil {
		return nil, err
	}
	o, is := p.expand(v).(object)
	if !is {
		return nil, fmt.Errorf("%q is no object", text)
	}
	return o, nil
}

func (p *play) play(s step) error {
	if b := p.brokers[s.who]; b != nil {
		return p.broker(b, s)
	}
	rest := strings.TrimSpace(s.verb + " " + s.rest)
	switch s.who {
	case "client":
		c, err := p.object(rest)
		if err != nil {
			return err
		}
		for name, v := range map[string]any{"brokers": []any{p.brokers["a"].url()}, "backoff": []any{0.01, 0.05}} {
			if c[name] == nil {
				c[name] = v
			}
		}
		p.driver = p.library.start(p.t, c)
		return nil
	case "kill":
		p.driver.kill()
		return nil
	case "do":
		name, args := firstWord(s.rest)
		a, err := p.object(args)
		if err != nil {
			return err
		}
		p.driver.say(p.t, object{"tag": s.verb, "do": name, "args": a})
		return nil
	case "result":
		return p.result(s.verb, s.rest)
	case "event":
		return p.event(s.verb, s.rest)
	case "events":
		return p.events(strings.Fields(rest))
	case "end":
		want, err := p.object(`{"end": ` + rest + `}`)
		if err != nil {
			return err
		}
		got, err := p.driver.next(p.driver.end)
		if err != nil {
			return err
		}
		return expect(want, got)
	}
	return fmt.Errorf("unknown: %q", s.who)
}

func expect(want, got any) error {
	if d := differs(want, got, ""); d != "" {
		return fmt.Errorf("%s; it is %s", strings.TrimPrefix(d, "."), shown(got))
	}
	return nil
}

func (p *play) result(tag, rest string) error {
	got, err := p.driver.result(tag, p.kept)
	switch {
	case err != nil:
		return err
	case rest == "":
		return expect(object{"error": nil}, got)
	case rest == "state":
		p.state = got["value"]
		return nil
	}
	text, failed := strings.CutPrefix(rest, "error")
	want, err := value(text)
	if err != nil {
		return err
	}
	if failed {
		return expect(object{"error": p.expand(want)}, got)
	}
	return expect(object{"error": nil, "value": p.expand(want)}, got)
}

// event expects the driver's next event, or several notifications.
func (p *play) event(name, rest string) error {
	wants := []object{}
	if m := rangeOf.FindStringSubmatch(rest); m != nil {
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		for n := from; n <= to; n++ {
			one := object{"seq": float64(n)}
			if m[1] != "" {
				one["source"] = m[1]
			}
			wants = append(wants, one)
		}
	} else {
		one, err := p.object(rest)
		if err != nil {
			return err
		}
		wants = append(wants, one)
	}
	for _, want := range wants {
		want["event"] = name
		got, err := p.driver.next(p.driver.events)
		if err == nil {
			err = expect(want, got)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// events expects the driver's next events, in any order.
func (p *play) events(names []string) error {
	for len(names) > 0 {
		got, err := p.driver.next(p.driver.events)
		if err != nil {
			return err
		}
		at := slices.Index(names, fmt.Sprint(got["event"]))
		if at < 0 {
			return fmt.Errorf("event %s; expected %s", shown(got), strings.Join(names, ", "))
		}
		names = slices.Delete(names, at, at+1)
	}
	return nil
}

func (p *play) broker(b *broker, s step) error {
	switch s.verb {
	case "up":
		b.up(p.t)
		return nil
	case "down":
		b.down(p.t)
		return nil
	case "accept":
		subprotocol := s.rest
		if subprotocol == "" {
			subprotocol = "callboard.v1"
		}
		return b.accept(subprotocol)
	case "refuse":
		status, err := strconv.Atoi(s.rest)
		if err != nil {
			return err
		}
		return b.answer(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "a test", status) })
	case "token":
		if got := b.token(); got != s.rest {
			return fmt.Errorf("the request shows the token %q", got)
		}
		return nil
	}
	if b.conn == nil {
		return errors.New("it has no connection")
	}
	return p.peer(b.conn, s)
}

func (p *play) peer(c *peer, s step) error {
	switch s.verb {
	case "<":
		return p.expects(c, s.rest)
	case ">":
		op, rest := firstWord(s.rest)
		rest = strings.NewReplacer("$serves", fmt.Sprint(c.serves), "$id", fmt.Sprint(c.id)).Replace(rest)
		if strings.Contains(rest, "$") {
			o, err := p.object(rest)
			if err != nil {
				return err
			}
			rest = shown(o)
		}
		return c.send(op, rest)
	case "raw":
		return c.say([]byte(s.rest))
	case "binary":
		b, err := hex.DecodeString(strings.ReplaceAll(s.rest, " ", ""))
		return errors.Join(err, c.socket.WriteMessage(websocket.BinaryMessage, b))
	case "malformed":
		return p.malformed(c, s.rest)
	case "acks":
		source, num, _ := strings.Cut(s.rest, "=")
		n, err := strconv.ParseFloat(num, 64)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(p.t.Context(), patience)
		defer cancel()
		return c.acknowledged(ctx, source, n)
	case "cut":
		return c.socket.UnderlyingConn().Close()
	case "close":
		code, text := firstWord(s.rest)
		n, err := strconv.Atoi(code)
		return errors.Join(err, c.socket.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(n, text), time.Now().Add(time.Second)))
	case "gone":
		return c.gone(s.rest)
	}
	return fmt.Errorf("unknown: %q", s.verb)
}

func (p *play) expects(c *peer, rest string) error {
	op, rest := firstWord(rest)
	want, err := p.object(rest)
	if err != nil {
		return err
	}
	want["op"] = op // "..." for any
	got, err := c.next()
	if err != nil {
		return err
	}
	return expect(want, got)
}

// malformed sends what no broker should: the client tells of nothing but that the
// connection is lost, and comes back.
func (p *play) malformed(c *peer, text string) error {
	if err := c.socket.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		return err
	}
	if err := p.event("detached", ""); err != nil {
		return err
	}
	if err := c.broker.accept("callboard.v1"); err != nil {
		return err
	}
	if err := p.expects(c.broker.conn, "hello"); err != nil {
		return err
	}
	if err := c.broker.conn.send("welcome", ""); err != nil {
		return err
	}
	return p.event("attached", `{"resumed": true}`)
}
