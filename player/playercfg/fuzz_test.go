package playercfg_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"callboard/player/playercfg"
)

// FuzzLoad: any text is a configuration or problems with places; nothing
// panics, and what is read can be asked for.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		"driver ( name \"stage\" provides [\"6665:laser:0\" \"k:::sonar:1\"] model \"r0.a\" alwayson 1 )\n",
		"define d driver ( name \"x\" v [1 2 3] e ( q 1 ) )\nd ( v [9] w 1.5 )\nd ( )\n",
		"include \"a\"\nunit_length \"cm\"\ninterface ( name \"x\" code 128 )\nplugin \"p\"\na yes",
		"d (\r\n a [1\n\"2\" # c\n] ) 1e3 \"x\n",
	} {
		f.Add(text, "b 2\n")
	}
	if seeds, err := filepath.Glob(corpusDir + "/*/*/*.cfg"); err == nil {
		for i := 0; i < len(seeds); i += 10 {
			if text, err := os.ReadFile(seeds[i]); err == nil && len(text) < 4000 {
				f.Add(string(text), "")
			}
		}
	}
	f.Fuzz(func(t *testing.T, text, other string) {
		c := playercfg.Config{Name: "x", Open: files{"x": text, "a": other}.open}
		file, problems := playercfg.Load(c)
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(other, "\n") + strings.Count(other, "\r") + 1
		for _, p := range problems {
			if p.Message == "" || p.File == "" || p.Line > lines || p.Line > 0 && p.Column < 1 {
				t.Fatalf("problem without place: %+v", p)
			}
		}
		if (file == nil) != (problems.First() != nil) {
			t.Fatalf("file is %v with %v", file, problems)
		}
		if file != nil {
			file.Robots()
			file.Worldfile()
		}
	})
}

// What strangers write costs no more than a bounded time and memory.
func TestLimits(t *testing.T) {
	doubling := "define a0 x ( b 1 )\n"
	for i := range 30 {
		doubling += "define a" + string(rune('a'+i)) + "0 x ( " + strings.Repeat("aLAST ( ) ", 8) + ")\n"
		doubling = strings.ReplaceAll(doubling, "aLAST", map[bool]string{true: "a0", false: "a" + string(rune('a'+i-1)) + "0"}[i == 0])
	}
	comment := "define d x (\n#" + strings.Repeat("x", 1<<20) + "\n)\n" + strings.Repeat("d ( )\n", 1000)
	for _, test := range []struct{ name, text, want string }{
		{"nesting", strings.Repeat("a ( ", 100_000), "sections are nested more than 32 deep"},
		{"macros of macros", doubling, "more than 1048576 options and sections, macros expanded"},
		{"macros of comments", comment, "macros expand to more than 67108864 bytes"},
		{"values", "a [" + strings.Repeat("1 ", 2_000_000) + "]\n", "more than 1048576 options"},
		{"includes", strings.Repeat("include \"empty\"\n", 2000), "more than 1000 files are included"},
		{"size", strings.Repeat("#", 17<<20), "has 17825792 bytes, expected at most 16777216"},
		{"problems", strings.Repeat(";\n", 1000), "cannot stand here"},
	} {
		_, problems := playercfg.Load(playercfg.Config{Name: "x", Open: files{"x": test.text, "empty": ""}.open})
		err := problems.First()
		found := false
		for _, p := range problems {
			found = found || strings.Contains(p.Message, test.want)
		}
		if err == nil || !found || len(problems) > 200 {
			t.Errorf("%s: %d problems, the first %v, expected %q", test.name, len(problems), err, test.want)
		}
	}
}
