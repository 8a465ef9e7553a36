package bench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"callboard/player"
	"callboard/subscribe/view"
)

// matchKinds are the workloads of match.
var matchKinds = []string{"two predicates", "mixed", "zipf", "residue"}

// maxRange of the scans, in m.
const maxRange = 8.0

// matchTexts writes conditions, reproducibly, and readings of which each
// matches about the wanted share of them.
type matchTexts struct {
	kind   string
	robots int
	part   float64 // of a robot's conditions a reading matches
	zipf   []int32 // which text a subscription has
}

func newMatchTexts(kind string, selectivity float64, n int) *matchTexts {
	t := &matchTexts{kind: kind}
	// One robot in so many, and the same share of its conditions.
	t.robots = int(math.Ceil(1 / math.Sqrt(selectivity)))
	t.part = selectivity * float64(t.robots)
	if kind == "zipf" {
		z := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, uint64(max(1, n/10)))
		for range n {
			t.zipf = append(t.zipf, int32(z.Uint64()))
		}
	}
	return t
}

// random returns the random numbers of the i-th text.
func (t *matchTexts) random(i int) *rand.Rand {
	if t.kind == "zipf" && i < len(t.zipf) {
		i = int(t.zipf[i])
	}
	return rand.New(rand.NewPCG(uint64(i), 7))
}

// two returns the two predicates of the i-th text: a robot, "" for any, and a
// threshold on laser.min, in m.
func (t *matchTexts) two(i int) (robot string, threshold float64, more *rand.Rand) {
	more = t.random(i)
	robot = fmt.Sprint("r", more.IntN(t.robots))
	threshold = math.Round(more.Float64()*maxRange*1e6) / 1e6
	switch {
	case t.kind == "mixed" && i%10 == 9:
		// Its other predicates leave as few matches as a robot's name does.
		return "", threshold, more
	case t.kind == "residue" && i%10 == 9:
		return "", 0, more
	}
	return robot, threshold, more
}

// text returns the i-th condition.
func (t *matchTexts) text(i int) string {
	robot, threshold, more := t.two(i)
	switch {
	case t.kind == "residue" && robot == "":
		beam := more.IntN(beams - 1)
		return fmt.Sprintf("laser.ranges[%d] + laser.ranges[%d] < %v", beam, beam+1, 2*maxRange*t.part*more.Float64())
	case t.kind != "mixed":
		return fmt.Sprintf(`robot == "%s" && laser.min < %v`, robot, threshold)
	}
	var b strings.Builder
	if robot == "" {
		x, y, side := 40*more.Float64()-20, 40*more.Float64()-20, 40/math.Sqrt(float64(t.robots))
		fmt.Fprintf(&b, "%.3f < position.x && position.x < %.3f && position.y > %.3f && position.y < %.3f", x, x+side, y, y+side)
	} else {
		fmt.Fprintf(&b, `robot == "%s"`, robot)
	}
	fmt.Fprintf(&b, " && laser.min < %v", threshold)
	most := 6
	if robot == "" {
		most = 3
	}
	for left := 1 + more.IntN(most); left > 0; left-- {
		if left >= 2 && more.IntN(2) == 0 {
			left--
			fmt.Fprintf(&b, " && (%s or not (%s))", predicate(more), predicate(more))
		} else {
			fmt.Fprintf(&b, " && %s", predicate(more))
		}
	}
	return b.String()
}

// predicate writes a predicate that most readings meet.
func predicate(more *rand.Rand) string {
	f := more.Float64()
	switch more.IntN(7) {
	case 0:
		return fmt.Sprintf("position.x > %.4f", -20+10*f)
	case 1:
		return fmt.Sprintf("!(position.y > %.4f)", 20-10*f)
	case 2:
		return fmt.Sprintf("position.speed >= %.4f", 0.2*f)
	case 3:
		return fmt.Sprintf("position.yaw < %.4f", 3.14-f)
	case 4:
		return fmt.Sprintf("any(laser.ranges, # > %.3f)", 7+f)
	case 5:
		return fmt.Sprintf("count(laser.ranges, # <= %.3f) < %d", 8+f, 200+more.IntN(100))
	}
	return "position.stall == false"
}

// matchReading is a reading of one robot.
type matchReading struct {
	robot   int
	name    string
	arrival view.Arrival
}

// beams of a scan.
const beams = 181

// readings draws readings: laser scans, each with a position beside it.
func (t *matchTexts) readings(n int) []matchReading {
	random := rand.New(rand.NewPCG(3, 4))
	device := &player.Device{Addr: player.Addr{Interf: player.InterfaceLaser}}
	all := make([]matchReading, n)
	for i := range all {
		// Thresholds are spread evenly, so that this share of them is above.
		near := maxRange * (1 - t.part*(0.5+random.Float64()))
		l := &view.Laser{Ranges: make([]float64, beams), Count: beams, Min: near, Max: maxRange, AngleMin: -1.57, AngleMax: 1.57, Resolution: 3.14 / (beams - 1), MaxRange: maxRange, Stamp: view.Stamp{Time: float64(i)}}
		for k := range l.Ranges {
			l.Ranges[k] = near + (maxRange-near)*random.Float64()
		}
		l.Ranges[random.IntN(beams)], l.Ranges[random.IntN(beams)] = near, maxRange
		p := &view.Position{X: 40*random.Float64() - 20, Y: 40*random.Float64() - 20, Yaw: 6.28*random.Float64() - 3.14, Speed: random.Float64(), Stamp: view.Stamp{Time: float64(i)}}
		robot := random.IntN(t.robots)
		all[i] = matchReading{robot, fmt.Sprint("r", robot), view.Arrival{
			Device: device, Interface: "laser", Name: "laser:0", Kind: view.KindLaser, Time: float64(i), View: l,
			Now: view.State{Laser: l, Position: p}, Have: view.KindLaser.Set() | view.KindPosition.Set(),
		}}
	}
	return all
}
