package subscribe

import (
	"fmt"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

// TestMessages: who asks for messages gets those and no reading, the others the
// reading; of a robot of which nobody asks, none are made.
func TestMessages(t *testing.T) {
	m := newMatcher(t)
	var got []string
	session := func(robot string) *Session {
		s := m.NewSession(SessionConfig{Robot: robot, Emit: func(m *Matched) {
			all, err := player.SplitMessages(m.Messages)
			line := fmt.Sprintf("%s@%g: reading %v, %d messages %v, for", robot, m.Time, m.Reading != nil, len(all), err)
			for _, k := range m.Matches {
				for _, s := range k.Subscriptions {
					line += fmt.Sprintf(" %s=%s", s.ID, s.Values)
				}
			}
			got = append(got, line)
		}})
		s.Up([]*player.Device{position0})
		return s
	}
	r1, r2 := session("r1"), session("r2")
	send := func(at float64) {
		for _, s := range []*Session{r1, r2} {
			s.Arrive(player.Reading{Device: position0, Subtype: iface.DataPosition2DState, Time: at, Payload: &iface.Position2DData{Pos: iface.Pose2D{Px: at}}})
		}
	}
	one := func(s protocol.Subscription) []*Subscription { return []*Subscription{compile(t, m, s)} }
	m.Install(1, one(protocol.Subscription{ID: "all", Condition: "position.x == 1"}))
	send(1)
	m.Install(2, one(protocol.Subscription{ID: "msg", Condition: "position.x > 1", Robots: []string{"r1"}, Messages: true}))
	m.Install(1, one(protocol.Subscription{ID: "all", Condition: "position.x == 2"}))
	send(2)
	send(3)
	if a := r2.robot.Last(position0.Addr); a == nil || a.Messages != nil {
		t.Errorf("of r2, of which nobody asks, messages are kept: %v", a)
	}
	m.Install(2, one(protocol.Subscription{ID: "msg", Condition: "position.x > 1", Robots: []string{"r1"}})) // another subscription
	send(4)
	m.Remove(2)
	if n := len(m.snapshot.Load().messages); n != 0 {
		t.Errorf("%d subscriptions ask for messages, expected none any more", n)
	}
	want := []string{
		"r1@1: reading true, 0 messages <nil>, for all=", "r2@1: reading true, 0 messages <nil>, for all=",
		"r1@2: reading true, 1 messages <nil>, for all= msg={}", "r2@2: reading true, 0 messages <nil>, for all=",
		"r1@3: reading false, 1 messages <nil>, for msg={}",
		"r1@4: reading true, 0 messages <nil>, for msg=",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
