package rosgraph

import (
	"context"
	"slices"

	"callboard/bridge/attach"
	"callboard/bridge/push/ros"
	"callboard/player"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"
)

// Member is a client of the graph. Its methods are for its Speaker: those that
// make messages for Notify and Send, the others for Receive.
type Member struct {
	Conn  attach.Conn
	Grant attach.Grant
	graph *Graph

	wheels wheels

	clock float64 // s: what /clock has said last

	// Of the notification that is being told:
	snapshot *Snapshot
	notify   *protocol.Notify
	robot    *Robot
	device   *Device
	reading  ros.Reading
	decoded  bool
	failed   bool
	clocked  bool                   // it is known whether it
	ticks    bool                   // sets the clock
	moved    map[string]player.Pose // by robot: its odometry, if it is localized
	places   []ros.Transform        // room
}

// Join makes a client a member. Its Conn has taken its Hello.
func (g *Graph) Join(ctx context.Context, c attach.Conn) *Member {
	m := &Member{Conn: c, Grant: c.Grant(), graph: g}
	g.mu.Lock()
	g.members[m] = struct{}{}
	g.mu.Unlock()
	select {
	case g.joined <- struct{}{}:
	default:
	}
	g.fresh(ctx)
	return m
}

// Leave ends it, when its connection has: the robots that it drives stop.
func (m *Member) Leave() {
	g := m.graph
	g.mu.Lock()
	delete(g.members, m)
	for _, t := range g.truths {
		delete(t.watchers, m)
	}
	g.mu.Unlock()
	m.stopAll()
}

// Snapshot returns what there is now.
func (m *Member) Snapshot() *Snapshot { return m.graph.Snapshot() }

// Find finds a topic that the member may see.
func (m *Member) Find(name string) *Topic { return m.Snapshot().Find(name, m.Grant) }

// Frames returns what stands before a robot's frames.
func (m *Member) Frames(robot string) string {
	if r := m.Snapshot().Robot(robot); r != nil {
		return r.Frames
	}
	return ""
}

// Started returns when the graph was made.
func (m *Member) Started() ros.Stamp { return m.graph.started }

// Subscription is what to ask the broker for, so that its notifications have what
// the topic says; false: none is needed. The condition and what goes with it are
// the client's, for topics of readings only.
func (t *Topic) Subscription(asked protocol.Subscription) (protocol.Subscription, bool) {
	switch t.Use {
	case Readings:
		asked.Robots = []string{t.Robot.Name}
		asked.Devices = []string{address{t.Device.Interface, t.Device.Index}.String()}
		asked.Messages = !t.Kind.Object
		asked.Condition = t.alsoOf(asked.Condition)
	case Transforms, Clock:
		asked.Devices, asked.Messages = placing, true
	case Truth:
		asked.Robots, asked.Devices, asked.Messages = []string{t.Robot.Name}, []string{player.InterfacePosition2D.String(), player.InterfacePosition3D.String()}, true
	default:
		return asked, false
	}
	if asked.Condition == "" {
		asked.Condition = "true"
	}
	return asked, true
}

// alsoOf returns a condition that is tested when a reading of the topic arrives,
// whatever else it names. What is wrong with it stands a column further in its
// first line; see Unwrap.
func (t *Topic) alsoOf(condition string) string {
	interf, _ := player.ParseInterface(t.Device.Interface)
	for k := range view.Kind(view.NumKinds) {
		// Of a ranger's two kinds it is the one that its topic is of.
		if !slices.Contains(k.Interfaces(), interf) || interf == player.InterfaceRanger && (k == view.KindLaser) != (t.Kind.Type == "sensor_msgs/LaserScan") {
			continue
		}
		if condition != "" {
			return "(" + condition + "\n) and " + k.String() + ".index >= 0"
		}
	}
	return condition
}

// Unwrap returns where a position in the condition that was asked of the broker is
// in the one that the client wrote.
func (t *Topic) Unwrap(p *protocol.Position) *protocol.Position {
	if p == nil || t == nil || t.Use != Readings || p.Line != 1 || p.Column < 2 {
		return p
	}
	return &protocol.Position{Line: 1, Column: p.Column - 1}
}

// placing are the devices whose readings say where robots are.
var placing = []string{player.InterfacePosition2D.String(), player.InterfacePosition3D.String(), player.InterfaceLocalize.String()}

// Begin takes a notification, of which Message then makes messages.
func (m *Member) Begin(n *protocol.Notify) {
	m.snapshot, m.notify, m.decoded, m.failed, m.clocked = m.graph.Snapshot(), n, false, false, false
	m.robot = m.snapshot.Robot(n.Robot)
	m.device = nil
	if m.robot != nil {
		m.device = m.robot.Device(n.Interface, n.Index)
	}
	if m.device == nil { // it is new: the broker knows it
		select {
		case m.graph.joined <- struct{}{}:
		default:
		}
	}
}

