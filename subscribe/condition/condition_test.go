package condition

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"callboard/subscribe/condition/conditiontest"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"

	"github.com/expr-lang/expr"
	"github.com/google/go-cmp/cmp"
)

var zones = map[string][][2]float64{"dock": {{0, 0}, {2, 0}, {2, 1}, {0, 1}}, "hall": {{-9, -9}, {9, -9}, {9, 9}, {-9, 9}}}

func newCompiler(t testing.TB) *Compiler {
	t.Helper()
	c, err := New(Config{Zones: zones})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// testEnv is a robot with one reading of each kind, and one before.
func testEnv() *Env {
	now := conditiontest.Some()
	set := func(s *view.State, l *view.Laser, o *view.Sonar, p *view.Position) {
		s.Laser, s.Sonar, s.Position = l, o, p
	}
	set(&now,
		&view.Laser{
			Ranges: []float64{0.5, 2, 8, 1}, Intensities: []float64{1, 0}, Count: 4, Min: 0.5, Max: 8, Bearing: -1.5,
			AngleMin: -1.5, AngleMax: 1.5, Resolution: 1, MaxRange: 8, Front: 2, Left: 8, Right: 0.5, Stamp: view.Stamp{Time: 10, Index: 0},
		},
		&view.Sonar{Ranges: []float64{3, 2}, Count: 2, Min: 2, Max: 3, Nearest: 1, Bearing: 0.5, Stamp: view.Stamp{Time: 9, Index: 1}},
		&view.Position{X: 1, Y: 0.5, Yaw: math.Pi / 2, VX: 0.3, VY: 0.4, VYaw: 0.1, Speed: 0.5, Stall: true, Stamp: view.Stamp{Time: 9.5, Index: 0}},
	)
	prev := conditiontest.Some()
	set(&prev,
		&view.Laser{Ranges: []float64{8}, Count: 1, Min: 8, Max: 8, MaxRange: 8, Front: 8, Left: 8, Right: 8, Stamp: view.Stamp{Time: 9}},
		&view.Sonar{Ranges: []float64{5}, Count: 1, Min: 5, Max: 5, Stamp: view.Stamp{Index: 1}},
		&view.Position{X: 0.75, Y: 0.5, Stamp: view.Stamp{Time: 9}},
	)
	const all = ^view.Kinds(0)
	return &Env{State: now, Prev: prev, Robot: "r1", World: "cave", Interface: "laser", Index: 0, Time: 10, Have: all, HavePrev: all}
}

func TestValues(t *testing.T) {
	tests := map[string]string{
		"robot": `"r1"`, "world": `"cave"`, "interface": `"laser"`, "index": "0", "time": "10",
		"laser.ranges": "[0.5,2,8,1]", "laser.intensities": "[1,0]", "laser.count": "4", "laser.min": "0.5", "laser.max": "8",
		"laser.bearing": "-1.5", "laser.angle_min": "-1.5", "laser.angle_max": "1.5", "laser.resolution": "1", "laser.max_range": "8",
		"laser.front": "2", "laser.left": "8", "laser.right": "0.5", "laser.time": "10", "laser.index": "0",
		"sonar.ranges": "[3,2]", "sonar.count": "2", "sonar.min": "2", "sonar.max": "3", "sonar.nearest": "1", "sonar.bearing": "0.5", "sonar.time": "9", "sonar.index": "1",
		"position.x": "1", "position.y": "0.5", "position.yaw": "1.5707963267948966", "position.vx": "0.3", "position.vy": "0.4",
		"position.vyaw": "0.1", "position.speed": "0.5", "position.stall": "true", "position.time": "9.5", "position.index": "0",
		"prev.laser.min": "8", "prev.position.x": "0.75", "prev.sonar.ranges": "[5]",
		"bumper.any": "true", "bumper.bumpers": "[2,1.5]", "prev.bumper.bumpers[1]": "1.5", "wifi.essid": `"word"`, "wifi.essids": `["e004","lab"]`,
		"len(wifi.macs)": "2", `"lab" in wifi.essids`: "true", `wifi.essid in wifi.essids`: "false", `any(rfid.tags, # startsWith "e0")`: "true", "rfid.tags[0]": `"e004"`,
		`filter(rfid.tags, # == "lab")`: `["lab"]`, "1.5 in fiducial.ids": "true", "7 not in fiducial.ids": "true", "imu.x in [1, 2]": "false", "1 in fiducial.ids": "true",
		`wifi.essid contains "or" ? 1 : 2`: "1", `upper(speech_recognition.text) == "WORD"`: "true", "position.z": "0",

		"prev.position": `{"x":0.75,"y":0.5,"yaw":0,"vx":0,"vy":0,"vyaw":0,"speed":0,"stall":false,"time":9,"index":0}`,

		"sector(laser, -180, 0)": "0.5", "sector(laser, 20, 60)": "8", "sector(laser, 80, 90)": "1", "sector(laser, 100, 110)": "8", "sector(laser, -90.5, -45.5)": "0.5",
		"distance(1, 2)": "1.5", "distance(1.0, -1.5)": "2", `inside("dock")`: "true", "deg(180)": "3.141592653589793", "deg(90.0)": "1.5707963267948966",
		"angle_diff(position.yaw, deg(90))": "0", "angle_diff(3, -3)": "-0.28318530717958623", "angle_diff(deg(180), 0)": "3.141592653589793",

		"any(laser.ranges, # < 1)": "true", "all(laser.ranges, # < 1)": "false", "none(laser.ranges, # > 9)": "true", "one(laser.ranges, # == 8)": "true",
		"count(laser.ranges, # <= 2)": "3", "filter(laser.ranges, # > 1)": "[2,8]", "map(laser.ranges, # * 2)": "[1,4,16,2]",
		"sum(laser.ranges)": "11.5", "sum(laser.ranges, # + 1)": "15.5", "mean(laser.ranges)": "2.875", "median(laser.ranges)": "1.5",
		"min(laser.ranges)": "0.5", "max(1, laser.min, 3)": "3", "len(laser.ranges)": "4", "len(robot)": "2",
		"abs(-2)": "2", "abs(laser.bearing)": "1.5", "floor(1.5)": "1", "ceil(laser.bearing)": "-1", "round(2.5)": "3", "int(2.9)": "2", `float("1.5")`: "1.5",
		"lower(\"AB\")": `"ab"`, "upper(world)": `"CAVE"`, `trim(" a ")`: `"a"`, `hasPrefix(robot, "r")`: "true", `hasSuffix(robot, "r")`: "false",
		"laser.ranges[1]": "2", "laser.ranges[-1]": "1", "laser.ranges[1:3]": "[2,8]", "laser.ranges[:1]": "[0.5]",
		"laser.min < 1 ? 1 : 2.5": "1", `robot in ["r1", "r2"]`: "true", "laser.min in laser.ranges": "true", "index in [1, 2]": "false", "laser.min in [0.5, 2]": "true",
		`robot matches "^r[0-9]$"`: "true", `robot contains "1"`: "true", `"x" + robot`: `"xr1"`, "1 / 2": "0.5", "7 % 4": "3", "2 ** 3": "8",
		"let a = laser.min; a * 2": "1", "0.4 < laser.min < 0.6": "true", "laser.ranges | count(# < 1)": "1", "[1, 2.5]": "[1,2.5]",
		"not (laser.min > 1) and position.stall or false": "true", "if laser.min < 1 { 1 } else { 2 }": "1", "-laser.min": "-0.5", "+laser.count": "4", "1e400 > 1 ? 1 : 2": "",
	}
	c, e := newCompiler(t), testEnv()
	for text, want := range tests {
		p, problem := c.Expression(text)
		if problem != nil {
			if want != "" {
				t.Errorf("%s: %v", text, problem)
			}
			continue
		}
		got, err := p.AppendValue(nil, &Machine{}, e)
		if err != nil || string(got) != want {
			t.Errorf("%s = %s, %v; expected %s", text, got, err, want)
		}
	}
}

// The schema is what expr sees in the views: same names, all of them, same
// types, and the values under the right names.
func TestSchemaIsWhatViewsHave(t *testing.T) {
	state := reflect.TypeOf(view.State{})
	if state.NumField() != len(interfaces) {
		t.Errorf("%d kinds of views, %d in the schema", state.NumField(), len(interfaces))
	}
	for i := range interfaces {
		in := &interfaces[i]
		if tag := state.Field(i).Tag.Get("expr"); tag != in.Name() {
			t.Errorf("expr sees %s as %s", in.Name(), tag)
		}
		var tagged, named []string
		for _, f := range reflect.VisibleFields(state.Field(i).Type.Elem()) {
			tag := f.Tag.Get("expr")
			if tag == "" {
				continue
			}
			tagged = append(tagged, tag)
			// Of a view that has nothing but this field, nothing but the
			// attribute of its name tells something.
			s := conditiontest.Full()
			field := reflect.ValueOf(s.Of(in.Kind)).Elem().FieldByIndex(f.Index)
			field.Set(something(t, f.Type))
			for k := range in.Attributes {
				a := &in.Attributes[k]
				got := attributeOf(a, &s)
				if a.Name == tag && !cmp.Equal(field.Interface(), got) || a.Name != tag && !reflect.ValueOf(got).IsZero() {
					t.Errorf("with %s.%s = %v, %s is %v", in.Name(), tag, field, a.Name, got)
				}
			}
		}
		for _, a := range in.Attributes {
			named = append(named, a.Name)
			if a.Doc == "" {
				t.Errorf("%s.%s is not explained", in.Name(), a.Name)
			}
		}
		slices.Sort(tagged)
		slices.Sort(named)
		if diff := cmp.Diff(tagged, named); diff != "" {
			t.Errorf("%s: %s", in.Name(), diff)
		}
	}
}

// something is a value of a type that is not zero.
func something(t *testing.T, typ reflect.Type) reflect.Value {
	for _, v := range []any{1.5, 3, true, "a", []float64{2}, []string{"b"}} {
		if reflect.TypeOf(v) == typ {
			return reflect.ValueOf(v)
		}
	}
	t.Fatalf("conditions know no %s", typ)
	return reflect.Value{}
}

// attributeOf reads an attribute; its field alone has a value.
func attributeOf(a *Attribute, s *view.State) any {
	switch {
	case a.Float != nil:
		return a.Float(s)
	case a.Int != nil:
		return a.Int(s)
	case a.Bool != nil:
		return a.Bool(s)
	case a.Text != nil:
		return a.Text(s)
	case a.Floats != nil:
		return a.Floats(s)
	}
	return a.Texts(s)
}

func TestErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "1:1: the text is empty; expected an expression such as `laser.min < 1`"},
		{"lasr.min < 1", "1:1: unknown name `lasr`: did you mean `laser`?"},
		{"laser.mn < 1", "1:7: `laser` has no `mn`: did you mean `min`?"},
		{"position2d.x < 1", "1:1: unknown name `position2d`: did you mean `position`?"},
		{"prev.position3d.x < 1", "1:6: `prev` has no `position3d`: did you mean `position`?"},
		{"ranger.min < 1", "1:1: unknown name `ranger`: did you mean `laser` or `sonar`?"},
		{"camera.width < 1", "1:1: unknown name `camera`: conditions do not see what devices of this interface send"},
		{"bumper.presed > 1", "1:8: `bumper` has no `presed`: did you mean `pressed`?"},
		{"blobfindr.count > 1", "1:1: unknown name `blobfindr`: did you mean `blobfinder`?"},
		{"fiducial.ids", "1:10: this gives a list of numbers; expected true or false, such as a comparison: `laser.min < 1`"},
		{`5 in rfid.tags`, "1:3: `in` looks for a number in a list of texts"},
		{`"a" in fiducial.ids`, "1:5: `in` looks for text in a list of numbers"},
		{"sum(rfid.tags) > 1", "1:10: `sum` takes numbers, this is text"},
		{"gps < 1", "1:1: this is a whole gps reading; name one of its values, such as `gps.latitude`"},
		{"laser.zzz < 1", "1:7: `laser` has no `zzz`"},
		{"prev.lasr.min < 1", "1:6: `prev` has no `lasr`: did you mean `laser`?"},
		{"zzzzz < 1", "1:1: unknown name `zzzzz`"},
		{"front < 1", "1:1: unknown name `front`: did you mean `laser.front`?"},
		{"laser.min", "1:7: this gives a number; expected true or false, such as a comparison: `laser.min < 1`"},
		{"robot", "1:1: this gives text; expected true or false, such as a comparison: `laser.min < 1`"},
		{"laser", "1:1: this gives a whole laser reading; expected true or false, such as a comparison: `laser.min < 1`"},
		{"laser.ranges", "1:7: this gives a list of numbers; expected true or false, such as a comparison: `laser.min < 1`"},
		{"prev", "1:1: this gives the readings before; expected true or false, such as a comparison: `laser.min < 1`"},
		{"laser < 1", "1:1: this is a whole laser reading; name one of its values, such as `laser.min`"},
		{"prev.sonar < 1", "1:6: this is a whole sonar reading; name one of its values, such as `prev.sonar.min`"},
		{"prev < 1", "1:1: these are the readings before; name one of their values, such as `prev.laser.min`"},
		{`laser.min < "x"`, "1:11: `<` takes two numbers or two texts; left is a number, right is text"},
		{"laser.min + robot > 1", "1:11: `+` takes two numbers; left is a number, right is text"},
		{"laser.min && true", "1:11: `&&` takes true or false on both sides; left is a number, right is true or false"},
		{"position.stall == 1", "1:16: `==` takes two numbers, two texts, or two that are true or false; left is true or false, right is a number"},
		{"!laser.min", "1:1: `!` takes true or false, this is a number"},
		{"-robot == 1", "1:1: `-` takes a number, this is text"},
		{"laser.min % 2 == 1", "1:11: `%` takes two whole numbers; left is a number, right is a number"},
		{"laser.count % 0 == 1", "1:15: division by zero"},
		{"0-0>0--0>0-0>000%-0", "1:18: division by zero"},
		{"1 % (2 * 3 - 6) == 1", "1:12: division by zero"},
		{"1 % (5 % 5 + -0) == 1", "1:12: division by zero"},
		{"1 % (1 + -1) == 1", "1:8: division by zero"},
		{"laser.min = 1", "1:11: unexpected `=`: to compare, write `==`"},
		{"laser.min < 1 & true", "1:15: unexpected `&`: for both, write `&&`"},
		{"laser.min <", "1:11: the text ends too early: an expression is missing here"},
		{"(laser.min < 1", "1:1: this bracket is never closed"},
		{"laser.min < 1)", "1:14: unexpected `)` here"},
		{"@", "1:1: unexpected character `@`"},
		{"'a", "1:3: this text has no closing quote"},
		{"laser. < 1", "1:10: expected a name after the dot"},
		{"laser.min < 99999999999999999999", "1:32: this number is too large"},
		{"laser.min <\n  1 &&\n lasr.min < 2", "3:2: unknown name `lasr`: did you mean `laser`?"},
		{`"äöü" == robot && lasr.min < 1`, "1:19: unknown name `lasr`: did you mean `laser`?"},
		{"\xff", "1:1: the text is not UTF-8"},
		{`inside("dok")`, "1:8: unknown zone `dok`: did you mean `dock`?"},
		{`inside(robot)`, "1:8: `inside` takes the name of a zone in quotes"},
		{"inside()", "1:1: `inside` has 0 arguments; expected `inside(\"zone\")`"},
		{"sector(position, 1, 2) < 3", "1:8: `sector` takes `laser` or `sonar`, this is a whole position reading"},
		{"sector(laser, 1) < 3", "1:1: `sector` has 2 arguments; expected `sector(laser, from, to)`"},
		{`sector(laser, "a", 1) < 3`, "1:15: `sector` takes two bearings in degrees, this is text"},
		{"secto(laser, 1, 2) < 3", "1:1: unknown function `secto`: did you mean `sector`?"},
		{"laser(1) < 1", "1:1: `laser` is not a function"},
		{"laser.min() < 1", "1:7: `min` is not a function: did you mean `min`?"},
		{"min < 1", "1:1: `min` is a function: write `min(list or numbers)`: did you mean `laser.min`?"},
		{"any(laser.min, # < 1)", "1:11: `any` takes a list, this is a number"},
		{"any(laser.ranges, # + 1)", "1:19: the predicate of `any` gives a number; expected true or false, as in `# < 1`"},
		{"any(laser.ranges, #foo < 1)", "1:19: unknown name `#foo`: an element is `#` alone"},
		{"laser.min[0] < 1", "1:10: this is a number; only lists have elements"},
		{`laser.ranges["a"] < 1`, "1:14: a list of numbers has no `a`"},
		{"laser.ranges[0.5] < 1", "1:14: the number of an element is a number; expected a whole number"},
		{"[1, \"a\"] == 1", "1:5: the list has a number and text; expected all of a kind"},
		{"robot in [1]", "1:7: `in` looks for text in a list of numbers"},
		{"1 ? true : false", "1:1: the choice is by a number; expected true or false"},
		{"true ? 1 : robot", "1:12: the two choices differ: one is a number, the other text"},
		{"let laser = 1; laser < 2", "1:5: the name `laser` is taken"},
		{`let a = "x"; a == robot`, "1:9: this is text; `let` names numbers, lists, and what is true or false"},
		{`robot matches "("`, "1:15: the pattern is wrong: missing closing )"},
		{"robot matches world", "1:15: the pattern of `matches` is not constant; expected text in quotes"},

		// What product.md refuses.
		{"any(1..3, # > 1)", "1:6: `..` is not available: compare with both ends, as in `0.5 < laser.min && laser.min < 1`"},
		{"$env.laser.min < 1", "1:1: `$env` is not available: conditions name what they need, such as `laser.min`"},
		{"$env == 1", "1:1: `$env` is not available: conditions name what they need, such as `laser.min`"},
		{`get(laser, "min") < 1`, "1:1: `get` is not available: name the value itself, such as `laser.min` or `laser.ranges[0]`"},
		{"laser?.min < 1", "1:8: `?.` is not available: nothing is ever missing in a condition that is tested"},
		{"laser?.ranges?.[0] < 1", "1:16: `?.` is not available: nothing is ever missing in a condition that is tested"},
		{"now() > 1", "1:1: `now` is not available: conditions know no clock, only the readings' `time`"},
		{`date("2020-01-01") == 1`, "1:1: `date` is not available: conditions know no clock, only the readings' `time`"},
		{"laser.min < 1; true", "1:11: sequences with `;` are not available: write one expression"},
		{"laser.min ?? 1 < 1", "1:16: `??` is not available: nothing is ever missing in a condition that is tested"},
		{"nil == laser.min", "1:1: `nil` is not available: nothing is ever missing in a condition that is tested"},
		{"{a: 1}", "1:1: maps are not available"},
		{"reduce(laser.ranges, #acc + #) > 1", "1:1: `reduce` is not available: use `sum`, `count`, `any` or `all`"},
		{`toJSON(laser) == ""`, "1:1: the function `toJSON` is not available in conditions"},
		{`repeat("x", 1000000000) == ""`, "1:1: the function `repeat` is not available in conditions"},
	}
	c := newCompiler(t)
	for _, tt := range tests {
		_, problem := c.Condition(tt.text)
		if problem == nil {
			t.Errorf("%s: accepted", tt.text)
			continue
		}
		if got := problem.Error(); got != tt.want || problem.Code != protocol.BadCondition {
			t.Errorf("%s:\n got %s: %s\nwant %s", tt.text, problem.Code, got, tt.want)
		}
	}
}

