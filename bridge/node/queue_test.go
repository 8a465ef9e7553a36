package node

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"callboard/subscribe"
)

func TestQueueKeepsOrderAndBounds(t *testing.T) {
	q := newQueue[int](2, 4)
	for i := range 4 {
		if !q.offer(i, 1) {
			t.Fatalf("no room for %d", i)
		}
	}
	if q.offer(4, 1) {
		t.Error("a full queue took a reading")
	}
	q.must(5)
	got := q.take(nil)
	if len(got) != 5 || got[0] != 0 || got[3] != 3 || got[4] != 5 {
		t.Errorf("took %v", got)
	}
	if q.length() != 0 || len(q.take(got)) != 0 {
		t.Error("something is left")
	}
}

func TestPostWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue[int](1, 10)
		if err := q.post(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		posted := make(chan error, 2)
		go func() { posted <- q.post(t.Context(), 2) }()
		synctest.Wait()
		if len(posted) != 0 || q.length() != 1 {
			t.Fatal("post did not wait")
		}
		q.take(nil)
		if err := <-posted; err != nil || q.length() != 1 {
			t.Errorf("post gave %v, %d wait", err, q.length())
		}
		ctx, cancel := context.WithCancel(t.Context())
		go func() { posted <- q.post(ctx, 3) }()
		synctest.Wait()
		cancel()
		if err := <-posted; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled post gave %v", err)
		}
		go func() { posted <- q.post(t.Context(), 4) }()
		synctest.Wait()
		q.close()
		if err := <-posted; !errors.Is(err, errStopped) {
			t.Errorf("a closed queue gave %v", err)
		}
		if q.offer(5, 1) {
			t.Error("a closed queue took a reading")
		}
	})
}

// TestQueueBytes: readings that many subscriptions match wait in bounded memory,
// whatever their number; who can wait does so in time.
func TestQueueBytes(t *testing.T) {
	q := newQueue[int](2, 1000)
	q.maxBytes = 100
	if !q.offer(1, 500) || q.offer(2, 1) {
		t.Error("expected one that is too large by itself to be taken, and nothing beside it")
	}
	q.take(nil)
	for i, bytes := range []int{20, 5, 75, 1} {
		if full := q.full() != nil; full != (i > 1) {
			t.Errorf("before reading %d: who can wait is to wait: %v", i, full)
		}
		if taken := q.offer(i, bytes); taken != (i < 3) {
			t.Errorf("reading %d of %d bytes was taken: %v", i, bytes, taken)
		}
	}
	m := &subscribe.Matched{Reading: make([]byte, 1000), Matches: []subscribe.KeyMatches{{Subscriptions: []subscribe.Match{{Values: make([]byte, 500)}, {}}}}}
	if bytes := weight(m); bytes < 1600 || bytes > 1700 {
		t.Errorf("a reading of 1,000 bytes with values of 500 and two matches weighs %d", bytes)
	}
}

func TestSetAt(t *testing.T) {
	s := &tested{from: []versionOf{{version: 10, set: 1}, {version: 20, set: 2}, {version: 21, set: 3}}}
	for version, want := range map[uint64]uint64{5: 1, 10: 1, 19: 1, 20: 2, 21: 3, 99: 3} {
		if got := s.by(version); got != want {
			t.Errorf("a reading tested by version %d belongs to set %d, expected %d", version, got, want)
		}
	}
}
