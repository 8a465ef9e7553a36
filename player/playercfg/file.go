package playercfg

import "math"

// Config says what to load.
type Config struct {
	Open Open   // required: gives files their bytes
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

	port   int
	metre  float64 // a length of 1, in m
	radian float64 // an angle of 1, in rad
}

func (f *File) newSection(typ string, pos Pos, parent *Section) *Section {
	return &Section{Type: typ, Pos: pos, Parent: parent, byName: map[string]*Field{}, file: f}
}

// Load reads the configuration of that name with all that it includes. The
// File is nil if any of the problems is an Error; Warnings tell what Player
// tolerates.
func Load(c Config) (*File, []Problem) {
	f, r := parse(c)
	if r.count[Error] == 0 {
		f.interpret(r)
	}
	if r.count[Error] > 0 {
		return nil, r.sorted()
	}
	return f, r.sorted()
}

// Parse reads the configuration for its structure alone: Drivers and
// Interfaces stay empty. The File has what could be read.
func Parse(c Config) (*File, []Problem) {
	f, r := parse(c)
	return f, r.sorted()
}

func parse(c Config) (*File, *reporter) {
	f := &File{Name: c.Name, port: c.Port, metre: 1, radian: math.Pi / 180}
	if f.port == 0 {
		f.port = defaultPort
	}
	f.Global = f.newSection("", Pos{File: c.Name}, nil)
	p := &parser{open: c.Open, file: f, macros: map[string]*macro{}}
	p.include(c.Name, f.Global, Pos{File: c.Name}, 0)
	f.units(&p.reporter)
	return f, &p.reporter
}

// units sets what lengths and angles mean.
func (f *File) units(r *reporter) {
	if u := f.Global.Field("unit_length"); u != nil && len(u.Values) > 0 {
		switch v := u.Values[0]; v.Text {
		case "m":
		case "cm":
			f.metre = 0.01
		case "mm":
			f.metre = 0.001
		default:
			r.warnf(v.Pos, "unit_length is %q; expected \"m\", \"cm\" or \"mm\"; Player takes m", short(v.Text))
		}
	}
	if u := f.Global.Field("unit_angle"); u != nil && len(u.Values) > 0 {
		switch v := u.Values[0]; v.Text {
		case "degrees":
		case "radians":
			f.radian = 1
		default:
			r.warnf(v.Pos, "unit_angle is %q; expected \"degrees\" or \"radians\"; Player takes degrees", short(v.Text))
		}
	}
}
