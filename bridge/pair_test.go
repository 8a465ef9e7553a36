//go:build unix

package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/benchtest"
	callboard "callboard/clients/go"
	"callboard/sim/simtest"
	"callboard/subscribe/protocol"
)

// twins are a pair of brokers as processes, with a witness or none, and one robot
// that both read.
type twins struct {
	t       *testing.T
	files   [2]string
	sides   [2]*benchtest.Process
	listens [2]string
	robot   string // address of its Player server
}

// newTwins starts a pair and its witness, and waits until it is in step.
func newTwins(t *testing.T, witness bool) *twins {
	t.Helper()
	robot := simtest.Wander(t, 5, "r0")[0]
	dir := t.TempDir()
	w := &twins{t: t, robot: robot, listens: [2]string{freeAddress(t), freeAddress(t)}}
	inner := [2]string{freeAddress(t), freeAddress(t)}
	links, more, standby := freeAddress(t), "", ""
	if witness {
		text := fmt.Sprintf("[broker]\nid = \"w\"\nlisten = %q\nlinks = %q\ndata = \"witness\"\n[beacon]\nannounce = false\n[registry]\nbroker = \"w\"\n[[neighbour]]\nid = \"p\"\naddress = %q\n", freeAddress(t), links, freeAddress(t))
		startProcess(t, w.write(dir, "witness.toml", text))
		more, standby = fmt.Sprintf("[registry]\nbroker = \"w\"\n[[neighbour]]\nid = \"w\"\naddress = %q\n", links), "witness = \"w\"\n"
	}
	for i, side := range []string{"A", "B"} {
		text := fmt.Sprintf("[broker]\nid = \"p\"\nlisten = %q\ndata = \"data%s\"\nheartbeat = 0.2\n[beacon]\nannounce = false\n[[player]]\naddress = %q\nrobot = \"r0\"\n%s[standby]\nside = %[2]q\ninner = [%[5]q, %[6]q]\nouter = %[7]q\nheartbeat = 0.1\n%[8]s",
			w.listens[i], side, robot, more, inner[i], inner[1-i], w.listens[1-i], standby)
		w.files[i] = w.write(dir, side+".toml", text)
		w.sides[i] = startProcess(t, w.files[i])
	}
	return w
}

func (w *twins) write(dir, name, text string) string {
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// inStep waits until the pair is, and returns which side is active.
func (w *twins) inStep(ctx context.Context) int {
	w.t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		one, other := w.standing(0), w.standing(1)
		if one.InStep && other.InStep && one.Active != other.Active && one.Term == other.Term {
			if one.Active {
				return 0
			}
			return 1
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			w.t.Fatalf("the pair does not come in step: %+v, %+v", one, other)
		}
	}
}

// standing asks how a side stands.
func (w *twins) standing(side int) (s bridge.Standing) {
	r, err := http.Get(w.sides[side].URL + "/api/standby")
	if err != nil {
		return s
	}
	defer r.Body.Close()
	if err := json.NewDecoder(r.Body).Decode(&s); err != nil {
		w.t.Fatalf("/api/standby: %v", err)
	}
	return s
}

// lose has the pair lose its active side in a way, and returns what makes it whole
// again.
func (w *twins) lose(way string, i int) (mend func()) {
	w.t.Helper()
	again := func() { w.sides[i] = startProcess(w.t, w.files[i]) }
	switch way {
	case "killed":
		w.sides[i].Kill()
		return again
	case "ended":
		w.sides[i].End()
		return again
	case "switched":
		r, err := http.Post(w.sides[i].URL+"/api/standby/switch", "", nil)
		if err != nil {
			w.t.Fatal(err)
		}
		if r.Body.Close(); r.StatusCode != http.StatusOK {
			w.t.Fatalf("switch: %s", r.Status)
		}
		return func() {}
	}
	if err := w.sides[i].Signal(syscall.SIGSTOP); err != nil {
		w.t.Fatal(err)
	}
	return func() {
		if err := w.sides[i].Signal(syscall.SIGCONT); err != nil {
			w.t.Fatal(err)
		}
	}
}

