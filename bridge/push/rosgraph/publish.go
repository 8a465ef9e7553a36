package rosgraph

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"callboard/bridge/attach"
	"callboard/bridge/push/ros"
	"callboard/player"
	"callboard/subscribe/protocol"
)

// Taken reports whether the topic is one that clients publish on; the others are
// those they subscribe to.
func (t *Topic) Taken() bool { return slices.Contains([]Use{Velocity, Goal, Estimate}, t.Use) }

// Takes reports whether messages of a type may be published on the topic. A velocity
// may be stamped.
func (t *Topic) Takes(kind *ros.Type) bool {
	return kind != nil && (kind == ros.Lookup(t.Type) || t.Use == Velocity && kind == ros.Lookup("geometry_msgs/TwistStamped"))
}

// Publish does what a message on a topic asks for, which the topic takes, and answers
// once the robot was told. The error says that it was not asked at all.
func (m *Member) Publish(ctx context.Context, t *Topic, message ros.Message, done attach.Answer) error {
	switch t.Use {
	case Goal:
		return m.goTo(ctx, t, message, done)
	case Estimate:
		return m.estimate(ctx, t, message, done)
	}
	if inner, stamped := message.At("twist").(ros.Message); stamped {
		message = inner
	}
	return m.Drive(ctx, t.Robot, message, done)
}

// Abandon is what happens when the client takes a topic back that it has published
// on: a robot that it drives stops. A goal goes on, as with move_base.
func (m *Member) Abandon(ctx context.Context, t *Topic) {
	if t.Use == Velocity {
		m.Halt(ctx, t.Robot)
	}
}

// goTo sends a robot to a goal: by its planner, or else its base goes there by
// itself, straight, as Player's bases do.
func (m *Member) goTo(ctx context.Context, t *Topic, message ros.Message, done attach.Answer) error {
	name, frames := "goal", []string{mapFrame}
	if !t.Robot.has(player.InterfacePlanner) {
		name, frames = "goto", []string{t.Robot.Frames + ros.FrameOdom}
	}
	if !t.Robot.Localized() { // its odometry is its place on the map
		frames = []string{mapFrame, t.Robot.Frames + ros.FrameOdom}
	}
	x, y, yaw, err := place(message, message.At("pose"), frames)
	if err != nil {
		return err
	}
	if err := m.Conn.Command(ctx, protocol.Command{Robot: t.Robot.Name, Name: name, Args: []any{x, y, yaw}}, done); err != nil {
		return err
	}
	m.graph.driven(t.Robot.Name, m, false)
	return nil
}

// estimate tells a robot's localizer where it is, and how sure that is.
func (m *Member) estimate(ctx context.Context, t *Topic, message ros.Message, done attach.Answer) error {
	x, y, yaw, err := place(message, message.At("pose", "pose"), []string{mapFrame})
	if err != nil {
		return err
	}
	args := []any{x, y, yaw}
	if all, _ := message.At("pose", "covariance").([]any); len(all) == 36 {
		variances := []any{all[0], all[7], all[35]}
		if !slices.Equal(variances, []any{0.0, 0.0, 0.0}) {
			args = append(args, variances...)
		}
	}
	return m.Conn.Command(ctx, protocol.Command{Robot: t.Robot.Name, Name: "localize", Args: args}, done)
}

// place returns where a pose is on the plane, if the message is in one of the frames,
// or in none that it names.
func place(message ros.Message, at any, frames []string) (x, y, yaw float64, err error) {
	frame := strings.TrimPrefix(message.Text("header", "frame_id"), "/")
	if frame != "" && !slices.Contains(frames, frame) {
		return 0, 0, 0, refused("a pose in frame %.64q; expected %s", frame, strings.Join(frames, " or "))
	}
	pose, _ := at.(ros.Message)
	x, y = pose.Float("position", "x"), pose.Float("position", "y")
	q := func(name string) float64 { return pose.Float("orientation", name) }
	qx, qy, qz, qw := q("x"), q("y"), q("z"), q("w")
	length := qx*qx + qy*qy + qz*qz + qw*qw
	if !ros.Finite(x, y, length) {
		return 0, 0, 0, refused("a pose at %v, %v m; expected finite numbers", x, y)
	}
	if math.Abs(length-1) > 0.1 {
		return 0, 0, 0, refused("a pose with the orientation %v, %v, %v, %v; expected a quaternion of length 1", qx, qy, qz, qw)
	}
	return x, y, math.Atan2(2*(qw*qz+qx*qy), 1-2*(qy*qy+qz*qz)), nil
}

func refused(format string, args ...any) error {
	return &protocol.Problem{Code: protocol.BadMessage, Message: fmt.Sprintf(format, args...)}
}
