package bridge_test

import (
	"errors"
	"fmt"
	"runtime"
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
	crowd, err := newCrowd(b.Context(), broker, subscribers, false)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := crowd.round(b.Context(), 0, far); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := crowd.close(); err != nil {
		b.Error(err)
	}
	if err := broker.Stop(); err != nil {
		b.Error(err)
	}
}

// A reading is encoded once however many get it: a further subscriber costs less
// than half of the notification's size, and one that matches nobody next to nothing.
func TestReadingIsEncodedOnce(t *testing.T) {
	alone, size := readingCost(t, 1, 0)
	many, _ := readingCost(t, 100, 0)
	if each := (many - alone) / 99; size < 3000 || each > size/2 {
		t.Errorf("each further subscriber of a notification of %.0f bytes costs %.0f bytes", size, each)
	}
	const far = 9
	if with, _ := readingCost(t, 1, far); (with-alone)/far > 400 {
		t.Errorf("a reading that matches nobody costs %.0f bytes", (with-alone)/far)
	}
}

// readingCost returns the bytes that are allocated for a reading that matches,
// after so many that do not, and a notification's size.
func readingCost(t *testing.T, subscribers, far int) (cost, size float64) {
	fleet, err := benchtest.NewFleet(1, 181)
	if err != nil {
		t.Fatal(err)
	}
	broker, err := benchtest.Start(t.Context(), fleet, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	crowd, err := newCrowd(t.Context(), broker, subscribers, false)
	if err != nil {
		t.Fatal(err)
	}
	const warmUp, n = 50, 200
	var before, after runtime.MemStats
	for i := range warmUp + n {
		if i == warmUp {
			runtime.ReadMemStats(&before)
		}
		if err := crowd.round(t.Context(), 0, far); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if err := errors.Join(crowd.close(), broker.Stop()); err != nil {
		t.Error(err)
	}
	return float64(after.TotalAlloc-before.TotalAlloc) / n, crowd.size()
}
