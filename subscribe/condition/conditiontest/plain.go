package conditiontest

import (
	"math"
	"reflect"

	"callboard/subscribe/view"
)

// Zones are the zones that Condition names: rectangles, as polygons.
var Zones = map[string][][2]float64{"dock": {{0, 0}, {2, 0}, {2, 1}, {0, 1}}}

// Plain is what plain expr sees of a reading.
type Plain struct {
	Now, Prev               view.State
	Robot, World, Interface string
	Index                   int
	Time                    float64 // s
}

// Env returns the environment for expr.
func (p Plain) Env() map[string]any {
	at := p.Now.Position
	env := map[string]any{
		"prev":  &p.Prev,
		"robot": p.Robot, "world": p.World, "interface": p.Interface, "index": p.Index, "time": p.Time,
		"sector": func(v, from, to any) float64 {
			return v.(interface {
				Sector(from, to float64) float64
			}).Sector(number(from), number(to))
		},
		"distance":   func(x, y any) float64 { return math.Hypot(at.X-number(x), at.Y-number(y)) },
		"inside":     func(string) bool { return at.X >= 0 && at.X <= 2 && at.Y >= 0 && at.Y <= 1 },
		"deg":        func(a any) float64 { return number(a) * (math.Pi / 180) },
		"angle_diff": func(a, b any) float64 { return angleDiff(number(a), number(b)) },
	}
	now := reflect.ValueOf(p.Now)
	for i := range now.NumField() {
		env[now.Type().Field(i).Tag.Get("expr")] = now.Field(i).Interface()
	}
	return env
}

func number(v any) float64 {
	if i, ok := v.(int); ok {
		return float64(i)
	}
	return v.(float64)
}

// angleDiff is the way from b to a, in (−π, π].
func angleDiff(a, b float64) float64 {
	d := math.Remainder(a-b, 2*math.Pi)
	if d <= -math.Pi {
		d += 2 * math.Pi
	}
	return d
}
