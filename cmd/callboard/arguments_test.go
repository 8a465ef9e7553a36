package main

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
	"pgregory.net/rapid"
)

// testApp has a command of each sort of flags.
func testApp() *cli.App {
	return &cli.App{
		Name:  "callboard",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "version"}},
		Commands: []*cli.Command{
			{Name: "watch", Flags: []cli.Flag{
				repeated("select", ""), &cli.BoolFlag{Name: "json"}, &cli.IntFlag{Name: "count"},
				&cli.StringFlag{Name: "min-interval"}, &cli.StringFlag{Name: "o"},
			}},
			{Name: "send", Flags: []cli.Flag{&cli.StringFlag{Name: "ttl"}}},
			{Name: "bench", Subcommands: []*cli.Command{
				{Name: "match", Flags: []cli.Flag{&cli.IntFlag{Name: "readings"}, &cli.BoolFlag{Name: "json"}}},
			}},
		},
	}
}

func TestArrange(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"watch|x < 1", "watch|--|x < 1"},
		{"watch|x < 1|--json", "watch|--json|--|x < 1"},
		{"watch|--json|x < 1|--count|3", "watch|--json|--count=3|--|x < 1"},
		{"--json|watch|x < 1", "watch|--json|--|x < 1"},
		{"--count|3|watch|x < 1", "watch|--count=3|--|x < 1"},
		{"watch|x|-json", "watch|--json|--|x"},
		{"watch|x|--json=false", "watch|--json=false|--|x"},
		{"watch|x|--count=3", "watch|--count=3|--|x"},
		{"watch|x|-o|file", "watch|--o=file|--|x"},
		{"watch|x|-o=file", "watch|--o=file|--|x"},
		// Selected expressions stay whole.
		{"watch|x|--select|a,b = c", "watch|--select=a,b = c|--|x"},
		{"watch|x|--select=laser.min < 1", "watch|--select=laser.min < 1|--|x"},
		{"watch|x|--select|-laser.min|--select|m=-1", "watch|--select=-laser.min|--select=m=-1|--|x"},
		{"watch|x|--select|", "watch|--select=|--|x"},
		{"watch|x|--select|a|--select|b", "watch|--select=a|--select=b|--|x"},
		// Numbers and expressions are no flags.
		{"send|r0|velocity|0.5|0|-0.2", "send|--|r0|velocity|0.5|0|-0.2"},
		{"send|r0|velocity|-.5|-1e3|-5m", "send|--|r0|velocity|-.5|-1e3|-5m"},
		{"send|r0|velocity|-1|--ttl|2|-2", "send|--ttl=2|--|r0|velocity|-1|-2"},
		{"watch|-laser.min < -1", "watch|--|-laser.min < -1"},
		{"watch|-laser.min<-1", "watch|--|-laser.min<-1"},
		{"watch|-x>0", "watch|--|-x>0"},
		{"watch|-x==0", "watch|--|-x==0"},
		{"watch|-x>=0", "watch|--|-x>=0"},
		{"watch|-x!=0", "watch|--|-x!=0"},
		{"watch|-f(x)", "watch|--|-f(x)"},
		{"watch|-a+b", "watch|--|-a+b"},
		{"watch|--a - 1 > 0", "watch|--|--a - 1 > 0"},
		{"watch|-json && true", "watch|--|-json && true"},
		{"watch|-count>3", "watch|--|-count>3"},
		{"watch|-", "watch|--|-"},
		{"watch|", "watch|--|"},
		{"watch|-ä|--json", "watch|--json|--|-ä"},
		// -- ends flags.
		{"watch|--json|--|--count", "watch|--json|--|--count"},
		{"watch|a|--|--json|--|b", "watch|--|a|--json|--|b"},
		{"watch|--json|--", "watch|--json|--"},
		// Help and no command at all.
		{"watch|--help", "watch|--help"},
		{"watch|x|--json|-h", "watch|--help"},
		{"--help", "--help"},
		{"--version", "--version"},
		{"", ""},
		{"--", ""},
		{"--|watch|x", "watch|--|x"},
		// Subcommands have flags of their own.
		{"bench|match|--readings|5", "bench|match|--readings=5|--"},
		{"bench|--readings|5|match|--json", "bench|match|--readings=5|--json|--"},
		{"bench", "bench|--"},
		{"bench|--help", "bench|--help"},
		{"bench|mtch|--json", "bench|--|mtch"},
	} {
		var in []string
		if c.in != "" {
			in = strings.Split(c.in, "|")
		}
		got, err := arrangeAll(testApp(), in)
		if err != nil {
			t.Errorf("%s: %v", c.in, err)
			continue
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s: %s", c.in, diff)
		}
	}
}

