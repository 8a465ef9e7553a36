package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"callboard/bridge/benchtest"
	"callboard/sim/simtest"
)

// testLeave: when its broker is killed the page goes on at another broker of the
// network, with what it was subscribed to, and says so.
func testLeave(t *testing.T, chromium context.Context) {
	addresses := make([]string, 4) // of b1 and b2: for clients, for brokers
	for i := range addresses {
		address, err := benchtest.FreeAddress()
		if err != nil {
			t.Fatal(err)
		}
		addresses[i] = address
	}
	robot := simtest.Wander(t, 1, "r0")[0]
	var brokers []*benchtest.Process
	for i, id := range []string{"b1", "b2"} {
		other := 1 - i
		text := fmt.Sprintf("[broker]\nid = %q\nlisten = %q\nlinks = %q\ndata = \"data\"\nheartbeat = 5\n[registry]\nmode = \"every\"\n[[neighbour]]\nid = \"b%d\"\naddress = %q\n",
			id, addresses[2*i], addresses[2*i+1], other+1, addresses[2*other+1])
		if id == "b2" {
			text += fmt.Sprintf("[[player]]\naddress = %q\nrobot = \"r0\"\nworld = \"hall\"\n", robot)
		}
		file := filepath.Join(t.TempDir(), "callboard.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		brokers = append(brokers, start(t, file))
	}
	p := open(t, chromium, brokers[0].URL)
	p.until(`callboard.network.brokers.length === 2 && callboard.network.links.every((l) => l.up) && callboard.robots[0]?.x !== undefined`)
	p.until(`document.querySelector("#connection-text").textContent === "Connected to b1" && callboard.known.length > 1`)
	p.condition("laser.min < 99")
	p.until(`callboard.notifications.total > 10`)
	session := value[string](p, `callboard.client.session`)
	brokers[0].Kill()
	p.until(`document.querySelector("#connection-text").textContent === "Connected to b2; b1, which this page is from, is gone"`)
	p.goesOn("at the other broker", session, value[int](p, `callboard.notifications.total`))
	p.shot("left")
}
