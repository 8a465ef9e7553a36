package rosgraph

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/push/ros"
	"callboard/bridge/robots"
	"callboard/player"
	"callboard/player/floorplan"
	"callboard/player/iface"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

// listed reads robots as brokers list them.
func listed(t *testing.T, text string) []robots.Robot {
	t.Helper()
	var list []robots.Robot
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func names(topics []*Topic) []string {
	var all []string
	for _, topic := range topics {
		all = append(all, topic.Name)
	}
	return all
}

const one = `{"pose":[0,0,0,0,0,0],"size":[0,0,0],"elements":[[0,0,0,0,0,0]]}`

// TestNames: topics are called as stage_ros calls them.
func TestNames(t *testing.T) {
	const devices = `"devices":[{"interface":"position2d","index":0},{"interface":"laser","index":1},{"interface":"laser","index":0},` +
		`{"interface":"ranger","index":0,"geometry":` + one + `},{"interface":"blobfinder","index":0},{"interface":"laser","index":9,"driver":"twin of ranger:0"}]`
	alone := build(known{robots: listed(t, `[{"robot":"port-6665","state":"up",`+devices+`}]`), numbers: map[string]int{"port-6665": 0}, starts: map[string]*player.Pose{"port-6665": {}}})
	want := []string{"/base_pose_ground_truth", "/base_scan_0", "/base_scan_1", "/blobfinder", "/callboard/status", "/clock", "/cmd_vel", "/move_base_simple/goal", "/odom", "/rosout", "/stall", "/tf"}
	if diff := cmp.Diff(want, names(alone.Topics)); diff != "" {
		t.Errorf("one robot (-want +got):\n%s", diff)
	}
	if r := alone.Robots[0]; r.Device("laser", 1).Frame != "base_laser_link_1" || r.Device("laser", 0).Topics[0].Name != "/base_scan_0" || len(r.Device("ranger", 0).Topics) != 0 || r.Device("laser", 9) != nil {
		t.Errorf("its devices are %+v", r.Devices)
	}
	everybody := attach.Grant{}
	for name, want := range map[string]string{
		"odom": "/odom", "/odom": "/odom", "/port_6665/odom": "/odom", "/robot_0/odom": "/odom", "/robot_1/odom": "", "/robot_-1/odom": "", "/x/odom": "", "": "", "/": "",
	} {
		got := ""
		if topic := alone.Find(name, everybody); topic != nil {
			got = topic.Name
		}
		if got != want {
			t.Errorf("%q is %q, expected %q", name, got, want)
		}
	}
	several := build(known{
		robots:  listed(t, `[{"robot":"a-b","state":"up","world":"w",`+devices+`},{"robot":"a_b","state":"away","devices":[]},{"robot":"7","state":"up","devices":[]}]`),
		numbers: map[string]int{"a_b": 0, "7": 1, "a-b": 2}, plans: map[string]*Plan{"w": {World: "w"}}, before: alone,
	})
	if got := []string{several.Robots[0].Segment, several.Robots[1].Segment, several.Robots[2].Segment}; !slices.Equal(got, []string{"a_b", "r7", "a_b_2"}) {
		t.Errorf("segments are %v", got)
	}
	guest := attach.Grant{Robots: []string{"7"}}
	if got := names(several.Seen(guest)); !slices.Equal(got, []string{"/callboard/status", "/rosout", "/tf"}) {
		t.Errorf("a guest sees %v", got)
	}
	if several.Find("/map", guest) != nil || several.Find("/map", attach.Grant{Robots: []string{"a-b"}}) == nil || several.Find("/odom", everybody) != nil {
		t.Error("maps, or bare names of several robots, are wrong")
	}
	away := build(known{robots: listed(t, `[{"robot":"port-6665","state":"away","devices":[]}]`), before: alone})
	if away.Find("/odom", everybody) == nil || away.Robots[0].Up {
		t.Error("a robot that is away has no topics")
	}
}

// TestPlanOfCells: a map in cells is the map, and what is unknown in it stays so;
// another one replaces it.
func TestPlanOfCells(t *testing.T) {
	known := &floorplan.Grid{Info: iface.MapInfo{Scale: 0.5, Width: 3, Height: 2, Origin: iface.Pose2D{Px: 1}}, Cells: []int8{-1, 0, 1, 0, 0, -1}}
	g := New(Config{
		Broker: &commanded{},
		World: func(context.Context, string, attach.Grant) ([]byte, bool) {
			return []byte(`{"bounds":[0,0,1,1],"outlines":[]}`), true
		},
		Grid: func(string) *floorplan.Grid { return known },
	})
	list := listed(t, `[{"robot":"r0","state":"up","world":"w","devices":[]}]`)
	g.findPlans(t.Context(), list)
	plan := g.plans["w"]
	if grid := plan.Grid; grid.Width != 3 || grid.Height != 2 || grid.Origin.X != 1 || !slices.Equal(grid.Cells, []int8{0, -1, 100, -1, -1, 0}) {
		t.Errorf("the map is %+v", grid)
	}
	if g.findPlans(t.Context(), list); g.plans["w"] != plan {
		t.Error("the same map is another one")
	}
	known = nil
	if g.findPlans(t.Context(), list); g.plans["w"] == plan || slices.Contains(g.plans["w"].Grid.Cells, -1) {
		t.Error("the drawn map has unknown cells")
	}
}

func TestNatural(t *testing.T) {
	all := []string{"r10", "r2", "a", "r02", "r1", "b2", "10", "9"}
	slices.SortFunc(all, natural)
	if want := []string{"9", "10", "a", "b2", "r1", "r02", "r2", "r10"}; !slices.Equal(all, want) {
		t.Errorf("got %v, expected %v", all, want)
	}
}

// commanded is a broker that notes commands.
type commanded struct {
	attach.Broker
	mu  sync.Mutex
	all []string
}

func (c *commanded) Command(_ context.Context, _ attach.Grant, m protocol.Command) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = append(c.all, strings.TrimSpace(fmt.Sprint(m.Robot, " ", m.Name, " ", m.Args)))
	if m.Name == "get_pose" {
		return map[string]float64{"x": float64(len(c.all)), "y": 0, "yaw": 0}, nil
	}
	return nil, nil
}

