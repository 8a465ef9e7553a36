//go:build linux

package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// step is one line of a script: "WHO VERB REST".
type step struct {
	line            int
	who, verb, rest string
}

// readScript reads a script. A line that begins with # is for people.
func readScript(t *testing.T, file string) []step {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var steps []step
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		who, rest, _ := strings.Cut(text, " ")
		s := step{line: n, who: who}
		s.verb, s.rest, _ = strings.Cut(strings.TrimSpace(rest), " ")
		s.rest = strings.TrimSpace(s.rest)
		steps = append(steps, s)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}

type object = map[string]any

// value decodes JSON; nothing is an object without fields.
func value(text string) (any, error) {
	if text == "" {
		return object{}, nil
	}
	var v any
	err := json.Unmarshal([]byte(text), &v)
	return v, err
}

// differs says where what came is not what a pattern expects, "" if it is. Of an
// object it has to have the pattern's fields, null standing for none; "..." stands
// for anything that is there.
func differs(pattern, got any, at string) string {
	switch p := pattern.(type) {
	case object:
		g, is := got.(object)
		if !is {
			return fmt.Sprintf("%s is %s, expected an object", at, shown(got))
		}
		for name, want := range p {
			if d := differs(want, g[name], at+"."+name); d != "" {
				return d
			}
		}
		return ""
	case []any:
		g, is := got.([]any)
		if !is || len(g) != len(p) {
			return fmt.Sprintf("%s is %s, expected %s", at, shown(got), shown(pattern))
		}
		for i := range p {
			if d := differs(p[i], g[i], fmt.Sprintf("%s[%d]", at, i)); d != "" {
				return d
			}
		}
		return ""
	case string:
		if p == "..." && got != nil {
			return ""
		}
	}
	if !reflect.DeepEqual(pattern, got) {
		return fmt.Sprintf("%s is %s, expected %s", at, shown(got), shown(pattern))
	}
	return ""
}

func shown(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

var rangeOf = regexp.MustCompile(`^(?:(\S+) )?(\d+)\.\.(\d+)$`)

// messages are what "> OP REST" sends: one message, or with "SOURCE FROM..TO" in
// place of the object several notifications.
func messages(op, rest string, defaults object) ([]object, error) {
	var fields []object
	if m := rangeOf.FindStringSubmatch(rest); m != nil {
		from, _ := strconv.Atoi(m[2])
		to, _ := strconv.Atoi(m[3])
		for n := from; n <= to; n++ {
			one := object{"seq": n, "time": n}
			if m[1] != "" {
				one["source"] = m[1]
			}
			fields = append(fields, one)
		}
	} else {
		v, err := value(rest)
		one, is := v.(object)
		if err != nil || !is {
			return nil, fmt.Errorf("%q is no object: %v", rest, err)
		}
		fields = []object{one}
	}
	var all []object
	for _, one := range fields {
		m := maps.Clone(defaults)
		m["op"] = op
		maps.Copy(m, one)
		all = append(all, m)
	}
	return all, nil
}

// defaults are the fields that a broker's message has in a script unless it says
// others.
func defaults(op string) object {
	switch op {
	case "welcome":
		return object{"broker": "b1", "session": "one", "heartbeat": 3600, "window": 1024, "brokers": []any{}}
	case "notify":
		return object{"source": "s1", "robot": "r0", "interface": "laser", "index": 0, "time": 1, "subscriptions": []any{object{"id": "near"}}, "reading": object{"min": 0.5}}
	case "subscribed":
		return object{"id": "near", "sources": []any{"s1"}, "robots": 1}
	case "gap":
		return object{"source": "s1", "why": "a test"}
	case "robot":
		return object{"robot": "r0", "source": "s1", "since": 1}
	case "reply":
		return object{"ok": true}
	case "heartbeat":
		return object{"broker": "b1", "time": 1}
	case "task":
		return object{"task": "t1", "queue": "docks", "from": "asker", "left": 60}
	case "error":
		return object{"message": "a test"}
	}
	return object{}
}
