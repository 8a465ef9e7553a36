package bridge_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/bridge/metric/metrictest"
	"callboard/player/playertest"
	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

func scrape(t *testing.T, b *bridge.Bridge) []metrictest.Family {
	t.Helper()
	response, err := http.Get(b.URL() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	families, err := metrictest.Parse(string(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return families
}

// sum adds up all samples of a name.
func sum(families []metrictest.Family, name string) (n float64) {
	for _, f := range families {
		for _, s := range f.Samples {
			if s.Name == name {
				n += s.Value
			}
		}
	}
	return n
}

// TestMetrics: what operators build upon (names, types, labels, help) is as
// testdata/metrics.txt has it, and two brokers in a process count for
// themselves.
func TestMetrics(t *testing.T) {
	names := []string{`r"0`, `r"1`}
	start := func(players ...config.Player) *bridge.Bridge {
		c := config.Default()
		c.Broker.ID, c.Broker.Listen, c.Broker.Data, c.Gateway.Listen = "b1", "127.0.0.1:0", t.TempDir(), "127.0.0.1:0"
		c.Players = players
		return startAs(t, bridge.Config{Config: c})
	}
	ranger, err := playertest.Load("../testdata/captures", "c_ranger_push")
	if err != nil {
		t.Fatal(err)
	}
	busy := start(
		config.Player{Address: playertest.Fake(t, playertest.Good).Addr(), Robot: names[0]},
		config.Player{Address: playertest.Play(t, ranger, playertest.Options{Open: opened(ranger)}).Addr(), Robot: names[1]})
	idle := start()

	c := attach(t, busy)
	subscribe(t, c, protocol.Subscription{ID: "a", Condition: "position.x >= 0"})
	flows(t, c, names[0], 3)
	if _, err := c.Subscribe(context.Background(), protocol.Subscription{ID: "b", Condition: "1 +"}); err == nil {
		t.Error("a condition that ends too early was taken")
	}
	c.Close()
	foreign, err := http.NewRequest("GET", busy.URL()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	foreign.Host = "robots.example"
	if response, err := http.DefaultClient.Do(foreign); err != nil || response.StatusCode != 403 {
		t.Errorf("a foreign host's request: %v %v", response, err)
	} else {
		response.Body.Close()
	}

	var families []metrictest.Family
	until(t, "what comes by itself", func() bool {
		families = scrape(t, busy)
		return sum(families, "callboard_push_closed_total") > 0 && sum(families, "callboard_robots_messages_skipped_total") > 0
	})
	var got strings.Builder
	for _, f := range families {
		if f.Type != "untyped" { // not Go's and the process's
			fmt.Fprintf(&got, "%s %s {%s} %s\n", f.Name, f.Type, strings.Join(f.Labels, ","), f.Help)
		}
		for _, s := range f.Samples {
			if name, ok := s.Labels["robot"]; ok && !slices.Contains(names, name) {
				t.Errorf("%s is of robot %q", s.Name, name)
			}
		}
	}
	want, err := os.ReadFile("testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	others := scrape(t, idle)
	for _, name := range []string{
		"callboard_overlay_readings_total", "callboard_push_messages_received_total", "callboard_push_notifications_total",
		"callboard_push_delivery_seconds_count", "callboard_push_refused_total", "callboard_robots_readings_total",
	} {
		if sum(families, name) == 0 || sum(others, name) != 0 {
			t.Errorf("%s: %v, and %v at the idle broker", name, sum(families, name), sum(others, name))
		}
	}
}
