package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
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
}

// newTwins starts a pair and its witness, and waits until it is in step.
func newTwins(t *testing.T, witness bool) *twins {
	t.Helper()
	robot := simtest.Wander(t, 5, "r0")[0]
	dir := t.TempDir()
	w := &twins{t: t, listens: [2]string{freeAddress(t), freeAddress(t)}}
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

// TestPair kills the active side of a pair, again and again, while notifications
// flow: the client goes on at the other side, and its one sequence goes on without
// a gap, a double or a fault.
func TestPair(t *testing.T) {
	for _, witness := range []bool{true, false} {
		t.Run(fmt.Sprintf("witness %v", witness), func(t *testing.T) {
			w := newTwins(t, witness)
			ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
			defer cancel()
			w.inStep(ctx)
			urls := []string{"ws://" + w.listens[0] + "/ws", "ws://" + w.listens[1] + "/ws"}
			c, err := callboard.Dial(ctx, callboard.Config{Brokers: urls, Client: "c1", BackoffMax: 200 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x > -1000"})
			source, last, takeovers := "", uint64(0), 0
			newest, told := 0.0, 0
			killed := time.Time{}
			for count := 0; takeovers < 4; {
				select {
				case e, ok := <-c.Events():
					if !ok {
						t.Fatalf("the client ended: %v", c.Err())
					}
					switch e := e.(type) {
					case *callboard.Notification:
						if source == "" {
							source = e.Source
						}
						if e.Source != source || e.Seq != last+1+e.Skipped {
							t.Fatalf("%s %d (skipped %d) after %s %d", e.Source, e.Seq, e.Skipped, source, last)
						}
						if e.Time <= newest {
							t.Fatalf("the reading of %v after that of %v", e.Time, newest)
						}
						if last, newest = e.Seq, e.Time; !killed.IsZero() {
							t.Logf("the first notification after %v", time.Since(killed))
							killed = time.Time{}
						}
						if count++; count%100 == 0 {
							takeovers++
							i := w.inStep(ctx)
							w.sides[i].Kill()
							killed = time.Now()
							w.sides[i] = startProcess(t, w.files[i])
						}
					case *callboard.Robot: // the session with it begins anew
						told++
					case *callboard.Gap, *callboard.Fault, *callboard.Failure:
						t.Fatalf("unexpected %T %+v", e, e)
					}
				case <-ctx.Done():
					t.Fatalf("after %d takeovers and %d notifications nothing comes any more", takeovers, last)
				}
			}
			if told < takeovers-1 {
				t.Errorf("%d takeovers, and %d times it is told that the robot's readings begin anew", takeovers, told)
			}
		})
	}
}