func TestTooCostly(t *testing.T) {
	nested := "# < 1"
	for range 4 {
		nested = "any(laser.ranges, " + nested + ")"
	}
	twice := "1"
	for range 30 { // each chained comparison evaluates its middle twice
		twice = "0 < (" + twice + ") < 1 ? 1 : 0"
	}
	elvis := "true"
	for range 30 {
		elvis = "(" + elvis + " ?: false)"
	}
	tests := map[string]string{
		"500,000 brackets":      strings.Repeat("(", 500_000) + "1" + strings.Repeat(")", 500_000),
		"33 deep":               strings.Repeat("(", 33) + "true" + strings.Repeat(")", 33),
		"any nested four deep":  nested,
		"sum in a predicate":    "any(laser.ranges, sum(laser.ranges) > 1)",
		"sector in a predicate": "any(laser.ranges, sector(laser, 0, 1) > #)",
		"search in a predicate": "any(laser.ranges, # in sonar.ranges)",
		"201 nodes":             "true" + strings.Repeat(" && true", 100),
		"33 signs":              strings.Repeat("!", 33) + "true",
		"signs, in words":       strings.Repeat("not (", 17) + strings.Repeat("! not ", 8) + "true" + strings.Repeat(")", 17),
		"a long sum":            strings.Repeat("1 + ", 101) + "1 < 2",
		"chained comparisons":   twice + " < 1",
		"chained choices":       elvis,
		"many patterns":         strings.Repeat(`robot matches "a" && `, 5) + "true",
		"many loops":            strings.Repeat("sum(laser.ranges, # * # * #) > 1 && ", 12) + "true",
		"4097 characters":       "true" + strings.Repeat(" ", 4093),
	}
	c := newCompiler(t)
	for name, text := range tests {
		if _, problem := c.Condition(text); problem == nil || problem.Code != protocol.TooCostly {
			t.Errorf("%s: %v", name, problem)
		}
	}
	for name, text := range map[string]string{
		"32 deep": strings.Repeat("(", 32) + "true" + strings.Repeat(")", 32), "4096 characters": "true" + strings.Repeat(" ", 4092),
		"4096 characters of more bytes": `robot == "` + strings.Repeat("ä", 4085) + `"`, "200 nodes": "!true" + strings.Repeat(" && true", 99),
		"32 signs": strings.Repeat("!", 32) + "true", "more signs, apart": strings.Repeat("!true && ", 40) + "true",
		"brackets in a text": `robot == "` + strings.Repeat("(", 50) + `"`,
	} {
		if _, problem := c.Condition(text); problem != nil {
			t.Errorf("%s: %v", name, problem)
		}
	}
}