func TestArrangeErrors(t *testing.T) {
	for in, want := range map[string]string{
		"watch|x|--jsn":           "watch: unknown flag --jsn; did you mean --json?",
		"watch|x|--ttl=3":         "watch: unknown flag --ttl",
		"watch|x|-x":              "watch: unknown flag --x",
		"watch|x|--sel=a < b":     "watch: unknown flag --sel; did you mean --select?",
		"watch|x|-laser-min":      "watch: unknown flag --laser-min",
		"watch|x|--count":         "watch: flag --count needs a value",
		"watch|x|--count|--":      "watch: flag --count needs a value",
		"watch|x|--count|--json":  "watch: flag --count needs a value, but --json follows; if that is the value, write --count=--json",
		"watch|--select|-x|x":     "watch: flag --select needs a value, but -x follows; if that is the value, write --select=-x",
		"wach|x":                  `unknown command "wach"; did you mean watch?`,
		"record|x":                `unknown command "record"`,
		"--jsn|watch":             "unknown flag --jsn; did you mean --json?",
		"send|r0|--json":          "send: unknown flag --json",
		"bench|match|--count|3|x": "bench: unknown flag --count",
		"--json":                  "unknown flag --json",
	} {
		got, err := arrangeAll(testApp(), strings.Split(in, "|"))
		if err == nil {
			t.Errorf("%s: %q, expected an error", in, got)
			continue
		}
		if err.Error() != want {
			t.Errorf("%s: %v, expected %s", in, err, want)
		}
		if exitCode(err) != exitUsage {
			t.Errorf("%s: exit code %d", in, exitCode(err))
		}
	}
}

// Wherever flags stand among the positional arguments, urfave/cli gets the
// same ones, with the same values, and the positional arguments in order.
func TestFlagsAnywhere(t *testing.T) {
	value := rapid.OneOf(
		rapid.SampledFrom([]string{"-0.5", "laser.min < 1", "a,b", "", "x=y", "-x > 1", "-", "ä", "a=b=c"}),
		rapid.StringMatching(`[a-z0-9 ,=<>.]{0,8}`),
	)
	rapid.Check(t, func(t *rapid.T) {
		var selects, positional, line []string
		json, ended := false, false
		for range rapid.IntRange(0, 8).Draw(t, "arguments") {
			v := value.Draw(t, "value")
			switch kind := rapid.IntRange(0, 4).Draw(t, "kind"); {
			case ended || kind == 0:
				positional, line = append(positional, v), append(line, v)
			case kind == 1:
				selects, line = append(selects, v), append(line, "--select", v)
			case kind == 2:
				selects, line = append(selects, v), append(line, "--select="+v)
			case kind == 3:
				json, line = true, append(line, "--json")
			default:
				ended, line = true, append(line, "--")
			}
		}
		app := testApp()
		app.DisableSliceFlagSeparator = true
		app.Writer, app.ErrWriter = io.Discard, io.Discard
		ran := false
		app.Commands[0].HideHelpCommand = true
		app.Commands[0].Action = func(c *cli.Context) error {
			ran = true
			if diff := cmp.Diff(selects, textsOf(c, "select")); diff != "" && len(selects)+len(textsOf(c, "select")) > 0 {
				t.Errorf("selects: %s", diff)
			}
			if diff := cmp.Diff(positional, c.Args().Slice()); diff != "" && len(positional)+c.Args().Len() > 0 {
				t.Errorf("positional: %s", diff)
			}
			if c.Bool("json") != json {
				t.Errorf("json: %v", c.Bool("json"))
			}
			return nil
		}
		arranged, err := arrangeAll(app, append([]string{"watch"}, line...))
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if err := app.Run(append([]string{"callboard"}, arranged...)); err != nil {
			t.Fatalf("%q: %v", arranged, err)
		}
		if !ran {
			t.Fatalf("%q: the command did not run", arranged)
		}
	})
}

// Whatever is given, arranging ends with arguments or a wrong use.
func FuzzArrange(f *testing.F) {
	f.Add("watch|x|--json")
	f.Add("bench|--readings|5|match|--|--")
	f.Add("--|--select|=|-=|--=")
	f.Fuzz(func(t *testing.T, line string) {
		in := strings.Split(line, "|")
		got, err := arrangeAll(testApp(), in)
		var wrong *usageError
		if err != nil && !errors.As(err, &wrong) {
			t.Fatalf("%q: %v", in, err)
		}
		if len(got) > 2*len(in)+2 {
			t.Fatalf("%q: %q", in, got)
		}
	})
}