// Robot returns whose reading the notification is of, nil if that is not known.
func (m *Member) Robot() *Robot { return m.robot }

// Device returns what device it is of, nil if that is not known.
func (m *Member) Device() *Device { return m.device }

// decode decodes the notification's messages, once.
func (m *Member) decode() bool {
	if m.decoded {
		return !m.failed
	}
	m.decoded = true
	n, r := m.notify, &m.reading
	r.Prefix, r.Frame, r.Geometry, r.Time, r.Object = m.robot.Frames, m.device.Frame, m.device.Geometry, n.Time, n.Reading
	if protocol.IsCBOR(r.Object) {
		r.Object = protocol.JSON(r.Object)
	}
	m.failed = r.Decode(n.Messages) != nil // a broker sends none such
	return !m.failed
}

// Message returns what a kind of topic says of the notification; nil: nothing. It
// is shared, and must not be changed.
func (m *Member) Message(k *ros.Kind, f ros.Format) []byte {
	if m.device == nil {
		return nil
	}
	of := m.notify.Messages
	if k.Object {
		of = m.notify.Reading
	}
	key := sharedKey{k, f}
	if b, ok := m.graph.shared.get(key, m.snapshot, of); ok {
		return b
	}
	if !m.decode() {
		return nil
	}
	b, ok := k.Append(nil, f, &m.reading)
	if !ok {
		b = nil
	}
	m.graph.shared.put(key, m.snapshot, of, b)
	return b
}

// transforms stands for /tf among kinds of topics.
var transforms = &ros.Kind{Name: "tf"}

// Transforms returns what /tf says of the notification, as Message does.
func (m *Member) Transforms(f ros.Format) []byte {
	if m.device == nil {
		return nil
	}
	own := m.robot.Localized() // it takes what the member has seen before
	key := sharedKey{transforms, f}
	if b, ok := m.graph.shared.get(key, m.snapshot, m.notify.Messages); ok && !own {
		return b
	}
	all := m.Places()
	if len(all) == 0 {
		return nil
	}
	b := ros.AppendTransforms(nil, f, m.notify.Time, all)
	if !own {
		m.graph.shared.put(key, m.snapshot, m.notify.Messages, b)
	}
	return b
}

// Clock returns what /clock says of the notification, as Message does: nothing, if the
// time is not later than what it has said. A simulation that begins anew sets it back.
func (m *Member) Clock(f ros.Format) []byte {
	now := m.notify.Time
	if !m.clocked {
		m.clocked, m.ticks = true, now > m.clock || now <= m.clock-setBack
	}
	if !m.ticks {
		return nil
	}
	m.clock = now
	return ros.AppendClock(nil, f, ros.StampOf(now))
}

// setBack is how much older than another one a reading of the same simulation can be
// when it comes (s); one that is older yet is of a simulation that has begun anew.
const setBack = 5

// Places returns where the notification says that the robot's frames are. It is
// valid until the next call.
func (m *Member) Places() []ros.Transform {
	if m.device == nil || !m.decode() {
		return nil
	}
	m.places = m.places[:0]
	r := m.robot
	if best := m.reading.Localized(); best != nil {
		at := player.Pose{X: best.Mean.Px, Y: best.Mean.Py, Yaw: best.Mean.Pa}
		m.places = append(m.places, ros.Transform{Parent: mapFrame, Child: r.Frames + ros.FrameOdom, Pose: ros.Base(at, m.moved[r.Name])})
		return m.places
	}
	at, _, ok := m.reading.Position()
	if !ok {
		return nil
	}
	if r.Localized() {
		if m.moved == nil {
			m.moved = map[string]player.Pose{}
		}
		m.moved[r.Name] = at
	} else { // conditions, too, take odometry for the place on the map
		m.places = append(m.places, ros.Transform{Parent: mapFrame, Child: r.Frames + ros.FrameOdom})
	}
	m.places = append(m.places,
		ros.Transform{Parent: r.Frames + ros.FrameOdom, Child: r.Frames + ros.FrameFootprint, Pose: at},
		ros.Transform{Parent: r.Frames + ros.FrameFootprint, Child: r.Frames + ros.FrameBase})
	for _, d := range r.Devices {
		if d.Frame == ros.FrameBase {
			continue
		}
		var on player.Pose
		if d.Geometry != nil {
			on = d.Geometry.Pose
			on.Z += r.top()
		}
		m.places = append(m.places, ros.Transform{Parent: r.Frames + ros.FrameBase, Child: r.Frames + d.Frame, Pose: on})
	}
	return m.places
}
