package bridge_test

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rooms says which rooms each room may import beside itself: imports run one
// way, so that the folders are the architecture. The longest prefix counts. What
// may import what within a room, siblings says.
var rooms = map[string][]string{
	"cmd":                     {"bridge", "clients", "sim", "subscribe", "player", "worlds"},
	"bridge":                  {"subscribe", "player", "bridge/few"},
	"bridge/few":              {},
	"bridge/overlay":          {"subscribe/protocol", "bridge/few"},
	"bridge/attach":           {"subscribe/protocol"},
	"bridge/push/callboardv1": {"subscribe/protocol"},
	"bridge/push/ros":         {"subscribe/protocol", "player"},
	"bridge/push/rosbridge":   {"subscribe/protocol", "player"},
	"bridge/push/foxglove":    {"subscribe/protocol"},
	"clients/go":              {"subscribe/protocol", "player/deadline"},
	"clients/conformance":     {},
	"clients/js":              {},
	"clients/python":          {},
	"clients/web":             {"clients/js"},
	"sim":                     {"player/problem"},
	"sim/simdriver":           {"player"},
	"sim/simtest":             {"player", "worlds"},
	"subscribe":               {"player"},
	"subscribe/protocol":      {"player/problem"},
	"player":                  {},
	"worlds":                  {},
}

// siblings says which packages of its own room a package may import, beside
// what all of the room may (shared): none, if it is not listed. Names are
// relative to the room; "." is the package that has the room's name. Packages for
// tests (…test) may import all of their room.
var siblings = map[string]map[string]string{
	"bridge": {
		".":                "adhoc attach beacon config gateway link node overlay pair push robots segment shadow spool standby virtual witness",
		"adhoc":            "overlay",
		"gateway":          "attach config",
		"link":             "link/frame multicast overlay",
		"link/frame":       "overlay",
		"node":             "attach link overlay robots shadow",
		"pair":             "overlay spool standby standby/format",
		"push":             "attach push/callboardv1 push/foxglove push/rosbridge push/rosgraph",
		"push/callboardv1": "attach",
		"push/foxglove":    "attach push/ros push/rosgraph",
		"push/rosbridge":   "attach push/ros push/rosgraph",
		"push/rosgraph":    "attach push/ros robots",
		"robots":           "overlay shadow",
		"segment":          "link",
		"shadow":           "overlay standby",
		"spool":            "overlay",
		"standby":          "overlay",
		"standby/format":   "overlay spool standby",
		"witness":          "link overlay standby standby/format",
	},
	"clients": {
		"go/examples/drive":  "go",
		"go/examples/fleet":  "go",
		"go/examples/follow": "go",
		"go/examples/near":   "go",
		"web":                "js",
	},
	"cmd": {
		"callboard":       "callboard/bench callboard/bench/twins callboard/relay",
		"callboard/bench": "callboard/bench/network callboard/bench/twins",
	},
	"player": {
		"client":    "deadline iface",
		"floorplan": "iface server",
		"foxglove":  "iface",
		"iface":     "xdr",
		"playercfg": "problem/lexer",
		"playerlog": "iface",
		"replay":    "iface run server",
		"run":       "foxglove iface mcap playerlog regular",
		"server":    "deadline iface listener",
	},
	"sim": {
		".":         "worldfile",
		"simdriver": ". worldfile",
	},
	"subscribe": {
		".":         "condition protocol view",
		"condition": "protocol view",
		"query":     ". condition protocol view",
		"protocol":  "protocol/cbor",
		"view":      "protocol",
	},
}

// shared are the packages that all of a room may import: words and tools that
// import nothing else of it.
var shared = map[string]string{
	"bridge": "clock few lograte metric",
	"player": ". problem",
}

// pure rooms know no clock, socket, goroutine or file: values in, values out.
var pure = []string{"player/problem", "player/problem/lexer", "bridge/adhoc", "bridge/few", "bridge/multicast", "bridge/overlay", "bridge/standby", "subscribe", "sim", "player", "player/xdr", "player/iface", "bridge/push/ros"}

// impure are the packages that a pure room may not import.
var impure = []string{"net", "os", "sync", "net/http", "log", "log/slog", "math/rand", "context"}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "callboard/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// room returns the longest listed prefix of a package's path.
func room(path string) string {
	for path = strings.TrimPrefix(path, "callboard/"); path != ""; {
		if _, ok := rooms[path]; ok {
			return path
		}
		cut := strings.LastIndexByte(path, '/')
		if cut < 0 {
			return ""
		}
		path = path[:cut]
	}
	return ""
}

