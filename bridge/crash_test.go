package bridge_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/benchtest"
	"callboard/bridge/config"
	callboard "callboard/clients/go"
	"callboard/player/playertest"
	"callboard/subscribe/protocol"
)

func TestMain(m *testing.M) {
	benchtest.ServeIfAsked(bridge.Config{})
	driveIfAsked()
	os.Exit(m.Run())
}

func startProcess(t testing.TB, configuration string) *benchtest.Process {
	t.Helper()
	p, err := benchtest.StartProcess(configuration, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

func freeAddress(t *testing.T) string {
	t.Helper()
	address, err := benchtest.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// TestKilledBroker kills the broker, again and again, while notifications
// flow: the client goes on by itself, and its one sequence goes on without a
// gap, a double or a fault.
func TestKilledBroker(t *testing.T) {
	robot := playertest.Fake(t, playertest.Good)
	dir := t.TempDir()
	file := filepath.Join(dir, "callboard.toml")
	text := fmt.Sprintf("[broker]\nid = \"b1\"\nlisten = %q\ndata = \"data\"\n[[player]]\naddress = %q\nrobot = \"r0\"\n", freeAddress(t), robot.Addr())
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	broker := startProcess(t, file)
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	c, err := callboard.Dial(ctx, callboard.Config{Brokers: []string{broker.URL}, Client: "c1", BackoffMax: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x >= 0"})
	source, last, lives := "", uint64(0), 0
	for count := 0; lives < 5; {
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
				last = e.Seq
				if count++; count%100 == 0 {
					lives++
					broker.Kill()
					broker = startProcess(t, file)
				}
			case *callboard.Gap, *callboard.Fault, *callboard.Failure:
				t.Fatalf("unexpected %T %+v", e, e)
			}
		case <-ctx.Done():
			t.Fatalf("after %d lives and %d notifications nothing comes any more", lives, last)
		}
	}
	if last < 500 {
		t.Errorf("only %d notifications", last)
	}
}

// TestLockedData: a second broker on the same data is refused, and told who
// has it.
func TestLockedData(t *testing.T) {
	dir := t.TempDir()
	make := func() (*bridge.Bridge, error) {
		c := config.Default()
		c.Broker.ID, c.Broker.Listen, c.Broker.Data = "b1", "127.0.0.1:0", dir
		c.Complete()
		return bridge.New(bridge.Config{Config: c})
	}
	first, err := make()
	if err != nil {
		t.Fatal(err)
	}
	_, err = make()
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("a second broker on the same data got %v, expected an error that names %s and process %d", err, dir, os.Getpid())
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	third, err := make()
	if err != nil {
		t.Fatalf("after the first had gone: %v", err)
	}
	third.Close()
}
