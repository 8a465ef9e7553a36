package relay

import (
	"testing"

	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"pgregory.net/rapid"
)

func TestTemplate(t *testing.T) {
	n := &callboard.Notification{Notify: protocol.Notify{Source: "b1.17", Robot: "r 1.x", Interface: "laser", Index: 2}}
	for text, want := range map[string]struct{ filter, subject, about string }{
		"alarms.{robot}.{id}":                   {"alarms.*.*", "alarms.r%201%2Ex.near", "alarms.r0._"},
		"a.{interface}{index}.{source}":         {"a.*.*", "a.laser2.b1%2E17", "a.__._"},
		"all":                                   {"all", "all", "all"},
		"callboard.notify.{client}.from{robot}": {"callboard.notify.*.*", "callboard.notify.me.fromr%201%2Ex", "callboard.notify.me.fromr0"},
	} {
		got, err := ParseTemplate(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got.Filter() != want.filter || got.subject("me", "near", n) != want.subject || got.about("me", "r0", "") != want.about {
			t.Errorf("%s: %s, %s, %s", text, got.Filter(), got.subject("me", "near", n), got.about("me", "r0", ""))
		}
	}
	for _, text := range []string{"", ".", "a..b", "a.", "a b", "a.*", "a.>", "$JS.x", "{robots}", "a.{robot", "a.}"} {
		if _, err := ParseTemplate(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// TestToken: each name has a token of its own.
func TestToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Filter(func(s string) bool { return s != "" }).Draw(t, "name")
		if got := word(token(name)); got != name {
			t.Fatalf("%q became %q, and that %q", name, token(name), got)
		}
		if !covers("a.*", "a."+token(name)) {
			t.Fatalf("%q is no token", token(name))
		}
	})
}

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		wide, narrow string
		covers       bool
	}{
		{"a.*.*", "a.*.*", true}, {"a.>", "a.*.*", true}, {">", "a", true}, {"a.*", "a.b", true},
		{"a.b", "a.*", false}, {"a.*", "a.*.*", false}, {"a.*.*", "a.*", false}, {"a.>", "a", false},
	} {
		if covers(c.wide, c.narrow) != c.covers {
			t.Errorf("%s and %s: expected %v", c.wide, c.narrow, c.covers)
		}
	}
}

func header(of ...string) nats.Header {
	h := nats.Header{}
	for i := 0; i < len(of); i += 2 {
		h.Set(of[i], of[i+1])
	}
	return h
}

// TestMemory: what the stream has is known by its messages alone.
func TestMemory(t *testing.T) {
	m := &memory{}
	m.begun("one")
	notify := func(seq, part string) nats.Header {
		return header(headerKind, kindNotify, headerSource, "b1", headerSeq, seq, headerPart, part)
	}
	gap := func(from, to, next string) nats.Header {
		return header(headerKind, kindGap, headerSource, "b1", headerSeq, from, headerTo, to, headerNext, next)
	}
	robot := func(name, device, state string) nats.Header {
		return header(headerKind, kindRobot, headerRobot, name, headerDevice, device, headerState, state)
	}
	has := func(h nats.Header, want bool) {
		t.Helper()
		if m.has(h) != want {
			t.Errorf("%v: expected %v", h, want)
		}
	}
	has(notify("1", ""), false)
	m.learn(notify("1", ""))
	has(notify("1", ""), true)
	m.learn(notify("4", "1/3"))
	m.learn(notify("4", "2/3"))
	has(notify("4", "2/3"), true)
	has(notify("4", "3/3"), false)
	if diff := cmp.Diff(map[string]uint64{"b1": 1}, m.State.Num); diff != "" {
		t.Error(diff)
	}
	m.learn(notify("4", "3/3"))
	has(notify("4", "1/3"), true)
	has(gap("5", "9", ""), false)
	m.learn(gap("5", "9", ""))
	has(gap("5", "9", ""), true)
	has(notify("9", ""), true)
	m.learn(gap("10", "", "b1.2"))
	has(gap("10", "", "b1.2"), false) // it has no number: the broker does not say it again
	if diff := cmp.Diff(map[string]uint64{"b1.2": 0}, m.State.Num); diff != "" {
		t.Error(diff)
	}
	for _, h := range []nats.Header{
		robot("r2", "", "away"), robot("r1", "laser:0", "away"), robot("r1", "", "away"), robot("r2", "", "away"),
		robot("r1", "", "overflow"), robot("r1", "", "up"), robot("r0", "", "up"),
	} {
		has(h, false)
		m.learn(h)
	}
	if diff := cmp.Diff([]string{"r1 laser:0", "r2"}, m.State.Away); diff != "" {
		t.Error(diff)
	}
	m.learn(header("Foreign", "yes"))
}
