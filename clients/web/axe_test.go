package web_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"callboard/player/nodetest"
)

// testAccessible: axe-core has nothing to say against any part of the page, light or
// dark, wide or narrow.
func testAccessible(t *testing.T, chromium context.Context) {
	source, err := os.ReadFile(filepath.Join(nodetest.Install(t, "axe-1", "axe-core@4.11.1"), "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := newBroker(t, three()...)
	b.do(func() {
		b.brokers = row(1, 1)
		b.tally = object{"programs": 1, "delivered": 1234, "lost": 0, "doubled": 0, "roams": 0, "recent": []object{{"program": "r1-guide", "from": "b1", "to": "b3", "took": 0.0123}}, "guides": object{"r1-guide": "r1"}}
		b.subscriptions = []object{{"client": "c", "id": "near", "condition": "laser.min < 1", "broker": "b1", "attached": false, "matching": 2, "failed": true, "sequences": []object{}}}
		b.replay = &replaying{At: 5, Length: 100, Speed: 1, Files: []string{"monday.mcap"}}
		b.robots[2].state = "away"
	})
	p := open(t, chromium, b.server.URL)
	p.look(1440, 900, 1, false)
	b.attached()
	p.subscribe(b, "laser.min < 1", 1)
	for range 3 {
		b.step()
	}
	p.until(`callboard.notifications.total === 3 && callboard.timeline.rows === 1 && callboard.network.brokers.length === 3`)
	p.run(chromedp.Evaluate[chromedp.Void](string(source) + "; 0"))
	look := func(part string) {
		t.Helper()
		found := value[[]string](p, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.target.join(" ") + ": " + n.failureSummary.split("\n").slice(1).join(";").slice(0, 240))))`)
		for _, violation := range found {
			t.Errorf("%s: %s", part, violation)
		}
	}
	for _, width := range []int64{1440, 390} {
		for _, dark := range []bool{false, true} {
			p.look(width, 900, 1, dark)
			p.until(`matchMedia("(prefers-color-scheme: dark)").matches === ` + map[bool]string{true: "true", false: "false"}[dark])
			p.do(`for (const d of document.querySelectorAll("details")) d.open = true`)
			look("all open")
			p.do(`for (const d of document.querySelectorAll("details")) d.open = false`)
			p.do(`document.querySelector("#notices .slip:nth-child(2) .slip-head").click()`)
			p.until(`document.querySelector("#notices .reading") !== null`)
			p.fill("#condition", "lazer")
			p.run(chromedp.Focus(chromedp.CSS("#condition")), chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent(kb.Backspace), chromedp.KeyEvent(kb.Backspace))
			p.until(`!document.querySelector("#condition-completion").hidden`)
			look("a notification, the past, a completion")
			p.run(chromedp.KeyEvent(kb.Escape))
			p.do(`document.querySelector("#ghost-end").click()`)
			p.do(`document.querySelector("#tab-robot").click()`)
			p.until(`document.querySelector("#robot-title").textContent === "r1"`)
			b.step()
			p.until(`document.querySelectorAll("#sensors tr").length > 5`)
			look("a robot")
			p.do(`document.querySelector("#tab-fleet").click()`)
			p.until(`document.querySelectorAll("#fleet-brokers tbody tr").length === 3 && document.querySelectorAll("#fleet-subscriptions tbody tr").length > 1`)
			look("brokers")
			p.do(`document.querySelector("#tab-conditions").click()`)
		}
	}
	b.refuse(true)
	b.cut()
	p.until(`callboard.connection === "waiting" && callboard.viewing === "waiting"`)
	look("the broker is gone")
}
