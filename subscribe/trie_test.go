package subscribe

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A trie is a map, each version for itself, iterated in order, whether it came
// by single changes or by edits of several.
func TestTrie(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			trie trie[int]
			want map[uint64]int
		}
		versions := []version{{want: map[uint64]int{}}}
		key := rapid.OneOf(rapid.Uint64Range(0, 40), rapid.Uint64Range(0, 5000), rapid.Uint64(), rapid.SampledFrom([]uint64{1<<64 - 1, 1 << 63, 31, 32, 1023, 1024}))
		for edit := range uint64(rapid.IntRange(1, 30).Draw(t, "edits")) {
			v := versions[len(versions)-1]
			next := version{v.trie, maps.Clone(v.want)}
			if rapid.Bool().Draw(t, "no edit") {
				edit = 0
			}
			for range rapid.SampledFrom([]int{1, 1, 2, 40}).Draw(t, "changes") {
				k := key.Draw(t, "key")
				if rapid.IntRange(0, 2).Draw(t, "what") == 0 {
					if len(next.want) > 0 && rapid.Bool().Draw(t, "known") {
						k = rapid.SampledFrom(slices.Sorted(maps.Keys(next.want))).Draw(t, "of")
					}
					next.trie = next.trie.without(k)
					delete(next.want, k)
				} else {
					value := rapid.Int().Draw(t, "value")
					next.trie = next.trie.with(edit, k, value)
					next.want[k] = value
				}
			}
			versions = append(versions, next)
		}
		for _, v := range versions {
			if v.trie.size != len(v.want) {
				t.Fatalf("size %d of %v", v.trie.size, v.want)
			}
			from := key.Draw(t, "from")
			var got, want []uint64
			v.trie.each(from, func(k uint64, value int) {
				if value != v.want[k] {
					t.Fatalf("%d is %d, expected %d", k, value, v.want[k])
				}
				got = append(got, k)
			})
			for _, k := range slices.Sorted(maps.Keys(v.want)) {
				if k >= from {
					want = append(want, k)
				}
				if value, ok := v.trie.get(k); !ok || value != v.want[k] {
					t.Fatalf("%d: %d, %v", k, value, ok)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("from %d: %v, expected %v", from, got, want)
			}
			if _, ok := v.trie.get(from); ok != slices.Contains(want, from) {
				t.Fatalf("%d: %v", from, ok)
			}
		}
	})
}
