package link

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"

	"callboard/bridge/overlay"
)

// arrivals counts what arrives.
type arrivals struct {
	up   chan uint64
	got  atomic.Int64
	want int64
	done chan struct{}
}

func (a *arrivals) Up(_ overlay.BrokerID, session uint64) { a.up <- session }
func (a *arrivals) Down(overlay.BrokerID, uint64)         {}
func (a *arrivals) Frame(_ overlay.BrokerID, _ uint64, m []overlay.Message) {
	if a.got.Add(int64(len(m))) == a.want {
		close(a.done)
	}
}

// varied is a scan whose ranges differ from reading to reading, as a laser's do.
func varied(n int) *overlay.NotifyMessage {
	m := reading(n)
	var b bytes.Buffer
	b.WriteString(`{"ranges":[`)
	rng := rand.New(rand.NewPCG(uint64(n), 0))
	for i := range 180 {
		fmt.Fprintf(&b, "%.3f,", 2+float64(i)/100+0.02*rng.NormFloat64())
	}
	b.WriteString(`8]}`)
	m.Reading.JSON = b.Bytes()
	return m
}

// BenchmarkLink sends scans over TCP on loopback, one in a frame.
func BenchmarkLink(b *testing.B) {
	for _, compress := range []bool{false, true} {
		b.Run(fmt.Sprintf("compress=%v", compress), func(b *testing.B) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			two := &arrivals{up: make(chan uint64, 1), want: int64(b.N), done: make(chan struct{})}
			one := &arrivals{up: make(chan uint64, 1), want: -1}
			start := func(cfg Config) (*Links, func()) {
				cfg.Compress = compress
				cfg.QueueBytes = 1 << 30
				l, err := New(cfg)
				if err != nil {
					b.Fatal(err)
				}
				return l, runUntilStopped(l)
			}
			_, stop2 := start(Config{Self: "b2", Neighbours: []Neighbour{{ID: "b1"}}, Listener: listener, Handler: two})
			defer stop2()
			l1, stop1 := start(Config{Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: listener.Addr().String()}}, Handler: one})
			defer stop1()
			session := <-one.up
			var scans []*overlay.Frame
			for i := range 200 {
				scans = append(scans, frameTo("b2", session, varied(i)))
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := range b.N {
				l1.Send(scans[i%len(scans)])
			}
			<-two.done
			b.StopTimer()
			st := l1.Status()[0].Sent
			b.ReportMetric(float64(st.Bytes)/float64(b.N), "B/notify")
			b.ReportMetric(float64(len(varied(0).Reading.JSON)), "B/reading")
		})
	}
}
