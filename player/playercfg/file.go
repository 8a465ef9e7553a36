package playercfg

import (
	"callboard/player/problem"
	"strings"
)

// Config says what to load.
type Config struct {
	Open Open   // required: returns the bytes of a file
	Name string // the main file, as Open knows it
	Port int    // of devices without one; 0: 6665
}

// File is a configuration with all that it includes.
type File struct {
	Name       string
	Global     *Section
	Plugins    []Value // that are loaded while the file is read
	Drivers    []*Driver
	Interfaces map[string]int // those that the file adds, by name: their codes

	port int
}

func (f *File) newSection(typ string, pos problem.Place, parent *Section) *Section {
	return &Section{Type: typ, Pos: pos, Parent: parent, byName: map[string]*Field{}, file: f}
}

// Load reads the configuration of that name with all that it includes. The
// File is nil if any of the problems is an Error; Warnings tell what Player
// tolerates.
func Load(c Config) (*File, problem.List) {
	f, r := parse(c)
	if r.errors == 0 {
		f.interpret(r)
	}
	if r.errors > 0 {
		return nil, r.sorted()
	}
	return f, r.sorted()
}

func parse(c Config) (*File, *reporter) {
	f := &File{Name: c.Name, port: c.Port}
	if f.port == 0 {
		f.port = defaultPort
	}
	f.Global = f.newSection("", problem.Place{File: c.Name}, nil)
	p := &parser{open: c.Open, file: f, macros: map[string]*macro{}}
	p.include(c.Name, f.Global, problem.Place{File: c.Name}, 0)
	f.units(&p.reporter)
	return f, &p.reporter
}

// units checks what lengths and angles are said to mean.
func (f *File) units(r *reporter) {
	for _, unit := range []struct{ name, known, expected, taken string }{
		{"unit_length", " m cm mm ", `"m", "cm" or "mm"`, "m"},
		{"unit_angle", " degrees radians ", `"degrees" or "radians"`, "degrees"},
	} {
		u := f.Global.Field(unit.name)
		if u == nil || len(u.Values) == 0 {
			continue
		}
		if v := u.Values[0]; !strings.Contains(unit.known, " "+v.Text+" ") {
			r.warnf(v.Pos, "%s is %q; expected %s; Player takes %s", unit.name, problem.Short(v.Text), unit.expected, unit.taken)
		}
	}
}
