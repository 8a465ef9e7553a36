package rosbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"callboard/bridge/attach"
	"callboard/bridge/push/ros"
	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

// tf2_web_republisher: clients in browsers do not follow /tf, but ask for where
// some frames are in another one, and get that when it has changed by more than
// they say. As an action (goal, cancel, feedback) or by a service that names a
// topic.

const (
	republisherTopic = "/tf2_web_republisher/"
	republishing     = "tf" // the id of its subscription at the broker
	maxRepublished   = 64   // goals and topics of a client
	maxSources       = 256  // frames of one
	maxFrameName     = 256  // bytes
	maxFrames        = 10_000
)

// republisher is that of one client. The client's mu guards it.
type republisher struct {
	asked  bool // its subscription is there
	frames map[string]frame
	wants  []*wanted
	topics int // named so far
}

// frame is where a frame is in its parent.
type frame struct {
	parent string
	at     placement
}

// wanted is what a goal or a call asks for.
type wanted struct {
	goal    string // id of the goal
	stamp   ros.Stamp
	topic   string // or the topic
	sources []string
	target  string
	angle   float64 // rad
	length  float64 // m
	period  time.Duration
	told    map[string]placement // by source
	last    time.Time
}

// newWanted reads what a client asks for.
func newWanted(m ros.Message) (*wanted, error) {
	w := &wanted{sources: m.Texts("source_frames"), target: m.Text("target_frame"), angle: m.Float("angular_thres"), length: m.Float("trans_thres"), told: map[string]placement{}}
	rate := m.Float("rate")
	if len(w.sources) > maxSources || !ros.Finite(w.angle, w.length, rate) || rate < 0 {
		return nil, wrong("%d source frames, thresholds %v and %v, rate %v; expected at most %d, and finite numbers", len(w.sources), w.angle, w.length, rate, maxSources)
	}
	for _, name := range append(w.sources, w.target) {
		if len(name) > maxFrameName {
			return nil, wrong("the name of a frame has %d bytes; expected at most %d", len(name), maxFrameName)
		}
	}
	if rate > 0 {
		w.period = time.Duration(min(1/rate, 3600) * float64(time.Second))
	}
	return w, nil
}

