package web_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/clients/web"
	"callboard/player/server"
	"callboard/sim"
	"callboard/sim/simdriver"
	"callboard/sim/worldfile"
	"callboard/worlds"
)

// serving names, to this program started anew, the configuration of a broker
// to be instead of running tests: a process that can be killed.
const serving = "CALLBOARD_TEST_SERVE"

func TestMain(m *testing.M) {
	if path := os.Getenv(serving); path != "" {
		if err := serve(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func serve(path string) error {
	c, problems := config.Load(path, nil)
	if err := problems.Err(); err != nil {
		return err
	}
	b, err := bridge.New(bridge.Config{Config: c, Page: web.FS(), World: func(string) ([]byte, bool) { return []byte(hall), true }})
	if err != nil {
		return err
	}
	fmt.Println(b.URL())
	return b.Run(context.Background())
}

// process is a real broker in a process of its own.
type process struct {
	cmd *exec.Cmd
	url string
}

func start(t *testing.T, configuration string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serving+"="+configuration)
	cmd.Stderr = t.Output()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{cmd: cmd}
	t.Cleanup(p.kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the broker did not start: %v", err)
	}
	p.url = strings.TrimSpace(line)
	return p
}

// kill ends the process as kill -9 does.
func (p *process) kill() {
	if p.cmd != nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
		p.cmd = nil
	}
}

// simulate serves a robot that drives about in the bundled cave until the
// test ends, and returns its Player server's address.
func simulate(t *testing.T) string {
	t.Helper()
	file, problems := worldfile.Load(worlds.Robots(1))
	if file == nil {
		t.Fatal(problems)
	}
	world, err := sim.New(sim.Config{World: file})
	if err != nil {
		t.Fatal(err)
	}
	simulation, err := simdriver.New(simdriver.Config{World: world, Speed: 1, Wander: true})
	if err != nil {
		t.Fatal(err)
	}
	drivers, err := simulation.Drivers([]string{"r0"})
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
	ctx, cancel := context.WithCancel(context.Background())
	var group errgroup.Group
	group.Go(func() error { return player.Run(ctx) })
	group.Go(func() error { return simulation.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the simulation ended with: %v", err)
		}
	})
	return listener.Addr().String()
}

// configure writes a broker's configuration, with a token, and returns its file.
func configure(t *testing.T, robot, secret string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close() // its address is free at present, and the same after each start
	dir := t.TempDir()
	text := fmt.Sprintf(`[broker]
id = "b1"
listen = %q
data = "data"
heartbeat = 5 # the page is to leave the broker when that is killed, not when the machine is busy
[[player]]
address = %q
robot = "r0"
world = "hall"
[[token]]
name = "page"
secret_file = "page.token"
robots = ["*"]
may = ["subscribe", "command"]
`, l.Addr().String(), robot)
	file := filepath.Join(dir, "callboard.toml")
	for name, body := range map[string]string{file: text, filepath.Join(dir, "page.token"): secret + "\n"} {
		if err := os.WriteFile(name, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// testRealBroker runs the page against a broker as it is served, with a token,
// that reads a simulated robot; the broker is killed under the open page.
func testRealBroker(t *testing.T, chromium context.Context) {
	const secret = "s3cret-of-the-page"
	file := configure(t, simulate(t), secret)
	broker := start(t, file)
	if answer, err := http.Get(broker.url); err != nil || answer.StatusCode != http.StatusUnauthorized {
		t.Fatalf("without the token the page gives %v, %v; want 401", answer, err)
	}
	p := open(t, chromium, strings.Replace(broker.url, "http://", "http://any:"+secret+"@", 1))
	p.until(`document.querySelector("#connection-text").textContent === "Connected to b1"`)
	p.until(`callboard.robots.length === 1 && callboard.robots[0].x !== undefined && callboard.robots[0].scans === 1 && callboard.robots[0].body !== null`)
	p.until(`callboard.map.world === "hall"`)

	p.condition("position.x > -99 and lazer.min < 9")
	p.until(`document.querySelector("#condition-marks mark")?.textContent === "lazer.min"`)
	got := value[[]string](p, `[document.querySelector("#condition-error .where").textContent, document.querySelector("#condition-error").textContent.includes("laser") ? "names laser" : document.querySelector("#condition-error").textContent]`)
	if diff := cmp.Diff([]string{"column 22: ", "names laser"}, got); diff != "" {
		t.Errorf("the broker's error (-want +got):\n%s", diff)
	}
	p.condition("laser.min < 99")
	p.until(`callboard.notifications.total > 10 && document.querySelector("#notices .slip[data-seq]") !== null`)
	session := value[string](p, `callboard.client.session`)

	for _, life := range []string{"killed", "killed again"} {
		broker.kill()
		p.until(`callboard.connection === "waiting" && callboard.viewing === "waiting"`)
		before := value[int](p, `callboard.notifications.total`)
		broker = start(t, file)
		p.goesOn(life, session, before)
	}
	p.run(chromedp.Reload())
	p.until(`window.callboard?.connection === "attached" && callboard.subscriptions.length === 1 && callboard.subscriptions[0].live`)
	p.goesOn("reloaded", session, 0)
	p.shot("real")
}

// goesOn waits until the page is attached in its session, notifications come,
// and the robot moves on the map; nothing was lost or came twice.
func (p *page) goesOn(when, session string, total int) {
	p.t.Helper()
	p.until(fmt.Sprintf(`callboard.connection === "attached" && callboard.viewing === "attached" && callboard.notifications.total > %d`, total+10))
	before := value[[]float64](p, `[callboard.robots[0].x, callboard.robots[0].yaw]`)
	p.until(fmt.Sprintf(`callboard.robots[0].x !== %v || callboard.robots[0].yaw !== %v`, before[0], before[1]))
	if now := value[string](p, `callboard.client.session`); now != session {
		p.t.Errorf("%s: the session is %q, want %q as before", when, now, session)
	}
	if told := value[[]string](p, `[...document.querySelectorAll("#notices .gap")].map((e) => e.textContent)`); len(told) > 0 {
		p.t.Errorf("%s: the page tells of %q, want neither gaps nor faults", when, told)
	}
}
