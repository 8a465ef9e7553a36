package worldfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// files opens texts by name.
func files(texts map[string]string) Open {
	return func(name string) ([]byte, error) {
		if t, ok := texts[name]; ok {
			return []byte(t), nil
		}
		return nil, fmt.Errorf("open %s: %w", name, os.ErrNotExist)
	}
}

// TestHostileFiles: what would run for ever or eat memory is refused with its
// place.
func TestHostileFiles(t *testing.T) {
	double := "define m0 model ( )\n"
	for i := 1; i <= 40; i++ {
		double += fmt.Sprintf("define m%d model ( m%d ( ) m%d ( ) )\n", i, i-1, i-1)
	}
	diamond := map[string]string{"a.world": "include \"f0.inc\"\n"}
	for i := range 40 {
		diamond[fmt.Sprintf("f%d.inc", i)] = fmt.Sprintf("include \"f%d.inc\"\ninclude \"f%d.inc\"\n", i+1, i+1)
	}
	diamond["f40.inc"] = "model ( )\n"
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"includes itself":            {map[string]string{"a.world": "\n include \"a.world\"\n"}, "a.world:2:10: \"a.world\" includes itself"},
		"includes in a circle":       {map[string]string{"a.world": "include \"b.inc\"", "b.inc": "include \"a.world\""}, "b.inc:1:9: \"a.world\" includes itself"},
		"includes itself in a model": {map[string]string{"a.world": "model ( include \"b.inc\"\n)", "b.inc": "include \"b.inc\""}, "b.inc:1:9: \"b.inc\" includes itself"},
		"doubling includes":          {diamond, "more than 10000 includes"},
		"doubling macros":            {map[string]string{"a.world": double + "m40 ( )"}, "more than 200000 entities"},
		"a macro in itself":          {map[string]string{"a.world": "define a model ( a ( ) )\na ( )"}, "nests deeper than 1000"},
		"a macro of itself":          {map[string]string{"a.world": "define x x ( )\nx ( )"}, "a.world:1:1: \"x\" is defined from itself"},
		"a circle of macros":         {map[string]string{"a.world": "define x y ( )\ndefine y x ( )\nx ( )"}, "is defined from itself"},
		"deep":                       {map[string]string{"a.world": strings.Repeat("model ( ", 10000)}, "brackets nest deeper than 1000"},
		"define without base":        {map[string]string{"a.world": "define foo ( )"}, "a.world:1:12: define foo is followed by \"(\"; expected define NAME TYPE ("},
		"a billion points":           {map[string]string{"a.world": "model ( block ( points 1000000000 ) )"}, "a block of 1000000000 points"},
		"a billion samples":          {map[string]string{"a.world": "ranger ( sensor ( samples 1000000000 ) )"}, "samples is 1000000000; expected 0 to 100000"},
		"a billion sonars":           {map[string]string{"a.world": "ranger ( scount 1000000000 )"}, "scount is 1000000000"},
		"far away":                   {map[string]string{"a.world": "model ( pose [ 1" + strings.Repeat("0", 400) + " 0 0 0 ] )"}, "is too large"},
		"no step":                    {map[string]string{"a.world": "interval_sim 0"}, "interval_sim is 0s; expected more than 0 ms"},
		"no resolution":              {map[string]string{"a.world": "resolution 0"}, "resolution is 0 m"},
	} {
		t.Run(name, func(t *testing.T) {
			w, problems := Load(files(c.files), "a.world")
			err := problems.First()
			if w != nil || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, expected an error about %q", err, c.want)
			}
		})
	}
}

