package bridge_test

import (
	"strings"
	"testing"
	"time"

	"callboard/bridge/benchtest"
	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"
)

// BenchmarkLatest is a reader that takes 200 ms a reading, of a laser at 100 Hz.
// One operation is a reading; max-age-s is how old the oldest was when the reader
// took it: with latest two of its periods at most.
func BenchmarkLatest(b *testing.B) {
	const pace, period = 10 * time.Millisecond, 200 * time.Millisecond
	for _, keep := range []string{protocol.KeepLatest, protocol.KeepAll} {
		b.Run(keep, func(b *testing.B) {
			fleet, err := benchtest.NewFleet(1, 181)
			if err != nil {
				b.Fatal(err)
			}
			broker, err := benchtest.Start(b.Context(), fleet, b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			c, err := callboard.Dial(b.Context(), callboard.Config{Brokers: []string{"ws" + strings.TrimPrefix(broker.URL(), "http") + "/ws"}, Client: "slow"})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := c.Subscribe(b.Context(), protocol.Subscription{ID: "a", Condition: "laser.min < 1", Keep: keep}); err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			stop, stopped := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(stopped)
				for tick := time.NewTicker(pace); ; {
					select {
					case <-tick.C:
						fleet.Publish(0, true, time.Since(began).Seconds())
					case <-stop:
						tick.Stop()
						return
					}
				}
			}()
			oldest := 0.0
			for b.Loop() {
				for {
					n, ok := (<-c.Events()).(*callboard.Notification)
					if !ok {
						continue
					}
					oldest = max(oldest, time.Since(began).Seconds()-n.Time)
					time.Sleep(period)
					break
				}
			}
			b.ReportMetric(oldest, "max-age-s")
			close(stop)
			<-stopped
			c.Close()
			if err := broker.Stop(); err != nil {
				b.Error(err)
			}
		})
	}
}