func TestImportsRunOneWay(t *testing.T) {
	all := packages(t)
	if len(all) < 10 {
		t.Fatalf("go list found %d packages only", len(all))
	}
	for _, p := range all {
		from := room(p.ImportPath)
		if from == "" {
			t.Errorf("%s is in no room of the house", p.ImportPath)
			continue
		}
		for _, imported := range p.Imports {
			path, ours := strings.CutPrefix(imported, "callboard/")
			if !ours || path == from || strings.HasPrefix(path, from+"/") {
				continue
			}
			allowed := slices.ContainsFunc(rooms[from], func(r string) bool { return path == r || strings.HasPrefix(path, r+"/") })
			if !allowed && top(path) != top(from) {
				t.Errorf("%s imports %s: %s may import only %v", p.ImportPath, imported, from, rooms[from])
			}
		}
	}
}

// top returns the room of a path that is at the top of the module.
func top(path string) string {
	name, _, _ := strings.Cut(path, "/")
	return name
}

// TestSiblings: within a room, packages import what the table says, and the
// table says no more than they do.
func TestSiblings(t *testing.T) {
	used := map[string]bool{}
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, "callboard/")
		in := top(path)
		may := strings.Fields(siblings[in][within(in, path)])
		for _, imported := range p.Imports {
			other, ours := strings.CutPrefix(imported, "callboard/")
			if !ours || top(other) != in || strings.HasSuffix(path, "test") {
				continue
			}
			name := within(in, other)
			used[path+" "+name] = true
			if all := slices.Contains(strings.Fields(shared[in]), name); all == slices.Contains(may, name) {
				t.Errorf("%s imports %s; within %s it may import %v, and like all there %s", path, other, in, may, shared[in])
			}
		}
	}
	for in, packages := range siblings {
		for name, may := range packages {
			for _, other := range strings.Fields(may) {
				if path := filepath.Join(in, name); !used[path+" "+other] {
					t.Errorf("%s imports %s no more: take it off the list", path, other)
				}
			}
		}
	}
}

// within returns a package's name within its room.
func within(room, path string) string {
	if path == room {
		return "."
	}
	return strings.TrimPrefix(path, room+"/")
}

// TestSharedImportNothing: what all of a room may import imports nothing else of it.
func TestSharedImportNothing(t *testing.T) {
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, "callboard/")
		in := top(path)
		if !slices.Contains(strings.Fields(shared[in]), within(in, path)) {
			continue
		}
		for _, imported := range p.Imports {
			if other, ours := strings.CutPrefix(imported, "callboard/"); ours && top(other) == in {
				t.Errorf("%s imports %s, though all of %s may import it", path, other, in)
			}
		}
	}
}

func TestPureRoomsImportNoWorld(t *testing.T) {
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, "callboard/")
		isPure := slices.Contains(pure, path) || strings.HasPrefix(path, "subscribe/") || path == "sim/worldfile"
		for _, imported := range p.Imports {
			if path == "subscribe/protocol" && imported == "sync" {
				continue // it remembers the fields of types
			}
			if isPure && slices.Contains(impure, imported) {
				t.Errorf("%s is pure but imports %s", p.ImportPath, imported)
			}
		}
	}
}

// wallClock are the files that take a number from the wall clock, or strip a time
// of what counts on monotonically, and what for: never for a deadline or a length
// of time, which somebody who sets the clock would change.
var wallClock = map[string]string{
	"bridge/clock/clock.go":         "the broker's clock is made of it",
	"bridge/gateway/gateway.go":     "the time that replies tell",
	"bridge/link/link.go":           "where the count of dials begins",
	"bridge/push/rosgraph/graph.go": "the time that messages tell",
	"bridge/node/list.go":           "told: since when a link is up",
	"bridge/spool/database.go":      "a file's name",
	"player/client/request.go":      "the time that requests tell",
	"player/run/mcapwriter.go":      "the time that a log tells",
	"player/run/world.go":           "the same",
	"player/server/server.go":       "the time that replies tell",
	"cmd/callboard/patrol.go":       "told: the time of a coverage",
	"bridge/benchtest/arrival.go":   "beside the kernel's stamp of a frame, which is of the wall clock",
}

// TestWallClock: whoever sets the wall clock back or forward moves no deadline.
func TestWallClock(t *testing.T) {
	taken := regexp.MustCompile(`\.((UnixNano|UnixMicro|UnixMilli|Unix)\(\)|Round\(0\))`)
	seen := map[string]bool{}
	for _, room := range []string{"bridge", "player", "clients/go", "subscribe", "sim", "cmd"} {
		err := filepath.WalkDir(filepath.Join("..", room), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
			for i, line := range strings.Split(string(text), "\n") {
				if !taken.MatchString(line) {
					continue
				}
				seen[name] = true
				if wallClock[name] == "" {
					t.Errorf("%s:%d: a number of the wall clock; expected time.Since, or bridge/clock: %s", name, i+1, strings.TrimSpace(line))
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range wallClock {
		if !seen[name] {
			t.Errorf("%s takes nothing of the wall clock any more; take it off the list", name)
		}
	}
}
