package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/mcap"
	"callboard/player/run"
)

func mcapWorkload() Workload {
	return Workload{
		Name:    "mcap",
		Summary: "writing and reading recordings, MCAP against Player logs",
		About: `Writes scans of a laser, and of a ranger, into a file as callboard record does,
then reads them: an MCAP file without what is only there to be drawn (plain), one
with it (two messages a scan), and a Player log. Ranges are a random walk with
noise. One goroutine, on a temporary file that is deleted. The rate by processor
time is what a machine with nothing else to do gives.`,
		Examples: []string{
			"callboard bench mcap",
			"callboard bench mcap --messages 200000 --beams 361 --json",
		},
		Parameters: []Parameter{
			{"messages", "`N` scans", 100_000},
			{"beams", "`N` ranges in a scan", 181},
			{"dir", "`DIR` for the files (default that for temporary files)", ""},
		},
		Run: runMCAP,
	}
}

// recordingCase is a format to write and read.
type recordingCase struct {
	name string
	make func(io.Writer) (run.Writer, error)
}

func runMCAP(ctx context.Context, v Values, report func(Result)) error {
	formats := []recordingCase{
		{"mcap plain", func(w io.Writer) (run.Writer, error) {
			return run.NewMCAPWriter(run.MCAPConfig{W: w, Plain: true})
		}},
		{"mcap drawn", func(w io.Writer) (run.Writer, error) { return run.NewMCAPWriter(run.MCAPConfig{W: w}) }},
		{"log", func(w io.Writer) (run.Writer, error) { return run.NewLogWriter(w) }},
	}
	for _, scans := range []*scans{laserScans(v.Int("beams")), rangerScans(v.Int("beams"))} {
		for _, format := range formats {
			if err := measureRecording(ctx, v, format, scans, report); err != nil {
				return err
			}
		}
	}
	return nil
}

// scans are readings of a device.
type scans struct {
	device   *player.Device
	subtype  uint8
	payloads []any
}

// differentScans is how many scans differ before they repeat: more than a
// chunk holds.
const differentScans = 4096

func walks(beams int, each func(ranges []float64)) {
	random := rand.New(rand.NewPCG(1, 2))
	ranges := make([]float64, beams)
	for range differentScans {
		at := 2 + 4*random.Float64()
		for i := range ranges {
			at = math.Abs(at + 0.05*random.NormFloat64())
			ranges[i] = math.Min(8, at+0.01*random.NormFloat64())
		}
		each(ranges)
	}
}

func laserScans(beams int) *scans {
	addr := player.Addr{Host: 0x0100007f, Robot: 6665, Interf: player.InterfaceLaser}
	s := &scans{device: &player.Device{Addr: addr, Robot: "r0", Geometry: &player.Geometry{}}, subtype: iface.DataLaserScan}
	walks(beams, func(ranges []float64) {
		p := &iface.LaserData{MinAngle: -math.Pi / 2, MaxAngle: math.Pi / 2, Resolution: float32(math.Pi / float64(max(beams-1, 1))), MaxRange: 8}
		for _, r := range ranges {
			p.Ranges = append(p.Ranges, float32(r))
		}
		s.payloads = append(s.payloads, p)
	})
	return s
}

func rangerScans(beams int) *scans {
	addr := player.Addr{Host: 0x0100007f, Robot: 6665, Interf: player.InterfaceRanger}
	s := &scans{subtype: iface.DataRangerRange, device: &player.Device{
		Addr: addr, Robot: "r0", Geometry: &player.Geometry{Elements: make([]player.Pose, 1)},
		Config: &player.RangerConfig{MinAngle: -math.Pi / 2, MaxAngle: math.Pi / 2, MaxRange: 8},
	}}
	walks(beams, func(ranges []float64) {
		s.payloads = append(s.payloads, &iface.RangerDataRange{Ranges: append([]float64(nil), ranges...)})
	})
	return s
}

// measureRecording writes a file and reads it.
func measureRecording(ctx context.Context, v Values, format recordingCase, s *scans, report func(Result)) error {
	file, err := os.CreateTemp(v.Text("dir"), "callboard-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = file.Close(); _ = os.Remove(file.Name()) }()
	n := v.Int("messages")
	name := fmt.Sprintf("%s %d, %s", s.device.Interf, v.Int("beams"), format.name)
	tell := func(metric string, value float64, unit string) {
		report(Result{Case: name, Metric: metric, Value: value, Unit: unit})
	}
	begun, used := time.Now(), processorTime()
	if err := writeScans(ctx, file, format, s, n); err != nil {
		return err
	}
	wall, busy := time.Since(begun), processorTime()-used
	info, err := file.Stat()
	if err != nil {
		return err
	}
	tell("written", float64(n)/wall.Seconds(), "scans/s")
	tellProcessor(tell, "written", n, "scans/s", busy)
	if summary, err := mcap.ReadSummary(file, info.Size(), file.Name()); err == nil && int(summary.Statistics.Messages) > n+1 {
		messages := int(summary.Statistics.Messages)
		tell("written", float64(messages)/wall.Seconds(), "messages/s")
		tellProcessor(tell, "written", messages, "messages/s", busy)
	}
	tell("size", float64(info.Size())/float64(n), "B/scan")
	begun, used = time.Now(), processorTime()
	if err := readScans(ctx, file.Name(), n); err != nil {
		return err
	}
	tell("read", float64(n)/time.Since(begun).Seconds(), "scans/s")
	tellProcessor(tell, "read", n, "scans/s", processorTime()-used)
	return nil
}

// tellProcessor tells the rate for the time that the processor was used: what
// it would be on a machine with nothing else to do.
func tellProcessor(tell func(metric string, value float64, unit string), what string, n int, unit string, used time.Duration) {
	if used > 0 {
		tell(what+" by processor time", float64(n)/used.Seconds(), unit)
	}
}

func writeScans(ctx context.Context, to io.Writer, format recordingCase, s *scans, n int) error {
	w, err := format.make(to)
	if err != nil {
		return err
	}
	rec := run.Record{Kind: run.Up, Robot: s.device.Robot, Logged: time.Now(), Devices: []*player.Device{s.device}}
	if err := w.Write(&rec); err != nil {
		return err
	}
	rec = run.Record{Kind: run.Data, Robot: s.device.Robot, Device: s.device, Logged: rec.Logged}
	rec.Header = player.Header{Addr: s.device.Addr, Type: player.Data, Subtype: s.subtype}
	for i := range n {
		rec.Header.Timestamp, rec.Header.Seq = float64(i)/10, uint32(i)
		rec.Logged = rec.Logged.Add(100 * time.Millisecond)
		rec.Payload = s.payloads[i%len(s.payloads)]
		if err := w.Write(&rec); err != nil {
			return err
		}
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return w.Close()
}

func readScans(ctx context.Context, name string, n int) error {
	f, err := run.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r, err := f.Reader(run.Options{})
	if err != nil {
		return err
	}
	defer r.Close()
	for i := 0; ; {
		rec, err := r.Next()
		switch {
		case err == io.EOF && i == n:
			return nil
		case err == io.EOF:
			return fmt.Errorf("%d messages were read, expected the %d that were written", i, n)
		case err != nil:
			return err
		case rec.Kind == run.Data:
			i++
		}
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