func (c *commanded) List(context.Context, string, attach.Grant) (any, error) {
	return json.RawMessage(`[]`), nil
}

func (c *commanded) took() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.all
	c.all = nil
	return all
}

// driver is a connection whose commands wait until they are let through.
type driver struct {
	attach.Conn
	broker *commanded
	held   chan attach.Answer // nil: nothing is held
	sent   []any
}

func (d *driver) Grant() attach.Grant { return attach.Grant{Subscribe: true, Command: true} }
func (d *driver) Send(m any)          { d.sent = append(d.sent, m) }
func (d *driver) Command(ctx context.Context, m protocol.Command, answer attach.Answer) error {
	result, err := d.broker.Command(ctx, d.Grant(), m)
	if d.held != nil {
		d.held <- answer
	} else {
		answer(result, err)
	}
	return nil
}

func twist(x float64) ros.Message { return ros.Message{"linear": ros.Message{"x": x}} }

func ignored(any, error) {}

// TestDrive: a velocity has an end, and a robot stops when who drove it last leaves
// before that.
func TestDrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := &commanded{}
		g := New(Config{Broker: broker})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- g.Run(ctx) }()
		a, b := g.Join(ctx, &driver{broker: broker}), g.Join(ctx, &driver{broker: broker})
		r := &Robot{Name: "r0"}
		drive := func(m *Member, x float64) {
			t.Helper()
			if err := m.Drive(ctx, r, twist(x), ignored); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(want ...string) {
			t.Helper()
			synctest.Wait()
			if got := broker.took(); !slices.Equal(got, want) {
				t.Fatalf("the robot was told %q, expected %q", got, want)
			}
		}
		drive(a, 0.5)
		drive(a, 0) // it stands: there is nothing to stop
		expect("r0 velocity [0.5 0 0 1.5]", "r0 velocity [0 0 0]")
		drive(a, 0.5)
		drive(b, 0.7)
		a.Leave()
		expect("r0 velocity [0.5 0 0 1.5]", "r0 velocity [0.7 0 0 1.5]")
		b.Halt(ctx, r)
		expect("r0 velocity [0 0 0]")
		drive(b, 0.7)
		b.Leave()
		expect("r0 velocity [0.7 0 0 1.5]", "r0 stop []")
		c := g.Join(ctx, &driver{broker: broker})
		drive(c, 0.7)
		time.Sleep(DriveTime) // it stops by itself
		c.Leave()
		expect("r0 velocity [0.7 0 0 1.5]")
		if err := b.Drive(ctx, r, ros.Message{"linear": ros.Message{"x": nan()}}, ignored); err == nil {
			t.Error("a velocity that is no number was taken")
		}
		cancel()
		<-done
	})
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

