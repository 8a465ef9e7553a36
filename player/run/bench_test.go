package run_test

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/run"
)

// formats are the kinds of recordings: MCAP without and with what is there only
// to be drawn, and a Player log.
var formats = []struct {
	name string
	make func(io.Writer) (run.Writer, error)
}{
	{"plain.mcap", func(w io.Writer) (run.Writer, error) { return run.NewMCAPWriter(run.MCAPConfig{W: w, Plain: true}) }},
	{"drawn.mcap", func(w io.Writer) (run.Writer, error) { return run.NewMCAPWriter(run.MCAPConfig{W: w}) }},
	{"run.log", func(w io.Writer) (run.Writer, error) { return run.NewLogWriter(w) }},
}

// scans are readings of a device. They repeat after more than a chunk holds.
type scans struct {
	device   *player.Device
	subtype  uint8
	payloads []any
}

// someScans makes scans of 181 rays of a laser and of a ranger: a random walk
// with noise.
func someScans() []scans {
	addr := func(i player.Interface) player.Addr { return player.Addr{Host: 0x0100007f, Robot: 6665, Interf: i} }
	laser := scans{subtype: iface.DataLaserScan, device: &player.Device{Addr: addr(player.InterfaceLaser), Robot: "r0", Geometry: &player.Geometry{}}}
	ranger := scans{subtype: iface.DataRangerRange, device: &player.Device{
		Addr: addr(player.InterfaceRanger), Robot: "r0", Geometry: &player.Geometry{Elements: make([]player.Pose, 1)},
		Config: &player.RangerConfig{MinAngle: -math.Pi / 2, MaxAngle: math.Pi / 2, MaxRange: 8},
	}}
	random := rand.New(rand.NewPCG(1, 2))
	for range 4096 {
		at := 2 + 4*random.Float64()
		l := &iface.LaserData{MinAngle: -math.Pi / 2, MaxAngle: math.Pi / 2, Resolution: math.Pi / 180, MaxRange: 8}
		r := &iface.RangerDataRange{}
		for range 181 {
			at = math.Abs(at + 0.05*random.NormFloat64())
			v := math.Min(8, at+0.01*random.NormFloat64())
			l.Ranges, r.Ranges = append(l.Ranges, float32(v)), append(r.Ranges, v)
		}
		laser.payloads, ranger.payloads = append(laser.payloads, l), append(ranger.payloads, r)
	}
	return []scans{laser, ranger}
}

// records calls write with n records of the scans, the device's first.
func (s scans) records(n int, write func(*run.Record) error) error {
	rec := run.Record{Kind: run.Up, Robot: s.device.Robot, Logged: time.Unix(1e9, 0), Devices: []*player.Device{s.device}}
	if err := write(&rec); err != nil {
		return err
	}
	rec = run.Record{Kind: run.Data, Robot: s.device.Robot, Device: s.device, Logged: rec.Logged}
	rec.Header = player.Header{Addr: s.device.Addr, Type: player.Data, Subtype: s.subtype}
	for i := range n {
		rec.Header.Timestamp, rec.Header.Seq = float64(i)/10, uint32(i)
		rec.Logged, rec.Payload = rec.Logged.Add(100*time.Millisecond), s.payloads[i%len(s.payloads)]
		if err := write(&rec); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkRecording writes scans into a file as callboard record does, and
// reads them. One operation is a scan.
func BenchmarkRecording(b *testing.B) {
	for _, s := range someScans() {
		for _, format := range formats {
			name := filepath.Join(b.TempDir(), format.name)
			written := 0
			b.Run(fmt.Sprintf("%s/%s/write", s.device.Interf, format.name), func(b *testing.B) {
				file, err := os.Create(name)
				if err != nil {
					b.Fatal(err)
				}
				defer file.Close()
				w, err := format.make(file)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				b.ResetTimer()
				if err := s.records(b.N, w.Write); err != nil {
					b.Fatal(err)
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				if info, err := file.Stat(); err == nil {
					b.ReportMetric(float64(info.Size())/float64(b.N), "file-B/op")
				}
				written = b.N
			})
			b.Run(fmt.Sprintf("%s/%s/read", s.device.Interf, format.name), func(b *testing.B) {
				b.ReportAllocs()
				for left := b.N; left > 0; left -= written {
					if err := readSome(name, min(left, written)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// readSome reads the first n data messages of a file.
func readSome(name string, n int) error {
	f, err := run.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r, err := f.Reader(run.Options{})
	if err != nil {
		return err
	}
	defer r.Close()
	for n > 0 {
		rec, err := r.Next()
		if err != nil {
			return fmt.Errorf("%d are missing: %w", n, err)
		}
		if rec.Kind == run.Data {
			n--
		}
	}
	return nil
}
