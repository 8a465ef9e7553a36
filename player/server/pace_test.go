package server_test

import (
	"testing"

	"callboard/player"
	"callboard/player/iface"
)

// Readings that wait for more to come are sent though no more come, in their
// order, and an answer does not wait with them.
func TestPacedReadingsArrive(t *testing.T) {
	r := tcp(t, nil)
	c := r.dial()
	c.open(position)
	at := 0.0
	for round := range 60 {
		for range round {
			at++
			r.driver.at(at)
		}
		if round%3 == 0 {
			c.send(self, player.Request, player.PlayerDevlist, nil)
		}
		for n := range round {
			c.expectTimes(at - float64(round-1-n))
		}
		if round%3 == 0 {
			c.is(c.next(), player.Ack, self, player.PlayerDevlist)
		}
	}
}

// What the socket does not take at once is written later, in order, whether it
// is one large reading or many small ones.
func TestWhatTheSocketDoesNotTakeIsWrittenLater(t *testing.T) {
	r := tcp(t, nil)
	c := r.dial()
	c.open(laser)
	sizes := []int{10, 15_000, 10, 50_000, 300_000, 10}
	const rounds = 20
	for i := range rounds {
		for n, size := range sizes {
			r.driver.pub.Publish(laser, 1, float64(i*len(sizes)+n), &iface.LaserData{Ranges: make([]float32, size)})
		}
	}
	for i := range rounds * len(sizes) {
		m := c.next()
		if want := sizes[i%len(sizes)]; m.Timestamp != float64(i) || len(m.Body) != 36+4*want {
			t.Fatalf("reading %d: %s at %v, %d bytes", i, m.Header, m.Timestamp, len(m.Body))
		}
	}
}
