package run

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"callboard/player"
)

// event is what a recording holds beside messages: sessions that begin and
// end, what is known of devices, losses. In a Player log it stands in a line
// "## callboard {…}", in an MCAP file in a message of its own topic.
type event struct {
	Event  string   `json:"event"` // Kind: up, known, lost, down
	Robot  string   `json:"robot"`
	World  string   `json:"world,omitempty"`
	Player string   `json:"player,omitempty"` // host:port of its server
	Logged string   `json:"logged,omitempty"` // RFC 3339; of a log only
	Lost   uint64   `json:"lost,omitempty"`
	Goes   bool     `json:"continued,omitempty"` // of up: Record.Continued
	Device []device `json:"devices,omitempty"`
}

// device is a player.Device, whole, and how its messages are addressed in the
// recording.
type device struct {
	Host     uint32    `json:"host"` // as player.Addr has it
	Port     uint32    `json:"port"` // of the Player server: Player's word is robot
	Name     string    `json:"device"`
	Driver   string    `json:"driver,omitempty"`
	Geometry *geometry `json:"geometry,omitempty"`
	Config   []number  `json:"config,omitempty"` // of a ranger: min_angle max_angle angular_res min_range max_range range_res frequency
}

type geometry struct {
	Pose     []number   `json:"pose"` // x y z roll pitch yaw, m and rad
	Size     []number   `json:"size"` // width (y) length (x) height, m
	Elements [][]number `json:"elements,omitempty"`
	Sizes    [][]number `json:"element_sizes,omitempty"`
}

// number is a float64 that JSON text brings back to the bit, but for what a
// NaN holds: real drivers leave fields as they were in memory.
type number float64

// MarshalJSON writes what JSON has no number for as text.
func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.AppendQuote(nil, strconv.FormatFloat(v, 'g', -1, 64)), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
}

// UnmarshalJSON reads it.
func (n *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil {
		return fmt.Errorf("%s is no number", b)
	}
	*n = number(v)
	return nil
}

func poseNumbers(p player.Pose) []number {
	return []number{number(p.X), number(p.Y), number(p.Z), number(p.Roll), number(p.Pitch), number(p.Yaw)}
}

func poseOf(n []number) (player.Pose, error) {
	if len(n) != 6 {
		return player.Pose{}, fmt.Errorf("a pose has %d numbers, expected 6", len(n))
	}
	return player.Pose{X: float64(n[0]), Y: float64(n[1]), Z: float64(n[2]), Roll: float64(n[3]), Pitch: float64(n[4]), Yaw: float64(n[5])}, nil
}

func sizeNumbers(s player.Size) []number {
	return []number{number(s.W), number(s.L), number(s.H)}
}

func sizeOf(n []number) (player.Size, error) {
	if len(n) != 3 {
		return player.Size{}, fmt.Errorf("a size has %d numbers, expected 3", len(n))
	}
	return player.Size{W: float64(n[0]), L: float64(n[1]), H: float64(n[2])}, nil
}

func describe(d *player.Device) device {
	out := device{Host: d.Host, Port: d.Addr.Robot, Name: d.Addr.String(), Driver: d.Driver}
	if g := d.Geometry; g != nil {
		out.Geometry = &geometry{Pose: poseNumbers(g.Pose), Size: sizeNumbers(g.Size)}
		for _, e := range g.Elements {
			out.Geometry.Elements = append(out.Geometry.Elements, poseNumbers(e))
		}
		for _, s := range g.ElementSizes {
			out.Geometry.Sizes = append(out.Geometry.Sizes, sizeNumbers(s))
		}
	}
	if c := d.Config; c != nil {
		for _, v := range []float64{c.MinAngle, c.MaxAngle, c.AngularRes, c.MinRange, c.MaxRange, c.RangeRes, c.Frequency} {
			out.Config = append(out.Config, number(v))
		}
	}
	return out
}

