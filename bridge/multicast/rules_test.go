package multicast

import (
	"testing"
	"time"
)

// nack has a member of the lab ask for numbers, by a datagram of its own.
func (l *lab) nack(rank uint16, packet uint64, spans ...span) {
	var content []byte
	for _, s := range spans {
		content = appendSpan(content, s)
	}
	l.step(0, &Received{Datagram: seal(Head{Kind: KindNACK, Rank: rank, Packet: packet}, content)})
}

// TestNothingBelowLow: what all members have is not sent again (X3).
func TestNothingBelowLow(t *testing.T) {
	l := newLab(t, 2, nil)
	for range 100 {
		l.say(10)
	}
	l.pass(time.Second) // statuses
	st := l.segments[0].Status()
	if st.Low != st.Next {
		t.Fatalf("low %d, next %d", st.Low, st.Next)
	}
	l.nack(1, 1<<40, span{1, 100})
	l.say(10)
	l.nack(1, 1<<40+1, span{1, 101})
	if sent := l.segments[0].Status().Sent; sent.Repairs != 1 {
		t.Errorf("%d repairs; expected that of the last one", sent.Repairs)
	}
}

// TestOnceWhileItWaits: a repair that waits for tokens goes once, whoever asks for it
// meanwhile (X3).
func TestOnceWhileItWaits(t *testing.T) {
	l := newLab(t, 3, func(c *Config) { c.Sender.Rate = 1e6 })
	l.lose = func(int, []byte) bool { return true } // so that nobody has it
	for range 60 {
		l.say(1000)
	}
	for rank := uint16(1); rank <= 3; rank++ {
		l.nack(rank, 1<<40, span{1, 1})
	}
	l.pass(60 * time.Millisecond)
	if sent := l.segments[0].Status().Sent; sent.Repairs > 1 {
		t.Errorf("%d repairs of what three have asked for at once", sent.Repairs)
	}
}

// TestHalfForRepairs: while data waits, repairs have no more than half of the
// tokens, and data no more than the other half.
func TestHalfForRepairs(t *testing.T) {
	l := newLab(t, 2, func(c *Config) { c.Sender.Rate = 10e6 })
	l.lose = func(int, []byte) bool { return true }
	for range 1000 {
		l.say(1000)
	}
	before := l.segments[0].Status()
	for i := range uint64(40) {
		l.nack(1, 1<<40+i, span{1, 40}) // all of what has gone, again and again
		l.pass(5 * time.Millisecond)
	}
	now := l.segments[0].Status()
	repairs, data := now.Sent.Repairs-before.Sent.Repairs, now.Sent.Datagrams-before.Sent.Datagrams
	if share := float64(repairs) / float64(repairs+data); now.Waiting == 0 || share < 0.45 || share > 0.55 {
		t.Errorf("%d repairs and %d datagrams, while %d bytes wait", repairs, data, now.Waiting)
	}
}

// TestRanksAreNew: a rank is never given again in a stream, since the one who had it
// has used its packet numbers.
func TestRanksAreNew(t *testing.T) {
	l := newLab(t, 2, nil)
	seen := map[uint16]bool{}
	for session := uint64(2); session < 20; session++ {
		rank, ok := l.segments[0].Rank(2)
		if !ok || seen[rank] {
			t.Fatalf("rank %d, %v; given before: %v", rank, ok, seen)
		}
		seen[rank] = true
		l.segments[0].Step(l.now, &Down{2})
		l.segments[2].Step(l.now, &Down{1000})
		l.segments[0].Step(l.now, &Up{Session: 2})
		offers := l.carried(0)
		l.segments[2].Step(l.now, &Up{Session: 1000})
		l.carry(2)
		l.deliver(offers)
		l.pass(time.Second)
	}
}