// TestPair has a pair lose its active side, killed, ended, switched over or frozen,
// while notifications flow: the program goes on at the other side, and its one
// sequence goes on without a gap, a double or a fault.
func TestPair(t *testing.T) {
	for _, witness := range []bool{true, false} {
		t.Run(fmt.Sprintf("witness %v", witness), func(t *testing.T) {
			w := newTwins(t, witness)
			ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
			defer cancel()
			w.inStep(ctx)
			urls := []string{"ws://" + w.listens[0] + "/ws", "ws://" + w.listens[1] + "/ws"}
			c, err := callboard.Dial(ctx, callboard.Config{
				Brokers: urls, Client: "c1", BackoffMax: 200 * time.Millisecond,
				Choose: func(current string, _ []callboard.Broker) []string { // not the witness, which is a broker of the network, too
					if current != "" {
						return []string{current}
					}
					return urls
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x > -1000"})
			h := &program{t: t, c: c}
			for _, way := range []string{"killed", "switched", "frozen", "ended", "killed", "frozen"} {
				h.more(ctx, 20)
				i := w.inStep(ctx)
				began, mend := time.Now(), w.lose(way, i)
				if h.at(ctx, urls[1-i], 3*time.Second) {
					h.more(ctx, 1)
					t.Logf("%s: side %d goes on after %v", way, 1-i, time.Since(began).Round(time.Millisecond))
				} else if witness {
					t.Errorf("%s: side %d does not go on", way, 1-i)
				} else { // it stood still itself meanwhile, and does not know
					t.Logf("%s: side %d waits", way, 1-i)
				}
				mend()
			}
			h.more(ctx, 20)
			w.inStep(ctx)
		})
	}
}

// program is what a program is told, which is checked.
type program struct {
	t      *testing.T
	c      *callboard.Client
	source string
	last   uint64
	newest float64
	url    string                        // of the broker that it hangs on
	told   int                           // of the robot
	each   func(*callboard.Notification) // nil: nothing more is checked
}

// more waits for so many notifications.
func (h *program) more(ctx context.Context, count int) {
	h.t.Helper()
	for count > 0 {
		if h.next(ctx) {
			count--
		}
	}
}

// at waits until the program hangs on a broker, for a time. It reports whether it
// does.
func (h *program) at(ctx context.Context, url string, within time.Duration) bool {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for h.url != url {
		select {
		case e, ok := <-h.c.Events():
			h.take(e, ok)
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// next takes the next event. It reports whether that is a notification.
func (h *program) next(ctx context.Context) bool {
	h.t.Helper()
	select {
	case e, ok := <-h.c.Events():
		return h.take(e, ok)
	case <-ctx.Done():
		h.t.Fatalf("after %d notifications, at %s, nothing comes any more", h.last, h.url)
		return false
	}
}

// take checks an event. It reports whether that is a notification.
func (h *program) take(e callboard.Event, ok bool) bool {
	h.t.Helper()
	if !ok {
		h.t.Fatalf("the client ended: %v", h.c.Err())
	}
	switch e := e.(type) {
	case *callboard.Notification:
		if h.source == "" {
			h.source = e.Source
		}
		if e.Source != h.source || e.Seq != h.last+1+e.Skipped {
			h.t.Fatalf("%s %d (skipped %d) after %s %d", e.Source, e.Seq, e.Skipped, h.source, h.last)
		}
		if e.Time <= h.newest {
			h.t.Fatalf("the reading of %v after that of %v", e.Time, h.newest)
		}
		h.last, h.newest = e.Seq, e.Time
		if h.each != nil {
			h.each(e)
		}
		return true
	case *callboard.Attached:
		h.url = e.URL
	case *callboard.Robot: // the session with it begins anew
		h.told++
	case *callboard.Gap, *callboard.Fault, *callboard.Failure:
		h.t.Fatalf("unexpected %T %+v", e, e)
	}
	return false
}
