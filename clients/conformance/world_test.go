//go:build linux

package conformance

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"callboard/bridge/benchtest"
)

// process is a real broker in a process of its own.
type process struct {
	t             *testing.T
	configuration string
	*benchtest.Process
}

func (p *process) start() {
	p.t.Helper()
	var err error
	if p.Process, err = benchtest.StartProcess(p.configuration, p.t.Output()); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) kill() { p.Process.Kill() }

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := benchtest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// pair is two linked brokers, b1 which reads r0, and b2 which reads r1; each behind
// a relay that programs connect to. further is more of their configuration.
type pair struct {
	brokers [2]*process
	relays  [2]*relay
}

func newPair(t *testing.T, heartbeat float64, further [2]string, robots []string, frames *frames) *pair {
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
%s`, i+1, listen[i], p.relays[i].url(), links[i], heartbeat, robots[i], i, 2-i, links[1-i], further[i])
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
