package iface_test

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/iface"
)

// protocol is testdata/interfaces.json: Player's messages and structs.
type protocol struct {
	Universal  []protocolMessage
	Interfaces []struct {
		Code      player.Interface
		Name      string
		Messages  []protocolMessage
		Constants map[string]any // numbers, one text
	}
	Structs map[string][]protocolField
	Sizes   map[string]int // of the smallest body, bytes
}

type protocolMessage struct {
	Type    player.Type
	Subtype uint8
	Name    string
	Struct  string
}

type protocolField struct{ Name, Type, Wire, Array, Count, Counts string }

func loadProtocol(t *testing.T) *protocol {
	t.Helper()
	text, err := os.ReadFile("testdata/interfaces.json")
	if err != nil {
		t.Fatal(err)
	}
	p := &protocol{}
	if err := json.Unmarshal(text, p); err != nil {
		t.Fatal(err)
	}
	return p
}

// The table has exactly Player's messages, and their structs have Player's
// fields in Player's order, of the same types, with the counts where Player
// has them.
func TestTableIsPlayers(t *testing.T) {
	p := loadProtocol(t)
	want := map[string]string{}
	lines := func(i player.Interface, list []protocolMessage) {
		for _, m := range list {
			layout := "no body"
			if m.Struct != "" {
				layout = strings.Join(p.layout(m.Struct, ""), " ")
			}
			want[fmt.Sprintf("%d %d %d %s", i, m.Type, m.Subtype, m.Name)] = layout
		}
	}
	lines(0, p.Universal)
	for _, i := range p.Interfaces {
		if code, ok := player.ParseInterface(i.Name); i.Code.String() != i.Name || !ok || code != i.Code {
			t.Errorf("interface %d is called %q, and %q is %d, expected %q", i.Code, i.Code, i.Name, code, i.Name)
		}
		lines(i.Code, i.Messages)
	}
	got := map[string]string{}
	for _, m := range iface.Messages() {
		layout := "no body"
		if !m.Empty() {
			layout = strings.Join(goLayout(m.Struct(), ""), " ")
		}
		got[fmt.Sprintf("%d %d %d %s", m.Interface, m.Type, m.Subtype, m.Name)] = layout
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table differs from Player's (-Player +table):\n%s", diff)
	}
	if len(p.Interfaces) != 43 || len(got) != 249+len(p.Universal) {
		t.Errorf("%d interfaces, %d messages, expected 43 and 249 and the %d universal ones",
			len(p.Interfaces), len(got), len(p.Universal))
	}
}

// An empty body of each struct is as long as Player's smallest.
func TestSmallestBodies(t *testing.T) {
	p := loadProtocol(t)
	check := func(i player.Interface, list []protocolMessage) {
		for _, m := range list {
			def, ok := iface.Lookup(i, m.Type, m.Subtype)
			if !ok || m.Struct == "" {
				continue
			}
			body, err := def.Append(nil, def.New())
			if err != nil || len(body) != p.Sizes[m.Struct] {
				t.Errorf("%s: smallest body has %d bytes (%v), expected %d", def, len(body), err, p.Sizes[m.Struct])
			}
		}
	}
	check(0, p.Universal)
	for _, i := range p.Interfaces {
		check(i.Code, i.Messages)
	}
}

// layout lists the fields of one of Player's structs: path, type and length,
// nested structs and counts in place.
func (p *protocol) layout(name, prefix string) []string {
	var out []string
	for _, f := range p.Structs[name] {
		path := prefix + fold(f.Name)
		switch f.Wire {
		case "struct":
			out = append(out, p.layout(f.Type, path+".")...)
		case "counted_array":
			out = append(out, fmt.Sprintf("%s[%s](%s)", path, limit(f.Array), strings.Join(p.element(f.Type), " ")))
		case "counted_bytes":
			out = append(out, fmt.Sprintf("%s[%s]bytes", path, limit(f.Array)))
		case "fixed_bytes":
			out = append(out, fmt.Sprintf("%s[=%s]bytes", path, f.Array))
		case "fixed_array":
			out = append(out, fmt.Sprintf("%s[=%s](%s)", path, f.Array, strings.Join(p.element(f.Type), " ")))
		default:
			if f.Counts != "" {
				out = append(out, prefix+"#"+fold(f.Counts))
				continue
			}
			out = append(out, path+":"+goTypes[f.Type])
		}
	}
	return out
}

// goTypes are the types of our fields by Player's.
var goTypes = map[string]string{
	"uint8_t": "uint8", "uint16_t": "uint16", "uint32_t": "uint32", "char": "int8", "int8_t": "int8",
	"int16_t": "int16", "int32_t": "int32", "int64_t": "int64", "float": "float32", "double": "float64",
}

func (p *protocol) element(typ string) []string {
	if scalar, ok := goTypes[typ]; ok {
		return []string{scalar}
	}
	return p.layout(typ, "")
}

// fold makes Player's and Go's spellings of a name the same.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func limit(array string) string {
	if array == "variable" {
		return ""
	}
	return "<=" + array
}

// goLayout is layout of one of our structs.
func goLayout(t reflect.Type, prefix string) []string {
	early := map[string]string{} // the arrays whose count stands before another field
	for i := range t.NumField() {
		if _, before, ok := strings.Cut(t.Field(i).Tag.Get("xdr"), "count-before="); ok {
			early[before] = t.Field(i).Name
		}
	}
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		path := prefix + fold(f.Name)
		tag := f.Tag.Get("xdr")
		max := ""
		if _, n, ok := strings.Cut(tag, "max="); ok {
			max = "<=" + n
		}
		if array, ok := early[f.Name]; ok {
			out = append(out, prefix+"#"+fold(array))
		}
		if k := f.Type.Kind(); (k == reflect.String || k == reflect.Slice) && !strings.Contains(tag, "count-before=") {
			out = append(out, prefix+"#"+fold(f.Name))
		}
		switch f.Type.Kind() {
		case reflect.Struct:
			out = append(out, goLayout(f.Type, path+".")...)
		case reflect.String:
			out = append(out, fmt.Sprintf("%s[%s]bytes", path, max))
		case reflect.Slice, reflect.Array:
			if f.Type.Kind() == reflect.Array {
				max = fmt.Sprintf("=%d", f.Type.Len())
			}
			e := f.Type.Elem()
			switch {
			case e.Kind() == reflect.Uint8 || e.Kind() == reflect.Int8:
				out = append(out, fmt.Sprintf("%s[%s]bytes", path, max))
			case e.Kind() == reflect.Struct:
				out = append(out, fmt.Sprintf("%s[%s](%s)", path, max, strings.Join(goLayout(e, ""), " ")))
			default:
				out = append(out, fmt.Sprintf("%s[%s](%s)", path, max, e.Kind()))
			}
		default:
			out = append(out, path+":"+f.Type.Kind().String())
		}
	}
	return out
}
