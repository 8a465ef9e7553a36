//go:build linux

package conformance

import (
	"flag"
	"fmt"
	"go/format"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/subscribe/view"
)

var rewrite = flag.Bool("rewrite", false, "write the libraries' types of readings anew")

// common are the kinds of readings that the libraries have types for.
var common = []view.Kind{
	view.KindLaser, view.KindSonar, view.KindPosition, view.KindBumper, view.KindFiducial, view.KindPower, view.KindGPS, view.KindIMU,
	view.KindBlobfinder, view.KindGripper, view.KindLocalize,
}

// TestReadings: the libraries' types of readings have the fields that conditions
// know. They are made from those.
func TestReadings(t *testing.T) {
	source, err := format.Source([]byte(goReadings()))
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"../go/readings.go": string(source), "../js/readings.d.ts": jsReadings(), "../python/callboard/readings.py": pythonReadings(),
	} {
		if *rewrite {
			if err := os.WriteFile(file, []byte(want), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is not what the views are (go test ./clients/conformance -run TestReadings -rewrite writes it):\n%s", file, diff)
		}
	}
}

const made = "Made of the views of conditions by go test ./clients/conformance -run TestReadings -rewrite."

// typeName returns "GPS" of gps and "Laser" of laser.
func typeName(k view.Kind) string {
	switch name := k.String(); name {
	case "gps", "imu":
		return strings.ToUpper(name)
	default:
		return strings.ToUpper(name[:1]) + name[1:]
	}
}

// doc returns what a field is, with its unit.
func doc(f view.Field) string {
	text := f.Doc
	if f.Unit != "" {
		text = f.Unit + "; " + text
	}
	return strings.ReplaceAll(text, "\n", " ")
}

// about returns what a kind is, in one line.
func about(k view.Kind) string { return strings.ReplaceAll(k.Doc(), "\n", " ") }

// sentence returns that with a large letter.
func sentence(k view.Kind) string { return strings.ToUpper(about(k)[:1]) + about(k)[1:] }

// types returns how a language writes a field's type.
func types(f view.Field, float, whole, truth, text, floats, texts string) string {
	switch {
	case f.Float != nil:
		return float
	case f.Int != nil:
		return whole
	case f.Bool != nil:
		return truth
	case f.Text != nil:
		return text
	case f.Floats != nil:
		return floats
	}
	return texts
}

func interfaces(k view.Kind) []string {
	var names []string
	for _, i := range k.Interfaces() {
		names = append(names, i.String())
	}
	return names
}

// mark returns a field that tells a kind's readings from those of other kinds of
// the same interface.
func mark(k view.Kind) string {
	for _, f := range k.Fields() {
		if f.Float == nil && f.Int == nil {
			continue // it may be left out
		}
		if !slices.ContainsFunc(common, func(other view.Kind) bool {
			return other != k && slices.ContainsFunc(interfaces(other), func(i string) bool { return slices.Contains(interfaces(k), i) }) &&
				slices.ContainsFunc(other.Fields(), func(g view.Field) bool { return g.Name == f.Name })
		}) {
			return f.Name
		}
	}
	panic("no field of its own: " + k.String())
}

func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }

func goReadings() string {
	var b strings.Builder
	fmt.Fprintf(&b, "package callboard\n\n// %s\n\n", made)
	for _, k := range common {
		name := typeName(k)
		fmt.Fprintf(&b, "// %s is a reading: %s.\ntype %s struct {\n", name, about(k), name)
		for _, f := range k.Fields() {
			fmt.Fprintf(&b, "\t%s %s `json:%q` // %s\n", camel(f.Name), types(f, "float64", "int", "bool", "string", "Floats", "[]string"), f.Name, doc(f))
		}
		fmt.Fprintf(&b, "}\n\n// %s returns the reading if it is a %s.\nfunc (n *Notification) %s() (r %s, ok bool) {\n\tok = n.read(&r, %q, %s)\n\treturn r, ok\n}\n\n",
			name, name, name, name, mark(k), quoted(interfaces(k)))
	}
	return b.String()
}

// camel returns "MaxRange" of max_range.
func camel(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		if word == "id" || word == "ids" || word == "utc" {
			b.WriteString(strings.Replace(strings.ToUpper(word), "IDS", "IDs", 1))
			continue
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String()
}

func jsReadings() string {
	var b strings.Builder
	fmt.Fprintf(&b, "/** %s Numbers that are not finite are null. */\n", made)
	for _, k := range common {
		fmt.Fprintf(&b, "\n/** %s. Interfaces: %s. */\nexport interface %s {\n", sentence(k), strings.Join(interfaces(k), ", "), typeName(k))
		for _, f := range k.Fields() {
			fmt.Fprintf(&b, "  /** %s */\n  %s: %s;\n", doc(f), f.Name, types(f, "number | null", "number", "boolean", "string", "(number | null)[]", "string[]"))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func pythonReadings() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\"\"\"Readings, as types for the dictionaries that Notification.reading has.\n\n%s\nNumbers that are not finite are None.\n\"\"\"\n\nfrom __future__ import annotations\n\nfrom typing import TypedDict\n", made)
	for _, k := range common {
		fmt.Fprintf(&b, "\n\nclass %s(TypedDict, total=False):\n    \"\"\"%s. Interfaces: %s.\"\"\"\n\n", typeName(k), sentence(k), strings.Join(interfaces(k), ", "))
		for _, f := range k.Fields() {
			fmt.Fprintf(&b, "    %s: %s  # %s\n", f.Name, types(f, "float | None", "int", "bool", "str", "list[float | None]", "list[str]"), doc(f))
		}
	}
	return b.String()
}
