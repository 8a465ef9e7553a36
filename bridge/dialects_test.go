package bridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/player/floorplan"
	"callboard/player/server"
	"callboard/sim"
	"callboard/sim/simdriver"
	"callboard/sim/worldfile"

	"github.com/gorilla/websocket"
)

// yard is a world with a robot of everything that simulated ones have.
const yard = `
define scanner ranger ( sensor ( range [0 8] fov 180 samples 9 ) pose [0.1 0 0.1 0] )
define ring ranger ( sensor ( range [0 4] fov 10 samples 1 pose [0.1 0.1 0 90] ) sensor ( range [0 4] fov 10 samples 1 pose [0.1 -0.1 0 -90] ) )
define rover position ( size [0.4 0.4 0.3] drive "diff" scanner() ring() fiducial( range_max 8 fov 180 ) )
model ( size [0.2 6 1] pose [3 0 0 0] fiducial_return 5 )
`

// simulated runs a world with robots and a broker that reads them, until the test
// ends.
func simulated(t *testing.T, change func(*config.Config), robots ...string) *bridge.Bridge {
	t.Helper()
	return simulatedAt(t, 1, change, robots...)
}

// simulatedAt is simulated at a multiple of real time.
func simulatedAt(t *testing.T, speed float64, change func(*config.Config), robots ...string) *bridge.Bridge {
	t.Helper()
	var text strings.Builder
	text.WriteString(yard)
	for i, name := range robots {
		fmt.Fprintf(&text, "rover ( name %q pose [0 %d 0 0] localization \"odom\" )\n", name, 2*i)
	}
	file, problems := worldfile.Load(func(string) ([]byte, error) { return []byte(text.String()), nil }, "yard.world")
	if err := problems.First(); err != nil {
		t.Fatal(err)
	}
	world, err := sim.New(sim.Config{World: file})
	if err != nil {
		t.Fatal(err)
	}
	driver, err := simdriver.New(simdriver.Config{World: world, Speed: speed})
	if err != nil {
		t.Fatal(err)
	}
	low, high := world.Bounds()
	plan := floorplan.Plan{World: "yard", Min: [2]float64{low.X, low.Y}, Max: [2]float64{high.X, high.Y}}
	for _, o := range world.Still() {
		var points [][2]float64
		for _, p := range append(o.Points, o.Points[0]) {
			points = append(points, [2]float64{p.X, p.Y})
		}
		plan.Outlines = append(plan.Outlines, points)
	}
	walls, err := floorplan.NewDriver(plan)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	var players []config.Player
	for _, name := range robots {
		drivers, err := driver.Drivers([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s, err := server.New(server.Config{Listener: listener, Drivers: append(drivers, driver.World(), walls), Clock: driver.Clock})
		if err != nil {
			t.Fatal(err)
		}
		players = append(players, config.Player{Address: listener.Addr().String(), Robot: name})
		running.Go(func() { _ = s.Run(ctx) })
	}
	running.Go(func() { _ = driver.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	c := config.Default()
	c.Broker.ID, c.Broker.Listen, c.Broker.Data = "b1", "127.0.0.1:0", t.TempDir()
	c.Players = players
	if change != nil {
		change(c)
	}
	b := startAs(t, bridge.Config{Config: c})
	return b
}

// program is a program that speaks one of the dialects.
type dialectProgram struct {
	*websocket.Conn
	t testing.TB
}

// speak connects to a dialect.
func speak(t testing.TB, b *bridge.Bridge, path string, header http.Header, subprotocols ...string) *dialectProgram {
	t.Helper()
	d := websocket.Dialer{Subprotocols: subprotocols}
	ws, _, err := d.Dial("ws"+strings.TrimPrefix(b.URL(), "http")+path, header)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return &dialectProgram{ws, t}
}

func (p *dialectProgram) say(text string) {
	p.t.Helper()
	if err := p.WriteMessage(websocket.TextMessage, []byte(text)); err != nil {
		p.t.Fatal(err)
	}
}

// hears returns the next message for which is says so, and what it holds.
func (p *dialectProgram) hears(what string, is func(binary bool, message []byte) bool) []byte {
	p.t.Helper()
	_ = p.SetReadDeadline(time.Now().Add(patience))
	var last []byte
	for {
		kind, message, err := p.ReadMessage()
		if err != nil {
			p.t.Fatalf("waiting for %s: %v; heard last: %.300q", what, err, last)
		}
		if is(kind == websocket.BinaryMessage, message) {
			return message
		}
		last = message
	}
}

// hearsText returns the next text in which all words stand.
func (p *dialectProgram) hearsText(words ...string) map[string]any {
	p.t.Helper()
	text := p.hears(strings.Join(words, " "), func(binary bool, message []byte) bool {
		for _, w := range words {
			if binary || !bytes.Contains(message, []byte(w)) {
				return false
			}
		}
		return true
	})
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		p.t.Fatalf("%.300s: %v", text, err)
	}
	return m
}

// at returns what stands at a path of names in an object.
func at(m any, path ...string) any {
	for _, name := range path {
		object, _ := m.(map[string]any)
		m = object[name]
	}
	return m
}
