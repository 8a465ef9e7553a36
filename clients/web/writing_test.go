package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// write types into the box for conditions.
func (p *page) write(text string) {
	p.t.Helper()
	p.fill("#condition", "")
	p.run(chromedp.SendKeys(chromedp.CSS("#condition"), text))
}

// testCompletion: names, functions, robots and zones are offered where they may stand,
// and taken by keys.
func testCompletion(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.until(`callboard.robots.length === 3 && document.querySelectorAll("#words-list .word").length > 200`)
	const offers = `[...document.querySelectorAll("#condition-completion:not([hidden]) .offer")].map((o) => o.textContent)`
	for _, c := range []struct{ typed, offered, keys, want string }{
		{"laser.mi", "laser.min", kb.Tab, "laser.min"},
		{"prev.position.spee", "position.speed", kb.Tab, "prev.position.speed"},
		{"position.x > 1 and sect", "sector", kb.ArrowDown + "enter", "position.x > 1 and sector("},
		{`robot == "r`, "r0,r1,r2", kb.ArrowDown + kb.ArrowDown + "enter", `robot == "r1"`},
		{`inside("d`, "dock", kb.Tab, `inside("dock"`},
	} {
		p.write(c.typed)
		p.until(fmt.Sprintf(offers+`.join() === %q`, c.offered))
		keys, enter := strings.CutSuffix(c.keys, "enter")
		p.run(chromedp.SendKeys(chromedp.CSS("#condition"), keys))
		if enter {
			p.key("\r")
		}
		p.until(fmt.Sprintf(`document.querySelector("#condition").value === %q && document.activeElement.id === "condition"`, c.want))
		p.until(offers + `.length === 0`)
	}
	p.write("power.v")
	p.until(offers + `.join() === "power.volts,power.valid"`)
	p.until(`document.querySelector("#condition-completion li").textContent.includes("number, V")`)
	p.run(chromedp.SendKeys(chromedp.CSS("#condition"), kb.ArrowDown))
	p.until(`document.querySelector("#" + document.querySelector("#condition").getAttribute("aria-activedescendant")).getAttribute("aria-selected") === "true"`)
	p.shot("completion")
	p.run(chromedp.SendKeys(chromedp.CSS("#condition"), kb.Escape))
	p.until(offers + `.length === 0 && document.querySelector("#condition").value === "power.v"`)
	p.write(`world == "las`) // in a string nothing is a name
	p.until(offers + `.length === 0`)
	p.click("#options summary")
	p.run(chromedp.SendKeys(chromedp.CSS("#opt-robots"), "r1 r"))
	p.until(`document.querySelectorAll("#opt-robots-completion:not([hidden]) li").length === 3`)
	p.run(chromedp.SendKeys(chromedp.CSS("#opt-robots"), kb.Tab))
	p.until(`document.querySelector("#opt-robots").value === "r1 r0"`)
}

// testDraft: the broker tries a condition while it is written. What is wrong is shown
// in place, and the caret stays; what is right says how many robots match now, and how
// often it would have fired.
func testDraft(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.write("position.x > 0 and lazer.min < 1")
	p.until(`document.querySelector("#condition-marks mark")?.textContent === "lazer.min" && document.querySelector("#condition-error .where").textContent === "column 20: "`)
	if at := value[int](p, `document.querySelector("#condition").selectionStart`); at != 32 {
		t.Errorf("the caret went to %d while somebody types, want it at 32", at)
	}
	p.write("position.x > 2")
	b.wait("the draft", func() bool {
		s := b.drafts()
		return s.conn != nil && s.subs["draft.fired"].Condition == "position.x > 2"
	})
	p.until(`document.querySelector("#condition-error").hidden && document.querySelector("#draft").textContent === "No robot has been tested yet"`)
	for range 4 {
		b.step()
	}
	p.until(`/^1 of 3 robots match now; would have fired 4 times in \d+ s$/.test(document.querySelector("#draft").textContent)`)
	p.shot("draft")
	b.do(func() {
		if n := len(b.viewer().subs); n != 3 {
			t.Errorf("the map's client has %d subscriptions, want its own 3: a draft may flood", n)
		}
	})
	p.click("#subscribe")
	b.subscribed(1)
	b.wait("the draft's end", func() bool { return b.drafts().conn == nil })
	p.until(`document.querySelector("#draft").hidden`)
}
