package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"
)

// replaying is what the broker says of a replay, and what the page asked for.
type replaying struct {
	At      float64  `json:"at"`
	Length  float64  `json:"length"`
	Speed   float64  `json:"speed"`
	Playing bool     `json:"playing"`
	Ended   bool     `json:"ended"`
	Files   []string `json:"files"`
}

// replay serves /api/replay as callboard view does; what conditions find is always the same.
func (b *broker) serveReplay(mux *http.ServeMux) {
	mux.HandleFunc("GET /api/replay", func(w http.ResponseWriter, _ *http.Request) {
		b.do(func() { b.answer(w, b.replay) })
	})
	mux.HandleFunc("POST /api/replay", func(w http.ResponseWriter, r *http.Request) {
		b.do(func() {
			if err := json.NewDecoder(r.Body).Decode(b.replay); err != nil {
				b.t.Error(err)
			}
			b.answer(w, b.replay)
		})
	})
	mux.HandleFunc("POST /api/replay/found", func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]any
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			b.t.Error(err)
		}
		b.do(func() {
			b.searched = append(b.searched, asked)
			b.answer(w, object{"marks": []object{{"robot": "r1", "from": 25.0, "to": 50.0, "count": 1234}}, "notifications": 1234, "more": false})
		})
	})
}

func (b *broker) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		b.t.Error(err)
	}
}

// testReplayBar: where the broker replays a run the page plays, pauses and seeks it,
// and shows below the slider what conditions found in the whole run.
func testReplayBar(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	b.do(func() {
		b.replay = &replaying{At: 5, Length: 100, Speed: 1, Playing: true, Files: []string{"/logs/monday.mcap"}}
	})
	p := open(t, chromium, b.server.URL)
	p.look(1440, 900, 1, false)
	b.attached()
	b.step()
	p.until(`callboard.replay?.at === 5 && !document.querySelector("#replay").hidden && document.querySelector("#replay-time").textContent === "0:05.0 of 1:40.0"`)
	p.until(`document.querySelector("#replay-files").textContent === "monday.mcap" && document.querySelector("#replay-play").getAttribute("aria-label") === "Pause"`)
	asked := func(what string, check func(r *replaying) bool) {
		t.Helper()
		b.wait(what, func() bool { return check(b.replay) })
	}
	p.click("#replay-play")
	asked("a pause", func(r *replaying) bool { return !r.Playing })
	p.until(`document.querySelector("#replay-play").getAttribute("aria-label") === "Play"`)
	p.run(chromedp.Focus(chromedp.CSS("#replay-at")), chromedp.KeyEvent(kb.End))
	asked("the end, by a key", func(r *replaying) bool { return r.At == 100 })
	p.until(`document.querySelector("#replay-at").getAttribute("aria-valuetext") === "1:40.0 of 1:40.0"`)
	p.run(chromedp.Evaluate[chromedp.Void](`{ const s = document.querySelector("#replay-speed"); s.value = "4"; s.dispatchEvent(new Event("change")); }`))
	asked("the speed", func(r *replaying) bool { return r.Speed == 4 })

	p.subscribe(b, "laser.min < 1", 1)
	p.until(`callboard.replay.found.join() === "1" && document.querySelector("#replay-found").textContent === "laser.min < 1: 1,234 notifications in the run"`)
	b.do(func() {
		if want := []map[string]any{{"condition": "laser.min < 1"}}; !cmp.Equal(b.searched, want) {
			t.Errorf("searched for %v, want %v", b.searched, want)
		}
	})
	// The mark reaches from a quarter to the half of the slider, and a click goes there.
	coloured := `((share) => { const c = document.querySelector("#replay-marks"), d = c.getContext("2d").getImageData(Math.round(c.width * share), 0, 1, c.height).data;
		for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 200 && d[i] - d[i + 2] > 60) return true; return false; })`
	p.until(coloured + `(0.3) && ` + coloured + `(0.45) && !` + coloured + `(0.2) && !` + coloured + `(0.6)`)
	p.shot("replaybar")
	p.run(chromedp.Evaluate[chromedp.Void](`{ const c = document.querySelector("#replay-marks"), box = c.getBoundingClientRect(); c.dispatchEvent(new MouseEvent("click", { clientX: box.left + box.width / 4, clientY: box.top + 3 })); }`))
	asked("a quarter, by a click", func(r *replaying) bool { return r.At > 24 && r.At < 26 })
	// A changed condition is searched for anew, one that has ended goes.
	p.click(`.card[data-id="w1"] button[aria-label^="Change"]`)
	p.condition("laser.min < 9")
	b.wait("another search", func() bool { return len(b.searched) == 2 && b.searched[1]["condition"] == "laser.min < 9" })
	p.click(`.card[data-id="w1"] button[aria-label^="Unsubscribe"]`)
	p.until(`callboard.replay.found.length === 0`)
	for _, width := range []int64{320, 390, 768} {
		p.look(width, 844, 1, false)
		if wide := value[int](p, `document.documentElement.scrollWidth`); int64(wide) > width {
			t.Errorf("at %d px the page is %d px wide", width, wide)
		}
	}
	p.shot(fmt.Sprintf("replaybar-%d", 768))
}
