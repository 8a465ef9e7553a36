package web_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"callboard/subscribe/protocol"
)

// testAddress: what is shown is in the address, and whoever opens that sees the same.
func testAddress(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	b.do(func() {
		b.replay = &replaying{At: 5, Length: 100, Speed: 1, Playing: true, Files: []string{"monday.mcap"}}
	})
	p := open(t, chromium, b.server.URL)
	b.attached()
	b.step()
	p.choose("r1")
	p.click("#tab-conditions")
	p.subscribe(b, "laser.min < 1", 1)
	p.do(`document.querySelector("#options").open = true`)
	p.fill("#opt-trigger", "change")
	p.fill("#opt-robots", "r1 r2")
	p.subscribe(b, "position.x > 2", 2)
	p.click("#zoom-in")
	p.until(`callboard.replay?.playing`)
	p.click("#replay-play")
	p.click("#tab-robot")
	p.until(`location.hash.includes("view=robot") && location.hash.includes("at=5.0") && location.hash.includes("map=") && location.hash.split("condition=").length === 3`)
	address := value[string](p, `location.href`)
	shown := value[[]float64](p, `[callboard.map.x, callboard.map.y, callboard.map.scale]`)

	// Another one opens it, and has nothing stored.
	p.do(`sessionStorage.clear()`)
	p.run(chromedp.Navigate("about:blank"), chromedp.Navigate(address))
	p.until(`window.callboard?.connection === "attached" && callboard.selected === "r1" && !document.querySelector("#view-robot").hidden`)
	p.until(`callboard.subscriptions.length === 2 && callboard.subscriptions.every((s) => s.live)`)
	p.until(fmt.Sprintf(`Math.hypot(callboard.map.x - %v, callboard.map.y - %v) < 0.02 && Math.abs(callboard.map.scale / %v - 1) < 0.001`, shown[0], shown[1], shown[2]))
	b.wait("the conditions with their options", func() bool {
		for _, s := range b.sessions {
			for _, sub := range s.subs {
				if sub.Condition == "position.x > 2" && sub.Trigger == "change" && len(sub.Robots) == 2 && s.conn != nil {
					return true
				}
			}
		}
		return false
	})
	b.wait("the time of the run", func() bool { return b.replay.At == 5 && !b.replay.Playing })

	// A wrong one shows what is wrong at its place, and breaks nothing.
	p.run(chromedp.Navigate("about:blank"), chromedp.Navigate(b.server.URL+"/#view=nowhere&robot=nobody&map=1,x&until=then&at=soon&condition="+url.QueryEscape("lazer.min < 1 {")))
	p.until(`window.callboard?.connection === "attached" && !document.querySelector("#view-conditions").hidden && callboard.selected === null`)
	p.until(`[...document.querySelectorAll(".card .problem")].some((e) => e.textContent.includes("lazer"))`)
}

// testSearch: robots and notifications are searched; robots that come later are, too.
func testSearch(t *testing.T, chromium context.Context) {
	crew := three()
	for i := 3; i < 12; i++ {
		crew = append(crew, robot{name: fmt.Sprintf("scout-%d", i), x: float64(i) / 3, y: 1, state: protocol.RobotUp})
	}
	crew[2].state = protocol.RobotAway
	b := newBroker(t, crew...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.subscribe(b, "laser.min < 9", 1)
	b.step()
	p.until(`document.querySelectorAll("#robots li").length === 12 && callboard.notifications.total === 2`)
	const rows = `[...document.querySelectorAll("#robots li:not([hidden])")].map((r) => r.dataset.robot).join()`
	p.run(chromedp.KeyEvent(kb.Escape))
	p.do(`document.activeElement.blur()`)
	p.key("/")
	p.until(`document.activeElement.id === "robots-filter"`)
	p.run(chromedp.SendKeys(chromedp.CSS("#robots-filter"), "SCOUT-1"))
	p.until(rows + ` === "scout-10,scout-11" && document.querySelector("#robots-count").textContent === "2 of 12, 1 away"`)
	b.do(func() { b.robots = append(b.robots, robot{name: "scout-12", state: protocol.RobotUp}) })
	b.step()
	p.until(rows + ` === "scout-10,scout-11,scout-12"`)
	p.fill("#robots-filter", "away")
	p.until(rows + ` === "r2"`)
	p.fill("#robots-filter", "")
	p.until(`document.querySelectorAll("#robots li:not([hidden])").length === 13 && document.querySelector("#robots-count").textContent === "13, 1 away"`)

	p.until(`document.querySelectorAll("#notices .slip").length === 4`)
	p.fill("#notices-search", "r1 laser")
	p.until(`[...document.querySelectorAll("#notices .slip:not([hidden])")].map((s) => s.dataset.robot).join() === "r1,r1"`)
	b.step()
	p.until(`callboard.notifications.total === 6 && document.querySelectorAll("#notices .slip:not([hidden])").length === 3`)
	p.fill("#notices-search", "nothing like that")
	p.until(`document.querySelectorAll("#notices .slip:not([hidden])").length === 0 && !document.querySelector("#notices-empty").hidden`)
}

// testKeys: keys go to each part of the page, and are explained by one.
func testKeys(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.do(`document.activeElement.blur()`)
	press := func(key, want string) {
		t.Helper()
		if len(key) == 1 && key >= " " && key < "\x7f" {
			p.key(key)
		} else {
			p.run(chromedp.KeyEvent(key))
		}
		p.until(want)
	}
	press("3", `!document.querySelector("#view-fleet").hidden`)
	press("2", `!document.querySelector("#view-robot").hidden`)
	press("m", `document.activeElement.id === "map"`)
	press("?", `document.querySelector("#keys").open`)
	p.shot("keys")
	press("3", `document.querySelector("#keys").open && document.querySelector("#view-fleet").hidden`)
	press(kb.Escape, `!document.querySelector("#keys").open`)
	press("c", `document.activeElement.id === "condition" && !document.querySelector("#view-conditions").hidden && document.querySelector("#condition").value === ""`)
	press("2", `document.querySelector("#condition").value === "2" && document.querySelector("#view-robot").hidden`)
	p.run(chromedp.Focus(chromedp.CSS("#tab-conditions")))
	press(kb.ArrowRight, `document.activeElement.id === "tab-robot" && !document.querySelector("#view-robot").hidden`)
	press(kb.ArrowLeft, `document.activeElement.id === "tab-conditions"`)
	press(kb.ArrowLeft, `document.activeElement.id === "tab-fleet"`)
}
