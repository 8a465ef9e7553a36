package bridge_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"callboard/bridge/benchtest"
	"callboard/bridge/config"

	"github.com/gorilla/websocket"
)

// driving names, to a program of tests that is started anew, the dialect's address at
// which it is to drive a robot.
const driving = "CALLBOARD_TEST_DRIVE"

// driveIfAsked is, in a process that drive starts, the program that drives: to its
// end, or its connection's.
func driveIfAsked() {
	address := os.Getenv(driving)
	if address == "" {
		return
	}
	err := drive(address)
	fmt.Fprintln(os.Stderr, "the program that drives:", err)
	os.Exit(1)
}

// drive has the robot go at 0.25 m/s, ten times a second.
func drive(address string) error {
	d := websocket.Dialer{}
	if strings.HasSuffix(address, "/foxglove") {
		d.Subprotocols = []string{"foxglove.sdk.v1"}
	}
	ws, _, err := d.Dial(address, nil)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() {
		for {
			if _, _, err := ws.ReadMessage(); err != nil {
				failed <- err
				return
			}
		}
	}()
	kind, velocity := websocket.TextMessage, `{"op":"publish","topic":"/cmd_vel","msg":{"linear":{"x":0.25}}}`
	if d.Subprotocols != nil {
		advertise := `{"op":"advertise","channels":[{"id":1,"topic":"/cmd_vel","encoding":"json","schemaName":"geometry_msgs/Twist"}]}`
		if err := ws.WriteMessage(kind, []byte(advertise)); err != nil {
			return err
		}
		kind, velocity = websocket.BinaryMessage, "\x01\x01\x00\x00\x00"+`{"linear":{"x":0.25},"angular":{}}`
	}
	for again := time.NewTicker(100 * time.Millisecond); ; {
		if err := ws.WriteMessage(kind, []byte(velocity)); err != nil {
			return err
		}
		select {
		case <-again.C:
		case err := <-failed:
			return err
		}
	}
}

// driver starts a program that drives by a dialect of a broker.
func driver(t *testing.T, broker *benchtest.Process, path string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), driving+"=ws"+strings.TrimPrefix(broker.URL, "http")+path)
	c.Stderr = t.Output()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c
}

// stands waits until a robot stands, and stays where it is.
func (p *dialectProgram) stands(topic string) {
	p.t.Helper()
	p.speed(topic, 0)
	var at [2]any
	for i := range at {
		p.hears(topic, func(_ bool, text []byte) bool {
			var m struct {
				Topic string
				Msg   struct{ Pose struct{ Pose any } }
			}
			if json.Unmarshal(text, &m) != nil || m.Topic != topic {
				return false
			}
			at[i] = m.Msg.Pose.Pose
			return true
		})
	}
	if fmt.Sprint(at[0]) != fmt.Sprint(at[1]) {
		p.t.Errorf("the robot still moves: from %v to %v", at[0], at[1])
	}
}

// TestNobodyDrives: a robot stops when the program that drives it is killed, when the
// broker ends that reads it, and when the broker is killed at which the program is. A
// second broker reads the robot all the time, so the Player server has no reason of
// its own to stop it.
func TestNobodyDrives(t *testing.T) {
	for _, path := range []string{"/rosbridge", "/foxglove"} {
		t.Run(path[1:], func(t *testing.T) {
			var player config.Player
			b := simulated(t, func(c *config.Config) { player = c.Players[0] }, "r0")
			watcher := speak(t, b, "/rosbridge", nil)
			watcher.message("/odom", "nav_msgs/Odometry")
			watcher.say(`{"op":"subscribe","topic":"/odom"}`)

			dir, links := t.TempDir(), map[string]string{"near": freeAddress(t), "far": freeAddress(t)}
			start := func(id, more string) *benchtest.Process {
				file := filepath.Join(dir, id+".toml")
				text := fmt.Sprintf("[broker]\nid = %q\nlisten = \"127.0.0.1:0\"\nheartbeat = 0.2\ndata = \"data-%s\"\nlinks = %q\n[registry]\nbroker = \"near\"\n%s",
					id, id, links[id], more)
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return startProcess(t, file)
			}
			neighbour := func(id string) string {
				return fmt.Sprintf("[[neighbour]]\nid = %q\naddress = %q\n", id, links[id])
			}
			near := start("near", neighbour("far")+fmt.Sprintf("[[player]]\naddress = %q\nrobot = \"r0\"\n", player.Address))
			far := start("far", neighbour("near"))

			program := driver(t, near, path)
			watcher.speed("/odom", 0.25)
			if err := program.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			watcher.stands("/odom")

			driver(t, far, path)
			watcher.speed("/odom", 0.25)
			far.Kill()
			killed := time.Now()
			watcher.stands("/odom")
			if took := time.Since(killed); took > 10*time.Second {
				t.Errorf("the robot stopped %v after the program's broker was killed, expected 1.5 s", took)
			}

			driver(t, near, path)
			watcher.speed("/odom", 0.25)
			if err := near.Terminate(); err != nil {
				t.Error(err)
			}
			watcher.stands("/odom")
		})
	}
}
