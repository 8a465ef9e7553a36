package rosgraph

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"callboard/bridge/attach"
	"callboard/bridge/push/ros"
	"callboard/bridge/robots"
	"callboard/player"
	"callboard/subscribe/protocol"
)

// Use is what a topic is for.
type Use uint8

// The uses of topics.
const (
	Readings   Use = iota // of a device: Topic.Kind says how
	Transforms            // /tf: where the robots and what is on them are
	Truth                 // where the simulation has the robot
	Map                   // an OccupancyGrid
	MetaData              // its MapMetaData
	Log                   // /rosout
	Events                // /callboard/status: what becomes of robots, and gaps
	Clock                 // /clock: the time of the simulation that all robots are in
	Velocity              // cmd_vel, which clients publish, as those below
	Goal                  // move_base_simple/goal
	Estimate              // initialpose
)

// Topic is a topic that clients may subscribe to, or publish on.
type Topic struct {
	Name, Type string
	Use        Use
	Robot      *Robot    // nil: it is of no single one
	Device     *Device   // Readings
	Kind       *ros.Kind // Readings
	Map        *Plan     // Map, MetaData
	Latched    bool      // whoever subscribes gets the last message at once
}

// Robot is a robot as ROS programs see it.
type Robot struct {
	Name    string // the broker's
	Segment string // its name in topics
	World   string
	Number  int  // in the order in which robots became known
	Up      bool // not away
	Prefix  string
	Frames  string // stands before its frames: "", or "r0/"
	Devices []*Device
	// Start is where the simulation had it at first; nil: it is in none.
	Start *player.Pose

	byDevice map[address]*Device
}

type address struct {
	interf string
	index  int
}

func (a address) String() string { return a.interf + ":" + strconv.Itoa(a.index) }

// Device is one device of a robot.
type Device struct {
	Interface string
	Index     int
	Geometry  *player.Geometry
	Frame     string
	Topics    []*Topic
}

// Device returns a device of the robot, nil if it has none such.
func (r *Robot) Device(interf string, index int) *Device { return r.byDevice[address{interf, index}] }

// Moves reports whether the robot takes velocities.
func (r *Robot) Moves() bool { return r.has(player.InterfacePosition2D) }

// Localized reports whether something says where the robot is on the map.
func (r *Robot) Localized() bool { return r.has(player.InterfaceLocalize) }

// top returns how high above the ground the robot's sensors are mounted: in Stage on
// top of it, where stage_ros has them, too. What is drawn of them is then not in the
// plane of the map, which would hide it.
func (r *Robot) top() float64 {
	base := r.Device(player.InterfacePosition2D.String(), 0)
	if r.Start == nil || base == nil || base.Geometry == nil {
		return 0
	}
	return base.Geometry.Size.H
}

// Node is the name of the broker among ROS's nodes.
const Node = "/callboard"

// Node returns the name of the robot among ROS's nodes; that of no robot is the
// broker's.
func (r *Robot) Node() string {
	if r == nil {
		return Node
	}
	return "/" + r.Segment
}

func (r *Robot) has(i player.Interface) bool {
	return slices.ContainsFunc(r.Devices, func(d *Device) bool { return d.Interface == i.String() })
}

// Snapshot is what there is at a time. It is immutable.
type Snapshot struct {
	Robots []*Robot // by number
	Topics []*Topic // by name
	byName map[string]*Robot
	topics map[string]*Topic
}

// known is what a snapshot is made of.
type known struct {
	robots  []robots.Robot
	numbers map[string]int          // of robots, by name
	starts  map[string]*player.Pose // where simulations had them at first
	plans   map[string]*Plan        // by world
	before  *Snapshot
}

