//go:build linux

package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/player/server"
	"callboard/sim"
	"callboard/sim/simdriver"
	"callboard/sim/worldfile"
	"callboard/worlds"
)

// serving names, to this program started anew, the configuration of a broker to be
// instead of running tests: a process that can be killed.
const serving = "CALLBOARD_TEST_SERVE"

func serve(path string) error {
	c, problems := config.Load(path, nil)
	if err := problems.Err(); err != nil {
		return err
	}
	b, err := bridge.New(bridge.Config{Config: c})
	if err != nil {
		return err
	}
	fmt.Println(b.WebSocketURL())
	return b.Run(context.Background())
}

// process is a real broker in a process of its own.
type process struct {
	t             *testing.T
	configuration string
	cmd           *exec.Cmd
	url           string
}

func (p *process) start() {
	p.t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serving+"="+p.configuration)
	cmd.Stderr = p.t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.cmd = cmd
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		p.t.Fatalf("the broker did not start: %v", err)
	}
	p.url = strings.TrimSpace(line)
}

// kill ends it as kill -9 does.
func (p *process) kill() {
	if p.cmd != nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
		p.cmd = nil
	}
}

// simulate serves robots of the bundled cave, who drive about.
func simulate(t *testing.T, speed float64, robots ...string) []string {
	t.Helper()
	open, name := worlds.Robots(len(robots))
	return simulateWorld(t, open, name, simdriver.Config{Speed: speed, Wander: true}, robots...)
}

// simulateWorld serves robots of a world until the test ends, each at a port of its
// own, and returns the addresses.
func simulateWorld(t *testing.T, open worldfile.Open, name string, how simdriver.Config, robots ...string) []string {
	t.Helper()
	file, problems := worldfile.Load(open, name)
	if file == nil {
		t.Fatal(problems)
	}
	world, err := sim.New(sim.Config{World: file})
	if err != nil {
		t.Fatal(err)
	}
	how.World = world
	simulation, err := simdriver.New(how)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var group errgroup.Group
	var addresses []string
	for _, robot := range robots {
		drivers, err := simulation.Drivers([]string{robot})
		if err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		player, err := server.New(server.Config{Listener: listener, Drivers: append(drivers, simulation.World()), Clock: simulation.Clock})
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() error { return player.Run(ctx) })
		addresses = append(addresses, listener.Addr().String())
	}
	group.Go(func() error { return simulation.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the simulation ended with: %v", err)
		}
	})
	return addresses
}

// freeAddress returns an address that nothing listens on, of a loopback host of its
// own: no other test takes its port meanwhile.
func freeAddress(t *testing.T) string {
	t.Helper()
	host := fmt.Sprintf("127.%d.%d.%d", 1+rand.N(254), rand.N(256), 1+rand.N(254))
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// pair is two linked brokers, b1 which reads r0, and b2 which reads r1; each behind
// a relay that programs connect to. further is more of their configuration.
type pair struct {
	brokers [2]*process
	relays  [2]*relay
}

func newPair(t *testing.T, heartbeat float64, further string, robots []string, frames *frames) *pair {
	p := &pair{}
	listen := []string{freeAddress(t), freeAddress(t)}
	links := []string{freeAddress(t), freeAddress(t)}
	for i := range p.brokers {
		p.relays[i] = newRelay(t, "ws://"+listen[i]+"/ws", frames)
		text := fmt.Sprintf(`[broker]
id = "b%d"
listen = %q
url = %q
links = %q
data = "data"
heartbeat = %v
[[player]]
address = %q
robot = "r%d"
[[neighbour]]
id = "b%d"
address = %q
[registry]
broker = "b1"
%s`, i+1, listen[i], p.relays[i].url(), links[i], heartbeat, robots[i], i, 2-i, links[1-i], further)
		file := filepath.Join(t.TempDir(), "callboard.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p.brokers[i] = &process{t: t, configuration: file}
		t.Cleanup(p.brokers[i].kill)
	}
	var starting sync.WaitGroup
	for _, b := range p.brokers {
		starting.Go(b.start)
	}
	starting.Wait()
	return p
}
