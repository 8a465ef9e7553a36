package web_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"callboard/bridge/benchtest"
	"callboard/sim/simdriver"
	"callboard/sim/simtest"
	"callboard/worlds"
)

// pictures makes the README's pictures anew.
var pictures = flag.Bool("pictures", false, "write the README's pictures of the page into testdata")

// testPictures: the page on three robots in the cave, as the README shows it.
func testPictures(t *testing.T, chromium context.Context) {
	address, err := benchtest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("[broker]\nid = \"lab\"\nlisten = %q\ndata = \"data\"\nheartbeat = 5\n[zones]\ndock = [[-1, -1], [1, -1], [1, 0.5], [-1, 0.5]]\n", address)
	names := []string{"r0", "r1", "r2"}
	for i, robot := range simtest.Serve(t, worlds.Open, "cave.world", simdriver.Config{Wander: true, Speed: 1}, names...) {
		text += fmt.Sprintf("[[player]]\naddress = %q\nrobot = %q\nworld = \"cave\"\n", robot, names[i])
	}
	file := filepath.Join(t.TempDir(), "callboard.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, chromium, start(t, file).URL)
	p.look(1360, 800, 1, false)
	p.until(`callboard.map.world === "cave" && callboard.map.plan && callboard.robots.length === 3 && callboard.robots.every((r) => r.x !== undefined)`)
	p.do(`document.querySelector("#opt-trigger").value = "rising"`)
	p.condition("laser.min < 0.7")
	p.until(`callboard.subscriptions.length === 1`)
	p.condition("position.speed > 0.3 and laser.front < 2")
	p.until(`callboard.subscriptions.length === 2 && callboard.timeline.rows >= 3`)
	p.look(1360, 960, 1, true)
	p.choose("r1")
	p.until(`document.querySelector("#sensors canvas[title]") !== null && callboard.sensors.every((d) => d.rate > 0)`)
	if *pictures { // what is drawn over time
		p.until(`performance.now() - (window.since ??= performance.now()) > 50_000`)
	}
	p.picture("robot")
	p.look(1360, 800, 1, false)
	p.click("#tab-conditions")
	p.write("sonar.min < 1 and laser.l")
	p.until(`document.querySelectorAll("#condition-completion:not([hidden]) li").length > 0`)
	p.picture("page")
}

// picture writes a picture for the README, if asked for.
func (p *page) picture(name string) {
	p.t.Helper()
	if !*pictures {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", name+".png"), png, 0o644); err != nil {
		p.t.Fatal(err)
	}
}
