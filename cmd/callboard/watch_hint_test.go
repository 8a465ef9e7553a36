package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"callboard/bridge/node"
	"callboard/bridge/robots"

	"github.com/google/go-cmp/cmp"
)

// What robots have is said once for those that have the same.
func TestRobotHints(t *testing.T) {
	some := func(n int, devices ...robots.Device) (all []node.Robot) {
		for i := range n {
			all = append(all, node.Robot{Robot: robots.Robot{Robot: fmt.Sprintf("r%d", 12-i), Devices: devices}})
		}
		return all
	}
	ranger := robots.Device{Interface: "ranger"}
	for condition, c := range map[string]struct {
		robots []node.Robot
		want   []string
	}{
		"sonar.min < 1":    {some(1, robots.Device{Interface: "position2d", Index: 1}, ranger), []string{"r12 has position2d:1 ranger:0", "a ranger with one element is laser in conditions, one with several is sonar"}},
		"position.x > 1":   {some(1, ranger), []string{"r12 has ranger:0"}},
		"bumper.any":       {some(12, robots.Device{Interface: "power"}), []string{"r1 … r12 (12) have power:0"}},
		"power.volts < 11": {some(2), []string{"r11 r12 have nothing"}},
	} {
		if diff := cmp.Diff(c.want, robotHints(c.robots, condition)); diff != "" {
			t.Errorf("%s: %s", condition, diff)
		}
	}
}

func TestNearFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"cave.world", "cave.world.old", "office.cfg"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"cve.world": "cave.world", "office": "office.cfg", "lab.log": "", "": ""} {
		if want != "" {
			want = dir + "/" + want
		}
		if got := nearFile(dir + "/" + name); got != want {
			t.Errorf("%s: %q, expected %q", name, got, want)
		}
	}
	if got := nearFile(dir + "/no/cave.world"); got != "" {
		t.Error(got)
	}
}
