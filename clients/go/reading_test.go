package callboard

import (
	"encoding/json"
	"math"
	"testing"

	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestValues(t *testing.T) {
	n := &Notification{Notify: protocol.Notify{Subscriptions: []protocol.Matched{
		{ID: "all"}, {ID: "near", Values: json.RawMessage(`{"min":0.5,"stall":false,"text":"x","none":null}`)},
	}}}
	if diff := cmp.Diff(map[string]any{"min": 0.5, "stall": false, "text": "x", "none": nil}, n.Values("near")); diff != "" {
		t.Error(diff)
	}
	for _, id := range []string{"all", "other"} {
		if got := n.Values(id); got != nil {
			t.Errorf("%s: %v", id, got)
		}
	}
}

func TestReadingTypes(t *testing.T) {
	reading := func(i, text string) *Notification {
		return &Notification{Notify: protocol.Notify{Interface: i, Reading: json.RawMessage(text)}}
	}
	scan := reading("ranger", `{"ranges":[1,null,0.5],"count":3,"min":0.5,"angle_min":-1,"index":2}`)
	got, ok := scan.Laser()
	nan := math.NaN()
	want := Laser{
		Ranges: Floats{1, nan, 0.5}, Count: 3, Min: 0.5, AngleMin: -1, Index: 2,
		Max: nan, Bearing: nan, AngleMax: nan, Resolution: nan, MaxRange: nan, Front: nan, Left: nan, Right: nan, Time: nan,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); !ok || diff != "" {
		t.Errorf("%t %s", ok, diff)
	}
	if _, ok := scan.Sonar(); ok {
		t.Error("a scan is a ring of sonars")
	}
	if r, ok := reading("ranger", `{"ranges":[1,2],"nearest":1,"min":1}`).Sonar(); !ok || r.Nearest != 1 || r.Min != 1 {
		t.Errorf("%+v %t", r, ok)
	}
	if r, ok := reading("position2d", `{"x":1,"y":null,"vx":2,"stall":true}`).Position(); !ok || r.X != 1 || !math.IsNaN(r.Y) || !r.Stall {
		t.Errorf("%+v %t", r, ok)
	}
	for _, n := range []*Notification{reading("position2d", `{"x":"1","vx":2}`), reading("laser", `{}`), {Notify: protocol.Notify{Interface: "position2d"}}} {
		if r, ok := n.Position(); ok {
			t.Errorf("%s is %+v", n.Reading, r)
		}
	}
}
