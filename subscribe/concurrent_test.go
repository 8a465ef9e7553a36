package subscribe

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/subscribe/protocol"
)

// Sessions test readings while one goroutine installs and others compile and
// ask: each reading meets a key's whole set, the old or the new.
func TestConcurrent(t *testing.T) {
	const rounds = 60
	m := newMatcher(t)
	var compiling, reading sync.WaitGroup
	sessions := make([]*Session, 2)
	stop := make(chan struct{})
	for i := range sessions {
		sessions[i] = m.NewSession(SessionConfig{Robot: fmt.Sprint("r", i), Emit: func(got *Matched) {
			for _, k := range got.Matches {
				if n := len(k.Subscriptions); n != 2 || k.Subscriptions[0].ID[1:] != k.Subscriptions[1].ID[1:] {
					t.Errorf("a mixture of sets: %+v", k)
				}
			}
		}})
		sessions[i].Up([]*player.Device{position0})
		reading.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
					sessions[i].Arrive(player.Reading{Device: position0, Time: float64(n), Payload: &iface.Position2DData{}})
				}
			}
		})
	}
	pair := func(n int) []*Subscription {
		return []*Subscription{
			compile(t, m, protocol.Subscription{ID: fmt.Sprint("a", n), Condition: fmt.Sprintf("position.x < %d", 1+n%5)}),
			compile(t, m, protocol.Subscription{ID: fmt.Sprint("b", n), Condition: "position.y < 1", Robots: []string{[]string{"r0", "r*"}[n%2], "r1"}}),
		}
	}
	compiling.Go(func() {
		for n := range rounds {
			compile(t, m, protocol.Subscription{ID: "x", Condition: fmt.Sprintf("position.x < %d", n)})
		}
	})
	for n := range rounds {
		set := pair(n)
		m.Install(Key(n%3), set)
		for _, s := range sessions {
			for before := s.Stats().Readings; s.Stats().Readings == before; { // tested with this set
				runtime.Gosched()
			}
			s.Counts(set[0])
			s.Stats()
		}
	}
	compiling.Wait()
	close(stop)
	reading.Wait()
}
