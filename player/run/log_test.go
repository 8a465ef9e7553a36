package run_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/problem"
	"callboard/player/run"
)

// file makes a run of a text.
func file(t *testing.T, text string) *run.File {
	t.Helper()
	f, err := run.New(run.Config{R: strings.NewReader(text), Size: int64(len(text)), Name: "x.log"})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// told reads a run and writes down what comes.
func told(t *testing.T, f *run.File, o run.Options) []string {
	t.Helper()
	r, err := f.Reader(o)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for {
		rec, err := r.Next()
		var p *problem.Problem
		switch {
		case err == io.EOF:
			return out
		case errors.As(err, &p):
			out = append(out, p.Error())
			continue
		case err != nil:
			t.Fatal(err)
		}
		out = append(out, line(rec))
	}
}

func line(rec *run.Record) string {
	s := fmt.Sprintf("%s %s", rec.Kind, rec.Robot)
	if rec.World != "" {
		s += " in " + rec.World
	}
	if rec.Kind == run.Up {
		for _, d := range rec.Devices {
			s += " " + known(d)
		}
	}
	if rec.Device != nil {
		s += " " + known(rec.Device)
	}
	if rec.Count != 0 {
		s += fmt.Sprint(" ", rec.Count)
	}
	if rec.Header.Type != 0 {
		s += fmt.Sprintf(" %s %d at %v", rec.Header.Type, rec.Header.Subtype, rec.Header.Timestamp)
	}
	if rec.Payload != nil {
		s += fmt.Sprintf(" %+v", rec.Payload)
	}
	if rec.Odd != nil {
		s += " (" + rec.Odd.Error() + ")"
	}
	return s
}

// known is a device, with a g if its geometry is known and a c if its
// configuration is.
func known(d *player.Device) string {
	s := d.Addr.String()
	if d.Geometry != nil {
		s += "/g"
	}
	if d.Config != nil {
		s += "/c"
	}
	return s
}

func TestLog(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"all devices of a server are up before its first message", `
0 0 6665 sonar 0 4 1 1 0 0 0
1 16777343 6665 sonar 0 1 1 1 2.5
1 0 6666 aio 1 1 1 1 7
1.1 16777343 6665 aio 0 1 1 1 3
`, []string{
			"x.log:1:1: warning: the line is empty; expected a message: time host robot interface index type subtype …",
			"up port-6665 sonar:0/g aio:0",
			"data port-6665 sonar:0/g DATA 1 at 1 &{Ranges:[2.5]}",
			"up port-6666 aio:1",
			"data port-6666 aio:1 DATA 1 at 1 &{Voltages:[7]}",
			"data port-6665 aio:0 DATA 1 at 1.1 &{Voltages:[3]}",
		}},
		{"geometry that comes later", "1 0 6665 sonar 0 1 1 1 2.5\n2 0 6665 sonar 0 4 1 1 0 0 0\n3 0 6665 sonar 0 4 1 1 0 0 0\n", []string{
			"up port-6665 sonar:0",
			"data port-6665 sonar:0 DATA 1 at 1 &{Ranges:[2.5]}",
			"known port-6665 sonar:0/g ACK 1 at 2 &{Poses:[{Px:0 Py:0 Pz:0 Proll:0 Ppitch:0 Pyaw:0}]}",
		}},
		{"another host", "1 33554442 6665 aio 0 1 1 1 7\n", []string{
			"up 10.0.0.2:6665 aio:0",
			"data 10.0.0.2:6665 aio:0 DATA 1 at 1 &{Voltages:[7]}",
		}},
		{"what record adds", `## Player version 3.1.1-dev
## callboard {"event":"up","robot":"r0","world":"cave","devices":[{"host":16777343,"port":6665,"device":"sonar:0","geometry":{"pose":[0,0,0,0,0,0],"size":[0,0,0],"elements":[[0,0,0,0,0,"NaN"]]}},{"host":16777343,"port":6665,"device":"aio:0"}]}
0 0 6665 sonar 0 4 1 1 0 0 0
1 0 6665 sonar 0 1 1 1 2.5
## callboard {"event":"lost","robot":"r0","world":"cave","lost":7}
## callboard {"event":"known","robot":"r0","world":"cave","devices":[{"port":6665,"device":"dio:3"}]}
## callboard {"event":"down","robot":"r0","world":"cave"}
2 0 6665 aio 0 1 1 1 7
## callboard {"event":"up"}
## callboard what others write
`, []string{
			"up r0 in cave sonar:0/g aio:0",
			"data r0 in cave sonar:0/g DATA 1 at 1 &{Ranges:[2.5]}",
			"lost r0 in cave 7",
			"known r0 in cave dio:3",
			"down r0 in cave",
			"up r0 in cave dio:3 sonar:0/g aio:0",
			"data r0 in cave aio:0 DATA 1 at 2 &{Voltages:[7]}",
			"x.log:9:4: an event without robot; expected what callboard record writes behind ## callboard",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, told(t, file(t, test.text), run.Options{})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGoldenLogs(t *testing.T) {
	for name, want := range map[string][]string{
		"two-robots-laser-sonar.log": {"port-6665", "port-6666"},
	} {
		f, err := run.Open("../../testdata/logs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		s, err := f.Survey(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range s.Robots {
			got = append(got, r.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestZipped(t *testing.T) {
	text, err := os.ReadFile("../../testdata/logs/alpha-ranger.log")
	if err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	plain := told(t, file(t, string(text)), run.Options{})
	if diff := cmp.Diff(plain, told(t, file(t, zipped.String()), run.Options{})); diff != "" {
		t.Error(diff)
	}
	if len(plain) < 10 {
		t.Errorf("%d records", len(plain))
	}
}
