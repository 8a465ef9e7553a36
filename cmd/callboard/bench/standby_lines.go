package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"callboard/cmd/callboard/bench/twins"
)

// Two network namespaces are the machines of a pair. Each has a line to this one's
// bridge of clients, and one to that between the two.
const (
	linesHost   = "10.213.0.254"
	insideLines = "CALLBOARD_BENCH_LINES"
)

var linesPlaces = []twins.Place{
	{Listen: "10.213.0.1:8800", Inner: "10.213.1.1:8805", Within: []string{"ip", "netns", "exec", "A"}},
	{Listen: "10.213.0.2:8800", Inner: "10.213.1.2:8805", Within: []string{"ip", "netns", "exec", "B"}},
	{Listen: linesHost + ":8800", Inner: linesHost + ":8801"},
}

// within runs this command again in a network of its own, and returns what has come of
// it; inside: this is that one.
func within(ctx context.Context) (inside bool, err error) {
	if os.Getenv(insideLines) != "" {
		return true, nil
	}
	const script = `mkdir -p /run/netns && mount -t tmpfs none /run/netns && ip link set lo up && exec "$0" "$@"`
	program, err := os.Executable()
	if err != nil {
		return false, err
	}
	c := exec.CommandContext(ctx, "unshare", append([]string{"--net", "--mount", "sh", "-c", script, program}, os.Args[1:]...)...)
	c.Env, c.Stdout, c.Stderr = append(os.Environ(), insideLines+"=1"), os.Stdout, os.Stderr
	if err := c.Run(); err != nil {
		return false, fmt.Errorf("in a network of its own, which takes root on Linux, unshare and ip: %w", err)
	}
	return false, nil
}

// lines are the network of a pair.
type lines struct{}

func newLines() (*lines, error) {
	var setup []string
	for i, bridge := range []string{"outer", "inner"} {
		setup = append(setup, "link add "+bridge+" type bridge", "link set "+bridge+" up")
		for k, side := range twins.Names[:2] {
			if i == 0 {
				setup = append(setup, "netns add "+side, "-n "+side+" link set lo up")
			}
			end := bridge + side
			setup = append(setup, fmt.Sprintf("link add %s type veth peer name %s netns %s", end, bridge, side),
				fmt.Sprintf("link set %s master %s up", end, bridge),
				fmt.Sprintf("-n %s addr add 10.213.%d.%d/24 dev %s", side, i, k+1, bridge), fmt.Sprintf("-n %s link set %s up", side, bridge))
		}
	}
	l := &lines{}
	return l, ip(append(setup, "addr add "+linesHost+"/24 dev outer")...)
}

func (l *lines) close() {
	_ = ip("netns del A", "netns del B", "link del outer", "link del inner") // they end with this process, too
}

// cut cuts both lines of a side at once.
func (l *lines) cut(side int) error {
	c := exec.Command("ip", "-batch", "-")
	name := twins.Names[side]
	c.Stdin = strings.NewReader("link set outer" + name + " down\nlink set inner" + name + " down\n")
	return c.Run()
}

// cutInner cuts the line between the sides, or has it bring the other side nothing.
func (l *lines) cutInner(side int, oneWay bool) error {
	name := twins.Names[side]
	if oneWay {
		return ip(fmt.Sprintf("-n %s neigh replace 10.213.1.%d lladdr 02:00:00:00:00:99 dev inner nud permanent", name, 2-side))
	}
	return ip("link set inner" + name + " down")
}

// mend mends all that is cut of a side.
func (l *lines) mend(side int) error {
	name := twins.Names[side]
	_ = ip(fmt.Sprintf("-n %s neigh del 10.213.1.%d dev inner", name, 2-side)) // there is none, else
	return ip("link set outer"+name+" up", "link set inner"+name+" up")
}

func ip(commands ...string) error {
	var errs []error
	for _, c := range commands {
		if out, err := exec.Command("ip", strings.Fields(c)...).CombinedOutput(); err != nil {
			errs = append(errs, fmt.Errorf("ip %s: %w: %s", c, err, out))
		}
	}
	return errors.Join(errs...)
}
