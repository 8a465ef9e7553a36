package search_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"callboard/bridge/search"
	"callboard/subscribe/protocol"
	"callboard/subscribe/query"
)

// BenchmarkSearch searches a log of lasers, sonars and positions for what is
// not in it: what every message takes.
func BenchmarkSearch(b *testing.B) {
	content, err := os.ReadFile(filepath.Join(logs, "two-robots-laser-sonar.log"))
	if err != nil {
		b.Fatal(err)
	}
	content = bytes.Repeat(content, 40)
	for _, condition := range []string{"laser.min < 0", "position.x > 1000", "gps.altitude > 0"} {
		b.Run(condition, func(b *testing.B) {
			q, err := query.New(query.Config{Subscriptions: []protocol.Subscription{{ID: "c", Condition: condition}}})
			if err != nil {
				b.Fatal(err)
			}
			f := bytesOf(b, "x.log", content)
			b.SetBytes(int64(len(content)))
			b.ReportAllocs()
			for b.Loop() {
				s, err := search.New(search.Config{Sources: []search.Source{{File: f}}, Query: q, Format: word})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := s.Run(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(bytes.Count(content, []byte("\n"))), "lines")
		})
	}
}