// A condition that names what has no reading is false; selected, null.
func TestMissing(t *testing.T) {
	c, m := newCompiler(t), &Machine{}
	for text, kinds := range map[string]view.Kinds{
		"!(laser.min > 1)": view.KindLaser.Set(), "true || inside(\"dock\")": view.KindPosition.Set(), "distance(0, 0) >= 0": view.KindPosition.Set(),
		"sector(sonar, 0, 1) >= 0": view.KindSonar.Set(), "!(laser.ranges[0] < 0)": view.KindLaser.Set(),
	} {
		p, problem := c.Condition(text)
		if problem != nil {
			t.Fatal(problem)
		}
		if p.Named() != kinds {
			t.Errorf("%s names %b, expected %b", text, p.Named(), kinds)
		}
		e := testEnv()
		if got, err := p.Test(m, e, nil); !got || err != nil {
			t.Errorf("%s with all readings: %v, %v", text, got, err)
		}
		e.Have &^= kinds
		e.State = view.State{}
		if got, err := p.Test(m, e, nil); got || err != nil {
			t.Errorf("%s without: %v, %v", text, got, err)
		}
		if b, err := p.AppendValue(nil, m, e); string(b) != "null" || err != nil {
			t.Errorf("%s without: %s, %v", text, b, err)
		}
	}
	p, _ := c.Condition("prev.laser.min > 0")
	e := testEnv()
	e.HavePrev, e.Prev = 0, view.State{}
	if got, err := p.Test(m, e, nil); got || err != nil {
		t.Errorf("without a reading before: %v, %v", got, err)
	}
}

