package link

import (
	"reflect"
	"strings"
	"testing"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// What waits weighs what it holds, within a factor of two and a constant.
func TestWeight(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	register := &overlay.Register{Robots: make([]overlay.Advertisement, 1000)}
	for i := range register.Robots {
		register.Robots[i].Devices = []string{long[:100]}
	}
	sources := &overlay.Sources{Clients: []overlay.ClientSources{{Client: long}}}
	reading := &overlay.Reading{JSON: []byte(long)}
	for _, tt := range []struct {
		name    string
		message overlay.Message
		holds   int
	}{
		{"head", head(1), 200},
		{"notify", &overlay.NotifyMessage{Reading: reading, Hits: []overlay.KeyHit{{Names: []protocol.Matched{{Values: []byte(long)}}}}}, 20_000},
		{"without a reading", &overlay.NotifyMessage{}, 100},
		{"replay", &overlay.ReplayMessage{Items: []overlay.Item{{Reading: reading}, {Names: []protocol.Matched{{Values: []byte(long)}}}}}, 20_000},
		{"set", &overlay.SubscribeMessage{Set: &overlay.SetChange{Drop: []string{long, long}}}, 20_000},
		{"register", &overlay.RoutedMessage{Body: register}, 1000 * 180},
		{"sources", &overlay.RoutedMessage{Body: sources}, 10_000},
	} {
		if got := weigh([]overlay.Message{tt.message}); got < tt.holds || got > 2*tt.holds+1000 {
			t.Errorf("%s: %d; expected about %d", tt.name, got, tt.holds)
		}
	}
	s := &overlay.Subscription{Subscription: protocol.Subscription{Condition: long, Select: map[string]string{"a": long}}}
	if got := deepSize(reflect.ValueOf(s)); got < 20_000 || got > 21_000 {
		t.Errorf("a subscription: %d; expected about 20,000", got)
	}
}
