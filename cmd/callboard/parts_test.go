package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"callboard/bridge/node"
	callboard "callboard/clients/go"
	processes "callboard/cmd/callboard/bench/network"
	"callboard/subscribe/protocol"
)

// simulate starts simulated robots behind a Player server each, and returns where
// they are.
func simulate(ctx context.Context, t *testing.T, robots int) (addresses []string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(ctx, program)
	c.Args = []string{"callboard", "sim", "--robots", fmt.Sprint(robots), "--listen", "127.0.0.1:0"}
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Wait() })
	said := bufio.NewScanner(out)
	for len(addresses) < robots && said.Scan() {
		if address, found := strings.CutPrefix(strings.Fields(said.Text() + " ")[0], "player://"); found {
			addresses = append(addresses, address)
		}
	}
	if len(addresses) < robots {
		t.Fatalf("the simulator serves %v only: %v", addresses, said.Err())
	}
	return addresses
}

// TestParts: with a registry at every broker the network b1-b2-b3-b4 is cut between
// b2 and b3 for longer than a lease. Each part serves subscriptions that are new, and
// commands, as far as it reaches. When the parts meet again nothing is lost. Of two
// robots of one name the one that was there first is in force all the time.
func TestParts(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	simulated := simulate(ctx, t, 3)
	n, err := processes.Start(ctx, processes.Config{
		Dir: t.TempDir(), Brokers: 4, Sources: []int{0, 3}, Heartbeat: 300 * time.Millisecond, Every: true,
		Log: func(broker, line string) { t.Logf("%s says %s", broker, line) },
		More: func(i int) string {
			robot := func(address, name string) string {
				return fmt.Sprintf("[[player]]\naddress = %q\nrobot = %q\n", address, name)
			}
			switch i {
			case 0:
				return robot(simulated[0], "s1") + robot(simulated[2], "twin")
			case 3:
				return robot(simulated[1], "s4") + robot(simulated[2], "twin")
			}
			return ""
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	start := func(name string, at int) *processes.Program {
		t.Helper()
		p, err := n.NewProgram(ctx, name, at, []int{0, 1}, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	programs := []*processes.Program{start("near b1", 1), start("near b4", 2)}
	awaitFirst(ctx, t, n, programs)
	n.Begin()
	readings, stopReadings := context.WithCancel(ctx)
	var streaming sync.WaitGroup
	streaming.Go(func() { n.Robots.Stream(readings, 50) })
	defer streaming.Wait()
	defer stopReadings()

	states := func(what string, want ...string) {
		t.Helper()
		waitFor(ctx, t, what, func() bool {
			return programs[0].State(1) == want[0] && programs[1].State(0) == want[1]
		})
	}
	moves := func(at int, robot string, reached bool) {
		t.Helper()
		c, err := callboard.Dial(ctx, callboard.Config{Brokers: []string{n.URLs()[at]}, Anonymous: true, Handle: func(callboard.Event) {}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, err = c.Command(ctx, protocol.Command{Robot: robot, Name: "velocity", Args: []any{0.1, 0.0, 0.0}})
		var refused *callboard.Error
		if unreached := errors.As(err, &refused) && refused.Code == protocol.Unavailable; reached && err != nil || !reached && !unreached {
			t.Errorf("a command for %s by way of b%d: %v; reached is to be %v", robot, at+1, err, reached)
		}
	}
	twins := func(what string) {
		t.Helper()
		waitFor(ctx, t, what, func() bool { return refusedTwins(ctx, t, n.URLs()[1]) == "b4" })
	}
	moves(1, "s4", true)
	twins("b4's twin is refused")

	n.Link(1, 2).Cut()
	states("what is out of reach is away", protocol.RobotAway, protocol.RobotAway)
	late := []*processes.Program{start("late near b1", 0), start("late near b4", 3)}
	waitFor(ctx, t, "new subscriptions are served by each part", func() bool { return late[0].Last(0) > 0 && late[1].Last(1) > 0 })
	for _, c := range []struct {
		at      int
		robot   string
		reached bool
	}{{1, "s1", true}, {1, "s4", false}, {2, "s4", true}, {2, "s1", false}} {
		moves(c.at, c.robot, c.reached)
	}
	before := programs[0].Last(0)
	waitFor(ctx, t, "readings go on", func() bool { return programs[0].Last(0) > before+50 }) // 2 s, and so longer than a lease

	n.Link(1, 2).Heal()
	states("all robots are back", protocol.RobotUp, protocol.RobotUp)
	waitFor(ctx, t, "the late ones get what the other part has", func() bool { return late[0].Last(1) > 0 && late[1].Last(0) > 0 })
	moves(1, "s4", true)
	moves(2, "s1", true)
	twins("b4's twin is refused still")
	stopReadings()
	streaming.Wait()
	settle(ctx, t, n, programs)
	v := n.Judge(programs)
	for _, f := range v.Faults {
		t.Error(f)
	}
	if v.Counts.Missing+v.Counts.Doubled+v.Counts.Disordered+v.Counts.Declared > 0 {
		t.Errorf("%+v", v.Counts)
	}
}

// refusedTwins returns which broker's robot of the twins' name is refused, if one of
// two is.
func refusedTwins(ctx context.Context, t *testing.T, url string) (broker string) {
	t.Helper()
	c, err := callboard.Dial(ctx, callboard.Config{Brokers: []string{url}, Anonymous: true, Handle: func(callboard.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text, err := c.List(ctx, "robots")
	if err != nil {
		t.Fatal(err)
	}
	var all []node.Robot
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	refused, found := 0, 0
	for _, r := range all {
		if r.Robot.Robot != "twin" {
			continue
		}
		if found++; r.Refused {
			refused++
			broker = r.Broker
		}
	}
	if refused != 1 || found != 2 {
		return ""
	}
	return broker
}
