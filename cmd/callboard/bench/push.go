package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"callboard/bridge/benchtest"
)

// push measures a whole broker.
func push() Workload {
	return Workload{
		Name:    "push",
		Summary: "a whole broker: robots, matching, WebSockets; beside mosquitto",
		About: `Measures a whole broker, from the robots' Player protocol to real WebSockets on
loopback:

  robots     many robots at once, in this process, over pipes in memory, 10 % of
             the readings matching: does the broker keep up, and the processor
             time. A control run with the same robots and readers that only skip
             the readings tells what the robots cost; it is taken off
  latency    from the Player server's write to the arrival of the WebSocket frame at
             its subscriber's socket, as the kernel stamps it, and to when that
             subscriber has read it ("read"): all subscribers share this machine's
             processors, and wait for them. The broker is a process of its own
             (callboard serve), robots are on TCP. Beside it, with the same messages
             at the same rate and in turn with them, so that noise meets all: from
             the write of a PUBLISH on TCP to the same over WebSocket through
             mosquitto (QoS 0, TCP_NODELAY); and once more with subscribers on
             MQTT's own TCP, which is less work for mosquitto. All after 6 s to warm
             up. Without mosquitto in PATH or /usr/sbin only the broker is measured`,
		Examples: []string{
			"callboard bench push",
			"callboard bench push --only latency --latency-time 30s --json",
			"callboard bench push --only robots --robots 200",
		},
		Parameters: []Parameter{
			{"only", "`PART` to measure: robots or latency (default both)", ""},
			{"beams", "`N` of ranges of a scan", 181},
			{"robots", "`N` of robots at once", 1000},
			{"rate", "readings a second of each robot, in `HZ`", 10.0},
			{"robots-time", "how long all robots send, in `SECONDS`", 8 * time.Second},
			{"latency-robots", "`N` of robots for the latency", 10},
			{"latency-subscribers", "`N` of subscribers that each get all readings", 10},
			{"latency-time", "how long the latency is measured, in `SECONDS`", 15 * time.Second},
			{"lasting", "subscribers of the latency have ids: what they get is stored and acknowledged", false},
		},
		Run: runPush,
	}
}

// parts of the workload, in their order.
var parts = []struct {
	name string
	run  func(ctx context.Context, v Values, report func(Result)) error
}{
	{"robots", runRobots},
	{"latency", runLatency},
}

func runPush(ctx context.Context, v Values, report func(Result)) error {
	for _, name := range []string{"beams", "robots", "latency-robots", "latency-subscribers"} {
		if v.Int(name) < 1 {
			return fmt.Errorf("--%s is %d, expected at least 1", name, v.Int(name))
		}
	}
	if v.Float("rate") <= 0 {
		return fmt.Errorf("--rate is %v, expected more than 0", v.Float("rate"))
	}
	only, known := v.Text("only"), false
	for _, part := range parts {
		if only != "" && only != part.name {
			continue
		}
		known = true
		if err := part.run(ctx, v, report); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if !known {
		return fmt.Errorf("--only is %q, expected robots or latency", only)
	}
	return nil
}

// withBroker runs a broker that reads the fleet in this process while f runs.
func withBroker(ctx context.Context, fleet *benchtest.Fleet, f func(*benchtest.Broker) error) error {
	dir, err := os.MkdirTemp("", "callboard-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b, err := benchtest.Start(ctx, fleet, dir)
	if err != nil {
		return err
	}
	err = f(b)
	return errors.Join(err, b.Stop())
}
