package playercfg

import (
	"fmt"
	"slices"
	"strings"

	"callboard/player"
	"callboard/player/problem"
)

// Driver is a driver section.
type Driver struct {
	Name     string
	Plugin   string // the library that it comes from, "": built in
	Provides []Address
	Requires []Address
	AlwaysOn bool // it starts with the server, not with its first client
	*Section      // its options
}

// interpret makes drivers of the sections, as Player does at its start.
func (f *File) interpret(r *reporter) {
	f.Interfaces = map[string]int{}
	for _, s := range f.Global.Sections {
		if s.Type == "interface" {
			f.addInterface(r, s)
		}
	}
	for _, s := range f.Global.Sections {
		switch s.Type {
		case "driver":
			f.addDriver(r, s)
		case "interface":
		default:
			r.warnf(s.Pos, "no driver reads a section %q here; expected driver or interface", problem.Short(s.Type))
		}
	}
	f.duplicates(r)
	provided := false
	for _, d := range f.Drivers {
		provided = provided || len(d.Provides) > 0
	}
	if !provided {
		r.errorf(problem.Place{File: f.Name, Line: 1, Column: 1}, "no driver provides a device; expected at least one: Player ends without")
	}
}

// addInterface reads an interface that a plug-in brings.
func (f *File) addInterface(r *reporter, s *Section) {
	name := s.Text("name", 0, "")
	code := s.Int("code", 0, 0)
	if name == "" || code < 1 || code > 65535 {
		r.errorf(s.Pos, "interface %q has code %d; expected a name and a code from 1 to 65535", problem.Short(name), code)
		return
	}
	if other, ok := player.ParseInterface(name); ok {
		r.warnf(s.Pos, "interface %q is also Player's own (code %d)", name, other)
	}
	f.Interfaces[name] = code
}

// addDriver reads a driver section.
func (f *File) addDriver(r *reporter, s *Section) {
	d := &Driver{Name: s.Text("name", 0, ""), Plugin: s.Text("plugin", 0, ""), AlwaysOn: s.Int("alwayson", 0, 0) != 0, Section: s}
	if d.Name == "" {
		r.errorf(s.Pos, "driver without a name; expected name \"…\"")
		return
	}
	if a := s.Field("alwayson"); a != nil && len(a.Values) > 0 && a.Values[0].Kind != Number {
		r.warnf(a.Values[0].Pos, "alwayson is %q, which Player reads as %d; expected 1 or 0", problem.Short(a.Values[0].Text), s.Int("alwayson", 0, 0))
	}
	d.Provides = f.addresses(r, s, "provides")
	d.Requires = f.addresses(r, s, "requires")
	for _, a := range d.Provides {
		if !a.Local() {
			r.warnf(a.Pos, "%s is provided on host %q; Player takes every device that is provided for its own", a, problem.Short(a.Host))
		}
	}
	if d.Name == "stage" {
		f.checkStage(r, d)
	}
	f.Drivers = append(f.Drivers, d)
}

// addresses reads the device addresses of an option.
func (f *File) addresses(r *reporter, s *Section, option string) []Address {
	field := s.Field(option)
	if field == nil {
		return nil
	}
	var out []Address
	for _, v := range field.Values {
		a, odd, err := parseAddress(v.Text, f.port)
		if err != nil {
			r.errorf(v.Pos, "%v", err)
			continue
		}
		a.Pos = v.Pos
		if odd != "" {
			r.warnf(v.Pos, "%s", odd)
		}
		if _, ok := a.Code(); !ok && f.Interfaces[a.Interface] == 0 {
			r.errorf(v.Pos, "unknown interface %q in device address %q; expected %s", problem.Short(a.Interface), problem.Short(v.Text), f.likely(a.Interface))
			continue
		}
		out = append(out, a)
	}
	return out
}

// renamed are interfaces of older Players, by what took their place.
var renamed = map[string]string{
	"position": "position2d", "laserbeacon": "fiducial", "waveform": "audio", "audiodsp": "audio", "audiomixer": "audio",
}

// likely names the interface that was meant, or how all of them are found.
func (f *File) likely(name string) string {
	if now := renamed[name]; now != "" {
		return fmt.Sprintf("%q, as it is called now", now)
	}
	var known []string
	for code := player.Interface(1); code < 100; code++ {
		if _, ok := player.ParseInterface(code.String()); ok {
			known = append(known, code.String())
		}
	}
	if near := problem.Nearest(name, known); near != "" {
		return fmt.Sprintf("%q", near)
	}
	return "one of Player's, like \"position2d\" or \"laser\", or a section interface that adds it"
}

// checkStage warns of what Stage's drivers miss.
func (f *File) checkStage(r *reporter, d *Driver) {
	simulates := slices.ContainsFunc(d.Provides, func(a Address) bool { return a.Interface == "simulation" })
	switch {
	case simulates && d.Len("worldfile") == 0:
		r.errorf(d.Pos, "the stage driver that provides simulation has no worldfile; expected worldfile \"….world\"")
	case !simulates && d.Len("model") == 0 && d.Len("worldfile") == 0: // plug-ins like Stage's simulate under other interfaces
		r.errorf(d.Pos, "this stage driver has no model; expected model \"…\", the name of a model in the world")
	}
}

// duplicates reports devices that are provided twice.
func (f *File) duplicates(r *reporter) {
	type device struct {
		port  int
		name  string
		index uint16
	}
	first := map[device]Address{}
	for _, d := range f.Drivers {
		for _, a := range d.Provides {
			k := device{a.Port, a.Interface, a.Index}
			before, again := first[k]
			switch {
			case !again:
				first[k] = a
			case a.Port != 0:
				r.errorf(a.Pos, "%s on port %d is provided twice, also in %s; expected another index or port", a, a.Port, near(a.Pos, before.Pos))
			}
		}
	}
}

// near returns a place as seen from another.
func near(from, to problem.Place) string {
	if from.File == to.File {
		return fmt.Sprintf("line %d", to.Line)
	}
	return to.String()
}

// Worldfile returns the world of the configuration's Stage, its name relative to
// the main file's directory, and where it is given.
func (f *File) Worldfile() (name string, pos problem.Place, ok bool) {
	for _, d := range f.Drivers {
		if w := d.Field("worldfile"); d.Name == "stage" && w != nil && len(w.Values) > 0 {
			return d.FileName("worldfile", 0, ""), w.Values[0].Pos, true
		}
	}
	return "", problem.Place{}, false
}

// robotOf returns the robot that a Stage model belongs to: the name up to the
// first ".".
func robotOf(model string) string {
	name, _, _ := strings.Cut(model, ".")
	return name
}
