package subscribe

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/subscribe/condition/conditiontest"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// naive tests readings as the rules say it, one subscription after another,
// each in plain expr.
type naive struct {
	robot  string
	views  *view.Robot
	subs   []*plainSubscription
	states map[*plainSubscription]*state
	got    []string
}

// indexDevices are the robot's, in the order in which they end.
var indexDevices = []*player.Device{position0, laser0, laser1, fiducial0, bumper0, wifi0, imu0}

var (
	bumper0   = &player.Device{Addr: player.Addr{Interf: player.InterfaceBumper}}
	fiducial0 = &player.Device{Addr: player.Addr{Interf: player.InterfaceFiducial}}
	wifi0     = &player.Device{Addr: player.Addr{Interf: player.InterfaceWifi}}
	imu0      = &player.Device{Addr: player.Addr{Interf: player.InterfaceIMU}}
)

type plainSubscription struct {
	key     Key
	sub     *Subscription
	program *vm.Program
	named   view.Kinds
	now     view.Kinds
	prev    view.Kinds
}

var kindsInText = makeKindsInText()

func makeKindsInText() *regexp.Regexp {
	var all []string
	for k := range view.Kind(view.NumKinds) {
		all = append(all, k.String())
	}
	return regexp.MustCompile(`(prev\.)?\b(` + strings.Join(all, "|") + `)\b|\bdistance\(|\binside\(`)
}

func newPlain(t *rapid.T, key Key, sub *Subscription) *plainSubscription {
	p := &plainSubscription{key: key, sub: sub}
	for _, m := range kindsInText.FindAllStringSubmatch(sub.Spec.Condition, -1) {
		kind := view.KindPosition.Set()
		for k := range view.Kind(view.NumKinds) {
			if m[2] == k.String() {
				kind = k.Set()
			}
		}
		p.named |= kind
		if m[1] != "" {
			p.prev |= kind
		} else {
			p.now |= kind
		}
	}
	env := conditiontest.Plain{Now: conditiontest.Full()}.Env()
	var err error
	if p.program, err = expr.Compile(sub.Spec.Condition, expr.Env(env)); err != nil {
		t.Fatalf("%s: %v", sub.Spec.Condition, err)
	}
	return p
}

func newNaive(robot string) *naive {
	n := &naive{robot: robot, states: map[*plainSubscription]*state{}}
	n.views = view.NewRobot(n.arrive)
	n.views.Up(indexDevices)
	return n
}

func (n *naive) holds(p *plainSubscription, a *view.Arrival) bool {
	if !a.Have.Has(p.now) || !a.HavePrev.Has(p.prev) {
		return false
	}
	env := conditiontest.Plain{Now: a.Now, Prev: a.Prev, Robot: n.robot, World: "cave", Interface: a.Interface, Index: int(a.Device.Index), Time: a.Time}.Env()
	v, err := expr.Run(p.program, env)
	return err == nil && v == true
}

func (n *naive) arrive(a *view.Arrival) {
	if a.Back {
		clear(n.states)
	}
	var found []string
	for _, p := range n.subs {
		s := p.sub
		if !s.wantsRobot(n.robot) || !s.wantsDevice(a.Interface, a.Name) || p.named != 0 && !p.named.Has(a.Kind.Set()) {
			continue
		}
		if n.states[p] == nil {
			n.states[p] = &state{}
		}
		st := n.states[p]
		st.dev = a.Device
		if notify, held := st.step(&s.Spec, a.Time, n.holds(p, a)); notify {
			found = append(found, matchText(p.key, s.Spec.ID, s.Spec.Trigger == "change", held))
		}
	}
	n.emit(a.Interface, int(a.Device.Index), a.Time, found)
}

func (n *naive) down() {
	n.views.Flush()
	for _, dev := range indexDevices {
		var found []string
		for p, st := range n.states {
			if st.dev == dev && slices.Contains(n.subs, p) && st.leave(&p.sub.Spec) {
				found = append(found, matchText(p.key, p.sub.Spec.ID, true, false))
			}
		}
		if a := n.views.Last(dev.Addr); a != nil {
			n.emit(a.Interface, int(a.Device.Index), a.Time, found)
		}
	}
	clear(n.states)
	n.views.Down()
	n.views.Up(indexDevices)
}

