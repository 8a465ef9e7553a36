package web_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"callboard/bridge"
	"callboard/bridge/benchtest"
	"callboard/clients/web"
	"callboard/sim/simtest"
)

func TestMain(m *testing.M) {
	benchtest.ServeIfAsked(bridge.Config{Page: web.FS(), World: plan})
	os.Exit(m.Run())
}

func start(t testing.TB, configuration string) *benchtest.Process {
	t.Helper()
	p, err := benchtest.StartProcess(configuration, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// configure writes a broker's configuration, with a token, and returns its file.
func configure(t *testing.T, robot, secret string) string {
	t.Helper()
	address, err := benchtest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
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
`, address, robot)
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
	file := configure(t, simtest.Wander(t, 1, "r0")[0], secret)
	broker := start(t, file)
	if answer, err := http.Get(broker.URL); err != nil || answer.StatusCode != http.StatusUnauthorized {
		t.Fatalf("without the token the page gives %v, %v; want 401", answer, err)
	}
	p := open(t, chromium, strings.Replace(broker.URL, "http://", "http://any:"+secret+"@", 1))
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
		broker.Kill()
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
