package problem

import (
	"strings"
	"testing"
)

func TestError(t *testing.T) {
	for want, p := range map[string]Problem{
		"a.cfg:2:3: wrong":              {Place: Place{"a.cfg", 2, 3}, Message: "wrong"},
		"a.cfg:2:3: warning: odd":       {Place: Place{"a.cfg", 2, 3}, Warning: true, Message: "odd"},
		"a.cfg: cannot be read":         {Place: Place{File: "a.cfg"}, Message: "cannot be read"},
		"a.mcap: byte 0: cut":           {Place: Place{File: "a.mcap"}, Binary: true, Message: "cut"},
		"a.mcap: byte 9: bad (at 2)":    {Place: Place{File: "a.mcap"}, Binary: true, Offset: 9, Message: "bad", Detail: "at 2"},
		"broker.id: is missing":         {Key: "broker.id", Message: "is missing"},
		"a.toml:1:1: broker.id: is bad": {Place: Place{"a.toml", 1, 1}, Key: "broker.id", Message: "is bad"},
	} {
		if got := p.Error(); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// Problems of several files come file by file, in the order in which the files
// were opened, and in each by place.
func TestSort(t *testing.T) {
	var l List
	for _, at := range []Place{{"b", 2, 1}, {"a", 3, 1}, {"b", 1, 9}, {"a", 1, 2}, {"b", 1, 2}, {"a", 1, 2}} {
		l.Errorf(at, "%d", len(l))
	}
	l.Sort([]string{"a", "b"})
	var got []string
	for _, p := range l {
		got = append(got, p.Error())
	}
	if got, want := strings.Join(got, ", "), "a:1:2: 3, a:1:2: 5, a:3:1: 1, b:1:2: 4, b:1:9: 2, b:2:1: 0"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

func TestNearest(t *testing.T) {
	known := []string{"position", "LightBlue", "light blue"}
	for name, want := range map[string]string{"positoin": "position", "POSITION": "position", "lightbleu": "LightBlue", "zzz": ""} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, expected %q", name, got, want)
		}
	}
}
