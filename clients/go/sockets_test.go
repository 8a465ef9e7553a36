package callboard

import (
	"net/http/httptest"
	"testing"
	"time"

	"callboard/subscribe/protocol"
)

// Over real sockets, to and fro between two brokers while notifications come:
// each once, in order, and nothing is left running.
func TestMoveOverSockets(t *testing.T) {
	noLeaks(t)
	var urls []string
	var brokers []*fakeBroker
	for range 2 {
		f, server := socketBroker(t, (*httptest.Server).Start)
		brokers, urls = append(brokers, f), append(urls, "ws"+server.URL[len("http"):]+"/ws")
	}
	const moves, each = 20, 10
	played := make(chan struct{})
	go func() {
		defer close(played)
		last := uint64(0)
		var old *peer
		for i := range moves + 1 {
			p := brokers[i%2].accept()
			hello := expect[protocol.Hello](p, protocol.OpHello)
			if old != nil {
				last++
				old.send(notify("s1", last, 0)) // before the new one welcomes
			}
			w := welcomeFor(hello, "one")
			w.Brokers = nil
			p.send(w)
			for _, s := range hello.Subscriptions {
				p.send(subscribedTo(s.ID))
			}
			for seq := hello.Num["s1"] + 1; seq <= last; seq++ {
				p.send(notify("s1", seq, 0))
			}
			for range each {
				last++
				p.send(notify("s1", last, 0))
			}
			if old != nil {
				old.cut()
			}
			old = p
		}
		old.end()
	}()
	handled := make(chan uint64, 10000)
	relayed := 0
	client, err := Dial(t.Context(), Config{Brokers: urls[:1], Client: "me", Handle: func(e Event) {
		switch e := e.(type) {
		case *Notification:
			handled <- e.Seq
		case *HandedOver:
			relayed++
			if e.First != e.Last+1 || e.Took > time.Minute {
				t.Errorf("%+v", e)
			}
		case *Gap, *Fault, *Detached, *Stayed:
			t.Errorf("%T %+v", e, e)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := uint64(0)
	take := func(count int) {
		for range count {
			if want++; want != <-handled {
				t.Fatalf("expected %d", want)
			}
		}
	}
	take(each)
	for i := range moves {
		if err := client.Move(t.Context(), urls[(i+1)%2]); err != nil {
			t.Fatal(err)
		}
		take(each + 1)
	}
	client.Close()
	<-played
	if relayed != moves {
		t.Errorf("%d hand-overs told, expected %d", relayed, moves)
	}
}
