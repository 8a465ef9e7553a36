package link

import (
	"bytes"
	"fmt"
	"net"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"callboard/bridge/overlay"
)

// star runs b0 and the neighbours that it dials, one of which compresses.
func star(t *testing.T, n int) (middle *broker, around []*broker, to []overlay.Link) {
	middleConfig := Config{Self: "b0"}
	for i := range n {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		id := overlay.BrokerID(fmt.Sprint("b", i+1))
		compress := i == 1
		middleConfig.Neighbours = append(middleConfig.Neighbours, Neighbour{ID: id, Address: listener.Addr().String(), Compress: compress})
		around = append(around, start(t, calm(Config{Self: id, Neighbours: []Neighbour{{ID: "b0", Compress: compress}}, Listener: listener})))
	}
	middle = start(t, calm(middleConfig))
	for _, b := range around {
		b.expect(t, "up")
		up := middle.expect(t, "up")
		to = append(to, overlay.Link{Neighbour: up.neighbour, Session: up.session})
	}
	return middle, around, to
}

// TestAFrameForSeveral: all get it, in order with what is for one of them, a
// session that has ended loses only its own.
func TestAFrameForSeveral(t *testing.T) {
	middle, around, to := star(t, 3)
	want := map[overlay.BrokerID][]overlay.Message{}
	for i := range 200 {
		one := to[i%len(to)]
		for _, f := range []*overlay.Frame{
			{To: []overlay.Link{one}, Messages: []overlay.Message{reading(i)}},
			{To: append([]overlay.Link{{Neighbour: one.Neighbour, Session: 1 << 40}}, to...), Messages: []overlay.Message{head(uint64(i)), reading(i), reading(i)}},
		} {
			for _, l := range f.To {
				if l.Session < 1<<40 {
					want[l.Neighbour] = append(want[l.Neighbour], f.Messages...)
				}
			}
			middle.Send(f)
		}
	}
	for _, b := range around {
		var got []overlay.Message
		for id := b.cfg.Self; len(got) < len(want[id]); {
			got = append(got, b.expect(t, "frame").messages...)
		}
		if diff := cmp.Diff(want[b.cfg.Self], got, cmpopts.IgnoreUnexported(overlay.Reading{}, overlay.Subscription{}), cmp.Comparer(bytes.Equal)); diff != "" {
			t.Errorf("%s: %s", b.cfg.Self, diff)
		}
	}
	dropped := uint64(0)
	for _, s := range middle.Status() {
		dropped += s.Dropped
	}
	if dropped != 200*3 {
		t.Errorf("%d messages dropped; expected those of 200 frames for a session that has ended", dropped)
	}
}
