package playercfg_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"callboard/player/playercfg"
	"callboard/player/problem"
)

func load(t *testing.T, text string) (*playercfg.File, problem.List) {
	t.Helper()
	return playercfg.Load(playercfg.Config{Name: "dir/x.cfg", Open: files{"dir/x.cfg": text}.open})
}

func TestParseAddress(t *testing.T) {
	for _, test := range []struct {
		text string
		want playercfg.Address
		err  string
	}{
		{"laser:0", playercfg.Address{Port: 6665, Interface: "laser"}, ""},
		{"6666:laser:1", playercfg.Address{Port: 6666, Interface: "laser", Index: 1}, ""},
		{"host:6666:laser:0", playercfg.Address{Host: "host", Port: 6666, Interface: "laser"}, ""},
		{":host:6666:laser:0", playercfg.Address{Host: "host", Port: 6666, Interface: "laser"}, ""},
		{"key:::laser:0", playercfg.Address{Key: "key", Port: 6665, Interface: "laser"}, ""},
		{"key::6666:laser:0", playercfg.Address{Key: "key", Port: 6666, Interface: "laser"}, ""},
		{"key:host:6666:laser:7", playercfg.Address{Key: "key", Host: "host", Port: 6666, Interface: "laser", Index: 7}, ""},
		{"key::laser:0", playercfg.Address{Host: "key", Port: 6665, Interface: "laser"}, ""},
		{"x:y:key:host:6666:laser:0", playercfg.Address{Key: "key", Host: "host", Port: 6666, Interface: "laser"}, ""},
		{"0:laser:0", playercfg.Address{Port: 0, Interface: "laser"}, ""},
		{"16777343:6665:laser:0", playercfg.Address{Host: "127.0.0.1", Port: 6665, Interface: "laser"}, ""},
		{"laser:x", playercfg.Address{Port: 6665, Interface: "laser"}, ""},
		{"laser:3x", playercfg.Address{Port: 6665, Interface: "laser", Index: 3}, ""},
		{"laser", playercfg.Address{}, `device address "laser" has no index; expected interface:index, like laser:0`},
		{":0", playercfg.Address{}, `device address ":0" has no interface`},
		{"laser:70000", playercfg.Address{}, `has index 70000; expected 0 to 65535`},
		{"laser:-1", playercfg.Address{}, `has index -1; expected 0 to 65535`},
		{"70000:laser:0", playercfg.Address{}, `has port "70000"; expected 0 to 65535`},
		{"host:x:laser:0", playercfg.Address{}, `has port "x"; expected 0 to 65535: the parts are key:host:port:interface:index, from the right`},
		{strings.Repeat("k", 120) + ":::laser:0", playercfg.Address{}, `has 130 bytes; expected at most 127`},
	} {
		got, err := playercfg.ParseAddress(test.text, 6665)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q: error %v, expected %q in it", test.text, err, test.err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", test.text, err, diff)
		}
	}
}

func TestOptions(t *testing.T) {
	f, problems := load(t, `unit_length "cm"
driver ( name "d" provides "laser:0" n 12abc [] )`)
	if f != nil || problems.First() == nil {
		t.Errorf("a number that goes on with letters passes")
	}
	f, problems = load(t, `
driver ( name "d" provides "laser:0"
  size [50 200.5] fov 180 y yes one 1 n "no" text "12abc" big "99999999999" e "1e2x" file "a/b.pgm" abs "/x" home "~/x"
  tuple [1 "b" 3] alwayson 1 plugin "libd" )
unit_length "cm"
`)
	if f == nil {
		t.Fatal(problems)
	}
	d := f.Drivers[0]
	got := fmt.Sprintln(d.Name, d.Plugin, d.AlwaysOn, d.Provides[0], d.Text("size", 1, ""), d.Text("size", 2, "7"),
		d.Int("text", 0, 0), d.Int("big", 0, 0), d.Int("e", 0, 0), d.Int("none", 0, -3),
		d.Text("tuple", 1, ""), d.Text("tuple", 3, "-"), d.Len("tuple"), d.Len("none"),
		d.FileName("file", 0, ""), d.FileName("abs", 0, ""), d.FileName("home", 0, ""), d.FileName("none", 0, "n"), d.Field("none") == nil)
	want := fmt.Sprintln("d", "libd", true, "laser:0", "200.5", 7, 12, 2147483647, 1, -3, "b", "-", 3, 0, "dir/a/b.pgm", "/x", "~/x", "n", true)
	if got != want {
		t.Errorf("options are\n%s, expected\n%s", got, want)
	}
}

