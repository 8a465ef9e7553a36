package run_test

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playertest"
	"callboard/player/run"
)

// What real servers have answered to those who asked for a device's geometry or
// configuration comes out of a recording to the bit: the sizes of a ranger's
// elements, too.
func TestGeometryOfCaptures(t *testing.T) {
	const captures = "../../testdata/captures"
	files, err := filepath.Glob(filepath.Join(captures, "*.s2c.bin"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures in %s; %v", captures, err)
	}
	answers, sizes := 0, 0
	for _, name := range files {
		c, err := playertest.Load(captures, strings.TrimSuffix(filepath.Base(name), ".s2c.bin"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range c.Server {
			d := &player.Device{Robot: "r0", Addr: player.Addr{Host: m.Host, Robot: m.Robot, Interf: player.Interface(m.Interf), Index: m.Index}}
			known, ok := iface.Lookup(d.Interf, player.Request, m.Subtype)
			setting := d.Interf == player.InterfaceRanger && m.Subtype == iface.ReqRangerSetConfig
			if !ok || setting || player.Type(m.Type) != player.Ack || len(m.Body) == 0 {
				continue
			}
			payload := known.New()
			if known.Decode(m.Body, payload) != nil || !iface.Learn(payload, &d.Geometry, &d.Config) {
				continue
			}
			answers++
			if d.Geometry != nil {
				sizes += len(d.Geometry.ElementSizes)
			}
			for format, again := range recorded(t, d) {
				var body []byte
				for _, a := range iface.Answers(again.Interf, again.Geometry, again.Config) {
					if a.Subtype == m.Subtype {
						if body, err = iface.Append(nil, a.Payload); err != nil {
							t.Fatal(err)
						}
					}
				}
				if !bytes.Equal(body, m.Body) {
					t.Errorf("%s: %s %s of %s\nis answered with %x\nexpected         %x", c.Name, format, m, d.Addr, body, m.Body)
				}
			}
		}
	}
	if answers < 20 || sizes < 40 {
		t.Errorf("compared only %d answers, with %d sizes", answers, sizes)
	}
}

// recorded returns a device as recordings of each format have it.
func recorded(t *testing.T, d *player.Device) map[string]*player.Device {
	t.Helper()
	var log, mcap bytes.Buffer
	logs, err := run.NewLogWriter(&log)
	if err != nil {
		t.Fatal(err)
	}
	mcaps, err := run.NewMCAPWriter(run.MCAPConfig{W: &mcap})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []run.Writer{logs, mcaps} {
		if err := w.Write(&run.Record{Kind: run.Up, Robot: d.Robot, Devices: []*player.Device{d}}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	again := map[string]*player.Device{}
	for format, b := range map[string][]byte{"x.log": log.Bytes(), "x.mcap": mcap.Bytes()} {
		r, err := open(t, format, b).Reader(run.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if rec.Kind == run.Up {
				again[format] = rec.Devices[0]
			}
		}
	}
	if len(again) != 2 {
		t.Fatalf("%s came out of %d formats, expected 2", d.Addr, len(again))
	}
	return again
}
