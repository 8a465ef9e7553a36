package bench

import (
	"context"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/benchtest"
	"callboard/bridge/config"
)

// figures runs a part of the workload with small sizes and returns its figures
// by case and metric.
func figures(t *testing.T, run func(context.Context, Values, func(Result)) error, change Values) map[string]float64 {
	t.Helper()
	v := Values{}
	for _, p := range push().Parameters {
		v[p.Name] = p.Default
	}
	for name, value := range change {
		if _, known := v[name]; !known {
			t.Fatalf("no parameter %s", name)
		}
		v[name] = value
	}
	got := map[string]float64{}
	if err := run(t.Context(), v, func(r Result) { got[r.Case+": "+r.Metric] = r.Value }); err != nil {
		t.Fatal(err)
	}
	return got
}

func between(t *testing.T, got map[string]float64, name string, least, most float64) {
	t.Helper()
	if v, ok := got[name]; !ok || v < least || v > most {
		t.Errorf("%s is %v (there: %v), expected %v to %v", name, v, ok, least, most)
	}
}

func TestPushRobots(t *testing.T) {
	got := figures(t, runRobots, Values{"robots": 20, "robots-time": 500 * time.Millisecond})
	const name = "20 robots, 10 Hz, 181 beams: "
	between(t, got, name+"scans tested", 100, 100)
	between(t, got, name+"notifications received", 10, 10)
	between(t, got, name+"lost to overflow or gaps", 0, 0)
}

// startHere is a startBroker in this process.
func startHere(ctx context.Context, dir string, players []string) (string, func() error, error) {
	c := config.Default()
	c.Broker.ID, c.Broker.Listen, c.Broker.Data = "bench", "127.0.0.1:0", dir
	for i, p := range players {
		c.Players = append(c.Players, config.Player{Address: p, Robot: "r" + string(rune('0'+i))})
	}
	c.Complete()
	if err := c.Validate().Err(); err != nil {
		return "", nil, err
	}
	b, err := bridge.New(bridge.Config{Config: c})
	if err != nil {
		return "", nil, err
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- b.Run(running) }()
	return b.URL(), func() error { cancel(); return <-ended }, nil
}

func TestPushLatency(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		got := figures(t, func(ctx context.Context, v Values, report func(Result)) error {
			return measureLatency(ctx, v, startHere, report)
		}, Values{"latency-robots": 3, "latency-subscribers": 2, "latency-time": 600 * time.Millisecond, "lasting": lasting})
		at := "3 robots, 10 Hz, 2 subscribers: "
		between(t, got, "callboard, "+at+"messages received", 30, 40)
		between(t, got, "callboard, "+at+"latency p50", 10, 1e6)
		if findMosquitto() == "" {
			t.Log("mosquitto is not installed: the broker was measured alone")
			continue
		}
		for _, beside := range []string{"mosquitto", "mosquitto without WebSocket"} {
			between(t, got, beside+", "+at+"messages received", 30, 40)
			between(t, got, beside+", "+at+"latency p50", 10, 1e6)
			between(t, got, "callboard / "+beside+", "+at+"latency p99", 1e-3, 1e3)
		}
	}
}

func TestNotificationTime(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`{"time":0,`:               0,
		`{"time":12,`:              12 * time.Second,
		`{"time":12.5,`:            12*time.Second + 500*time.Millisecond,
		`{"a":1,"time":3.0000001}`: 3*time.Second + 100,
		`{"time":7.123456789012,`:  7*time.Second + 123456789,
	} {
		if got, ok := benchtest.Time([]byte(text)); !ok || got != want {
			t.Errorf("%s gives %v %v, expected %v", text, got, ok, want)
		}
	}
	for _, text := range []string{``, `{"time":`, `{"time":x`, `{"a":1}`} {
		if got, ok := benchtest.Time([]byte(text)); ok {
			t.Errorf("%q gives %v, expected nothing", text, got)
		}
	}
}
