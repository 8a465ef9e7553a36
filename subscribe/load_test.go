package subscribe

import (
	"testing"

	"callboard/subscribe/protocol"
)

// What the index finds weighs little, what each reading evaluates all; a
// client's sum is bounded.
func TestLoad(t *testing.T) {
	m, err := New(Config{ClientLoad: 3000})
	if err != nil {
		t.Fatal(err)
	}
	found := compile(t, m, protocol.Subscription{ID: "a", Condition: "any(laser.ranges, # < 1)"})
	evaluated := compile(t, m, protocol.Subscription{ID: "b", Condition: "sum(laser.ranges, # * #) > laser.min"})
	if f, e := found.Load(), evaluated.Load(); f != 1+found.Cost()/100 || e != 1+evaluated.Cost() || f > 10 {
		t.Errorf("load %d of cost %d, %d of %d", f, found.Cost(), e, evaluated.Cost())
	}
	if p := m.Admit(3000-evaluated.Load(), evaluated); p != nil {
		t.Error(p)
	}
	if p := m.Admit(3001-evaluated.Load(), evaluated); p == nil || p.Code != protocol.TooCostly {
		t.Errorf("%v; expected too costly", p)
	}
	if p := newMatcher(t).Admit(0, evaluated); p != nil {
		t.Error(p)
	}
}