// TestMessages: places and words of problems.
func TestMessages(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"model ( color red )", `a.world:1:15: "color" is followed by the word "red"; expected a number, a "string" or [ ] as its value, or ( for a model`},
		{"modle ( )", `a.world:1:1: unknown model type "modle"; expected a type or a macro defined before; did you mean "model"?`},
		{"model\n(\n  size [1 2 3,]\n)", `a.world:3:14: ',' cannot stand here; expected a word, a number, a string, a bracket or a comment`},
		{"model ( size\n[1 2 3] )", `a.world:1:9: the value of "size" is on another line; expected it on the same line`},
		{"# é\nmodel ( name \"é\" size[1 2 3] )", `a.world:2:18: "size[1" is taken for one word; expected a blank after "size"`},
		{"model ( name \"x )", `a.world:1:14: the string has no end; expected " on the same line`},
		{"model (\n pose [ 0 0 0 0 ]\n", `a.world:1:7: this ( of "model" is never closed; expected )`},
		{"model ( ) )", `a.world:1:11: ")" closes nothing; expected a type, a property, define or include`},
		{"model ( size [ ] )", `a.world:1:9: size has 0 values; expected [x y z]`},
		{"\xEF\xBB\xBFmodel ( )", `a.world:1:1: a byte order mark cannot stand here; expected a word, a number, a string, a bracket or a comment`},
		{"model ( sensor ( ) )", `a.world:1:9: sensor cannot stand in a model; expected it in a ranger`},
		{"model ( obstacle_retrun 1 )", `a.world:1:9: warning: "obstacle_retrun" is not a property of model and has no effect; did you mean "obstacle_return"?`},
		{"model ( color \"lightbleu\" )", `a.world:1:9: warning: colour "lightbleu" is unknown; expected a name of the X11 list, red is taken; did you mean "LightBlue"?`},
		{"position ( drive \"tank\" )", `a.world:1:12: warning: drive "tank" is unknown; expected "diff", "omni" or "car", diff is taken`},
		{"model ( bitmap \"no.png\" )", `a.world:1:9: warning: bitmap "no.png": no such file; model:1 has no body`},
		{"include \"no.inc\"", `a.world:1:9: cannot include "no.inc": open no.inc: file does not exist`},
		{"define a model ( )\ndefine a position ( )", `a.world:2:8: warning: "a" is defined already at a.world:1:1; the first definition counts`},
	} {
		_, problems := Load(files(map[string]string{"a.world": c.text}), "a.world")
		if len(problems) == 0 || !strings.HasPrefix(problems[0].Error(), c.want) {
			t.Errorf("%q:\n got  %v\n want %s", c.text, problems, c.want)
		}
	}
}

// TestManyBlocks: many blocks load in memory that is a small
// multiple of the text.
func TestManyBlocks(t *testing.T) {
	var b strings.Builder
	b.WriteString("model (\n")
	for i := range 20000 {
		fmt.Fprintf(&b, "block ( points 4 point[0] [%d 0] point[1] [%d 1] point[2] [%d.5 1] point[3] [%d.5 0] z [0 1] )\n", i, i, i, i)
	}
	b.WriteString(")\n")
	text := b.String()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	w, problems := Load(files(map[string]string{"a.world": text}), "a.world")
	if w == nil {
		t.Fatal(problems.First())
	}
	runtime.ReadMemStats(&after)
	if n := len(w.Models[0].Body); n != 20000 {
		t.Errorf("%d blocks", n)
	}
	if ratio := float64(after.TotalAlloc-before.TotalAlloc) / float64(len(text)); ratio > 40 {
		t.Errorf("allocated %.1f times the text's size", ratio)
	}
	runtime.KeepAlive(w)
}

