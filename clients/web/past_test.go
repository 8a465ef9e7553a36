package web_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

// testTimeLine: what fired stands on a time line, by condition and robot. It pans and
// zooms, and a mark shows the robot and its scan as they were.
func testTimeLine(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	p.look(1440, 900, 1, false)
	b.attached()
	if hidden := value[bool](p, `document.querySelector("#timeline").hidden`); !hidden {
		t.Error("there is a time line of nothing")
	}
	p.subscribe(b, "laser.min < 1", 1)
	p.subscribe(b, "laser.min < 9", 2)
	b.step()
	p.until(`callboard.timeline.rows === 3 && !document.querySelector("#timeline").hidden`) // r1 for both, r0 for one
	var then robot
	b.do(func() { then = b.robots[1] })
	p.until(`(() => { const c = document.querySelector("#time"), d = c.getContext("2d").getImageData(170, 20, c.width - 170, c.height - 20).data; for (let i = 3; i < d.length; i += 4) if (d[i] > 150) return true; return false; })()`)

	p.run(chromedp.Focus(chromedp.CSS("#time")), chromedp.KeyEvent("["))
	p.until(`callboard.past !== null && callboard.selected === callboard.past.robot && !document.querySelector("#ghost").hidden`)
	p.run(chromedp.KeyEvent("["))
	p.until(`callboard.past.robot === "r1" && document.querySelector("#time-said").textContent.startsWith("r1, ")`)
	for range 30 { // the robots go on, what is shown does not
		b.step()
	}
	p.until(`callboard.robots[1].x < 2.6`)
	p.seen("c0", then.x-0.2*0.96, then.y+0.05) // about its outline, dashed, in the condition's colour
	p.shot("past")
	at := value[[]float64](p, `[callboard.timeline.from, callboard.timeline.to]`)
	p.run(chromedp.KeyEvent(kb.ArrowLeft))
	p.until(fmt.Sprintf(`!callboard.timeline.following && callboard.timeline.to < %v && Math.abs(callboard.timeline.to - callboard.timeline.from - %v) < 1`, at[1], at[1]-at[0]))
	p.run(chromedp.KeyEvent("+"))
	p.until(fmt.Sprintf(`callboard.timeline.to - callboard.timeline.from < %v * 0.75`, at[1]-at[0]))
	p.run(chromedp.KeyEvent("0"))
	p.until(`callboard.timeline.following && document.querySelector("#time-now").getAttribute("aria-pressed") === "true"`)
	p.run(chromedp.KeyEvent(kb.Escape))
	p.until(`callboard.past === null && document.querySelector("#ghost").hidden`)

	// A slip that is opened shows the same; back to now closes it.
	p.openSlip(2)
	p.until(`callboard.past !== null`)
	p.click("#ghost-end")
	p.until(`callboard.past === null && document.querySelector("#notices .reading") === null`)
	p.click(`.card[data-id="w2"] button[aria-label^="Unsubscribe"]`)
	p.until(`callboard.timeline.rows === 1`)
}

// testZones: the broker's zones are on the map; one is drawn by hand or by keys, and
// copied as TOML.
func testZones(t *testing.T, chromium context.Context) {
	b := newBroker(t, robot{name: "r0", x: 4, y: 3})
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.until(`callboard.zones.configured.join() === "dock" && callboard.map.world === "hall" && callboard.map.plan`)
	p.seen("ink-2", -3, -1)
	p.click("#draw-zone")
	click := func(x, y float64) {
		p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const c = document.querySelector("#map"), v = callboard.map, box = c.getBoundingClientRect(); c.setPointerCapture = () => {};
			const at = { pointerId: 1, pointerType: "mouse", button: 0, bubbles: true, clientX: box.left + box.width / 2 + (%v - v.x) * v.scale, clientY: box.top + box.height / 2 - (%v - v.y) * v.scale };
			c.dispatchEvent(new PointerEvent("pointerdown", at)); c.dispatchEvent(new PointerEvent("pointerup", at)); }`, x, y)))
	}
	for i, corner := range [][2]float64{{1, 1}, {3, 1}, {3, 2}, {1, 2}, {1, 2}} { // the last one again ends it
		click(corner[0], corner[1])
		if i < 4 {
			p.until(fmt.Sprintf(`callboard.zones.drawing?.length === %d`, i+1))
		}
	}
	p.until(`callboard.zones.drawn?.length === 4 && document.activeElement.id === "zone-name"`)
	p.fill("#zone-name", "north door")
	corners := value[[][]float64](p, `callboard.zones.drawn`)
	for i, want := range [][]float64{{1, 1}, {3, 1}, {3, 2}, {1, 2}} {
		if dx, dy := corners[i][0]-want[0], corners[i][1]-want[1]; dx*dx+dy*dy > 0.001 {
			t.Errorf("corner %d is %v, want about %v", i, corners[i], want)
		}
	}
	written := value[string](p, `document.querySelector("#zone-toml").value`)
	if want := fmt.Sprintf("[zones]\n\"north door\" = [[%v, %v], [%v, %v], [%v, %v], [%v, %v]]\n", corners[0][0], corners[0][1], corners[1][0], corners[1][1], corners[2][0], corners[2][1], corners[3][0], corners[3][1]); written != want {
		t.Errorf("TOML %q, want %q", written, want)
	}
	p.seen("accent", corners[1][0], corners[1][1])
	p.click("#zone-copy")
	p.until(`["copied", "selected; copy it with your keys"].includes(document.querySelector("#zone-said").textContent)`)
	p.shot("zone")
	p.click("#zone-discard")
	p.until(`callboard.zones.drawn === null && document.querySelector("#zone").hidden`)

	// By keys: the corner is where the cross stands.
	p.run(chromedp.Focus(chromedp.CSS("#map")), chromedp.KeyEvent("z"))
	p.until(`callboard.zones.drawing !== null`)
	p.key("\r")
	p.run(chromedp.KeyEvent(kb.ArrowRight))
	p.key("\r")
	p.run(chromedp.KeyEvent(kb.Backspace))
	p.until(`callboard.zones.drawing.length === 1`)
	p.key("\r")
	p.run(chromedp.KeyEvent(kb.ArrowUp))
	p.key("\r")
	p.run(chromedp.KeyEvent("z"))
	p.until(`callboard.zones.drawn?.length === 3`)
	step := value[float64](p, `Math.round(4000 / callboard.map.scale) / 100`)
	got := value[[]float64](p, `((z) => [z[1][0] - z[0][0], z[2][1] - z[1][1]].map((v) => Math.round(v * 20) / 20))(callboard.zones.drawn)`)
	round := func(v float64) float64 { return float64(int(v*20+0.5)) / 20 }
	if want := []float64{round(step), round(step)}; !cmp.Equal(got, want) {
		t.Errorf("the corners are %v m apart, want %v", got, want)
	}
}
