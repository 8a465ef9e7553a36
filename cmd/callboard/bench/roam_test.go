package bench

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/benchtest"
)

func TestMain(m *testing.M) {
	benchtest.ServeIfAsked(bridge.Config{})
	os.Exit(m.Run())
}

// roamValues are the defaults with changes.
func roamValues(change Values) Values {
	v := Values{}
	for _, p := range roam().Parameters {
		v[p.Name] = p.Default
	}
	for name, value := range change {
		v[name] = value
	}
	return v
}

// Whatever the moves: in the simulator they cost the least there is, nothing
// is sent again, and all that is over within one round trip and what the next
// reading lets wait.
func TestRoamSimulator(t *testing.T) {
	got := map[string]float64{}
	v := roamValues(Values{"simulated": 24000, "only": "simulator"})
	if err := runRoam(t.Context(), v, func(r Result) { got[r.Case+": "+r.Metric+" "+r.Unit] = r.Value }); err != nil {
		t.Fatal(err)
	}
	for _, c := range roamCases(6) {
		name := "simulator, " + c.name + ": "
		if got[name+"moves 1"] > 0 {
			between(t, got, name+"messages against the optimum ratio", 1, 1)
			if p99 := got[name+"move to replay complete, p99 round trips"]; p99 > 3 { // 0: none has ended
				t.Errorf("%s%v round trips", name, p99)
			}
		}
		between(t, got, name+"sent again by the source 1", 0, 0)
		between(t, got, name+"notifications 1", 3000, 4000)
	}
}

// With the registry at one broker and at every one, subscribes have their effect.
func TestFirst(t *testing.T) {
	got := map[string]float64{}
	v := Values{"only": "", "most": 2, "samples": 12, "rate": 200.0}
	if err := runFirst(t.Context(), v, servingTest, func(r Result) { got[r.Case+": "+r.Metric+" "+r.Unit] = r.Value }); err != nil {
		t.Fatal(err)
	}
	for _, where := range []string{"one", "every"} {
		for _, programs := range []int{3, 6} {
			between(t, got, fmt.Sprintf("registry at %s broker, %d programs: subscribe to first event, p50 ms", where, programs), 0.01, 5000)
		}
	}
}

// servingTest makes a broker of this program.
func servingTest(file string) (*exec.Cmd, error) {
	return benchtest.Command(file), nil
}

// Through processes nothing is lost, and moves cost what they do in the simulator.
func TestRoamProcesses(t *testing.T) {
	got := map[string]float64{}
	v := roamValues(Values{"brokers": 3, "programs": 4, "notifications": 6000, "delay": 5 * time.Millisecond, "rate": 200.0})
	short := []roamCase{{name: "often", share: 1.5}, {name: "absent", share: 1, away: 200 * time.Millisecond}}
	if err := roamThrough(t.Context(), v, servingTest, short, func(r Result) { got[r.Case+": "+r.Metric+" "+r.Unit] = r.Value }); err != nil {
		t.Fatal(err)
	}
	between(t, got, "processes, often: moves 1", 1, 1000)
	between(t, got, "processes, often: messages (hops) of a move 1", 1, 6)
	between(t, got, "processes, often: sent again by the source 1", 0, 0)
	between(t, got, "processes, absent: moves 1", 1, 1000)
	between(t, got, "processes, all: lost 1", 0, 0)
}
