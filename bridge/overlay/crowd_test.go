package overlay

import "testing"

// An inbox is crowded from more than half of its limits until a quarter, and
// no longer when it is gone.
func TestCrowded(t *testing.T) {
	b := &Broker{step: &step{cfg: Config{Inbox: Limits{Count: 8, Bytes: 1 << 20}}}}
	q := &sequence{buf: buffer{usage: &usage{}}}
	push := func(n int) {
		for range n {
			seq := q.buf.last + 1
			q.buf.push(seq, &Reading{}, &content{}, 0)
			b.note(q)
		}
	}
	expect := func(when string, want int) {
		t.Helper()
		if got := b.Crowded(); got != want {
			t.Errorf("%s: %d are crowded, expected %d", when, got, want)
		}
	}
	push(4)
	expect("half full", 0)
	push(1)
	expect("more than half full", 1)
	push(2)
	expect("fuller", 1)
	q.buf.drop(4)
	expect("3 of 8 left", 1)
	q.buf.drop(5)
	expect("2 of 8 left", 0)
	push(4)
	expect("again", 1)
	q.buf.free()
	expect("it is gone", 0)
	b.cfg.Inbox.Bytes = itemOverhead
	q.buf.push(q.buf.last+1, &Reading{}, &content{}, 0)
	b.note(q)
	expect("more than half of the bytes", 1)
}