func TestFailures(t *testing.T) {
	c, m := newCompiler(t), &Machine{}
	for text, want := range map[string]string{
		"laser.ranges[9] < 1":        "index out of range: 9 (array length is 4)",
		"1 % laser.index == 0":       "division by zero",
		"int(robot) == 1":            "a text is no number: int(r1)",
		"!(laser.ranges[9] < 1)":     "index out of range: 9 (array length is 4)",
		"min(laser.ranges[:0]) < 1":  "the expression failed while it ran",
		"mean(laser.ranges[:0]) < 1": "",
	} {
		p, problem := c.Condition(text)
		if problem != nil {
			t.Errorf("%s: %v", text, problem)
			continue
		}
		got, err := p.Test(m, testEnv(), nil)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if got || err == nil || err.Error() != want {
			t.Errorf("%s: %v, %v; expected %s", text, got, err, want)
		}
	}
}

func TestNaN(t *testing.T) {
	c, m, e := newCompiler(t), &Machine{}, testEnv()
	e.Laser.Min = math.NaN()
	for text, want := range map[string]bool{
		"laser.min < 1": false, "laser.min >= 1": false, "!(laser.min >= 1)": true, "laser.min == laser.min": false, "laser.min != laser.min": true,
		"laser.min <= laser.max": false, "laser.max >= laser.min": false, "laser.min > laser.max": false, "!(laser.max < laser.min)": true,
		"laser.min in [1, 2]": false, "not (laser.min > 0 or laser.min <= 0)": true,
	} {
		p, problem := c.Condition(text)
		if problem != nil {
			t.Fatal(problem)
		}
		if got, _ := p.Test(m, e, nil); got != want {
			t.Errorf("%s = %v for NaN", text, got)
		}
	}
}