func matchText(key Key, id string, change, state bool) string {
	if change {
		return fmt.Sprintf("%d/%s=%v", key, id, state)
	}
	return fmt.Sprintf("%d/%s", key, id)
}

func (n *naive) emit(interf string, index int, time float64, found []string) {
	if len(found) > 0 {
		slices.Sort(found)
		n.got = append(n.got, fmt.Sprintf("%s:%d@%v %s", interf, index, time, strings.Join(found, " ")))
	}
}

func drawSpec(t *rapid.T, id string) protocol.Subscription {
	s := protocol.Subscription{ID: id, Condition: conditiontest.ConditionOf(t, 3, someNames)}
	s.Robots = rapid.SampledFrom([][]string{nil, nil, {"r1"}, {"r2", "r1"}, {"r*"}, {"x"}}).Draw(t, "robots")
	s.Devices = rapid.SampledFrom([][]string{nil, nil, nil, {"laser:0"}, {"position*"}}).Draw(t, "devices")
	s.Trigger = rapid.SampledFrom([]string{"", "", "rising", "change"}).Draw(t, "trigger")
	s.MinInterval = rapid.SampledFrom([]float64{0, 0, 0, 2}).Draw(t, "interval")
	s.For = rapid.SampledFrom([]float64{0, 0, 0, 1.5}).Draw(t, "for")
	return s
}

// someNames are values of what drawReading draws.
var someNames = conditiontest.NamesOf(view.KindBumper, view.KindFiducial, view.KindIMU, view.KindWifi)

func drawReading(t *rapid.T, time float64) player.Reading {
	number := func() float64 { return conditiontest.Float(t) }
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0:
		d := &iface.BumperData{Bumpers: rapid.SliceOfN(rapid.Uint8Range(0, 2), 0, 3).Draw(t, "bumpers")}
		return player.Reading{Device: bumper0, Time: time, Payload: d}
	case 1:
		d := &iface.FiducialData{}
		for range rapid.IntRange(0, 3).Draw(t, "fiducials") {
			d.Fiducials = append(d.Fiducials, iface.FiducialItem{ID: rapid.Int32Range(-1, 2).Draw(t, "id"), Pose: iface.Pose3D{Px: number(), Py: number()}})
		}
		return player.Reading{Device: fiducial0, Time: time, Payload: d}
	case 2:
		d := &iface.WifiData{}
		for range rapid.IntRange(0, 2).Draw(t, "links") {
			d.Links = append(d.Links, iface.WifiLink{Qual: rapid.Uint32Range(0, 3).Draw(t, "qual"), Level: rapid.Uint32().Draw(t, "level"), ESSID: conditiontest.Text(t)})
		}
		return player.Reading{Device: wifi0, Time: time, Payload: d}
	case 3:
		var d any = &iface.IMUDataState{Pose: iface.Pose3D{Px: number(), Proll: number(), Ppitch: number()}}
		if rapid.Bool().Draw(t, "calib") {
			d = &iface.IMUDataCalib{AccelX: float32(number()), GyroZ: float32(number())}
		}
		return player.Reading{Device: imu0, Time: time, Payload: d}
	case 4, 5:
		d := &iface.Position2DData{Pos: iface.Pose2D{Px: number(), Py: number(), Pa: number()}, Vel: iface.Pose2D{Px: number()}, Stall: uint8(rapid.IntRange(0, 1).Draw(t, "stall"))}
		return player.Reading{Device: position0, Time: time, Payload: d}
	}
	d := &iface.LaserData{MinAngle: -1, MaxAngle: 1, MaxRange: rapid.SampledFrom([]float32{8, 2.5, 0}).Draw(t, "max")}
	for range rapid.SampledFrom([]int{0, 1, 2, 7}).Draw(t, "ranges") {
		d.Ranges = append(d.Ranges, float32(number()))
	}
	return player.Reading{Device: rapid.SampledFrom([]*player.Device{laser0, laser1}).Draw(t, "laser"), Time: time, Payload: d}
}

