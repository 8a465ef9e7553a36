package bridge_test

import (
	"fmt"
	"testing"

	"callboard/bridge/benchtest"
)

// BenchmarkReading is a reading's whole way: a robot's scan of 181 beams over
// Player's protocol, tested, numbered, encoded, written to real WebSockets,
// and read there. B/op with more subscribers tells what each costs: a reading
// is encoded once.
func BenchmarkReading(b *testing.B) {
	for _, subscribers := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("subscribers=%d", subscribers), func(b *testing.B) {
			benchmarkRounds(b, subscribers, 0)
		})
	}
}

// BenchmarkFarReadings is ten readings of which one matches.
func BenchmarkFarReadings(b *testing.B) { benchmarkRounds(b, 1, 9) }

func benchmarkRounds(b *testing.B, subscribers, far int) {
	fleet, err := benchtest.NewFleet(1, 181)
	if err != nil {
		b.Fatal(err)
	}
	broker, err := benchtest.Start(b.Context(), fleet, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	crowd, err := broker.Crowd(b.Context(), subscribers, false)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := crowd.Round(b.Context(), 0, far); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := crowd.Close(); err != nil {
		b.Error(err)
	}
	if err := broker.Stop(); err != nil {
		b.Error(err)
	}
}
