package web_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

// testPanel: the panel of the selected robot shows each device with its rate, its
// numbers with units and the last minute, and what of it has matched. Its readings
// are asked for while somebody looks.
func testPanel(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	p.look(1100, 1400, 1, false)
	b.attached()
	p.subscribe(b, "laser.min < 9", 1)
	b.step()
	p.until(`callboard.robots.length === 3 && callboard.notifications.total === 2`)
	asked := func(what string, robots ...string) {
		t.Helper()
		b.wait(what, func() bool { return cmp.Equal(robots, b.viewer().subs["page.robot"].Robots) })
	}
	p.choose("r0")
	p.until(`!document.querySelector("#view-robot").hidden && document.querySelector("#tab-robot").getAttribute("aria-selected") === "true"`)
	asked("readings of r0", "r0")
	for range 30 {
		b.step()
	}
	p.until(`callboard.sensors.map((d) => d.name).sort().join() === "laser:0,position2d:0,sonar:0" && callboard.sensors.every((d) => d.rate > 0)`)
	const row = `((device, field) => [...document.querySelectorAll('#sensors [data-device="' + device + '"] tr')].find((r) => r.querySelector("th").textContent === field))`
	p.until(row + `("laser:0", "min")?.querySelector(".number").textContent.endsWith(" m")`)
	p.until(`/^−?\d+\.\d°$/.test(` + row + `("laser:0", "bearing").querySelector(".number").textContent)`)
	p.until(row + `("position2d:0", "vyaw").querySelector(".number").textContent === "22.9°/s"`) // of 0.4 rad/s
	p.until(`/^x in the last minute: −?\d.* m to −?\d.* m$/.test(` + row + `("position2d:0", "x").querySelector("canvas").getAttribute("aria-label"))`)
	p.until(`(() => { const c = ` + row + `("position2d:0", "x").querySelector("canvas"); return c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v > 0); })()`)
	p.until(`document.querySelector('#sensors [data-device="laser:0"] .polar .hits') !== null && document.querySelector('#sensors [data-device="laser:0"] summary .number').textContent.endsWith("/s")`)
	p.until(`document.querySelectorAll("#robot-notices li").length === 20`)
	p.shot("panel")
	p.look(1100, 1400, 1, true)
	p.shot("panel-dark")
	p.look(1100, 1400, 1, false)

	p.choose("r2")
	asked("readings of r2", "r2")
	p.until(`document.querySelector("#robot-title").textContent === "r2" && document.querySelectorAll("#robot-notices li").length === 0`)
	p.click("#robot-watch")
	p.until(`!document.querySelector("#view-conditions").hidden && document.querySelector("#opt-robots").value === "r2"`)
	asked("nothing, since nobody looks")
}

// testCommands: the panel's stick drives as far as it is pushed, a velocity holds for a
// second only, letting go stops; motors are switched.
func testCommands(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	b.step()
	p.until(`callboard.robots.length === 3`)
	p.choose("r1")
	p.run(chromedp.WaitVisible(chromedp.CSS("#drive-stick")))
	p.click("#motors-off")
	b.wait("motors off", func() bool { return len(b.commands) == 1 })
	p.click("#motors-on")
	b.wait("motors on", func() bool { return len(b.commands) == 2 })
	p.until(`document.querySelector("#drive-answer").textContent === "motors on"`)
	push := func(event string, x, y float64) {
		p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const s = document.querySelector("#drive-stick"), box = s.getBoundingClientRect(); s.setPointerCapture = () => {};
			s.dispatchEvent(new PointerEvent(%q, {pointerId: 7, pointerType: "touch", clientX: box.left + box.width / 2 * (1 + %v), clientY: box.top + box.height / 2 * (1 - %v)})); }`, event, x, y)))
	}
	push("pointerdown", 0, 0.5)
	b.wait("a velocity, again and again", func() bool { return len(b.commands) >= 4 })
	push("pointermove", 9, 0) // beyond the plate counts as its edge
	b.wait("a turn", func() bool {
		last := b.commands[len(b.commands)-1]
		vyaw, _ := last.Args[2].(float64)
		return vyaw < -0.78 && vyaw > -0.79
	})
	push("pointerup", 0, 0)
	b.wait("a stop", func() bool { return b.commands[len(b.commands)-1].Name == "stop" })
	b.do(func() {
		for i, want := range [][]any{{"off"}, {"on"}, {0.25, -0.0, 0.0, 1.0}} {
			name := "motor_power"
			if i == 2 {
				name = "velocity"
			}
			if c := b.commands[i]; c.Robot != "r1" || c.Name != name || !cmp.Equal(c.Args, want) {
				t.Errorf("command %d is %+v, want %s %v to r1", i, c, name, want)
			}
		}
	})
}
