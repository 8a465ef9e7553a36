package overlay

import "testing"

// No pattern means all robots, whether a client left the list out or sent an
// empty one; names and patterns match as path.Match does.
func TestSelector(t *testing.T) {
	for _, tt := range []struct {
		robots, allowed []string
		name            string
		want            bool
	}{
		{nil, nil, "r1", true},
		{[]string{}, []string{}, "r1", true},
		{[]string{"r1", "r2"}, nil, "r2", true},
		{[]string{"r1", "r2"}, nil, "r3", false},
		{[]string{"r*", "s1"}, nil, "r3", true},
		{[]string{"r*"}, nil, "s3", false},
		{[]string{"r1"}, []string{"s*"}, "r1", false},
		{[]string{}, []string{"s*"}, "s1", true},
	} {
		sub := &Subscription{Allowed: tt.allowed}
		sub.Robots = tt.robots
		s := newSelector(sub)
		if got := s.matches(tt.name); got != tt.want {
			t.Errorf("robots %q, allowed %q: %s matches %v", tt.robots, tt.allowed, tt.name, got)
		}
	}
}
