package few

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestMap: it is as Go's map is, whatever is done to it.
func TestMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m Map[string, int]
		want := map[string]int{}
		key := func() string { return rapid.StringMatching("[a-z]").Draw(t, "key") }
		same := func() {
			if diff := cmp.Diff(want, maps.Collect(m.All())); diff != "" {
				t.Fatalf("(-want +got):\n%s", diff)
			}
			if m.Len() != len(want) || len(slices.Collect(m.Keys())) != len(want) {
				t.Fatalf("%d keys, want %d", m.Len(), len(want))
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, v := key(), rapid.Int().Draw(t, "value")
				m.Put(k, v)
				want[k] = v
			},
			"delete": func(*rapid.T) {
				k := key()
				m.Delete(k)
				delete(want, k)
			},
			"get": func(t *rapid.T) {
				k := key()
				v, ok := m.Lookup(k)
				if w, has := want[k]; v != w || ok != has || m.Get(k) != w {
					t.Fatalf("%q is %v, %v; want %v, %v", k, v, ok, w, has)
				}
			},
			"delete while ranging": func(*rapid.T) {
				k := key()
				var seen []string
				for one := range m.All() {
					seen = append(seen, one)
					if one <= k {
						m.Delete(one)
						delete(want, one)
					}
				}
				slices.Sort(seen)
				if len(slices.Compact(slices.Clone(seen))) != len(seen) {
					t.Fatalf("ranged over %v", seen)
				}
			},
			"": func(*rapid.T) { same() },
		})
	})
}

// TestSmall: a map of one key takes what that takes.
func TestSmall(t *testing.T) {
	var m *Map[string, uint64]
	allocations := testing.AllocsPerRun(100, func() {
		m = &Map[string, uint64]{}
		m.Put("b1", 7)
	})
	if allocations > 2 || m.Get("b1") != 7 {
		t.Errorf("%v allocations; want 2", allocations)
	}
}
