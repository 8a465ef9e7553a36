//go:build !quick

package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"testing"

	"callboard/subscribe/protocol"
	"callboard/subscribe/query"
)

// The picture decodes, has the size that its panels have, and the colours of
// what is drawn, on white.
func TestPlotPicture(t *testing.T) {
	q, err := query.New(query.Config{Subscriptions: []protocol.Subscription{{ID: "a", Condition: "laser.min < 1"}, {ID: "b", Condition: "true"}}, Spans: true})
	if err != nil {
		t.Fatal(err)
	}
	d := &drawing{query: q, conditions: []string{"a", "b"}, texts: []string{"laser.min < 1", "true"}, values: []drawnValue{{name: "x"}, {name: "nothing"}}, first: 1.7e9, last: 1.7e9 + 100}
	for i, name := range []string{"r1", "r0"} {
		r := &drawnRobot{name: name, spans: make([]spans, 2), series: make([]series, 2)}
		r.spans[0].add(1.7e9+10, 1.7e9+20+float64(i))
		for k := range 200 {
			x := float64(k) / 10
			r.series[0].add(1.7e9+x, math.Sin(x+float64(i)))
			r.path.add(math.Cos(x/3), math.Sin(x/3), uint8(k>>6&1))
		}
		d.robots = append(d.robots, r)
	}
	var out bytes.Buffer
	if err := d.draw(&out, false); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	size := picture.Bounds().Size()
	if want := rowsFrame + 4*rowHeight + 2*valuesHigh + pathHigh; size.X != drawnWidth || size.Y < want || size.Y > want+20 {
		t.Errorf("%v pixels, expected %d by %d", size, drawnWidth, want)
	}
	seen := map[color.NRGBA]int{}
	for y := range size.Y {
		for x := range size.X {
			seen[color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)]++
		}
	}
	if white := seen[color.NRGBA{255, 255, 255, 255}]; white < size.X*size.Y*9/10 {
		t.Errorf("%d of %d pixels are white", white, size.X*size.Y)
	}
	if bars := seen[conditionInk(0)]; bars < 2*100*12 {
		t.Errorf("%d pixels have the condition's colour", bars)
	}
	if seen[robotInk(0)] == 0 {
		t.Error("no line has the robot's colour")
	}
	// An empty run has a picture, too.
	if err := (&drawing{query: q, conditions: []string{"a"}, texts: []string{"true"}, first: math.NaN(), last: math.NaN()}).draw(&out, false); err != nil {
		t.Error(err)
	}
}

// However long a run is, little is kept of it, and what is kept is right.
func TestPlotKeepsLittle(t *testing.T) {
	var s series
	var held spans
	var way trail
	low, high := math.Inf(1), math.Inf(-1)
	for i := range 300_000 {
		x := float64(i)
		v := math.Sin(x/1000) + 10*math.Sin(x*x)
		low, high = min(low, v), max(high, v)
		s.add(x, v)
		held.add(x, x+0.5)
		way.add(3*math.Cos(x/500), 2*math.Sin(x/333), uint8(i&1))
		if len(s.dots) > 2*maxPoints || len(held.all) > maxSpans || len(way.places) > maxPoints || len(way.cells) > maxPoints {
			t.Fatalf("after %d: %d dots, %d spans, %d places, %d cells", i, len(s.dots), len(held.all), len(way.places), len(way.cells))
		}
	}
	gotLow, gotHigh := math.Inf(1), math.Inf(-1)
	for i, d := range s.dots {
		gotLow, gotHigh = min(gotLow, d.y), max(gotHigh, d.y)
		if i > 0 && d.x <= s.dots[i-1].x {
			t.Fatalf("dot %d is at %v, behind %v", i, d.x, s.dots[i-1].x)
		}
	}
	if len(s.dots) < maxPoints/4 || math.Abs(gotLow-low) > 0.1 || math.Abs(gotHigh-high) > 0.1 {
		t.Errorf("%d dots from %v to %v, expected %v to %v", len(s.dots), gotLow, gotHigh, low, high)
	}
	if n := len(held.all); held.all[0][0] != 0 || held.all[n-1][1] != 299_999.5 {
		t.Errorf("held from %v to %v", held.all[0], held.all[n-1])
	}
	for _, q := range way.dots() {
		if math.Abs(q.x) > 3.1 || math.Abs(q.y) > 2.1 {
			t.Fatalf("a place at %v, %v", q.x, q.y)
		}
	}
}

// Where there are many robots each has a row, in whose colours their values are; as
// SVG, too.
func TestPlotOfManyRobots(t *testing.T) {
	q, err := query.New(query.Config{Subscriptions: []protocol.Subscription{{ID: "a", Condition: "laser.min < 1"}}, Spans: true})
	if err != nil {
		t.Fatal(err)
	}
	const n = 100
	d := &drawing{query: q, conditions: []string{"a"}, texts: []string{"laser.min < 1"}, values: []drawnValue{{name: "x"}}, first: 0, last: 100}
	for i := range n {
		r := &drawnRobot{name: fmt.Sprintf("r%d", n-1-i), spans: make([]spans, 1), series: make([]series, 1)}
		for k := range 100 {
			r.series[0].add(float64(k), float64(i))
		}
		d.robots = append(d.robots, r)
	}
	var out bytes.Buffer
	if err := d.draw(&out, false); err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	size := picture.Bounds().Size()
	if want := 2 * (rowsFrame + rowsHigh); size.Y < want || size.Y > want+20 {
		t.Errorf("%d high, expected %d", size.Y, want)
	}
	column := map[color.Color]bool{}
	for y := range size.Y {
		column[picture.At(drawnWidth/2, y)] = true
	}
	if len(column) < n {
		t.Errorf("%d colours, expected one for each of %d robots", len(column), n)
	}
	if d.robots[0].name != "r0" || d.robots[10].name != "r10" {
		t.Errorf("%s is the eleventh", d.robots[10].name)
	}
	if err := d.draw(&out, true); err != nil {
		t.Fatal(err)
	}
	for x := xml.NewDecoder(&out); ; {
		if _, err := x.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A threshold is a number with which a condition compares the value itself.
func TestThresholds(t *testing.T) {
	d := &drawing{texts: []string{"laser.min < 0.5 && 0.25 <= laser.min", "laser.min + 1 < 2 || 2 * laser.min > 3", "sonar.min < 1 and (laser.min >= -2)", "laser.minimum < 7"}}
	want := []threshold{{0, 0.5}, {0, 0.25}, {2, -2}}
	if got := d.thresholds(drawnValue{text: "laser.min"}); !slices.Equal(got, want) {
		t.Errorf("%v, expected %v", got, want)
	}
	if unit := unitOf("laser.min") + unitOf("laser.bearing") + unitOf("laser.min + 1") + unitOf("x"); unit != "mrad" {
		t.Errorf("units are %q", unit)
	}
}
