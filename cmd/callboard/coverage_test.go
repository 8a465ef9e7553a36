package main

import (
	"math"
	"testing"
	"time"

	callboard "callboard/clients/go"
	"callboard/sim"
	"callboard/subscribe/protocol"
	"callboard/worlds"
)

// TestCoverage: the cells share the floor out, each borders on the one before,
// and six lie as in the README.
func TestCoverage(t *testing.T) {
	low, high := sim.Point{X: -12, Y: -7}, sim.Point{X: 12, Y: 7}
	for n := 1; n <= maxBrokers; n++ {
		cells := coverage(n, low, high)
		if len(cells) != n {
			t.Fatalf("%d cells, expected %d", len(cells), n)
		}
		area := 0.0
		for i, c := range cells {
			area += (c.x1 - c.x0) * (c.y1 - c.y0)
			if i > 0 && !c.borders(cells[i-1]) {
				t.Errorf("of %d cells number %d does not border on the one before", n, i)
			}
		}
		if math.Abs(area-24*14) > 1e-6 {
			t.Errorf("%d cells cover %v m²", n, area)
		}
	}
	six := coverage(6, low, high)
	if six[0] != (cell{-12, 0, -4, 7}) || six[3] != (cell{4, -7, 12, 0}) || six[0].borders(six[3]) || six[0].borders(six[4]) || !six[0].borders(six[5]) || !six[1].borders(six[4]) {
		t.Errorf("six cells: %v", six)
	}
	// A border is left only when it is left behind.
	if got := []int{at(six, -4.1, 3, -1), at(six, -3.9, 3, 0), at(six, -3.7, 3, 0), at(six, 99, 3, 0)}; got[0] != 0 || got[1] != 0 || got[2] != 1 || got[3] != -1 {
		t.Errorf("cells %v", got)
	}
}

// TestSteering: a robot that does as it is told gets round, near the way.
func TestSteering(t *testing.T) {
	for i := range 2 {
		way := worlds.Round(i)
		s := newSteering(way, 0.8)
		x, y, yaw := way[0].X, way[0].Y, math.Atan2(way[1].Y-way[0].Y, way[1].X-way[0].X)
		places := map[int]bool{}
		for range 900 {
			v, turn := s.next(x, y, yaw)
			yaw += turn * 0.1
			x, y = x+v*0.1*math.Cos(yaw), y+v*0.1*math.Sin(yaw)
			if d := math.Hypot(way[s.place].X-x, way[s.place].Y-y); d > 0.4 {
				t.Fatalf("%.1f m off its way at %.1f, %.1f", d, x, y)
			}
			places[at(coverage(6, sim.Point{X: -12, Y: -7}, sim.Point{X: 12, Y: 7}), x, y, -1)] = true
		}
		if len(places) != 6 {
			t.Errorf("it came through the coverage of %d brokers in 90 s", len(places))
		}
		s.front = 0.3
		if v, _ := s.next(x, y, yaw); v != 0 {
			t.Errorf("it drives at %v m/s into what is before it", v)
		}
	}
}

// TestTally: what is lost or doubled is counted, by numbers and by times, and
// what is not is not.
func TestTally(t *testing.T) {
	tally := newTally(100 * time.Millisecond)
	note := func(seq, skipped uint64, at float64) {
		tally.notified("p", &callboard.Notification{Notify: protocol.Notify{Source: "s", Seq: seq, Skipped: skipped, Robot: "r", Interface: "laser", Time: at}}, true)
	}
	expect := func(what string, delivered, lost, doubled uint64) {
		t.Helper()
		if got := tally.told(); got.Delivered != delivered || got.Lost != lost || got.Doubled != doubled {
			t.Errorf("%s: %+v", what, got)
		}
	}
	note(1, 0, 1.0)
	note(2, 0, 1.1)
	note(5, 2, 1.2)
	expect("passed over", 3, 0, 0)
	note(5, 0, 1.2)
	expect("twice", 4, 0, 1)
	note(8, 0, 1.3)
	expect("two numbers missing", 5, 2, 1)
	note(9, 0, 1.6)
	expect("two readings missing under a right number", 6, 4, 1)
	note(10, 0, 1.6)
	expect("a reading twice under a right number", 7, 4, 2)
	tally.overflow("r", 3)
	note(11, 0, 1.9)
	expect("readings that no broker had", 8, 4, 2)
	to := uint64(15)
	tally.gap("p", &callboard.Gap{Gap: protocol.Gap{Source: "s", From: 12, To: &to}})
	note(16, 0, 2.0)
	expect("a gap", 9, 8, 2)
	for i := range 200 {
		tally.handedOver(roamed{Took: float64(i+1) / 1000})
	}
	if got := tally.told(); got.Roams != 200 || got.P50 != 0.1 || got.P99 != 0.198 || len(got.Recent) != recentRoams || got.Recent[0].Took != 0.2 {
		t.Errorf("hand-overs: %+v", got)
	}
}
