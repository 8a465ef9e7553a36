package web_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

// object is one of JSON.
type object = map[string]any

// row returns three brokers in a row, each with a third of the hall, as `list
// brokers` reports them: a client is attached to one of them, and what comes from
// the first goes there. The link from the last one down is.
func row(at int, attachment int) []object {
	ids := []string{"b1", "b2", "b3"}
	var all []object
	for i, id := range ids {
		left := float64(-6 + 4*i)
		b := object{
			"id": id, "url": "ws://" + id + ":8800/ws", "source": id + ".1", "registry": "b1", "here": i == 0, "robots": 1, "attached": 0, "route_count": 0,
			"links": []string{}, "neighbours": []object{}, "routes": []object{}, "sessions": []object{},
			"coverage": object{"world": "hall", "area": [][2]float64{{left, -4}, {left + 4, -4}, {left + 4, 4}, {left, 4}}},
		}
		for _, j := range []int{i - 1, i + 1} {
			if j >= 0 && j < len(ids) {
				b["links"] = append(b["links"].([]string), ids[j])
				b["neighbours"] = append(b["neighbours"].([]object), object{"id": ids[j], "up": true})
			}
		}
		if i <= at {
			down := ids[min(i+1, at)]
			b["routes"] = []object{{"client": "r1-guide", "source": "b1.1", "from": "b1", "down": down, "up": ids[max(i-1, 0)], "num": 7}}
			b["route_count"] = 1
		}
		if i == at {
			b["attached"] = 1
			b["sessions"] = []object{{"client": "r1-guide", "attached": true, "attachment": attachment, "subscriptions": 1, "sequences": []object{}}}
		}
		all = append(all, b)
	}
	return all
}

// testRoam: the page shows the network: who hangs where, the routes, what
// brokers cover; a program that roams moves, and a broker that goes is shown.
func testRoam(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	b.do(func() {
		b.brokers = row(0, 1)
		b.tally = object{"programs": 1, "delivered": 1234, "lost": 0, "doubled": 0, "roams": 0, "recent": []object{}, "guides": object{"r1-guide": "r1"}}
	})
	p := open(t, chromium, b.server.URL)
	b.attached()
	b.step()
	p.until(`callboard.network.brokers.length === 3 && !document.querySelector("#network").hidden`)
	p.until(`callboard.network.clients[0]?.broker === "b1" && callboard.network.links.length === 2 && callboard.network.links.every((l) => l.up)`)
	p.until(`document.querySelector("#tally-delivered").textContent === "1,234" && document.querySelector("#network-diagram").getAttribute("aria-label") === "3 brokers, 2 links up, 1 client"`)
	p.until(`!document.querySelector("#layer-network-label").hidden`)
	scale := value[float64](p, "callboard.map.scale")
	for i, x := range []float64{-4, 0, 4} { // the masts' frames
		p.seen(fmt.Sprintf("c%d", i), x-13/scale, 0)
	}

	b.do(func() {
		b.brokers = row(2, 2)
		b.tally.(object)["roams"] = 1
		b.tally.(object)["recent"] = []object{{"program": "r1-guide", "from": "b1", "to": "b3", "took": 0.0123, "time": 1.7e9}}
	})
	p.until(`callboard.network.clients[0].broker === "b3" && callboard.network.moves.length === 1`)
	if got := value[[][]string](p, `callboard.network.clients[0].paths`); !cmp.Equal(got, [][]string{{"b1", "b2", "b3"}}) {
		t.Errorf("paths: %v", got)
	}
	p.until(`document.querySelector("#hand-overs").innerText.replace(/\s+/g, " ").trim() === "r1-guide b1 → b3 12 ms"`)
	p.until(`document.querySelector("#network-focus").textContent === "Routes of r1-guide, at b3" && document.querySelectorAll(".net-routes line").length === 2`)
	p.shot("network")
	frames := value[int](p, `callboard.map.frames`)
	p.until(fmt.Sprintf(`callboard.map.frames > %d`, frames+3)) // the routes flow
	p.look(390, 844, 2, false)
	p.run(chromedp.Evaluate[chromedp.Void](`document.querySelector("#network").scrollIntoView(); 0`))
	p.until(`document.documentElement.scrollWidth <= 390`)
	p.shot("network-phone")
	p.look(1100, 640, 1, true)
	p.until(`getComputedStyle(document.documentElement).getPropertyValue("--floor").trim() === "#191815"`)
	p.seen("floor", -7.5, 0) // beside the hall
	p.shot("network-dark")

	b.do(func() { // b2 is killed: b3 is out of reach with it
		all := row(0, 3)
		all[0]["links"] = []string{}
		all[0]["neighbours"] = []object{{"id": "b2", "up": false, "problem": "connection refused"}}
		all[1] = object{"id": "b2", "url": "ws://b2:8800/ws", "links": []string{}, "here": false, "error": "out of reach"}
		all[2] = object{"id": "b3", "url": "ws://b3:8800/ws", "links": []string{}, "here": false, "error": "out of reach"}
		b.brokers = all
	})
	p.until(`document.querySelector("#network-count").textContent === "3 brokers, 2 gone" && callboard.network.links.every((l) => !l.up)`)
	p.until(`callboard.network.clients[0].broker === "b1"`)
	p.click(`#network-details summary`)
	p.click(`#brokers [data-broker="b1"] button`)
	p.until(`document.querySelector("#brokers [data-broker='b1'] .more-about").innerText.includes("connection refused")`)

	// A broker alone is no network.
	b.do(func() { b.brokers = row(0, 3)[:1] })
	p.until(`document.querySelector("#network").hidden`)
}