func TestZone(t *testing.T) {
	star := zone{{0, 0}, {4, 4}, {0, 4}, {4, 0}} // an hourglass that crosses itself
	for _, tt := range []struct {
		x, y float64
		want bool
	}{{2, 0, true}, {2, 0.5, true}, {0, 0, true}, {2, 2, true}, {1, 2, false}, {3, 2, false}, {2, 3.5, true}, {9, 9, false}, {math.NaN(), 0, false}} {
		if got := star.has(tt.x, tt.y); got != tt.want {
			t.Errorf("(%g, %g): %v", tt.x, tt.y, got)
		}
	}
	square := zone{{0, 0}, {2, 0}, {2, 1}, {0, 1}}
	for _, p := range [][2]float64{{0, 0}, {2, 0}, {2, 1}, {0, 1}, {1, 0}, {2, 0.5}, {1, 1}, {0, 0.5}} {
		if !square.has(p[0], p[1]) {
			t.Errorf("%v is on the border", p)
		}
	}
	for _, bad := range []map[string][][2]float64{{"a": {{0, 0}, {1, 1}}}, {"a": {{0, 0}, {1, 1}, {math.NaN(), 0}}}} {
		if _, err := New(Config{Zones: bad}); err == nil {
			t.Errorf("%v: accepted", bad)
		}
	}
}

