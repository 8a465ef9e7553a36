package bridge_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// rooms says which rooms each room may import beside itself: imports run one
// way, so that the folders are the architecture. The longest prefix counts.
var rooms = map[string][]string{
	"cmd":                {"bridge", "clients", "sim", "subscribe", "player", "worlds"},
	"bridge":             {"subscribe", "player"},
	"bridge/overlay":     {"subscribe/protocol"},
	"clients/go":         {"subscribe/protocol"},
	"clients/web":        {},
	"sim":                {},
	"sim/simdriver":      {"player"},
	"subscribe":          {"player"},
	"subscribe/protocol": {},
	"player":             {},
	"worlds":             {},
}

// pure rooms know no clock, socket, goroutine or file: values in, values out.
var pure = []string{"bridge/overlay", "subscribe", "sim", "player", "player/xdr", "player/iface"}

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

// room gives the longest listed prefix of a package's path.
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
			// A package deep in a room may use the room's own packages.
			top, _, _ := strings.Cut(from, "/")
			sibling := strings.HasPrefix(path, top+"/") || path == top
			if !allowed && !(sibling && from != "bridge/overlay" && from != "subscribe/protocol" && from != "clients/go") {
				t.Errorf("%s imports %s: %s may import only %v", p.ImportPath, imported, from, rooms[from])
			}
		}
	}
}

func TestPureRoomsImportNoWorld(t *testing.T) {
	for _, p := range packages(t) {
		path := strings.TrimPrefix(p.ImportPath, "callboard/")
		isPure := slices.Contains(pure, path) || strings.HasPrefix(path, "subscribe/") || path == "sim/worldfile"
		for _, imported := range p.Imports {
			if isPure && slices.Contains(impure, imported) {
				t.Errorf("%s is pure but imports %s", p.ImportPath, imported)
			}
		}
	}
}
