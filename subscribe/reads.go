package subscribe

import (
	"callboard/player"
	"callboard/subscribe/condition"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"
)

// Kinds returns the kinds of views that the subscription's condition names.
// None means that every reading tests it.
func (s *Subscription) Kinds() view.Kinds { return s.program.Named() }

// Reads lists the interfaces, by Player's names, whose readings the
// subscription uses: its condition and what it selects. A condition that names
// none uses all that conditions know.
func (s *Subscription) Reads() []string {
	kinds := s.program.Named()
	if kinds == 0 {
		return Interfaces()
	}
	for _, sel := range s.selected {
		kinds |= sel.program.Named()
	}
	var out []string
	for k := range view.Kind(view.NumKinds) {
		if kinds.Has(k.Set()) {
			out = append(out, names(k.Interfaces())...)
		}
	}
	return out
}

// Policed reports whether the subscription has state for each robot, which time
// that runs back ends: then the times of all the robot's readings matter to
// it.
func (s *Subscription) Policed() bool { return s.policed() }

// WantsRobot reports whether the robot is one that the subscription asks for
// and may see.
func (s *Subscription) WantsRobot(name string) bool { return s.wantsRobot(name) }

// Expression compiles an expression as select has it. Safe for concurrent use.
func (m *Matcher) Expression(text string) (*condition.Program, *protocol.Problem) {
	return m.compile(text, false)
}

// Pass takes a message whose payload nobody looks at: of a kind that no
// installed subscription names. Its time is a reading's time all the same.
func (s *Session) Pass(d *player.Device, subtype uint8, time float64) {
	s.begin()
	defer s.end()
	if s.robot.Pass(d, subtype, time) {
		s.restart()
	}
}