// examples has, for each example of the help text, readings for which it holds
// and for which it does not.
var examples = map[string]struct{ yes, no func(*Env) }{
	`laser.min < 1`: {func(e *Env) { e.Laser.Min = 0.9 }, func(e *Env) { e.Laser.Min = 1 }},
	`laser.front < 0.5 && position.vx > 0`: {
		func(e *Env) { e.Laser.Front, e.Position.VX = 0.4, 0.1 },
		func(e *Env) { e.Laser.Front, e.Position.VX = 0.4, 0 }},
	`sector(laser, 150, -150) < 0.3`: {
		func(e *Env) { e.Laser.AngleMin, e.Laser.Ranges[0] = -3, 0.2 },
		func(e *Env) { e.Laser.Ranges[0] = 0.2 }},
	`any(laser.ranges, # < 0.4)`: {func(e *Env) { e.Laser.Ranges[2] = 0.3 }, func(e *Env) { e.Laser.Ranges[2] = 0.4 }},
	`count(laser.ranges, # < 1) >= 10`: {
		func(e *Env) { e.Laser.Ranges = []float64{0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0} },
		func(e *Env) { e.Laser.Ranges = []float64{0, 0, 0, 0, 0, 9, 0, 0, 0, 0} }},
	`sonar.nearest in [0, 1, 7] and sonar.min < 0.5`: {
		func(e *Env) { e.Sonar.Nearest, e.Sonar.Min = 7, 0.4 },
		func(e *Env) { e.Sonar.Nearest, e.Sonar.Min = 6, 0.4 }},
	`position.stall`:     {func(e *Env) { e.Position.Stall = true }, func(e *Env) { e.Position.Stall = false }},
	`distance(2, 3) < 1`: {func(e *Env) { e.Position.X, e.Position.Y = 2.5, 3.5 }, func(e *Env) { e.Position.X, e.Position.Y = 1, 3 }},
	`abs(angle_diff(position.yaw, deg(90))) < deg(5)`: {
		func(e *Env) { e.Position.Yaw = math.Pi/2 + 0.05 - 2*math.Pi },
		func(e *Env) { e.Position.Yaw = -math.Pi / 2 }},
	`position.x - prev.position.x > 0.1`: {func(e *Env) { e.Position.X, e.Prev.Position.X = 1, 0.5 }, func(e *Env) { e.Position.X, e.Prev.Position.X = 0.5, 1 }},
	`bumper.any`:                         {func(e *Env) { e.Bumper.Any = true }, func(e *Env) { e.Bumper.Any = false }},
	`fiducial.range < 2 && abs(fiducial.bearing) < deg(10)`: {
		func(e *Env) { e.Fiducial.Range, e.Fiducial.Bearing = 1, -0.1 },
		func(e *Env) { e.Fiducial.Range, e.Fiducial.Bearing = math.Inf(1), math.NaN() }},
	`5 in fiducial.ids`: {func(e *Env) { e.Fiducial.IDs = []float64{4, 5} }, func(e *Env) { e.Fiducial.IDs = nil }},
	`power.percent < 20 && power.charging != 1`: {
		func(e *Env) { e.Power.Percent, e.Power.Charging = 19, 0 },
		func(e *Env) { e.Power.Percent, e.Power.Charging = math.NaN(), 0 }},
	`!gps.fix && prev.gps.fix`: {func(e *Env) { e.GPS.Fix, e.Prev.GPS.Fix = false, true }, func(e *Env) { e.GPS.Fix, e.Prev.GPS.Fix = true, true }},
	`imu.tilt > deg(30)`:       {func(e *Env) { e.IMU.Tilt = 0.6 }, func(e *Env) { e.IMU.Tilt = 0.5 }},
	`blobfinder.area > 500 && blobfinder.color == 0xff0000`: {
		func(e *Env) { e.Blobfinder.Area, e.Blobfinder.Color = 501, 0xff0000 },
		func(e *Env) { e.Blobfinder.Area, e.Blobfinder.Color = 501, -1 }},
	`gripper.closed && gripper.broken > 0`: {
		func(e *Env) { e.Gripper.Closed, e.Gripper.Broken = true, 1 },
		func(e *Env) { e.Gripper.Closed, e.Gripper.Broken = true, 0 }},
	`localize.spread > 1 || localize.count > 1`: {
		func(e *Env) { e.Localize.Spread, e.Localize.Count = 0.5, 2 },
		func(e *Env) { e.Localize.Spread, e.Localize.Count = 0.5, 1 }},
	`any(ir.ranges, # < 0.1)`:                 {func(e *Env) { e.IR.Ranges = []float64{9, 0.05} }, func(e *Env) { e.IR.Ranges = []float64{0.1} }},
	`planner.done && !prev.planner.done`:      {func(e *Env) { e.Planner.Done, e.Prev.Planner.Done = true, false }, func(e *Env) { e.Planner.Done, e.Prev.Planner.Done = true, true }},
	`"e0040100" in rfid.tags`:                 {func(e *Env) { e.RFID.Tags = []string{"a", "e0040100"} }, func(e *Env) { e.RFID.Tags = []string{"a"} }},
	`speech_recognition.text contains "stop"`: {func(e *Env) { e.SpeechRecognition.Text = "please stop" }, func(e *Env) { e.SpeechRecognition.Text = "go" }},
	`robot startsWith "r" && interface == "laser" && index == 0`: {
		func(e *Env) { e.Robot, e.Interface, e.Index = "r7", "laser", 0 },
		func(e *Env) { e.Robot, e.Interface, e.Index = "r7", "ranger", 0 }},
	`0.5 < laser.min < 1`: {func(e *Env) { e.Laser.Min = 0.75 }, func(e *Env) { e.Laser.Min = 0.5 }},
	`let ahead = sector(laser, -10, 10); ahead < 2 && ahead > 1`: {
		func(e *Env) { e.Laser.Ranges = []float64{9, 1.5, 9}; e.Laser.Count, e.Laser.Resolution = 3, 1.5 },
		func(e *Env) { e.Laser.Ranges = []float64{1.5, 9, 9}; e.Laser.Count, e.Laser.Resolution = 3, 1.5 }},
}

