package bridge

import (
	"slices"
	"testing"

	"callboard/bridge/beacon"
	"callboard/bridge/config"
)

// TestNothingIsAnnouncedBeyondTheLoopback unless programs can come from there.
func TestNothingIsAnnouncedBeyondTheLoopback(t *testing.T) {
	loopback := beacon.Loopback()
	for _, c := range []struct {
		listen     string
		interfaces []string // of the configuration
		want       []string // nil: all
	}{
		{"127.0.0.1:8800", nil, loopback},
		{"127.8.9.10:8800", nil, loopback},
		{"localhost:8800", nil, loopback},
		{"[::1]:8800", nil, loopback},
		{"robot.example.org:8800", nil, loopback},
		{"192.0.2.1:8800", nil, loopback}, // nobody's address
		{"0.0.0.0:8800", nil, nil},
		{":8800", nil, nil},
		{"[::]:8800", nil, nil},
		{"127.0.0.1:8800", []string{"eth7"}, []string{"eth7"}},
	} {
		settings := &config.Config{Broker: config.Broker{Listen: c.listen}, Beacon: config.Beacon{Interfaces: c.interfaces}}
		if got := beaconInterfaces(settings); !slices.Equal(got, c.want) || got == nil != (c.want == nil) {
			t.Errorf("%s: %v, expected %v", c.listen, got, c.want)
		}
	}
	for host, want := range map[string]bool{"": true, "0.0.0.0": true, "::": true, "127.0.0.1": false, "b1": false} {
		if isUnspecified(host) != want {
			t.Errorf("%q: %v", host, !want)
		}
	}
}