// Every mistake of meaning is told with its place, what is wrong and what is
// expected.
func TestMeaning(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", `dir/x.cfg:1:1: no driver provides a device; expected at least one: Player ends without`},
		{"driver ( provides \"laser:0\" )\n", `dir/x.cfg:1:1: driver without a name; expected name "…"`},
		{"driver ( name \"a\" provides [\"laser:0\" \"lazer:1\"] )\n",
			`dir/x.cfg:1:39: unknown interface "lazer" in device address "lazer:1"; expected "laser"`},
		{"driver ( name \"a\" provides \"position:0\" )\n", `unknown interface "position" in device address "position:0"; expected "position2d", as it is called now`},
		{"driver ( name \"a\" provides \"hall:0\" )\n", `expected one of Player's, like "position2d" or "laser", or a section interface that adds it`},
		{"driver ( name \"a\" provides \"laser:0\" requires \"laser\" )\n", `dir/x.cfg:1:47: device address "laser" has no index`},
		{"driver ( name \"a\" provides [\"laser:0\"\n\"6665:laser:0\"] )\n", `dir/x.cfg:2:1: laser:0 on port 6665 is provided twice, also in line 1; expected another index or port`},
		{"driver ( name \"a\" provides \"laser:0\" )\n robot ( )\n", `dir/x.cfg:2:2: warning: no driver reads a section "robot" here; expected driver or interface`},
		{"driver ( name \"a\" provides \"laser:0\" alwayson yes )\n", `dir/x.cfg:1:47: warning: alwayson is "yes", which Player reads as 0; expected 1 or 0`},
		{"driver ( name \"a\" provides \"laser:x\" )\n", `dir/x.cfg:1:28: warning: index "x" of device address "laser:x" is no number; Player takes 0`},
		{"driver ( name \"a\" provides \"laser:1\" requires \"odometry::position2d:0\" )\n",
			`warning: Player takes "odometry" of device address "odometry::position2d:0" for a host; expected odometry:::position2d:0 if it is a key`},
		{"driver ( name \"a\" provides \"h:1:laser:1\" )\n", `warning: laser:1 is provided on host "h"`},
		{"driver ( name \"stage\" provides \"simulation:0\" )\n", `dir/x.cfg:1:1: the stage driver that provides simulation has no worldfile; expected worldfile "….world"`},
		{"driver ( name \"stage\" provides \"laser:0\" )\n", `dir/x.cfg:1:1: this stage driver has no model; expected model "…", the name of a model in the world`},
		{"interface ( name \"hall\" code 0 )\ndriver ( name \"a\" provides \"laser:0\" )\n", `dir/x.cfg:1:1: interface "hall" has code 0; expected a name and a code from 1 to 65535`},
		{"interface ( name \"hall\" code 128 )\ndriver ( name \"a\" provides \"hall:0\" )\n", ``},
		{"define d driver ( name \"a\" x 1 provides \"laser:0\" )\nd ( x 2 )\n", ``},
	} {
		f, problems := load(t, test.text)
		var all []string
		for _, p := range problems {
			all = append(all, p.Error())
		}
		if got := strings.Join(all, "\n"); test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%q: problems are\n%s, expected\n%s", test.text, got, test.want)
		}
		if (f == nil) != (problems.First() != nil) {
			t.Errorf("%q: file is %v with %v", test.text, f, problems)
		}
	}
}

