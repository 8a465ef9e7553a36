package bench

import (
	"bufio"
	"context"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
)

// What the log of the query benchmark has: robots, each on a port of its own,
// with a laser, a sonar and a position at 10 Hz.
const (
	queryRobots = 4
	queryRays   = 181
	queryStep   = 0.1 // s
)

// queryWriter writes the log.
type queryWriter struct {
	log    *playerlog.Writer
	random *rand.Rand
	lines  int64
	scan   iface.LaserData
	ring   iface.SonarData
	pose   iface.Position2DData
}

// writeQueryLog writes a log of about size bytes, and returns how many messages
// it has.
func writeQueryLog(ctx context.Context, name string, size, seed int64) (lines int64, err error) {
	file, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	counted := &countedWriter{to: out}
	log, err := playerlog.NewWriter(playerlog.WriterConfig{W: counted})
	if err != nil {
		return 0, err
	}
	w := &queryWriter{log: log, random: rand.New(rand.NewPCG(uint64(seed), 0)), scan: iface.LaserData{
		MinAngle: -math.Pi / 2, MaxAngle: math.Pi / 2, Resolution: math.Pi / (queryRays - 1), MaxRange: 8,
		Ranges: make([]float32, queryRays), Intensity: make([]uint8, queryRays)}, ring: iface.SonarData{Ranges: make([]float32, 8)}}
	for robot := range uint32(queryRobots) {
		poses := make([]iface.Pose3D, 8)
		for i := range poses {
			poses[i].Pyaw = float64(i) * math.Pi / 4
		}
		if err := w.write(robot, player.InterfaceSonar, player.Ack, iface.ReqSonarGetGeom, 0, &iface.SonarGeom{Poses: poses}); err != nil {
			return 0, err
		}
	}
	for step := 0; counted.n < size; step++ {
		if step%1000 == 0 && ctx.Err() != nil {
			return 0, ctx.Err()
		}
		for robot := range uint32(queryRobots) {
			if err := w.round(robot, step); err != nil {
				return 0, err
			}
		}
	}
	if err := out.Flush(); err != nil {
		return 0, err
	}
	return w.lines, file.Close()
}

// round writes what a robot sends in one step.
func (w *queryWriter) round(robot uint32, step int) error {
	time := queryStep * float64(step)
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

func (w *queryWriter) write(robot uint32, i player.Interface, t player.Type, subtype uint8, time float64, payload any) error {
	w.lines++
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
