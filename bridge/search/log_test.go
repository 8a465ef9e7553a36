package search_test

import (
	"bufio"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
)

// What the log of BenchmarkPlain has: robots, each on a port of its own,
// with a laser, a sonar and a position at 10 Hz.
const (
	logRobots = 4
	logRays   = 181
	logStep   = 0.1 // s
)

// logWriter writes the log.
type logWriter struct {
	log    *playerlog.Writer
	random *rand.Rand
	scan   iface.LaserData
	ring   iface.SonarData
	pose   iface.Position2DData
}

// writeLog writes a log of about size bytes, always the same.
func writeLog(name string, size int64) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	counted := &countedWriter{to: out}
	log, err := playerlog.NewWriter(playerlog.WriterConfig{W: counted})
	if err != nil {
		return err
	}
	w := &logWriter{log: log, random: rand.New(rand.NewPCG(1, 0)), scan: iface.LaserData{
		MinAngle: -math.Pi / 2, MaxAngle: math.Pi / 2, Resolution: math.Pi / (logRays - 1), MaxRange: 8,
		Ranges: make([]float32, logRays), Intensity: make([]uint8, logRays)}, ring: iface.SonarData{Ranges: make([]float32, 8)}}
	for robot := range uint32(logRobots) {
		poses := make([]iface.Pose3D, 8)
		for i := range poses {
			poses[i].Pyaw = float64(i) * math.Pi / 4
		}
		if err := w.write(robot, player.InterfaceSonar, player.Ack, iface.ReqSonarGetGeom, 0, &iface.SonarGeom{Poses: poses}); err != nil {
			return err
		}
	}
	for step := 0; counted.n < size; step++ {
		for robot := range uint32(logRobots) {
			if err := w.round(robot, step); err != nil {
				return err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return file.Close()
}

// round writes what a robot sends in one step.
func (w *logWriter) round(robot uint32, step int) error {
	time := logStep * float64(step)
	turn := time/20 + float64(robot)
	w.pose.Pos = iface.Pose2D{Px: 5 * math.Cos(turn), Py: 5 * math.Sin(turn), Pa: math.Remainder(turn, 2*math.Pi)}
	w.pose.Vel.Px = 0.3 + 0.3*math.Sin(turn*3)
	near := 1.5 + math.Sin(turn*7)
	for i := range w.scan.Ranges {
		w.scan.Ranges[i] = float32(near + 4*math.Abs(math.Sin(float64(i)/30+turn)) + 0.05*w.random.Float64())
		w.scan.Intensity[i] = uint8(i & 1)
	}
	for i := range w.ring.Ranges {
		w.ring.Ranges[i] = w.scan.Ranges[i*20]
	}
	if err := w.write(robot, player.InterfacePosition2D, player.Data, iface.DataPosition2DState, time, &w.pose); err != nil {
		return err
	}
	if err := w.write(robot, player.InterfaceSonar, player.Data, iface.DataSonarRanges, time, &w.ring); err != nil {
		return err
	}
	return w.write(robot, player.InterfaceLaser, player.Data, iface.DataLaserScan, time, &w.scan)
}

func (w *logWriter) write(robot uint32, i player.Interface, t player.Type, subtype uint8, time float64, payload any) error {
	return w.log.Write(player.Header{Addr: player.Addr{Host: 0x0100007f, Robot: player.DefaultPort + robot, Interf: i}, Type: t, Subtype: subtype, Timestamp: time}, payload)
}

// countedWriter counts what is written.
type countedWriter struct {
	to io.Writer
	n  int64
}

func (c *countedWriter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.to.Write(p)
}
