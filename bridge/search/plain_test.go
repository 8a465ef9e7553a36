package search_test

import (
	"bufio"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
)

// plainReadings are what the plain loop knows of a robot, for expr.
type plainReadings struct {
	Laser    *plainLaser    `expr:"laser"`
	Position *plainPosition `expr:"position"`
}

type plainLaser struct {
	Ranges []float64 `expr:"ranges"`
	Min    float64   `expr:"min"`
}

type plainPosition struct {
	X     float64 `expr:"x"`
	Y     float64 `expr:"y"`
	Yaw   float64 `expr:"yaw"`
	Speed float64 `expr:"speed"`
}

// plainSearch counts the readings for which a condition holds in a loop as one
// writes it at first: split lines, strconv.ParseFloat, plain expr.
func plainSearch(name, condition string) (found uint64, err error) {
	program, err := expr.Compile(condition, expr.Env(plainReadings{}), expr.AsBool())
	if err != nil {
		return 0, err
	}
	file, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	robots := map[string]*plainReadings{}
	laser, position := strings.Contains(condition, "laser."), strings.Contains(condition, "position.")
	var machine vm.VM
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 8 || fields[0] == "##" || fields[5] != "001" {
			continue
		}
		values := make([]float64, 0, len(fields)-7)
		for _, field := range fields[7:] {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return 0, err
			}
			values = append(values, v)
		}
		r := robots[fields[2]]
		if r == nil {
			r = &plainReadings{}
			robots[fields[2]] = r
		}
		if !r.take(fields[3], values, laser, position) {
			continue
		}
		v, err := machine.Run(program, *r)
		if err != nil {
			return 0, err
		}
		if v == true {
			found++
		}
	}
	return found, lines.Err()
}

// take takes a reading; it reports whether the condition, which asks for laser or
// position, is to be tested.
func (r *plainReadings) take(interf string, values []float64, laser, position bool) bool {
	switch interf {
	case "laser":
		l := &plainLaser{Min: math.Inf(1)}
		for i := 6; i+1 < len(values); i += 2 {
			l.Ranges = append(l.Ranges, values[i])
			l.Min = min(l.Min, values[i])
		}
		r.Laser = l
		if !laser {
			return false
		}
	case "position2d":
		r.Position = &plainPosition{X: values[0], Y: values[1], Yaw: values[2], Speed: math.Hypot(values[3], values[4])}
		if !position {
			return false
		}
	default:
		return false
	}
	return (r.Laser != nil || !laser) && (r.Position != nil || !position)
}