func robots(f *playercfg.File) []string {
	var out []string
	for _, r := range f.Robots() {
		line := r.Name + " " + r.Address("h") + ":"
		for _, d := range r.Devices {
			line += " " + d.String()
		}
		out = append(out, line)
	}
	return out
}

func TestRobots(t *testing.T) {
	const stage = "driver ( name \"stage\" provides \"simulation:0\" worldfile \"w/a.world\" )\n"
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"ports", stage + `
driver ( name "stage" provides ["6666:position2d:0" "6666:ranger:0"] model "r0" )
driver ( name "stage" provides ["6667:position2d:0"] model "r1" )
driver ( name "rangertolaser" requires "6666:ranger:0" provides ["6666:laser:0" "7777:laser:0"] )`,
			[]string{"r0 h:6666: position2d:0 ranger:0 laser:0", "r1 h:6667: position2d:0", "port-7777 h:7777: laser:0"}},
		{"one port", stage + `
driver ( name "stage" provides ["position2d:0" "ranger:0"] model "r0" )
driver ( name "stage" provides ["position2d:1" "ranger:1"] model "r1" )
driver ( name "vfh" requires ["position2d:3" "laser:1"] provides "position2d:5" )
driver ( name "rangertolaser" requires "ranger:1" provides "laser:1" )
driver ( name "mapfile" provides "map:0" filename "m.png" )
driver ( name "amcl" requires "map:0" provides "localize:0" )
driver ( name "passthrough" requires "other:6665:ranger:0" provides "ranger:9" )`,
			[]string{"r0 h:6665: position2d:0 ranger:0", "r1 h:6665: position2d:1 ranger:1 laser:1 position2d:5", "port-6665 h:6665: localize:0 ranger:9"}},
		{"children", stage + `
driver ( name "stage" provides ["position2d:0"] model "r0" )
driver ( name "stage" provides ["ranger:0"] model "r0.ranger:0" )
driver ( name "writelog" requires ["ranger:0"] provides ["log:0"] )
driver ( name "nd" requires ["x:1:ranger:0"] provides ["planner:0"] )`,
			[]string{"r0 h:6665: position2d:0 ranger:0 planner:0"}},
		{"no Stage", `
driver ( name "p2os" provides ["odometry:::position2d:0" "sonar:0"] )
driver ( name "sicklms200" provides ["7000:laser:0"] )
driver ( name "any" provides ["0:laser:0"] )
driver ( name "readlog" filename "x.log" provides ["7001:log:0"] )`,
			[]string{"port-6665 h:6665: position2d:0 sonar:0", "port-7000 h:7000: laser:0"}},
		{"a robot on two ports", stage + `
driver ( name "stage" provides ["6666:position2d:0" "6667:ranger:0"] model "r0" )`,
			[]string{"r0 h:6666: position2d:0", "r0-6667 h:6667: ranger:0"}},
	} {
		f, problems := load(t, test.text)
		if f == nil {
			t.Errorf("%s: %v", test.name, problems)
			continue
		}
		if diff := cmp.Diff(test.want, robots(f), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		world, pos, ok := f.Worldfile()
		if has := strings.Contains(test.text, "worldfile"); ok != has || has && (world != "dir/w/a.world" || pos.Line != 1) {
			t.Errorf("%s: world %q at %v, %v", test.name, world, pos, ok)
		}
	}
}

// The port of devices without one is the configured.
func TestDefaultPort(t *testing.T) {
	f, problems := playercfg.Load(playercfg.Config{Name: "x", Port: 7777, Open: files{"x": "driver ( name \"a\" provides \"laser:0\" )\n"}.open})
	if f == nil || f.Drivers[0].Provides[0].Port != 7777 {
		t.Errorf("%v", problems)
	}
}
