package adhoc

import (
	"bytes"
	"testing"

	"callboard/bridge/overlay"
)

// TestNextLife: a broker that begins again is a neighbour once its earlier life has been
// silent for 5 beats.
func TestNextLife(t *testing.T) {
	a := newAir(t, 2)
	a.run(10)
	a.expect(0, "b1")
	a.finders = a.finders[:1]
	a.add(Config{Network: "field", Key: key, Self: id(1), Boot: 77})
	a.run(silent + 3)
	a.expect(0, "b1")
	a.expect(1, "b0")
}

// TestOwnBeacon: a beacon that comes back to its sender is nobody else's.
func TestOwnBeacon(t *testing.T) {
	a := newAir(t, 1)
	a.run(2)
	for _, d := range a.sent {
		if err := a.finders[0].Hear(a.now, d, "10.0.0.1"); err != nil {
			t.Error(err)
		}
	}
	if s := a.finders[0].Stats(); s.OwnID != 0 {
		t.Errorf("%+v", s)
	}
}

// TestKeyOfLife: two lives number their beacons alike, so each has a key of its own.
func TestKeyOfLife(t *testing.T) {
	s := newSeal("field", key)
	plain := []byte("the same")
	if one, other := s.of(1).Seal(nil, nonce(1), plain, nil), s.of(2).Seal(nil, nonce(1), plain, nil); bytes.Equal(one, other) {
		t.Errorf("%x twice", one)
	}
}

// TestCostFlickers: a cost that is another for one beat only is not told (H2).
func TestCostFlickers(t *testing.T) {
	a := newAir(t, 1)
	f := a.finders[0]
	o := &other{id: "b1", first: 1, last: 20, heard: 1<<recent - 1, at: a.now, linked: true, cost: overlay.CostOne}
	for range 6 {
		o.there = recent / 2
		f.weigh(o, a.now)
		o.there = recent
		f.weigh(o, a.now)
	}
	if out := f.Outputs(); len(out) > 0 {
		t.Errorf("told %d times", len(out))
	}
	o.there = recent / 2
	f.weigh(o, a.now)
	f.weigh(o, a.now)
	if out := f.Outputs(); len(out) != 1 {
		t.Errorf("told %d times; expected once", len(out))
	}
}