// republishGoal takes what is published on the action's topics.
func (c *client) republishGoal(ctx context.Context, topic string, m message) error {
	switch topic {
	case "goal":
		goal, err := ros.Lookup("tf2_web_republisher/TFSubscriptionActionGoal").FromJSON(m["msg"], rosgraph.Now())
		if err != nil {
			return wrong("msg: %v", err)
		}
		inner, _ := goal.At("goal").(ros.Message)
		w, err := newWanted(inner)
		if err != nil {
			return err
		}
		if w.goal = goal.Text("goal_id", "id"); len(w.goal) > maxID {
			return wrong("the id of a goal has %d bytes; expected at most %d", len(w.goal), maxID)
		}
		w.stamp, _ = goal.At("goal_id", "stamp").(ros.Stamp)
		return c.addRepublished(ctx, w)
	case "cancel":
		id, err := ros.Lookup("actionlib_msgs/GoalID").FromJSON(m["msg"], rosgraph.Now())
		if err != nil {
			return wrong("msg: %v", err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		kept := c.republish.wants[:0]
		for _, w := range c.republish.wants {
			if w.topic != "" || id.Text("id") != "" && w.goal != id.Text("id") {
				kept = append(kept, w)
			}
		}
		c.republish.wants = kept
		return nil
	}
	return wrong("topic %s%s: expected goal or cancel", republisherTopic, topic[:min(len(topic), maxName)])
}

// republishTopic does what the service asks for, and names the topic.
func (c *client) republishTopic(ctx context.Context, args ros.Message) (string, error) {
	w, err := newWanted(args)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	c.republish.topics++
	w.topic = "/tf_repub_" + strconv.Itoa(c.republish.topics)
	c.mu.Unlock()
	return w.topic, c.addRepublished(ctx, w)
}

// addRepublished adds a goal; one with the same id is replaced.
func (c *client) addRepublished(ctx context.Context, w *wanted) error {
	c.mu.Lock()
	r := &c.republish
	at := -1
	for i, old := range r.wants {
		if w.topic == "" && old.topic == "" && old.goal == w.goal {
			at = i
		}
	}
	full := at < 0 && len(r.wants) == maxRepublished
	switch {
	case full:
	case at >= 0:
		r.wants[at] = w
	default:
		r.wants = append(r.wants, w)
	}
	ask := !r.asked && !full
	r.asked = r.asked || ask
	c.mu.Unlock()
	if full {
		return wrong("%d goals for transforms; expected fewer: cancel some", maxRepublished)
	}
	if ask {
		asked, _ := (&rosgraph.Topic{Use: rosgraph.Transforms}).Subscription(protocol.Subscription{ID: republishing})
		if err := c.conn.Subscribe(ctx, protocol.Subscribe{Subscription: asked}); err != nil {
			c.mu.Lock()
			r.asked = false
			c.mu.Unlock()
			return wrong("%s", protocol.ProblemOf(err).Message)
		}
	}
	return nil
}

// take takes where the notification says that frames are, and tells what has
// changed enough.
func (r *republisher) take(c *client, to attach.Messages) {
	for _, t := range c.member.Places() {
		if r.frames == nil {
			r.frames = map[string]frame{}
		}
		if _, known := r.frames[t.Child]; known || len(r.frames) < maxFrames {
			r.frames[t.Child] = frame{t.Parent, placed(t.Pose)}
		}
	}
	now := time.Now()
	for _, w := range r.wants {
		if w.period > 0 && now.Sub(w.last) < w.period {
			continue
		}
		if changed := r.changed(w); len(changed) > 0 {
			w.last = now
			r.tell(c, to, w, changed)
		}
	}
}

// change is where a source is now.
type change struct {
	source string
	at     placement
}

// changed returns the sources that have moved by more than the thresholds.
func (r *republisher) changed(w *wanted) []change {
	var out []change
	target, root := r.up(strings.TrimPrefix(w.target, "/"))
	for _, source := range w.sources {
		at, of := r.up(strings.TrimPrefix(source, "/"))
		if of != root || of == "" {
			continue
		}
		now := target.inverse().then(at)
		if told, ok := w.told[source]; ok && told.distance(now) <= w.length && told.angle(now) <= w.angle {
			continue
		}
		w.told[source] = now
		out = append(out, change{source, now})
	}
	return out
}

// up returns where a frame is in the one that all others stand in; "": it is not
// known.
func (r *republisher) up(name string) (placement, string) {
	at := placement{rotation: [4]float64{3: 1}}
	if _, known := r.frames[name]; !known && !r.parent(name) {
		return at, ""
	}
	for range maxDepth {
		f, ok := r.frames[name]
		if !ok {
			return at, name
		}
		at, name = f.at.then(at), f.parent
	}
	return at, ""
}

// maxDepth is how many frames stand within each other.
const maxDepth = 16

func (r *republisher) parent(name string) bool {
	for _, f := range r.frames {
		if f.parent == name {
			return true
		}
	}
	return false
}

// tell tells the client.
func (r *republisher) tell(c *client, to attach.Messages, w *wanted, all []change) {
	now := rosgraph.Now()
	transforms := []any{}
	for _, ch := range all {
		q, p := ch.at.rotation, ch.at.translation
		transforms = append(transforms, object{
			"header": object{"seq": 0, "stamp": stamp(now), "frame_id": w.target}, "child_frame_id": ch.source,
			"transform": object{
				"translation": object{"x": p[0], "y": p[1], "z": p[2]},
				"rotation":    object{"x": q[0], "y": q[1], "z": q[2], "w": q[3]},
			},
		})
	}
	msg, topic := any(object{"transforms": transforms}), w.topic
	if w.topic == "" {
		topic = republisherTopic + "feedback"
		msg = object{
			"header":   object{"seq": 0, "stamp": stamp(now), "frame_id": ""},
			"status":   object{"goal_id": object{"stamp": stamp(w.stamp), "id": w.goal}, "status": 1, "text": "This goal has been accepted by the simple action server"},
			"feedback": msg,
		}
	}
	body, err := json.Marshal(msg)
	if err != nil { // a robot's odometry is no number
		return
	}
	for name, s := range c.streams {
		if s.bare == topic {
			c.writeText(to, fmt.Appendf(nil, `{"op":"publish","topic":%s,"msg":%s}`, protocol.AppendText(nil, name), body), s.fragment)
		}
	}
}