// known makes the Device again.
func (d *device) known(robot, world string) (*player.Device, error) {
	addr, err := addressOf(d.Name)
	if err != nil {
		return nil, err
	}
	addr.Host, addr.Robot = d.Host, d.Port
	out := &player.Device{Addr: addr, Robot: robot, World: world, Driver: d.Driver}
	if out.Geometry, err = d.Geometry.known(); err != nil {
		return nil, err
	}
	switch c := d.Config; len(c) {
	case 0:
	case 7:
		out.Config = &player.RangerConfig{
			MinAngle: float64(c[0]), MaxAngle: float64(c[1]), AngularRes: float64(c[2]),
			MinRange: float64(c[3]), MaxRange: float64(c[4]), RangeRes: float64(c[5]), Frequency: float64(c[6]),
		}
	default:
		return nil, fmt.Errorf("a configuration has %d numbers, expected 7", len(c))
	}
	return out, nil
}

func (g *geometry) known() (*player.Geometry, error) {
	if g == nil {
		return nil, nil
	}
	pose, err := poseOf(g.Pose)
	if err != nil {
		return nil, err
	}
	size, err := sizeOf(g.Size)
	if err != nil {
		return nil, err
	}
	out := &player.Geometry{Pose: pose, Size: size}
	for _, e := range g.Elements {
		one, err := poseOf(e)
		if err != nil {
			return nil, err
		}
		out.Elements = append(out.Elements, one)
	}
	for _, s := range g.Sizes {
		one, err := sizeOf(s)
		if err != nil {
			return nil, err
		}
		out.ElementSizes = append(out.ElementSizes, one)
	}
	return out, nil
}

// addressOf reads interface:index.
func addressOf(name string) (player.Addr, error) {
	interf, index, found := strings.Cut(name, ":")
	code, known := player.ParseInterface(interf)
	n, err := strconv.ParseUint(index, 10, 16)
	if !known { // a plug-in's has no name
		if plain, err := strconv.ParseUint(interf, 10, 16); err == nil {
			code, known = player.Interface(plain), true
		}
	}
	if !found || !known || err != nil {
		return player.Addr{}, fmt.Errorf("%q is no device, expected interface:index", name)
	}
	return player.Addr{Interf: code, Index: uint16(n)}, nil
}

// eventOf makes the event of a record that is not Data.
func eventOf(r *Record) event {
	e := event{Event: r.Kind.String(), Robot: r.Robot, World: r.World, Player: r.Player, Lost: r.Count, Goes: r.Continued}
	for _, d := range r.Devices {
		e.Device = append(e.Device, describe(d))
	}
	if r.Device != nil {
		e.Device = append(e.Device, describe(r.Device))
	}
	return e
}

// text is the event as one word: JSON without blanks, so that a log's line of
// it has three words. Four would make the third a version for Player's reader.
func (e event) text() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(bytes.TrimSpace(b.Bytes()), []byte(" "), []byte(`\u0020`)), nil
}

// parseEvent reads it. What a later version may add is ignored.
func parseEvent(text []byte) (*Record, error) {
	var e event
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, err
	}
	r := &Record{Robot: e.Robot, World: e.World, Player: e.Player, Count: e.Lost, Continued: e.Goes}
	if e.Robot == "" {
		return nil, fmt.Errorf("an event without robot")
	}
	if e.Logged != "" {
		at, err := time.Parse(time.RFC3339Nano, e.Logged)
		if err != nil {
			return nil, err
		}
		r.Logged = at
	}
	for i := range e.Device {
		d, err := e.Device[i].known(e.Robot, e.World)
		if err != nil {
			return nil, err
		}
		r.Devices = append(r.Devices, d)
	}
	switch e.Event {
	case "up":
		r.Kind = Up
	case "known":
		if len(r.Devices) != 1 {
			return nil, fmt.Errorf("%d devices are known, expected 1", len(r.Devices))
		}
		r.Kind, r.Device, r.Devices = Known, r.Devices[0], nil
	case "lost":
		r.Kind = Lost
	case "down":
		r.Kind = Down
	default:
		return nil, fmt.Errorf("event %q, expected up, known, lost or down", e.Event)
	}
	return r, nil
}
