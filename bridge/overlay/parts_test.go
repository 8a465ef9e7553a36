package overlay

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"callboard/subscribe/protocol"
)

// A frame is cut behind replays only, and nothing is left out or moved.
func TestParts(t *testing.T) {
	replay := func(bytes int, last bool) *ReplayMessage {
		m := &ReplayMessage{Last: last}
		if bytes > 0 {
			r := &Reading{JSON: make([]byte, bytes-itemSize(&Reading{}, nil))}
			m.Items = []Item{{Kind: ItemNotification, From: 1, To: 1, Reading: r}}
		}
		return m
	}
	others := []Message{&RefreshMessage{}, &UnsubscribeMessage{}, &NotifyMessage{Reading: &Reading{JSON: make([]byte, 5000)}}}
	for _, c := range []struct {
		name     string
		messages []Message
		want     []int // messages of each part
	}{
		{"nothing but other messages", others, []int{3}},
		{"replays that are short together", []Message{replay(2000, false), replay(2000, true), others[0]}, []int{3}},
		{"the last is a replay", []Message{others[0], replay(10_000, false)}, []int{2}},
		{"behind each that is long", []Message{others[0], replay(10_000, false), replay(10_000, false), replay(500, true), others[1]}, []int{2, 1, 2}},
		{"behind several that are long together", []Message{replay(3000, true), others[0], replay(3000, true), replay(3000, true), replay(0, true)}, []int{3, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			var all []Message
			for part := range Parts(c.messages, 10_000) {
				got, all = append(got, len(part)), append(all, part...)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if !slices.Equal(c.messages, all) {
				t.Error("the parts together are not the frame")
			}
		})
	}
	for range Parts([]Message{replay(10_000, false), others[0]}, 10_000) {
		break // who stops is asked no more
	}
}

// A frame is taken in behind subscribes that bring much, and nothing is left out or
// moved.
func TestSteps(t *testing.T) {
	brings := func(n int) *SubscribeMessage { return &SubscribeMessage{Set: &SetChange{Put: make([]Member, n)}} }
	other := &RefreshMessage{}
	for _, c := range []struct {
		name     string
		messages []Message
		want     []int // messages of each step
	}{
		{"none", []Message{other, &SubscribeMessage{}, other}, []int{3}},
		{"few together", []Message{brings(40), other, brings(50)}, []int{3}},
		{"the last", []Message{other, brings(1000)}, []int{2}},
		{"behind each that is large", []Message{brings(100), other, brings(150), other}, []int{1, 2, 1}},
		{"behind several", []Message{brings(60), brings(60), brings(60), other}, []int{2, 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []int
			var all []Message
			for step := range Steps(c.messages, 100) {
				got, all = append(got, len(step)), append(all, step...)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if !slices.Equal(c.messages, all) {
				t.Error("the steps together are not the frame")
			}
		})
	}
	for range Steps([]Message{brings(100), other}, 100) {
		break // who stops is asked no more
	}
}

// A replay is cut into messages of bounded size, the mark that ends the fetch
// in the last.
func TestReplayIsCut(t *testing.T) {
	b, err := New(Config{ID: "b1", ReplayBytes: 1000})
	if err != nil {
		t.Fatal(err)
	}
	b.network.topology.links["b2"] = 1
	k, id := Key{Client: "c"}, FetchID{Broker: "b2", Number: 7}
	var items []Item
	for n := range uint64(20) {
		items = append(items, Item{Kind: ItemNotification, From: n + 1, To: n + 1, Reading: &Reading{JSON: make([]byte, 300)}, Names: []protocol.Matched{{ID: "near"}}})
	}
	items = append(items, Item{Kind: ItemGap, From: 21, To: 30, Why: WhyOverflow})
	items = append(items, Item{Kind: ItemNotification, From: 31, To: 31, Reading: &Reading{JSON: make([]byte, 5000)}}) // alone larger than a message
	b.network.replay("b2", k, items)
	b.network.tell("b2", &ReplayMessage{Key: k, Last: true, ID: id})
	var got []Item
	frame := b.network.frames["b2"]
	for i, m := range frame {
		r := m.(*ReplayMessage)
		size := 0
		for n := range r.Items {
			size += r.Items[n].size()
		}
		if size > 1000 && len(r.Items) > 1 {
			t.Errorf("message %d carries %d bytes", i+1, size)
		}
		if end := i == len(frame)-1; r.Last != end || end && r.ID != id {
			t.Errorf("message %d of %d: last %v, %v", i+1, len(frame), r.Last, r.ID)
		}
		got = append(got, r.Items...)
	}
	if diff := cmp.Diff(items, got, cmpopts.IgnoreUnexported(Reading{}), cmp.Comparer(bytes.Equal)); diff != "" {
		t.Error(diff)
	}
	if len(frame) < 6 || len(frame) > 12 {
		t.Errorf("%d messages for 20 notifications of some 400 bytes, a gap and one of 5,000", len(frame))
	}
}