// build makes a snapshot. What is known of a robot that is away is what was known
// of it before.
func build(k known) *Snapshot {
	s := &Snapshot{byName: map[string]*Robot{}, topics: map[string]*Topic{}}
	list := slices.Clone(k.robots)
	slices.SortFunc(list, func(a, b robots.Robot) int { return cmp.Compare(k.numbers[a.Robot], k.numbers[b.Robot]) })
	segments := map[string]bool{}
	for i := range list {
		one := &list[i]
		r := &Robot{Name: one.Robot, World: one.World, Number: k.numbers[one.Robot], Up: one.State == protocol.RobotUp, Start: k.starts[one.Robot], Prefix: "/"}
		r.Segment = segment(one.Robot, segments)
		if len(list) > 1 {
			r.Prefix, r.Frames = "/"+r.Segment+"/", r.Segment+"/"
		}
		r.addDevices(one.Devices, k.before)
		s.Robots = append(s.Robots, r)
		s.byName[r.Name] = r
		s.addRobot(r)
	}
	s.addPlans(k.plans)
	if s.Simulated() {
		s.add(&Topic{Name: "/clock", Type: "rosgraph_msgs/Clock", Use: Clock})
	}
	s.add(&Topic{Name: "/tf", Type: "tf2_msgs/TFMessage", Use: Transforms})
	s.add(&Topic{Name: "/rosout", Type: "rosgraph_msgs/Log", Use: Log})
	s.add(&Topic{Name: "/callboard/status", Type: "std_msgs/String", Use: Events})
	slices.SortFunc(s.Topics, func(a, b *Topic) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// segment makes a robot's name one that ROS takes in a topic: letters, digits and
// underlines, a letter first, and no other robot's.
func segment(name string, taken map[string]bool) string {
	b := []byte(name)
	for i, c := range b {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') {
			b[i] = '_'
		}
	}
	if len(b) == 0 || b[0] >= '0' && b[0] <= '9' || b[0] == '_' {
		b = append([]byte("r"), b...)
	}
	s := string(b)
	for i := 2; taken[s]; i++ {
		s = string(b) + "_" + strconv.Itoa(i)
	}
	taken[s] = true
	return s
}

// addDevices adds a robot's devices with what comes of them.
func (r *Robot) addDevices(list []robots.Device, before *Snapshot) {
	for _, d := range list {
		interf, ok := player.ParseInterface(d.Interface)
		if _, twin := player.TwinOf(d.Driver); !ok || twin {
			continue
		}
		r.Devices = append(r.Devices, &Device{Interface: interf.String(), Index: d.Index, Geometry: d.Geometry.Geometry(), Frame: ros.FrameBase})
	}
	if old := before.robot(r.Name); len(list) == 0 && old != nil {
		for _, d := range old.Devices {
			r.Devices = append(r.Devices, &Device{Interface: d.Interface, Index: d.Index, Geometry: d.Geometry, Frame: ros.FrameBase})
		}
	}
	slices.SortStableFunc(r.Devices, func(a, b *Device) int { return cmp.Compare(a.Index, b.Index) })
	r.byDevice = make(map[address]*Device, len(r.Devices))
	for _, d := range r.Devices {
		r.byDevice[address{d.Interface, d.Index}] = d
	}
}

func (s *Snapshot) robot(name string) *Robot {
	if s == nil {
		return nil
	}
	return s.byName[name]
}

// Robot returns the robot that the broker calls so, nil if there is none.
func (s *Snapshot) Robot(name string) *Robot { return s.robot(name) }

// add adds a topic, unless there is one of its name.
func (s *Snapshot) add(t *Topic) {
	if s.topics[t.Name] == nil {
		s.topics[t.Name] = t
		s.Topics = append(s.Topics, t)
	}
}

// kindsOf returns the kinds of topics of a device of a robot. A ranger stands aside
// for a laser (sonar), as with conditions.
func (r *Robot) kindsOf(d *Device) []*ros.Kind {
	interf, _ := player.ParseInterface(d.Interface)
	kinds := ros.KindsOf(&player.Device{Addr: player.Addr{Interf: interf}, Geometry: d.Geometry})
	if interf == player.InterfaceRanger && len(kinds) > 0 {
		for _, instead := range []player.Interface{player.InterfaceLaser, player.InterfaceSonar} {
			if r.has(instead) && slices.Contains(ros.Interfaces(kinds[0].Name), instead) {
				return nil
			}
		}
	}
	return kinds
}

// addRobot adds a robot's topics. Where several devices have topics of one name
// they are numbered.
func (s *Snapshot) addRobot(r *Robot) {
	count, next := map[string]int{}, map[string]int{}
	for _, d := range r.Devices {
		for _, k := range r.kindsOf(d) {
			count[k.Name]++
		}
	}
	for _, d := range r.Devices {
		for _, k := range r.kindsOf(d) {
			suffix := ""
			if count[k.Name] > 1 {
				suffix = "_" + strconv.Itoa(next[k.Name])
				next[k.Name]++
			}
			if k.Type == "sensor_msgs/LaserScan" {
				d.Frame = ros.FrameLaser + suffix
			}
			t := &Topic{Name: r.Prefix + k.Name + suffix, Type: k.Type, Robot: r, Device: d, Kind: k, Latched: k.Latched}
			d.Topics = append(d.Topics, t)
			s.add(t)
		}
	}
	if r.Moves() {
		s.add(&Topic{Name: r.Prefix + "cmd_vel", Type: "geometry_msgs/Twist", Use: Velocity, Robot: r})
	}
	if r.Moves() || r.has(player.InterfacePlanner) {
		s.add(&Topic{Name: r.Prefix + goalTopic, Type: "geometry_msgs/PoseStamped", Use: Goal, Robot: r})
	}
	if r.Localized() {
		s.add(&Topic{Name: r.Prefix + "initialpose", Type: "geometry_msgs/PoseWithCovarianceStamped", Use: Estimate, Robot: r})
	}
	if r.Start != nil {
		s.add(&Topic{Name: r.Prefix + "base_pose_ground_truth", Type: "nav_msgs/Odometry", Use: Truth, Robot: r})
	}
}

// Where goals are published: with move_base in ROS 1, and in ROS 2.
const (
	goalTopic  = "move_base_simple/goal"
	goalTopic2 = "goal_pose"
)

// Simulated reports whether all robots are in one simulation, whose time is that of
// all readings.
func (s *Snapshot) Simulated() bool {
	return len(s.Robots) > 0 && !slices.ContainsFunc(s.Robots, func(r *Robot) bool { return r.Start == nil || r.World != s.Robots[0].World })
}

// addPlans adds the maps: /map if there is one.
func (s *Snapshot) addPlans(plans map[string]*Plan) {
	for world, p := range plans {
		prefix := "/"
		if len(plans) > 1 {
			prefix = "/" + segment(world, map[string]bool{}) + "/"
		}
		s.add(&Topic{Name: prefix + "map", Type: "nav_msgs/OccupancyGrid", Use: Map, Map: p, Latched: true})
		s.add(&Topic{Name: prefix + "map_metadata", Type: "nav_msgs/MapMetaData", Use: MetaData, Map: p, Latched: true})
	}
}

// Visible reports whether a client with the grant may see a topic.
func (s *Snapshot) Visible(t *Topic, g attach.Grant) bool {
	switch {
	case t.Robot != nil:
		return g.Allows(t.Robot.Name)
	case t.Map != nil:
		return slices.ContainsFunc(s.Robots, func(r *Robot) bool { return r.World == t.Map.World && g.Allows(r.Name) })
	}
	return true
}

// Seen returns the topics that a client with the grant may see.
func (s *Snapshot) Seen(g attach.Grant) []*Topic {
	var out []*Topic
	for _, t := range s.Topics {
		if s.Visible(t, g) {
			out = append(out, t)
		}
	}
	return out
}

// Find returns the topic of a name that the grant lets be seen, nil if there is
// none. A leading slash may be missing. Beside the name that is listed a robot's
// topics have those that stage_ros gives them (/robot_0/odom), the one with its
// name and, if it is the only one, the one without.
func (s *Snapshot) Find(name string, g attach.Grant) *Topic {
	name = "/" + strings.TrimPrefix(name, "/")
	if prefix, ok := strings.CutSuffix(name, "/"+goalTopic2); ok {
		name = prefix + "/" + goalTopic
	}
	t := s.topics[name]
	if t == nil {
		if r, rest := s.named(name); r != nil {
			t = s.topics[r.Prefix+rest]
		}
	}
	if t == nil || !s.Visible(t, g) {
		return nil
	}
	return t
}

// named splits the name of a topic into the robot and what is behind.
func (s *Snapshot) named(name string) (*Robot, string) {
	first, rest, ok := strings.Cut(name[1:], "/")
	if !ok {
		return nil, ""
	}
	for _, r := range s.Robots {
		if r.Segment == first || r.Name == first {
			return r, rest
		}
	}
	if digits, ok := strings.CutPrefix(first, "robot_"); ok {
		if n, err := strconv.Atoi(digits); err == nil && n >= 0 && n < len(s.Robots) {
			return s.Robots[n], rest
		}
	}
	return nil, ""
}

// same returns a text that two snapshots of the same have in common.
func (s *Snapshot) same() string {
	var b strings.Builder
	for _, r := range s.Robots {
		fmt.Fprintf(&b, "%q %q %v %v;", r.Name, r.World, r.Up, r.Start != nil)
		for _, d := range r.Devices {
			fmt.Fprintf(&b, "%s:%d %v;", d.Interface, d.Index, d.Geometry)
		}
	}
	for _, t := range s.Topics {
		b.WriteString(t.Name)
		if t.Map != nil {
			fmt.Fprintf(&b, " %p", t.Map)
		}
		b.WriteByte(' ')
	}
	return b.String()
}