// TestNewestVelocity: of the velocities that wait for a robot only the newest is
// sent.
func TestNewestVelocity(t *testing.T) {
	broker := &commanded{}
	g := New(Config{Broker: broker})
	conn := &driver{broker: broker, held: make(chan attach.Answer, 10)}
	m := g.Join(t.Context(), conn)
	for i := range 4 {
		if err := m.Drive(t.Context(), &Robot{Name: "r0"}, twist(float64(i+1)), ignored); err != nil {
			t.Fatal(err)
		}
	}
	(<-conn.held)(nil, nil)
	(<-conn.held)(nil, nil)
	if got, want := broker.took(), []string{"r0 velocity [1 0 0 1.5]", "r0 velocity [4 0 0 1.5]"}; !slices.Equal(got, want) {
		t.Errorf("the robot was told %q, expected %q", got, want)
	}
	g.close()
}

// TestTruth: the simulation is asked once for all who want to know, and a member
// that does not listen has one message waiting, and gets the newest.
func TestTruth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := &commanded{}
		g := New(Config{Broker: broker})
		conn := &driver{broker: broker}
		m, other := g.Join(t.Context(), conn), g.Join(t.Context(), &driver{broker: broker})
		g.snapshot.Store(build(known{robots: listed(t, `[{"robot":"r0","state":"up","devices":[{"interface":"position2d","index":0}]}]`)}))
		m.WatchTruth("r0", true)
		other.WatchTruth("r0", true)
		for i := range 3 {
			for _, who := range []*Member{m, other} {
				who.Begin(&protocol.Notify{Robot: "r0", Interface: "position2d", Time: float64(i + 1)})
				who.AskTruth()
				synctest.Wait()
			}
		}
		if asked := broker.took(); len(asked) != 3 {
			t.Errorf("asked %v, expected it three times", asked)
		}
		moved := slices.DeleteFunc(conn.sent, func(m any) bool { _, is := m.(*Moved); return !is })
		if len(moved) != 1 {
			t.Errorf("%d messages wait, expected one", len(moved))
		}
		if p := m.Truth("r0"); p == nil || p.Time != 3 || p.At.X != 3 || p.Velocity.X != 1 {
			t.Errorf("the robot is %+v", p)
		}
		m.WatchTruth("r0", false)
		if m.Truth("r0") != nil {
			t.Error("what nobody wants is told")
		}
		g.close()
	})
}

func TestOptions(t *testing.T) {
	topic, o, err := SplitTopic("/a/b?condition=laser.min%20%3C%201&trigger=rising&min_interval=0.5s&for=200ms&robots=r*&robots=x&select=%7B%22a%22%3A%22laser.min%22%7D&keep=latest&devices=laser")
	want := Options{Condition: "laser.min < 1", Trigger: "rising", MinInterval: 0.5, For: 0.2, Robots: []string{"r*", "x"}, Select: map[string]string{"a": "laser.min"}, Keep: "latest", Devices: []string{"laser"}}
	if diff := cmp.Diff(want, o); topic != "/a/b" || err != nil || diff != "" {
		t.Errorf("%s %v (-want +got):\n%s", topic, err, diff)
	}
	for _, bad := range []string{"/a?for=-1", "/a?for=x", "/a?x=1", "/a?select=5", "/a?%zz=1", "/a?min_interval=1e400"} {
		if _, _, err := SplitTopic(bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
	var s Seconds
	for text, want := range map[string]Seconds{`"2m"`: 120, `1.5`: 1.5, `null`: 1.5} {
		if text == "null" {
			s = 1.5
		}
		if err := json.Unmarshal([]byte(text), &s); err != nil || s != want {
			t.Errorf("%s is %v (%v), expected %v", text, s, err, want)
		}
	}
}
