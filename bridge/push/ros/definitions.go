// Package ros knows the messages of ROS that the dialects for its programs
// speak: their definitions, how they are written (JSON and CBOR as rosbridge
// does, and ROS 1's own bytes) and read, and which of them say what a robot's
// readings say. It knows no sockets, clocks or clients. See DESIGN.md.
package ros

import (
	_ "embed"
	"strconv"
	"strings"
)

// Field is a field of a message.
type Field struct {
	Name string
	Type string // a word of ROS (float64, string, time, …), or the name of a Type
	Size int    // Scalar, Variable, or the length of an array
}

// Sizes of fields that are no arrays of a fixed length.
const (
	Scalar   = -1
	Variable = 0
)

// Constant is a constant of a message's definition.
type Constant struct{ Type, Name, Value string }

// Type is a kind of message, or of one of the two sides of a service. It is
// immutable.
type Type struct {
	Name      string // std_msgs/String
	Sum       string // MD5 of the definition, as ROS 1 computes it
	Fields    []Field
	Constants []Constant
}

// Service is a kind of service. It is immutable.
type Service struct {
	Name, Sum         string
	Request, Response *Type
}

//go:embed definitions.txt
var definitions string

// types and services have all that is known, by name. They never change.
var types, services = parse(definitions)

// parse reads definitions: blocks that begin with MSG: or SRV:, a name and its sum.
func parse(text string) (map[string]*Type, map[string]*Service) {
	types, services := map[string]*Type{}, map[string]*Service{}
	var t *Type
	var s *Service
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch words[0] {
		case "MSG:":
			s, t = nil, &Type{Name: words[1], Sum: words[2]}
			types[t.Name] = t
		case "SRV:":
			s = &Service{Name: words[1], Sum: words[2], Request: &Type{Name: words[1] + "Request"}, Response: &Type{Name: words[1] + "Response"}}
			t = s.Request
			services[s.Name] = s
		case "---":
			t = s.Response
		default:
			if name, value, constant := strings.Cut(words[1], "="); constant {
				t.Constants = append(t.Constants, Constant{words[0], name, value})
			} else {
				t.Fields = append(t.Fields, parseField(t.Name, words[0], words[1]))
			}
		}
	}
	return types, services
}

// parseField reads a field of a type. Names of nested types without a package are
// of the type's own, but for Header.
func parseField(of, kind, name string) Field {
	f := Field{Name: name, Size: Scalar}
	if kind, length, array := strings.Cut(kind, "["); array {
		f.Type = kind
		f.Size, _ = strconv.Atoi(strings.TrimSuffix(length, "]")) // "": 0, which is Variable
	} else {
		f.Type = kind
	}
	switch {
	case f.Type == "Header":
		f.Type = "std_msgs/Header"
	case !primitive(f.Type) && !strings.Contains(f.Type, "/"):
		pkg, _, _ := strings.Cut(of, "/")
		f.Type = pkg + "/" + f.Type
	}
	return f
}

// words are the types of ROS that are no messages, with their bytes; 0: that
// depends.
var words = map[string]int{
	"bool": 1, "int8": 1, "uint8": 1, "byte": 1, "char": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "uint64": 8,
	"float32": 4, "float64": 8, "string": 0, "time": 8, "duration": 8,
}

func primitive(name string) bool {
	_, ok := words[name]
	return ok
}

// Lookup finds a type by its name in ROS 1 (std_msgs/String) or ROS 2
// (std_msgs/msg/String); nil: it is not known.
func Lookup(name string) *Type { return types[ros1Name(name, "msg")] }

// LookupService finds a kind of service, as Lookup does.
func LookupService(name string) *Service { return services[ros1Name(name, "srv")] }

func ros1Name(name, part string) string {
	if pkg, rest, ok := strings.Cut(name, "/"); ok {
		if rest, ok := strings.CutPrefix(rest, part+"/"); ok {
			return pkg + "/" + rest
		}
	}
	return name
}

// nested appends the types that t is made of, each once, itself first.
func (t *Type) nested(all []*Type) []*Type {
	for _, known := range all {
		if known == t {
			return all
		}
	}
	all = append(all, t)
	for _, f := range t.Fields {
		if of := types[f.Type]; of != nil {
			all = of.nested(all)
		}
	}
	return all
}

// Text returns the type's definition and those that it needs, as ROS 1's tools
// write them (schema encoding ros1msg).
func (t *Type) Text() string {
	var b strings.Builder
	for i, one := range t.nested(nil) {
		if i > 0 {
			b.WriteString(strings.Repeat("=", 80) + "\nMSG: " + one.Name + "\n")
		}
		one.write(&b)
	}
	return b.String()
}

func (t *Type) write(b *strings.Builder) {
	for _, c := range t.Constants {
		b.WriteString(c.Type + " " + c.Name + "=" + c.Value + "\n")
	}
	for _, f := range t.Fields {
		b.WriteString(f.kind() + " " + f.Name + "\n")
	}
}

// kind is the field's type with its brackets.
func (f *Field) kind() string {
	switch {
	case f.Size == Scalar:
		return f.Type
	case f.Size == Variable:
		return f.Type + "[]"
	}
	return f.Type + "[" + strconv.Itoa(f.Size) + "]"
}
