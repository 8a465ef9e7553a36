package run_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/mcap"
	"callboard/player/problem"
	"callboard/player/run"
)

// open makes a run of bytes.
func open(t testing.TB, name string, b []byte) *run.File {
	t.Helper()
	f, err := run.New(run.Config{R: bytes.NewReader(b), Size: int64(len(b)), Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// copyRun writes all records of a run into another.
func copyRun(t testing.TB, from *run.File, to run.Writer) (unwritable int) {
	t.Helper()
	r, err := from.Reader(run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		rec, err := r.Next()
		var p *problem.Problem
		switch {
		case err == io.EOF:
			if err := to.Close(); err != nil {
				t.Fatal(err)
			}
			return unwritable
		case errors.As(err, &p):
			continue
		case err != nil:
			t.Fatal(err)
		}
		if rec.Kind == run.Data && rec.Payload == nil {
			continue
		}
		var not *run.Unwritable
		if err := to.Write(rec); errors.As(err, &not) {
			unwritable++
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func mcapOf(t testing.TB, from *run.File, c run.MCAPConfig) []byte {
	t.Helper()
	var out bytes.Buffer
	c.W = &out
	w, err := run.NewMCAPWriter(c)
	if err != nil {
		t.Fatal(err)
	}
	copyRun(t, from, w)
	return out.Bytes()
}

func logOf(t testing.TB, from *run.File) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := run.NewLogWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	copyRun(t, from, w)
	return out.Bytes()
}

// plain takes away what formats tell differently: oddities, and answers where
// only the news in them counts.
func plain(lines []string) []string {
	var out []string
	for _, l := range lines {
		l, _, _ = strings.Cut(l, " (")
		if strings.HasPrefix(l, "known") {
			l, _, _ = strings.Cut(l, " ACK")
		}
		if strings.HasPrefix(l, "data") && !strings.Contains(l, "&{") || strings.HasPrefix(l, "x.") || strings.HasPrefix(l, "../") {
			continue
		}
		out = append(out, l)
	}
	return out
}

var goldenLogs = []string{"alpha-ranger.log", "beta-laser-odom.log", "many-interfaces.log", "two-robots-laser-sonar.log"}

// A log, written again in either format, says the same.
func TestWrittenAgain(t *testing.T) {
	for _, name := range goldenLogs {
		f, err := run.Open("../../testdata/logs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		want := plain(told(t, f, run.Options{}))
		if len(want) < 20 {
			t.Fatalf("%s: %d records", name, len(want))
		}
		for _, again := range [][]byte{mcapOf(t, f, run.MCAPConfig{}), mcapOf(t, f, run.MCAPConfig{Plain: true})} {
			if diff := cmp.Diff(want, plain(told(t, open(t, "x.mcap", again), run.Options{}))); diff != "" {
				t.Errorf("%s as MCAP: %s", name, diff)
			}
		}
		if name == "many-interfaces.log" {
			continue // real readlog's own log holds what a log cannot
		}
		if diff := cmp.Diff(want, plain(told(t, open(t, "x.log", logOf(t, f)), run.Options{}))); diff != "" {
			t.Errorf("%s as log: %s", name, diff)
		}
	}
}

// An MCAP file's bodies come as they are in it, if they are asked for.
func TestBodies(t *testing.T) {
	log, err := run.Open("../../testdata/logs/" + goldenLogs[0])
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	f := open(t, "x.mcap", mcapOf(t, log, run.MCAPConfig{Plain: true}))
	decoded, err := f.Reader(run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := f.Reader(run.Options{Bodies: true})
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; ; {
		want, err := decoded.Next()
		got, also := encoded.Next()
		if err != also || err == io.EOF {
			if err != also || n < 20 {
				t.Fatalf("after %d messages: %v and %v", n, err, also)
			}
			return
		}
		if want.Kind != run.Data {
			continue
		}
		n++
		body, err := iface.Append(nil, want.Payload)
		if err != nil {
			t.Fatal(err)
		}
		if raw, ok := got.Payload.(*iface.Raw); !ok || !bytes.Equal(raw.Body, body) || got.Header != want.Header {
			t.Fatalf("%s comes as %T, expected its %d bytes", got.Header, got.Payload, len(body))
		}
	}
}

// full fills every field of a struct with values that differ.
func full(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			full(v.Field(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		full(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			full(v.Index(i), n)
		}
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{float64(*n) + 0.1, math.NaN(), math.Inf(-1), -1 / 3.0 * float64(*n)}[*n%4])
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Uint8:
		v.SetUint(uint64(*n % 200))
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	default:
		v.SetInt(int64(*n % 100))
	}
}

func fullDevice(t *testing.T) *player.Device {
	d := &player.Device{}
	n := 0
	full(reflect.ValueOf(d).Elem(), &n)
	d.Addr = player.Addr{Host: 0x0100007f, Robot: 6665, Interf: player.InterfaceRanger, Index: 3}
	d.Robot, d.World = "r 0", "the cave"
	return d
}

// same compares bits, so that NaN is NaN.
var same = cmp.Options{
	cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }),
	cmp.Comparer(func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b }),
}

// Everything that is known of a device, and every message of package iface,
// comes out of an MCAP file as it went in, to the bit.
func TestMCAPKeepsEverything(t *testing.T) {
	var out bytes.Buffer
	w, err := run.NewMCAPWriter(run.MCAPConfig{W: &out})
	if err != nil {
		t.Fatal(err)
	}
	d := fullDevice(t)
	at := time.Unix(1700000000, 123456789)
	write := func(rec run.Record) run.Record {
		rec.Robot, rec.World, rec.Player, rec.Logged = d.Robot, d.World, "lab:6665", at
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
		return rec
	}
	want := []run.Record{
		write(run.Record{Kind: run.Up, Devices: []*player.Device{d, {Addr: player.Addr{Interf: player.InterfaceAIO}, Robot: d.Robot, World: d.World}}, Continued: true}),
		write(run.Record{Kind: run.Lost, Count: 7}),
	}
	n := 0
	for _, m := range iface.Messages() {
		if m.Type != player.Data || m.Interface == 0 {
			continue
		}
		one := &player.Device{Addr: player.Addr{Host: 5, Robot: 6, Interf: m.Interface, Index: 9}, Robot: d.Robot, World: d.World}
		rec := run.Record{Kind: run.Data, Device: one, Header: player.Header{Addr: one.Addr, Type: player.Data, Subtype: m.Subtype, Timestamp: 1e9 / 3, Seq: 77}}
		if !m.Empty() {
			p := m.New()
			full(reflect.ValueOf(p).Elem(), &n)
			rec.Payload = p
		}
		if !slices.ContainsFunc(want, func(w run.Record) bool { return w.Device != nil && w.Device.Addr == one.Addr }) {
			want = append(want, run.Record{Kind: run.Known, Robot: d.Robot, World: d.World, Player: "lab:6665", Device: one})
		}
		want = append(want, write(rec))
	}
	want = append(want, write(run.Record{Kind: run.Down}))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, cut := range []int{0, 200} { // with its index and without
		f := open(t, "x.mcap", out.Bytes()[:out.Len()-cut])
		r, err := f.Reader(run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for i, w := range want {
			got, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			have := *got
			have.Offset, have.Header.Size, w.Offset = 0, 0, 0
			if diff := cmp.Diff(w, have, same); diff != "" {
				t.Fatalf("record %d: %s", i, diff)
			}
		}
		for {
			_, err := r.Next()
			if err == io.EOF {
				break
			}
			if p := (*problem.Problem)(nil); !errors.As(err, &p) || !p.Warning {
				t.Fatal(err)
			}
		}
	}
}

// In a log two servers never share an address, whatever they call themselves.
func TestLogWriterKeepsServersApart(t *testing.T) {
	var out bytes.Buffer
	w, err := run.NewLogWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	addr := player.Addr{Host: 0x0100007f, Robot: 6665, Interf: player.InterfaceAIO}
	names := map[string]string{"r0": "10.0.0.1:6665", "r1": "10.0.0.2:6665", "r2": "lab:6665", "r3": "127.0.0.1:6665"}
	order := []string{"r0", "r1", "r2", "r3"}
	for i := range 8 {
		name := order[i%4]
		d := &player.Device{Addr: addr, Robot: name}
		rec := &run.Record{Kind: run.Up, Robot: name, Player: names[name], Devices: []*player.Device{d}}
		if i >= 4 {
			rec = &run.Record{
				Kind: run.Data, Robot: name, Player: names[name], Device: d, Payload: &iface.AIOData{Voltages: []float32{float32(i)}},
				Header: player.Header{Addr: addr, Type: player.Data, Subtype: 1, Timestamp: float64(i)},
			}
		}
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"up r0 aio:0", "up r1 aio:0", "up r2 aio:0", "up r3 aio:0",
		"data r0 aio:0 DATA 1 at 4 &{Voltages:[4]}", "data r1 aio:0 DATA 1 at 5 &{Voltages:[5]}",
		"data r2 aio:0 DATA 1 at 6 &{Voltages:[6]}", "data r3 aio:0 DATA 1 at 7 &{Voltages:[7]}",
	}
	if diff := cmp.Diff(want, told(t, open(t, "x.log", out.Bytes()), run.Options{})); diff != "" {
		t.Errorf("%s\n%s", diff, out.String())
	}
}

// What is known of a device stands in a log to the bit, although the lines of
// its geometry have three decimals.
func TestLogKeepsGeometry(t *testing.T) {
	var out bytes.Buffer
	w, err := run.NewLogWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	d := fullDevice(t)
	if err := w.Write(&run.Record{Kind: run.Up, Robot: d.Robot, World: d.World, Devices: []*player.Device{d}}); err != nil {
		t.Fatal(err)
	}
	rec := &run.Record{Kind: run.Data, Robot: d.Robot, World: d.World, Device: d, Header: player.Header{Addr: d.Addr, Type: player.Data, Subtype: iface.DataRangerRange, Timestamp: 5}, Payload: &iface.RangerDataRange{Ranges: []float64{1}}}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := open(t, "x.log", out.Bytes()).Reader(run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		got, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, have := range append(slices.Clone(got.Devices), got.Device) {
			if have == nil {
				continue
			}
			if diff := cmp.Diff(d, have, same); diff != "" {
				t.Errorf("%s: %s\n%s", got.Kind, diff, out.String())
			}
		}
	}
	if strings.Count(out.String(), "\n0000000005.000 16777343 6665 ranger 03 004 ") != 2 {
		t.Errorf("the geometry's lines are missing:\n%s", out.String())
	}
}

// What is only there to be drawn has chunks of its own: who replays or queries
// does not unpack it. All robots' transforms stand in one topic, and of each
// robot those of one device.
func TestDrawnApart(t *testing.T) {
	f, err := run.Open("../../testdata/logs/alpha-ranger.log")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	b := mcapOf(t, f, run.MCAPConfig{})
	s, err := mcap.ReadSummary(bytes.NewReader(b), int64(len(b)), "x.mcap")
	if err != nil {
		t.Fatal(err)
	}
	topics := map[string]bool{}
	for _, x := range s.Chunks {
		kinds := map[bool]bool{}
		for id := range x.MessageIndexes {
			c := s.Channels()[id]
			topics[c.Topic] = true
			kinds[strings.HasSuffix(c.Topic, "/player") || strings.HasPrefix(c.Topic, "/callboard")] = true
		}
		if len(kinds) != 1 {
			t.Errorf("the chunk at %d has both", x.Offset)
		}
	}
	for _, want := range []string{"/callboard/events", "/tf", "/port-6665/ranger/0/player", "/port-6665/ranger/0/scan", "/port-6665/ranger/1/rays", "/port-6665/position2d/0/pose"} {
		if !topics[want] {
			t.Errorf("topic %s is missing in %v", want, topics)
		}
	}
}

// FuzzRun reads any bytes as a run: nothing panics, and it ends.
func FuzzRun(f *testing.F) {
	for _, name := range goldenLogs {
		golden, err := run.Open("../../testdata/logs/" + name)
		if err != nil {
			f.Fatal(err)
		}
		defer golden.Close()
		f.Add(logOf(f, golden)[:4000])
		f.Add(mcapOf(f, golden, run.MCAPConfig{Plain: true})[:8000])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := run.New(run.Config{R: bytes.NewReader(b), Size: int64(len(b))})
		if err != nil {
			return
		}
		file.World()
		r, err := file.Reader(run.Options{})
		if err != nil {
			return
		}
		defer r.Close()
		for {
			rec, err := r.Next()
			var p *problem.Problem
			switch {
			case errors.As(err, &p):
			case err != nil:
				return
			case rec.Kind != run.Up && rec.Kind != run.Lost && rec.Kind != run.Down && rec.Device == nil:
				t.Fatalf("%+v has no device", rec)
			}
		}
	})
}