// testField: where robots carry brokers the page shows links and rings in the colours of
// islands, who waits, and that islands have met; a robot out of reach is where the demo
// tells.
func testField(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	names := []string{"r1", "r2", "r3"}
	tell := func(islands object, links []object, more object) {
		var brokers []object
		for i := range names {
			id := fmt.Sprint("b", i+1)
			brokers = append(brokers, object{"id": id, "registry_mode": "every", "here": i == 0, "robots": 1, "links": []string{}, "neighbours": []object{{"id": "b9", "up": true, "cost": 1.25}}, "routes": []object{}, "sessions": []object{}})
		}
		field := object{
			"programs": 3, "delivered": 4321, "lost": 0, "doubled": 0, "roams": 0, "recent": []object{}, "guides": object{}, "range": 5,
			"carriers": object{"b1": "r1", "b2": "r2", "b3": "r3"}, "places": object{"r1": []float64{-3, 2}, "r2": []float64{0, 2}, "r3": []float64{3, -2}},
			"links": links, "islands": islands,
		}
		for k, v := range more {
			field[k] = v
		}
		b.do(func() { b.brokers, b.field = brokers, field })
	}
	tell(object{"b1": 0, "b2": 0, "b3": 2}, []object{{"a": "b1", "b": "b2", "cost": 1}}, object{"waiting": []object{{"robot": "r1", "for": "r3", "since": 12.3}}})
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.until(`callboard.network.tally?.carriers && callboard.network.links.length === 1 && !document.querySelector("#layer-network-label").hidden`)
	p.until(`document.querySelector("#tally-times").textContent === "2 islands; 1 wait: r1 for r3 12 s"`)
	p.seen("c0", -1.5, 2) // the link
	ring := 15 / value[float64](p, "callboard.map.scale")
	p.seen("c2", 3-ring, -2)
	p.shot("islands")

	tell(object{"b1": 0, "b2": 0, "b3": 0}, []object{{"a": "b1", "b": "b2", "cost": 1}, {"a": "b2", "b": "b3", "cost": 1}}, object{"meetings": []object{{"ago": 3.2, "with": []string{"b3"}}}})
	p.until(`document.querySelector("#tally-times").textContent === "1 island; nobody waits; b3 met others 3 s ago"`)
	p.seen("c0", 3-ring, -2)
	p.seen("c0", 1.5, 0)
}
