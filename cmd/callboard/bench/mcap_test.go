package bench

import "testing"

// Every case writes and reads what it says.
func TestMCAPWorkload(t *testing.T) {
	cases := map[string]int{}
	err := runMCAP(t.Context(), Values{"messages": 300, "beams": 181, "dir": t.TempDir()}, func(r Result) {
		if r.Value <= 0 {
			t.Errorf("%s: %s is %v", r.Case, r.Metric, r.Value)
		}
		cases[r.Case]++
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"laser 181, mcap plain", "laser 181, mcap drawn", "ranger 181, log"} {
		if cases[name] < 3 {
			t.Errorf("%s has %d figures", name, cases[name])
		}
	}
}