// The matcher matches what plain expr matches, one subscription after another:
// whatever the conditions, options and readings, also while subscriptions
// come and go.
func TestSameAsNaive(t *testing.T) {
	told := 0
	rapid.Check(t, func(t *rapid.T) {
		m, err := New(Config{Zones: conditiontest.Zones})
		if err != nil {
			t.Fatal(err)
		}
		want, got := newNaive("r1"), newRobot(m, "r1")
		got.Session.config.Emit = func(m *Matched) {
			var found []string
			for _, k := range m.Matches {
				for _, x := range k.Subscriptions {
					found = append(found, matchText(k.Key, x.ID, x.State != nil, x.State != nil && *x.State))
				}
			}
			slices.Sort(found)
			got.got = append(got.got, fmt.Sprintf("%s:%d@%v %s", m.Interface, m.Index, m.Time, strings.Join(found, " ")))
		}
		time := 0.0
		newSet := func() Set {
			key := Key(rapid.IntRange(1, 3).Draw(t, "key"))
			var set []*Subscription
			old := want.subs
			want.subs = nil
			for _, p := range old {
				if p.key != key {
					want.subs = append(want.subs, p)
				} else if rapid.IntRange(0, 2).Draw(t, "stays") > 0 {
					want.subs, set = append(want.subs, p), append(set, p.sub)
				}
			}
			for range rapid.IntRange(0, 4).Draw(t, "new") {
				id := fmt.Sprint("s", rapid.IntRange(0, 1<<30).Draw(t, "id"))
				spec := drawSpec(t, id)
				if len(set) > 0 && rapid.IntRange(0, 3).Draw(t, "same text") == 0 {
					spec.Condition = set[0].Spec.Condition
				}
				sub, problem := m.Compile(spec)
				if problem != nil || slices.ContainsFunc(set, func(o *Subscription) bool { return o.Spec.ID == id }) {
					continue
				}
				set = append(set, sub)
				want.subs = append(want.subs, newPlain(t, key, sub))
			}
			return Set{key, set}
		}
		install := func() {
			var sets []Set
			for range rapid.SampledFrom([]int{1, 1, 1, 4}).Draw(t, "sets") {
				sets = append(sets, newSet())
			}
			if len(sets) == 1 {
				m.Install(sets[0].Key, sets[0].Subscriptions)
			} else {
				m.Prepare(sets).Publish()
			}
		}
		install()
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				install()
			case 1:
				want.down()
				got.Down()
				got.Up(indexDevices)
			default:
				time += rapid.SampledFrom([]float64{0, 1, 1, 1, -2}).Draw(t, "later")
				r := drawReading(t, time)
				want.views.Arrive(r)
				want.views.Flush()
				got.Arrive(r)
				got.Flush()
			}
		}
		told += len(want.got)
		if diff := cmp.Diff(want.got, got.got); diff != "" {
			var texts []string
			for _, p := range want.subs {
				texts = append(texts, fmt.Sprintf("%d/%s: %+v", p.key, p.sub.Spec.ID, p.sub.Spec))
			}
			t.Fatalf("plain expr (-), matcher (+):\n%s\n%s", diff, strings.Join(texts, "\n"))
		}
	})
	if told == 0 {
		t.Error("nothing was ever told")
	}
}

// A reading meets the set that stood when it came, also if what it tells
// changes the set at once.
func TestInstallWhileEmitting(t *testing.T) {
	m := newMatcher(t)
	m.Install(1, []*Subscription{
		compile(t, m, protocol.Subscription{ID: "a", Condition: "position.x > 1", Trigger: "change"}),
		compile(t, m, protocol.Subscription{ID: "b", Condition: "laser.min < 1"}),
	})
	r := newRobot(m, "r1")
	r.at(1, 2)
	expect(t, r, "position2d:0@1 1[a=true]")
	emit := r.Session.config.Emit
	r.Session.config.Emit = func(got *Matched) { emit(got); m.Remove(1) }
	scan := func(time float64) {
		r.Arrive(player.Reading{Device: laser0, Time: time, Payload: &iface.LaserData{MinAngle: -1, MaxAngle: 1, MaxRange: 8, Ranges: []float32{0.5}}})
	}
	scan(2) // held
	r.at(3, 0)
	expect(t, r, "laser:0@2 1[b]", "position2d:0@3 1[a=false]")
	scan(4)
	r.at(5, 2)
	expect(t, r)
}
