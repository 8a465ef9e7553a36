package bench

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"callboard/bridge"
	"callboard/bridge/config"
)

// tasksHere is a startTasks in this process.
func tasksHere(ctx context.Context, path string) (*broker, error) {
	c, problems := config.Load(path, nil)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	b, err := bridge.New(bridge.Config{Config: c})
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- b.Run(running) }()
	return &broker{url: b.URL(), stop: func() error { cancel(); return <-ended }}, nil
}

// TestBenchTasks: each part has all its figures, all is answered right and in order; and
// beside nats-server, which is built of its module, also what that does.
func TestBenchTasks(t *testing.T) {
	names, parts := []string{declaredName, passingName, socketsName}, []string{"crowd", "large", "order", "hang"}
	if !testing.Short() {
		parts = append(parts, "callers")
		names = append(names, jetStreamName, natsName)
		out, err := exec.CommandContext(t.Context(), "go", "tool", "-n", "nats-server").Output()
		if err != nil {
			t.Fatalf("building nats-server: %v", err)
		}
		t.Setenv("PATH", filepath.Dir(strings.TrimSpace(string(out)))+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
	for _, part := range parts {
		t.Run(part, func(t *testing.T) {
			v := Values{"only": part, "rounds": 1, "crowd": 300}
			got := map[string]float64{}
			if err := measureTasks(t.Context(), v, tasksHere, func(r Result) { got[r.Case+": "+r.Metric] = r.Value }); err != nil {
				t.Fatal(err)
			}
			wanted := map[string][]string{
				"callers": {", 100 at once, 256 B: answered right", ", 5,000 at once, 256 B: answered right"},
				"crowd":   {", 300 at once, 256 B: answered right"},
				"large":   {", 20 at once, 1 MiB: answered right"},
				"order":   {", 1,000 over one connection: served in order", ", 1,000 over one connection: answered in order"},
			}[part]
			for _, name := range names {
				for _, what := range wanted {
					between(t, got, name+what, 100, 100)
				}
			}
			if part == "hang" {
				between(t, got, "declared, 4 servers, one more hangs / none: p99", 0.01, 100)
				between(t, got, "passing, 4 servers, one more hangs / none: p99", 0.01, 100)
			}
			if part == "callers" {
				between(t, got, "declared / JetStream, 1,000 at once, 256 B: requests", 0.001, 1000)
				between(t, got, "passing / NATS, 1,000 at once, 256 B: processor time", 0.001, 1000)
			}
		})
	}
}
