package overlay

import (
	"testing"

	"callboard/subscribe/protocol"
)

// TestMessagesForThoseWhoAsk: a reading with its messages waits without them for
// those who do not ask, and goes over links with what is wanted behind them.
func TestMessagesForThoseWhoAsk(t *testing.T) {
	reading, messages := []protocol.Matched{{ID: "a"}}, []protocol.Matched{{ID: "b", Values: protocol.NoValues}}
	values := []protocol.Matched{{ID: "c", Values: []byte(`{"x":1}`)}}
	fresh := func() *Reading { return &Reading{JSON: make([]byte, 100), Messages: make([]byte, 1000)} }
	u := usage{}
	r := fresh()
	held := map[string]int{}
	for name, names := range map[string][]protocol.Matched{"reading": reading, "messages": messages, "values": values, "both": append(messages, reading...)} {
		b := buffer{usage: &u}
		b.push(1, r, b.share(names, 1, 1, 0), 5)
		held[name] = len(b.items[0].reading.Messages)
		if size := itemSize(r, names); size != b.bytes+namesSize(names) {
			t.Errorf("%s: it has %d bytes in the buffer and %d before", name, b.bytes, size)
		}
		defer func() {
			b.drop(1)
			if b.bytes != 0 {
				t.Errorf("%s: %d bytes are left", name, b.bytes)
			}
		}()
	}
	if held["reading"] != 0 || held["values"] != 0 || held["messages"] != 1000 || held["both"] != 1000 {
		t.Errorf("of the messages are held %v", held)
	}
	if u.readings != 100+1100 { // once without, shared by two, and once with
		t.Errorf("%d bytes of readings are counted", u.readings)
	}
	for _, tt := range []struct {
		name           string
		hits           [][]protocol.Matched
		json, messages int
	}{
		{"readings", [][]protocol.Matched{reading, values}, 100, 0},
		{"messages", [][]protocol.Matched{values, messages}, 0, 1000},
		{"values", [][]protocol.Matched{values}, 0, 0},
		{"both", [][]protocol.Matched{messages, reading}, 100, 1000},
	} {
		n := &NotifyMessage{Reading: r}
		for _, names := range tt.hits {
			n.Hits = append(n.Hits, KeyHit{Names: names})
		}
		strip([]Message{n})
		if len(n.Reading.JSON) != tt.json || len(n.Reading.Messages) != tt.messages {
			t.Errorf("%s: %d and %d bytes go over the link", tt.name, len(n.Reading.JSON), len(n.Reading.Messages))
		}
	}
	if len(r.JSON) != 100 || len(r.Messages) != 1000 {
		t.Error("the reading itself has changed")
	}
}

// TestMessagesAreAnotherSubscription: one that asks for messages has another hash,
// and those that do not have the hash that they had before there were any.
func TestMessagesAreAnotherSubscription(t *testing.T) {
	s := &Subscription{Subscription: protocol.Subscription{ID: "a", Condition: "true"}, Allowed: []string{"r*"}}
	plain := s.Hash()
	s.Messages = true
	if s.Hash() == plain {
		t.Error("it has the same hash")
	}
}
