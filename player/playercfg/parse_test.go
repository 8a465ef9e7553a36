package playercfg_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/player/playercfg"
)

// files opens what is in memory.
type files map[string]string

func (f files) open(name string) ([]byte, error) {
	text, ok := f[name]
	if !ok {
		return nil, os.ErrNotExist
	}
	return []byte(text), nil
}

// shown writes sections and fields down as real Player's dump does:
// [section][type][field][value]….
func shown(s *playercfg.Section) []string {
	var out []string
	n := -1
	var walk func(*playercfg.Section)
	walk = func(s *playercfg.Section) {
		n++
		me := n
		for _, f := range s.Fields {
			line := fmt.Sprintf("[%d][%s][%s]", me, s.Type, f.Name)
			for _, v := range f.Values {
				line += "[" + v.Text + "]"
			}
			out = append(out, line)
		}
		for _, inner := range s.Sections {
			walk(inner)
		}
	}
	walk(s)
	return out
}

// What real Player 3.1.1 accepts is read as its own dump of the parse shows.
func TestSyntax(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"a 1", "[0][][a][1]"},
		{"# a", ""},
		{"a 1 b 2 c \"x\"\n", "[0][][a][1] [0][][b][2] [0][][c][x]"},
		{"a \"x\"b 2\n", "[0][][a][x] [0][][b][2]"},
		{"a\"x\"\nb+1\n", "[0][][a][x] [0][][b][+1]"},
		{"a yes\nd (b no)\n", "[0][][a][yes] [1][d][b][no]"},
		{"a 1\rb 2\r# c\rc 3\r", "[0][][a][1] [0][][b][2] [0][][c][3]"},
		{"a 1\r\nb 2\r\n", "[0][][a][1] [0][][b][2]"},
		{"a \"x\ty ü #\"\n", "[0][][a][x\ty ü #]"},
		{"a:b.c-d_e[0] 1\n", "[0][][a:b.c-d_e[0]][1]"},
		{"a []\nb [1\n\"2\"\n]\nc [\"x\"\"y\"1]\n", "[0][][a] [0][][b][1][2] [0][][c][x][y][1]"},
		{"a [1 2 3]\na [9]\na \"z\"\n", "[0][][a][z][2][3]"},
		{"d\n\n# c\n(\n a 1\n)\n", "[1][d][a][1]"},
		{"d (a 1)e 2\nd ()\n", "[0][][e][2] [1][d][a][1]"},
		{"d ( e ( q 1 ) plugin \"x\" define \"y\" )\n", "[1][d][plugin][x] [1][d][define][y] [2][e][q][1]"},
		{"define d driver ( name \"x\" v [1 2 3] )\nd ( v [9] w 1 )\nd ( )\n",
			"[1][driver][name][x] [1][driver][v][9][2][3] [1][driver][w][1] [2][driver][name][x] [2][driver][v][1][2][3]"},
		{"define\nd # c\ndriver\n(\nname \"x\"\n)\nd ( )\n", "[1][driver][name][x]"},
		{"define d driver ( name \"x\" e ( q 1 ) )\nd ( e ( q 2 ) )\n", "[1][driver][name][x] [2][e][q][1] [3][e][q][2]"},
		{"define e ee ( q 1 )\ndefine d driver ( name \"x\" e ( z 2 ) )\nd ( y 1 )\n",
			"[1][driver][name][x] [1][driver][y][1] [2][ee][q][1] [2][ee][z][2]"},
		{"d ( a 1 )\ndefine d driver ( name \"x\" )\n", "[1][d][a][1]"},
		{"include \"inc\"\na 1\n", "[0][][fromfile][7] [0][][a][1]"},
		{"include \"inc\" # c\ninclude \"inc\" a 1\n", "[0][][fromfile][7] [0][][a][1]"},
		{"include \"inc\"", "[0][][fromfile][7]"},
		{"d ( include \"inc\"\n)\n", "[1][d][fromfile][7]"},
		{"include \"sub/inc\"\n", "[0][][deep][1] [0][][fromfile][7]"},
	} {
		f, problems := playercfg.Parse(playercfg.Config{Name: "dir/main.cfg", Open: files{"dir/main.cfg": test.text,
			"dir/inc": "fromfile 7\n", "dir/sub/inc": "deep 1\ninclude \"inc\"\n"}.open})
		if err := problems.First(); err != nil {
			t.Errorf("%q: %v", test.text, err)
		}
		if diff := cmp.Diff(test.want, strings.Join(shown(f.Global), " ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}

// What real Player refuses is refused, with place, fault and what is expected.
func TestSyntaxErrors(t *testing.T) {
	long := strings.Repeat("x", 1024)
	for _, test := range []struct{ text, want string }{
		{"a # c\n 1\n", `x.cfg:1:1: "a" has no value; expected one on the same line, or "(" of a section`},
		{"a\n1\n", `x.cfg:1:1: "a" has no value`},
		{"a", `x.cfg:1:1: "a" has no value`},
		{"x 1\n  ä 1\n", `x.cfg:2:3: "ä" cannot stand here; expected an option's name, a section or ")"`},
		{"b \"ä\" a 1e3\n", `x.cfg:1:9: "1" goes on with a letter; expected digits only: no exponents`},
		{"a 0x10\n", `x.cfg:1:3: "0" goes on with a letter`},
		{"a yes", `x.cfg:1:3: the word "yes" at the very end of the file is not recognised; expected a line end behind it`},
		{"yes 1\n", `x.cfg:1:1: the word "yes" cannot stand here`},
		{"a [1 # x\n 2]\n", `x.cfg:1:6: a comment cannot stand in a tuple`},
		{"a [yes no]\n", `x.cfg:1:4: the word "yes" cannot stand in a tuple`},
		{"a [[1]]\n", `x.cfg:1:4: "[" cannot stand in a tuple`},
		{"a [1, 2]\n", `x.cfg:1:5: "," cannot stand in a tuple; expected numbers, strings and "]"`},
		{"a [1 2\n", `x.cfg:2:1: the tuple of line 1 is not closed; expected "]"`},
		{"a[\"x\"]\n", `x.cfg:1:1: "a[" reads as one word; expected a blank before "["`},
		{"a 1;\n", `x.cfg:1:4: ";" cannot stand here`},
		{"a \"x\ny\"\n", `x.cfg:1:3: the string "x is not closed; expected " on the same line`},
		{"a b\n", `x.cfg:1:3: the word "b" is no value for "a"; expected a number, a string in quotes`},
		{"d 1 ( a 2 )\n", `x.cfg:1:5: "(" cannot stand here`},
		{"d (\n a\n b 1 )\n", `x.cfg:2:2: "a" has no value`},
		{"d ( a )\n", `x.cfg:1:7: ")" is no value for "a"`},
		{"d ( a 1\n", `x.cfg:2:1: the d section of line 1 is not closed; expected ")"`},
		{")\n", `x.cfg:1:1: ")" closes no section of this file`},
		{"1a 2\n", `x.cfg:1:1: "1" cannot stand here`},
		{"a \"" + long + "\"\n", `x.cfg:1:3: the string "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" has 1024 bytes; expected at most 1023`},
		{long + " 1\n", `x.cfg:1:1: the word "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…" has 1024 bytes`},
		{"include\n\"inc\"\n", `x.cfg:1:8: the end of the line is no file; expected its name in quotes, on the same line`},
		{"a 1\ninclude \"nope\"\n", `x.cfg:2:9: nope: no such file`},
		{"include \"x.cfg\"\n", `x.cfg:1:9: files include each other 33 deep, expected at most 32`},
		{"include \"bad\"\n", `bad:2:1: ")" closes no section of this file`},
		{"define d driver ( d ( ) )\nd ( )\n", `x.cfg:1:19: sections are nested more than 32 deep`},
		{"define 1\n", `x.cfg:1:8: "1" is no name of a macro; expected define NAME SECTION (`},
		{"define d 1\n", `x.cfg:1:10: "1" is no type of a section`},
		{"define d e 1\n", `x.cfg:1:12: "1" begins no section; expected "("`},
		{"plugin 1\n", `x.cfg:1:8: "1" is no plug-in; expected its name in quotes`},
		{"d ( e ( a 1\n)\n", `x.cfg:3:1: the d section of line 1 is not closed`},
	} {
		_, problems := playercfg.Parse(playercfg.Config{Name: "x.cfg", Open: files{"x.cfg": test.text, "bad": "a 1\n)\n"}.open})
		err := problems.First()
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%.60q: error is\n %v, expected\n %s", test.text, err, test.want)
		}
	}
}

// All mistakes are told at once, in order.
func TestAllProblems(t *testing.T) {
	_, problems := playercfg.Parse(playercfg.Config{Name: "x.cfg", Open: files{"x.cfg": "a b\nb 1\nc ;\nb [1 2\n,]\nb 2\nd ( x )\ny 1.2.3\nunit_length \"km\"\n"}.open})
	var got []string
	for _, p := range problems {
		got = append(got, p.Error())
	}
	want := []string{
		`x.cfg:1:3: the word "b" is no value for "a"; expected a number, a string in quotes, yes, no, true, false or "["`,
		`x.cfg:3:3: ";" is no value for "c"; expected a number, a string in quotes, yes, no, true, false or "["`,
		`x.cfg:5:1: "," cannot stand in a tuple; expected numbers, strings and "]"`,
		`x.cfg:6:1: warning: "b" is also given in line 2; the later one counts`,
		`x.cfg:7:7: ")" is no value for "x"; expected one on the same line, or "(" of a section`,
		`x.cfg:8:3: warning: "1.2.3" is no number; Player reads it as 1.2`,
		`x.cfg:9:13: warning: unit_length is "km"; expected "m", "cm" or "mm"; Player takes m`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