// The help text's examples are right, and mean what they say.
func TestExamples(t *testing.T) {
	c := newCompiler(t)
	help := Help()
	for _, x := range Examples() {
		p, problem := c.Condition(x.Condition)
		if problem != nil {
			t.Errorf("%s: %v", x.Condition, problem)
			continue
		}
		readings, ok := examples[x.Condition]
		if !ok {
			t.Errorf("%s is not tried", x.Condition)
			continue
		}
		for want, set := range map[bool]func(*Env){true: readings.yes, false: readings.no} {
			e := testEnv()
			set(e)
			if got, err := p.Test(&Machine{}, e, nil); got != want || err != nil {
				t.Errorf("%s is %v, %v; expected %v", x.Condition, got, err, want)
			}
		}
		if !strings.Contains(help, x.Condition) || x.Meaning == "" {
			t.Errorf("%s is not in the help text", x.Condition)
		}
	}
	names := append(functionNames(), "prev")
	for i := range interfaces {
		for _, a := range interfaces[i].Attributes {
			names = append(names, interfaces[i].Name()+"."+a.Name+" ")
		}
	}
	for _, name := range names {
		if !strings.Contains(help, name) {
			t.Errorf("%s is not in the help text", name)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	c, m, e := newCompiler(t), &Machine{}, testEnv()
	for _, text := range []string{
		"laser.min < 1", `robot == "r2" && laser.min < 0.1`, "any(laser.ranges, # < 0.1)", "count(laser.ranges, # < 1) > 3", "sector(laser, -20, 20) < 0.1",
		`inside("dock") and position.speed > 1`, "position.x - prev.position.x > 1", "bumper.any && bumper.pressed > 9", "5 in fiducial.ids", `"x" in rfid.tags`, `wifi.essid == "x"`, "imu.tilt > 99", "abs(angle_diff(position.yaw, deg(90))) < deg(5)", `robot in ["a", "b"]`,
	} {
		p, problem := c.Condition(text)
		if problem != nil {
			t.Fatal(problem)
		}
		if n := testing.AllocsPerRun(100, func() { p.Test(m, e, nil) }); n != 0 {
			t.Errorf("%s allocates %v times", text, n)
		}
	}
}

func FuzzCondition(f *testing.F) {
	for _, x := range Examples() {
		f.Add(x.Condition)
	}
	for _, s := range []string{"((((", "laser.ranges[", "a ?: b ?: c", "1 < 2 < 3", `"\u{110000}"`, "/* x", "::any(laser.ranges, .x)", "if true {1} else if false {2} else {3}", "let a = 1; let b = a; b == 1", "robot not matches \"(\"", "b'x' == b'y'"} {
		f.Add(s)
	}
	for _, text := range hostile() {
		f.Add(text)
	}
	c, err := New(Config{Zones: conditiontest.Zones})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, compile := range []func(string) (*Program, *Error){c.Condition, c.Expression} {
			p, problem := compile(text)
			if problem != nil {
				if problem.Message == "" || problem.Line < 1 || problem.Column < 1 {
					t.Errorf("%q: %+v", text, problem)
				}
				if strings.Contains(problem.Message, "cannot be compiled") || strings.Contains(problem.Message, "does not fit together") {
					t.Errorf("%q: our checks miss what expr refuses", text)
				}
				continue
			}
			p.Test(&Machine{}, testEnv(), nil)
			p.AppendValue(nil, &Machine{}, testEnv())
		}
		if p, problem := c.Condition(text); problem == nil {
			sameAsPlain(t, p)
		}
	})
}

