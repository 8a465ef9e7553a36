package view

import (
	"fmt"
	"testing"

	"callboard/player"
	"callboard/player/iface"

	"github.com/google/go-cmp/cmp"
)

// again hands the messages that readings came of to a robot that knows nothing
// yet but the devices' geometry, as a recording does.
type again struct {
	t     *testing.T
	robot *Robot
	known map[address]*player.Device
}

func (g *again) take(messages []byte) {
	all, err := player.SplitMessages(messages)
	if err != nil || len(all) == 0 {
		g.t.Fatalf("%d messages: %v", len(all), err)
	}
	for _, m := range all {
		known, ok := iface.Lookup(m.Interf, m.Type, m.Subtype)
		if !ok {
			g.t.Fatalf("no message is %s", m.Header)
		}
		payload := known.New()
		if err := known.Decode(m.Body, payload); err != nil {
			g.t.Fatal(err)
		}
		d := g.known[address{m.Interf, m.Index}]
		if m.Type == player.Data {
			g.robot.Arrive(player.Reading{Device: d, Subtype: m.Subtype, Time: m.Timestamp, Payload: payload})
			continue
		}
		next := *d
		iface.Learn(payload, &next.Geometry, &next.Config)
		g.known[address{m.Interf, m.Index}] = &next
	}
}

// told is what a robot tells, with the messages that it came of if it keeps them.
func told(got *[]string, also func([]byte)) *Robot {
	return NewRobot(func(a *Arrival) {
		*got = append(*got, fmt.Sprintf("%s@%g %s", a.Name, a.Time, AppendText(nil, a.View)))
		also(a.Messages)
	})
}

// TestMessages: the messages that readings came of give the same readings again,
// of every interface, scans in parts too.
func TestMessages(t *testing.T) {
	ranger := dev(player.InterfaceRanger, 1)
	ranger.Geometry = &player.Geometry{Elements: make([]player.Pose, 1)}
	ring := dev(player.InterfaceRanger, 2)
	ring.Geometry = &player.Geometry{Elements: make([]player.Pose, 2)}
	devices := []*player.Device{ranger, ring}
	type message struct {
		device  *player.Device
		subtype uint8
		time    float64
		payload any
	}
	var sent []message
	for _, tt := range further {
		d := dev(tt.interf, 3)
		devices = append(devices, d)
		sent = append(sent, message{d, tt.subtype, 1, tt.payload})
	}
	scan := func(r float64) *iface.RangerDataRange { return &iface.RangerDataRange{Ranges: []float64{r, 2}} }
	for i := range 3 {
		at := 2 + float64(i)
		sent = append(sent,
			message{ranger, iface.DataRangerRange, at, scan(at)}, message{ranger, iface.DataRangerIntns, at, &iface.RangerDataIntns{Intensities: []float64{at, 7}}},
			message{ring, iface.DataRangerRange, at, scan(9)})
	}
	laser := dev(player.InterfaceLaser, 0)
	for i := range 3 { // as rangertolaser does: each twice
		half := &iface.LaserData{MinAngle: -1, MaxAngle: 1, MaxRange: 8, Ranges: []float32{float32(i), 1}}
		whole := *half
		whole.Intensity = []uint8{9, uint8(i)}
		sent = append(sent, message{laser, iface.DataLaserScan, 9 + float64(i), half}, message{laser, iface.DataLaserScan, 9 + float64(i), &whole})
	}

	var live, replayed []string
	g := &again{t: t, known: map[address]*player.Device{{laser.Interf, laser.Index}: laser}}
	g.robot = told(&replayed, func(messages []byte) {
		if messages != nil {
			t.Error("messages are kept that nobody wants")
		}
	})
	r := told(&live, g.take)
	for _, d := range devices {
		bare := *d
		g.known[address{d.Interf, d.Index}] = &bare
	}
	r.Keep(true)
	config := &player.RangerConfig{MinAngle: -1.5, MaxAngle: 1.5, MaxRange: 5, RangeRes: 0.25}
	for _, m := range sent {
		d := *m.device
		if d.Interf == player.InterfaceRanger {
			d.Config = config // which the messages tell
		}
		r.Arrive(player.Reading{Device: &d, Subtype: m.subtype, Time: m.time, Payload: m.payload})
	}
	r.Flush()
	g.robot.Flush()
	if diff := cmp.Diff(live, replayed); diff != "" || len(live) != len(further)+9 {
		t.Errorf("%d readings, of their messages (-live +again):\n%s", len(live), diff)
	}
}

// TestKeep: messages are kept from when on they are wanted. What is held then is
// given before: not with a part of its messages.
func TestKeep(t *testing.T) {
	ranger := dev(player.InterfaceRanger, 0)
	ranger.Geometry, ranger.Config = &player.Geometry{Elements: make([]player.Pose, 1)}, &player.RangerConfig{MaxRange: 8}
	var got []string
	r := NewRobot(func(a *Arrival) {
		all, err := player.SplitMessages(a.Messages)
		got = append(got, fmt.Sprintf("%g with %d messages, %v", a.Time, len(all), err))
	})
	send := func(at float64) {
		r.Arrive(player.Reading{Device: ranger, Subtype: iface.DataRangerRange, Time: at, Payload: &iface.RangerDataRange{Ranges: []float64{1}}})
	}
	complete := func(at float64) {
		r.Arrive(player.Reading{Device: ranger, Subtype: iface.DataRangerIntns, Time: at, Payload: &iface.RangerDataIntns{Intensities: []float64{1}}})
	}
	send(1)
	r.Keep(true)
	complete(1)
	send(2)
	complete(2)
	send(3)
	r.Keep(false)
	complete(3)
	want := []string{"1 with 0 messages, <nil>", "2 with 3 messages, <nil>", "3 with 2 messages, <nil>"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
