package bridge_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	callboard "callboard/clients/go"
	"callboard/player/playertest"
	"callboard/subscribe/protocol"
)

// TestOldStore puts an old copy of a source broker's data in the place of what
// it had, while its client hangs on another broker: the client is told that the
// sequence has ended, and which follows. Not one reading is swallowed.
func TestOldStore(t *testing.T) {
	robot := playertest.Fake(t, playertest.Good)
	dir := t.TempDir()
	links := []string{freeAddress(t), freeAddress(t)}
	file := func(i int, more string) string {
		text := fmt.Sprintf("[broker]\nid = \"b%d\"\nlisten = %q\nlinks = %q\ndata = \"data%[1]d\"\nheartbeat = 0.2\n[registry]\nbroker = \"b2\"\n[[neighbour]]\nid = \"b%[4]d\"\naddress = %[5]q\n%[6]s",
			i, freeAddress(t), links[i-1], 3-i, links[2-i], more)
		path := filepath.Join(dir, fmt.Sprintf("b%d.toml", i))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	sourceFile := file(1, fmt.Sprintf("[[player]]\naddress = %q\nrobot = \"r0\"\n", robot.Addr()))
	source, edge := startProcess(t, sourceFile), startProcess(t, file(2, ""))
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	c, err := callboard.Dial(ctx, callboard.Config{Brokers: []string{edge.URL}, Client: "c1"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x >= 0"})

	last, told := map[string]uint64{}, (*callboard.Gap)(nil)
	newest := ""
	more := func(done func() bool) { // reads on
		t.Helper()
		for !done() {
			select {
			case e, ok := <-c.Events():
				if !ok {
					t.Fatalf("the client ended: %v", c.Err())
				}
				switch e := e.(type) {
				case *callboard.Notification:
					if e.Seq != last[e.Source]+1+e.Skipped {
						t.Fatalf("%s %d (skipped %d) after %d", e.Source, e.Seq, e.Skipped, last[e.Source])
					}
					if told != nil && e.Source == told.Source {
						t.Fatalf("%s %d after its end", e.Source, e.Seq)
					}
					if told == nil && newest != "" && e.Source != newest {
						t.Fatalf("%s begins, but %s has not ended", e.Source, newest)
					}
					last[e.Source], newest = e.Seq, e.Source
				case *callboard.Gap:
					if e.To != nil || told != nil {
						t.Fatalf("unexpected gap %+v", e.Gap)
					}
					told = e
				case *callboard.Fault, *callboard.Failure:
					t.Fatalf("unexpected %T %+v", e, e)
				}
			case <-ctx.Done():
				t.Fatalf("nothing comes any more after %v", last)
			}
		}
	}
	more(func() bool { return last[newest] >= 50 })
	source.Kill()
	data, copied := filepath.Join(dir, "data1"), filepath.Join(dir, "copied")
	if err := os.CopyFS(copied, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	source = startProcess(t, sourceFile)
	before, had := newest, last[newest]
	more(func() bool { return last[newest] >= had+100 })
	if newest != before {
		t.Fatalf("%s became %s, though the broker was only killed", before, newest)
	}
	source.Kill()
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(copied, data); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	source = startProcess(t, sourceFile)
	defer source.Kill()
	more(func() bool { return told != nil && newest != before && last[newest] >= 20 })
	t.Logf("told of the end of %s after #%d, and had 20 more, within %v", before, last[before], time.Since(began))
	if told.Source != before || told.From != last[before]+1 || told.Next != newest {
		t.Errorf("told %+v; expected that %s ends after %d, and %s follows", told.Gap, before, last[before], newest)
	}
}
