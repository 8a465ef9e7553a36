package overlaytest

import "testing"

// BenchmarkSeed is what a seed costs, both runs.
func BenchmarkSeed(b *testing.B) {
	for _, k := range kinds {
		b.Run(k.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				if _, wrong := twice(uint64(i), k.Config); wrong != "" {
					b.Fatal(wrong)
				}
			}
		})
	}
}
