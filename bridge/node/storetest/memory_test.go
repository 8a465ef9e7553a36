package storetest

import (
	"testing"

	"callboard/bridge/overlay"
)

// TestMemory holds the store of other tests against what every store does. How
// much of what nobody has been told survives a crash differs.
func TestMemory(t *testing.T) {
	for _, survives := range []int{0, 3, 1000} {
		var live func(m *Memory) *Life
		live = func(m *Memory) *Life {
			var records []overlay.Record
			for _, b := range m.batches {
				records = append(records, b...)
			}
			return &Life{
				Store: m, Records: records, Refuse: m.Refuse,
				Crash: func(TB) *Life { return live(NewMemory(m.Survive(survives))) },
				Close: func() {},
				Keep:  func(_ TB, more int) { m.Keep(more) },
			}
		}
		Test(t, func(TB) *Life { return live(NewMemory(nil)) })
	}
}
