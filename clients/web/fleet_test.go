package web_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// testFleet: the tables of what the brokers do have everybody's subscriptions with
// rates and what they are behind, queues, brokers, links and why they are no multicast,
// routes, hand-overs and islands; the filter leaves what has its words.
func testFleet(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	given, ended := 1000, 50
	look := func(at, attachment int) []object {
		all := row(at, attachment)
		all[0]["subscriptions"], all[0]["waiting"], all[0]["lost"] = 3, 7, 1234
		all[0]["url"], all[0]["up"], all[0]["clients"], all[0]["memory"], all[0]["memory_limit"] = "ws://b1:8800/ws", 1, 2, 2_500_000, 4e9
		all[0]["neighbours"] = []object{{"id": "b2", "up": true, "since": 1.7e9, "sent": 1000, "received": 500, "segment": object{"group": "239.255.67.66:8803", "multicast": true, "since": 1.7e9}}}
		all[1]["neighbours"] = []object{
			{"id": "b1", "up": true, "since": 1.7e9, "segment": object{"multicast": false, "why": "it is on no segment of ours"}},
			{"id": "b3", "up": false, "problem": "connection refused"},
		}
		all[2]["links"] = []string{}
		all[1]["links"] = []string{"b1"}
		all[0]["queues"] = []object{{"name": "docks", "declared": true, "waiting": 3, "oldest": 75.0, "in_hand": 2, "servers": 4, "away": 1, "accepted": ended + 5, "ended": ended}}
		all[at]["sessions"] = []object{{"client": "r1-guide", "attached": true, "attachment": attachment, "subscriptions": 2,
			"sequences": []object{{"source": "b1.1", "num": given - 40, "last": given, "waiting": 7}}}}
		return all
	}
	b.do(func() {
		b.brokers = look(0, 1)
		b.tally = object{"programs": 1, "delivered": 1234, "lost": 0, "doubled": 0, "roams": 0, "recent": []object{}, "guides": object{}}
		b.subscriptions = []object{
			{"client": "r1-guide", "id": "near", "condition": "laser.min < 0.4", "broker": "b1", "attached": true, "trigger": "rising", "matching": 2, "sequences": []object{}},
			{"client": "r1-guide", "id": "stuck", "condition": "position.stall", "broker": "b1", "attached": true, "robots": []string{"r*"}, "failed": true, "sequences": []object{}},
			{"client": "", "id": "page.position", "condition": "position.time >= 0", "broker": "b1", "attached": true, "remote": "10.0.0.7:5555", "keep": "latest", "sequences": []object{}},
		}
	})
	p := open(t, chromium, b.server.URL)
	p.look(1440, 900, 1, false)
	b.attached()
	p.until(`callboard.network.brokers.length === 3`)
	p.click("#tab-fleet")
	const cells = `((table, key) => [...document.querySelector('#fleet-' + table + ' tr[data-key="' + key + '"]')?.querySelectorAll("td") ?? []].map((c) => c.textContent))`
	p.until(cells + `("queues", "queue b1 docks").slice(0, 7).join("|") === "docks|b1|declared|3|1 min|2|4, 1 away"`)
	p.until(cells + `("links", "link b2 b1").at(-1) === "TCP: it is on no segment of ours" && ` + cells + `("links", "link b1 b2").at(-1).startsWith("multicast for ")`)
	p.until(cells + `("links", "link b2 b3")[1] === "down: connection refused"`)
	p.until(cells + `("brokers", "b1").join("|") === "b1|ws://b1:8800/ws|1/1|1/2|3|7|1,234|2.5 MB/4.0 GB|this one, holds the registry"`)
	p.until(`document.querySelector("#fleet-islands").textContent === "2 islands that do not reach each other: b1 b2 | b3"`)
	p.until(cells + `("subscriptions", "r1-guide b1 ").slice(0, 3).join("|") === "r1-guide|b1|attached"`)
	rows := value[[]string](p, `[...document.querySelectorAll("#fleet-subscriptions tbody tr")].map((r) => r.className + ": " + [...r.querySelectorAll("td")].slice(0, 3).map((c) => c.textContent).join("|"))`)
	want := []string{
		"client: r1-guide|b1|attached",
		"below: laser.min < 0.4|near|rising · 2 robots matched at first",
		"below failed: position.stall|stuck|r* · failed: counts as false",
		"client: without id, 10.0.0.7:5555|b1|attached",
		"below: position.time >= 0|page.position|latest · 0 robots matched at first",
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("subscriptions (-want +got):\n%s", diff)
	}
	b.do(func() { // it gets on, and hands over
		given, ended = 1500, 60
		b.brokers = look(1, 2)
		for _, s := range b.subscriptions[:2] {
			s["broker"] = "b2"
		}
	})
	p.until(cells + `("moves", document.querySelector("#fleet-moves tr[data-key]")?.dataset.key).slice(0, 2).join("|") === "r1-guide|b1 → b2"`)
	p.until(cells + `("routes", "route r1-guide 0").join("|") === "r1-guide|b1 → b2|7"`)
	b.do(func() { given = 2000; b.brokers = look(1, 2) })
	p.until(`/^\d+\/s$/.test(` + cells + `("subscriptions", "r1-guide b2 ")[3]) && /^40, \d+\.\d s$/.test(` + cells + `("subscriptions", "r1-guide b2 ")[4]) && ` + cells + `("subscriptions", "r1-guide b2 ")[5] === "7"`)
	p.shot("fleet")
	p.fill("#fleet-filter", "guide stall")
	p.until(`[...document.querySelectorAll("#fleet-subscriptions tbody tr")].map((r) => r.className).join() === "client,below failed" && document.querySelector("#fleet-links").hidden`)
	p.fill("#fleet-filter", "")
	p.until(`!document.querySelector("#fleet-links").hidden && document.querySelector("#fleet-pair").hidden`)
}

// testPair: a broker that is a side of a pair says how the pair stands.
func testPair(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	b.do(func() {
		b.standby = object{"side": "A", "active": true, "term": 3, "stands": "both", "in_step": true, "heard": true, "waiting": 2, "witness": "b7", "witness_answers": true}
	})
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.click("#tab-fleet")
	p.until(`document.querySelector("#fleet-pair").textContent === "Side A of a pair, active in term 3 (both); the other side is in step; witness b7 answers; 2 batches wait for the standby"`)
	b.do(func() { b.standby.(object)["heard"] = false })
	p.until(`document.querySelector("#fleet-pair").textContent.includes("the other side is silent")`)
}
