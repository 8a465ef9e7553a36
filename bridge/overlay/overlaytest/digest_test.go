package overlaytest

import (
	"testing"

	"callboard/bridge/overlay"
)

// TestDigest changes what is deep in an output, or its type: the digest is another.
func TestDigest(t *testing.T) {
	told := func(change func(*overlay.Told)) *overlay.Frame {
		body := &overlay.Told{Client: "c1", Seen: []overlay.SeenSource{{Broker: "b1"}}, States: []overlay.HeldState{{Reading: &overlay.Reading{JSON: []byte("12345678")}}}}
		change(body)
		return &overlay.Frame{To: []overlay.Link{{Neighbour: "b2"}}, Messages: []overlay.Message{&overlay.RoutedMessage{Body: body}}}
	}
	seen := map[digest]string{}
	for name, v := range map[string]any{
		"as it is":          told(func(*overlay.Told) {}),
		"a number":          told(func(m *overlay.Told) { m.States[0].Over = 1 }),
		"another number":    told(func(m *overlay.Told) { m.States[0].Seq = 1 }),
		"a long text":       told(func(m *overlay.Told) { m.Client = "c1 of a laboratory" }),
		"bytes":             told(func(m *overlay.Told) { m.States[0].Reading.JSON = []byte("12345679") }),
		"a bool":            told(func(m *overlay.Told) { m.Whole = true }),
		"an element":        told(func(m *overlay.Told) { m.Seen[0].Broker = "b2" }),
		"no element":        told(func(m *overlay.Told) { m.Seen = nil }),
		"a nil pointer":     told(func(m *overlay.Told) { m.States[0].Reading = nil }),
		"a map":             &overlay.Installed{Robots: map[string]int{"a": 1}},
		"another value":     &overlay.Installed{Robots: map[string]int{"a": 2}},
		"another key":       &overlay.Installed{Robots: map[string]int{"b": 1}},
		"a type":            &overlay.LinkUp{Neighbour: "b1", Session: 1},
		"another type":      &overlay.LinkDown{Neighbour: "b1", Session: 1},
		"an interface":      &overlay.Frame{Messages: []overlay.Message{&overlay.HeadMessage{}}},
		"another interface": &overlay.Frame{Messages: []overlay.Message{&overlay.GoneMessage{}}},
	} {
		d := newDigest
		d.all(v)
		if other, known := seen[d]; known {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[d] = name
	}
}
