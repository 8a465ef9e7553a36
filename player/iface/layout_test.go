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
		Code     player.Interface
		Name     string
		Messages []protocolMessage
	}
	Structs map[string][]protocolField
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

// The table has exactly Player's messages of each interface that it knows,
// and their structs have Player's fields in Player's order.
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
	known := map[player.Interface]bool{}
	for _, m := range iface.Messages() {
		known[m.Interface] = true
	}
	for _, i := range p.Interfaces {
		if i.Code.String() != i.Name {
			t.Errorf("interface %d is called %q, expected %q", i.Code, i.Code, i.Name)
		}
		if known[i.Code] {
			lines(i.Code, i.Messages)
		}
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
	if len(known) < 7 {
		t.Errorf("table knows %d interfaces, expected at least 7", len(known))
	}
}

// layout lists the fields of one of Player's structs: path, wire kind and
// length, nested structs in place.
func (p *protocol) layout(name, prefix string) []string {
	var out []string
	for _, f := range p.Structs[name] {
		path := prefix + strings.ReplaceAll(f.Name, "_", "")
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
				// Counts are no fields of ours. Only map_data's is apart from its array.
				if f.Counts+"_count" != f.Name {
					out = append(out, path+" counts "+f.Counts)
				}
				continue
			}
			out = append(out, path+":"+f.Wire)
		}
	}
	return out
}

func (p *protocol) element(typ string) []string {
	switch typ {
	case "float":
		return []string{"f32"}
	case "double":
		return []string{"f64"}
	case "uint32_t":
		return []string{"u32"}
	case "int32_t":
		return []string{"i32"}
	}
	return p.layout(typ, "")
}

func limit(array string) string {
	if array == "variable" {
		return ""
	}
	return "<=" + array
}

// goLayout is layout of one of our structs.
func goLayout(t reflect.Type, prefix string) []string {
	var out []string
	for i := range t.NumField() {
		f := t.Field(i)
		path := prefix + strings.ToLower(f.Name)
		max := ""
		if _, n, ok := strings.Cut(f.Tag.Get("xdr"), "max="); ok {
			max = "<=" + n
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
				out = append(out, fmt.Sprintf("%s[%s](%s)", path, max, wire(e)))
			}
		default:
			out = append(out, path+":"+wire(f.Type))
		}
	}
	return out
}

func wire(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Uint8, reflect.Uint16, reflect.Uint32:
		return "u32"
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return "i32"
	case reflect.Int64:
		return "i64"
	case reflect.Float32:
		return "f32"
	case reflect.Float64:
		return "f64"
	}
	return t.String()
}