// sameAsPlain holds a condition to plain expr, and its plan to both.
func sameAsPlain(t *testing.T, p *Program) {
	e := testEnv()
	program, err := expr.Compile(p.Text(), expr.Env(plain(e)))
	if err != nil {
		t.Fatalf("%s: plain expr refuses: %v", p.Text(), err)
	}
	want, wantErr := expr.Run(program, plain(e))
	got, gotErr := p.Test(&Machine{}, e, nil)
	if wantErr != nil {
		want = false
	}
	if got != want || (gotErr != nil) != (wantErr != nil) {
		t.Errorf("%s = %v, %v; plain expr: %v, %v", p.Text(), got, gotErr, want, wantErr)
	}
	plan := p.Plan("r1", true)
	met := false
	for _, a := range plan.Accesses {
		v := p.value(uint16(a.Value)).Read(e)
		met = met || a.Lo <= v && v <= a.Hi || a.NaN && v != v
	}
	if got && (plan.Never || len(plan.Accesses) > 0 && !met) || plan.Exact && got != met {
		t.Errorf("%s = %v, plan %+v", p.Text(), got, plan)
	}
}

func BenchmarkTest(b *testing.B) {
	c, m, e := newCompiler(b), &Machine{}, testEnv()
	e.Laser.Ranges = make([]float64, 181)
	for _, text := range []string{"laser.min < 0.1", "any(laser.ranges, # < -1)", "laser.ranges[0] > 1"} {
		p, problem := c.Condition(text)
		if problem != nil {
			b.Fatal(problem)
		}
		b.Run(text, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Test(m, e, nil)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	c := newCompiler(b)
	for _, text := range []string{"laser.min < 1", "laser.ranges[0] > 1", strings.Repeat("laser.min < 1 && ", 39) + "laser.ranges[0] > 1"} {
		b.Run(fmt.Sprint(len(text)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.Condition(text)
			}
		})
	}
}
