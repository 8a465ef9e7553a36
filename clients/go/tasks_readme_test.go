package callboard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	callboard "callboard/clients/go"
)

// TestReadmeTasks runs what the README shows of tasks: two robots that ask for a dock,
// and a camera that three programs share.
func TestReadmeTasks(t *testing.T) {
	url := startBroker(t)
	client := dialTasks(t, url, "dock")
	drive := func(_ context.Context, robot string) error {
		if robot == "r9" {
			return errors.New("no such robot")
		}
		return nil
	}
	dock, err := client.Serve("docks", func(ctx context.Context, t *callboard.Task) (any, error) {
		var robot string
		if err := json.Unmarshal(t.Body, &robot); err != nil {
			return nil, err
		}
		t.Progress("on its way")
		return "docked", drive(ctx, robot) // an error is the answer, too
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.List(t.Context(), "brokers"); err != nil { // the broker has its serve
		t.Fatal(err)
	}
	robot := func(client *callboard.Client) (json.RawMessage, error) {
		ctx := t.Context()
		answer, err := client.Request(ctx, callboard.Request{Queue: "docks", Body: "r2", TTL: 5 * time.Minute})
		return answer, err
	}
	for i := range 2 {
		if answer, err := robot(dialTasks(t, url, fmt.Sprint("robot", i))); err != nil || string(answer) != `"docked"` {
			t.Errorf("%s, %v; expected docked", answer, err)
		}
	}
	if _, err := client.Request(t.Context(), callboard.Request{Queue: "docks", Body: "r9"}); err == nil || !strings.Contains(err.Error(), "no such robot") {
		t.Errorf("%v; expected the server's error", err)
	}
	if err := dock.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	take := func(_ context.Context, t *callboard.Task) (any, error) { return "a picture for " + t.From, nil }
	if _, err := client.ServeMany("pictures", 2, take); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		name := fmt.Sprint("viewer", i)
		answer, err := dialTasks(t, url, name).Request(t.Context(), callboard.Request{Queue: "pictures"})
		if want := fmt.Sprintf(`"a picture for %s"`, name); err != nil || string(answer) != want {
			t.Errorf("%s, %v; expected %s", answer, err, want)
		}
	}
}

// TestReadmeShowsThat: what stands there is what TestReadmeTasks runs, to the letter.
func TestReadmeShowsThat(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.ReadFile("tasks_readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	unindented := regexp.MustCompile(`(?m)^\t+`)
	for _, m := range regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(readme), -1) {
		if strings.Contains(m[1], "client.Serve(") || strings.Contains(m[1], "client.Request(") {
			shown++
			if !strings.Contains(unindented.ReplaceAllString(string(here), ""), unindented.ReplaceAllString(m[1], "")) {
				t.Errorf("no test runs this:\n%s", m[1])
			}
		}
	}
	if text := "`client.ServeMany(\"pictures\", 2, take)`"; shown != 2 || !strings.Contains(string(readme), text) {
		t.Errorf("the README has %d snippets of tasks, expected 2, and %s", shown, text)
	}
}