// TestPictures: formats, ragged and huge ones.
func TestPictures(t *testing.T) {
	pgm := "P5\n# made\n3 2\n255\n" + string([]byte{0, 255, 127, 128, 0, 255})
	encoded := func(img image.Image) string {
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	paletted := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.NRGBA{200, 0, 0, 255}, color.NRGBA{127, 255, 255, 0}})
	copy(paletted.Pix, []uint8{1, 0, 1, 0, 1, 0})
	head := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x27\x10\x00\x00\x27\x10\x08\x00\x00\x00\x00"
	// A picture that says it is larger than its bytes can hold.
	claims := []byte(encoded(paletted))
	binary.BigEndian.PutUint32(claims[16:], 5000)
	binary.BigEndian.PutUint32(claims[20:], 5000)
	binary.BigEndian.PutUint32(claims[29:], crc32.ChecksumIEEE(claims[12:29]))
	for _, c := range []struct {
		name, data string
		solid      int
		problem    string
	}{
		{"claims.png", string(claims), 0, "which cannot hold its 5000 x 5000 pixels"},
		{"a.pgm", pgm, 3, ""},
		{"ascii.pbm", "P1\n3 2\n1 0 1\n010\n", 3, ""},
		{"bits.pbm", "P4\n3 2\n" + string([]byte{0b10100000, 0b01000000}), 3, ""},
		{"text.ppm", "P3 3 2 255\n0 9 9 255 0 0 127 0 0\n128 0 0 0 0 0 255 0 0", 3, ""},
		{"paletted.png", encoded(paletted), 3, ""},
		{"white.pgm", "P2 2 1 255 255 255", 0, "no solid pixel"},
		{"cut.pgm", pgm[:len(pgm)-1], 0, "ends before its 3 x 2 pixels"},
		{"head.pgm", "P5 3", 0, "faulty head"},
		{"big.pgm", "P5 100000 100000 255\n", 0, "has 100000 x 100000 pixels; expected at most"},
		{"big.png", head, 0, "is no picture of a known format"},
		{"text.png", "hello", 0, "is no picture of a known format"},
	} {
		w, problems := Load(files(map[string]string{"a.world": "model ( bitmap \"" + c.name + "\" )", c.name: c.data}), "a.world")
		if w == nil {
			t.Errorf("%s: %v", c.name, problems)
			continue
		}
		if got := w.Bitmaps[0].Solid; got != c.solid {
			t.Errorf("%s has %d solid pixels, expected %d", c.name, got, c.solid)
		}
		if c.problem == "" && len(problems) > 0 || c.problem != "" && (len(problems) != 1 || !strings.Contains(problems[0].Message, c.problem)) {
			t.Errorf("%s: problems %v, expected %q", c.name, problems, c.problem)
		}
	}
}

// TestPacks: charge and capacity, in J and kJ.
func TestPacks(t *testing.T) {
	for text, want := range map[string]*Pack{
		"":                              nil,
		"watts 5":                       nil,
		"joules 20":                     {20, 20},
		"joules 20 joules_capacity 50":  {20, 50},
		"joules 20 joules_capacity 5":   {5, 5},
		"joules_capacity 50":            {0, 50},
		"joules -1":                     {-1, -1},
		"kjoules 2 kjoules_capacity 3":  {2000, 3000},
		"joules 7 kjoules_capacity 0.5": {7, 500},
	} {
		w, problems := Load(files(map[string]string{"a.world": "model ( " + text + " )"}), "a.world")
		if w == nil || len(problems) > 0 {
			t.Errorf("%q: %v", text, problems)
			continue
		}
		if got := w.Models[0].Pack; (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%q: %+v, expected %+v", text, got, want)
		}
	}
}

// TestRaggedPicture: a picture whose outlines would eat memory is refused.
func TestRaggedPicture(t *testing.T) {
	const n = 1500
	data := []byte(fmt.Sprintf("P5\n%d %d\n255\n", n, n))
	for i := range n * n {
		data = append(data, byte(255*((i+i/n)%2)))
	}
	w, problems := Load(files(map[string]string{"a.world": "model ( bitmap \"a.pgm\" )", "a.pgm": string(data)}), "a.world")
	if w == nil || len(problems) != 1 || !strings.Contains(problems[0].Message, "outlines have more than") {
		t.Errorf("world %v, problems %v", w != nil, problems)
	}
}

// FuzzLoad: no text panics, hangs or loads without a world or an error.
func FuzzLoad(f *testing.F) {
	for _, dir := range []string{syntaxDir, "../testdata/stage-cases/behaviour"} {
		names, _ := filepath.Glob(dir + "/*.world")
		for _, n := range names {
			if b, err := os.ReadFile(n); err == nil {
				f.Add(string(b), "model ( )")
			}
		}
	}
	f.Add("include \"a.inc\"\nposition ( laser ( samples 7 ) ranger ( scount 2 spose[0] [ 0 1 2 ] ) )", "define a model ( polygons 1 polygon[0].points 2 )")
	f.Fuzz(func(t *testing.T, world, inc string) {
		w, problems := Load(func(name string) ([]byte, error) {
			switch name {
			case "a.world":
				return []byte(world), nil
			case "a.inc":
				return []byte(inc), nil
			case "a.pgm":
				return []byte(inc), nil
			}
			return nil, os.ErrNotExist
		}, "a.world")
		if (w == nil) != (problems.First() != nil) {
			t.Fatalf("world %v, problems %v", w != nil, problems)
		}
		for _, p := range problems {
			if p.File == "" || p.Message == "" {
				t.Fatalf("problem without place or words: %+v", p)
			}
		}
	})
}
