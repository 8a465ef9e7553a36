package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTable(t *testing.T) {
	made := table{headings: []string{"NAME", "N", "WHAT"}, right: numbers(1)}
	made.add("b", "7", "one two")
	made.add("ä", "1000", "-")
	var aligned, piped, lines strings.Builder
	made.print(&aligned, style{}, 0)
	made.printTabs(&piped)
	made.lines(&lines, "thing")
	for _, c := range [][2]string{
		{aligned.String(), "NAME     N  WHAT\nb        7  one two\nä     1000  -\n"},
		{piped.String(), "NAME\tN\tWHAT\nb\t7\tone two\nä\t1000\t-\n"},
		{lines.String(), "thing b n=7 what=\"one two\"\nthing ä n=1000 what=-\n"},
	} {
		if diff := cmp.Diff(c[1], c[0]); diff != "" {
			t.Error(diff)
		}
	}
}

func TestStatus(t *testing.T) {
	var out strings.Builder
	p := &program{stdout: &out, getenv: func(string) string { return "" }}
	err := p.printStatus(lists{
		Brokers: json.RawMessage(`[{"id":"b1","url":"ws://x/ws","robots":2,"up":1,"clients":2,"attached":1,"subscriptions":3,"waiting":4,"memory":123456789,"memory_limit":8000000000,"disk":2500000,"disk_limit":8000000000,"gave_way":1,"links":["b2","b3"],"here":true,"source":"b1.7","registry":"b1","lost":2,"route_count":1,
			"neighbours":[{"id":"b2","up":true,"since":1,"sent":12345,"received":7,"compressed":true,"cost":1.25,"segment":{"group":"239.1.2.3:5","multicast":true,"since":1}},{"id":"b3","up":false,"problem":"connection refused","segment":{"multicast":false,"why":"it lost too much"}},{"id":"b4","up":false}],
			"sessions":[{"client":"c1","attached":true,"remote":"127.0.0.1:5","subscriptions":2,"sequences":[{"source":"b1.7","num":5,"last":9,"waiting":1}]},{"client":"","attached":true,"subscriptions":0}],
			"routes":[{"client":"c2","source":"b1.7","from":"b1","down":"b2","up":"","num":3},{"client":"c3","source":"b3.1","from":"b3","down":"b1","up":"","num":0}]},
			{"id":"b2","url":"ws://y/ws","links":["b1"],"source":"b2.1","registry":"b1","neighbours":[{"id":"b1","up":true}],
			"sessions":[{"client":"c2","attached":false,"since":1,"subscriptions":1,"sequences":[]}],
			"routes":[{"client":"c2","source":"b1.7","from":"b1","down":"b2","up":"b1","num":4}]},
			{"id":"b3","url":"","links":[],"here":false,"error":"out of reach"}]`),
		Robots: json.RawMessage(`[
			{"robot":"r0","state":"up","since":1,"player":"127.0.0.1:6665","gateway":"127.0.0.1:7000","broker":"b1","world":"cave","devices":[{"interface":"laser","index":0,"gateway_index":0},{"interface":"ranger","index":3,"gateway_index":1,"silent":1}],"readings":10,"matched":2,"lost":0},
			{"robot":"r1","state":"away","since":0,"player":"x:6665","gateway":"127.0.0.1:7001","broker":"b1","devices":[],"error":"connection refused"},
			{"robot":"r2","state":"away","since":0,"player":"y:1","gateway":"127.0.0.1:7001","gateway_index":1,"broker":"b1","devices":[]},
			{"robot":"r3","state":"away","since":0,"player":"y:1","broker":"b1","devices":[]}]`),
		Subscriptions: json.RawMessage(`[
			{"client":"c1","id":"far","condition":"laser.min > 7","attached":true,"remote":"127.0.0.1:5","broker":"b1","matching":2,"sequences":[{"source":"s","num":5,"last":9}]},
			{"client":"c1","id":"near","condition":"laser.min < 1","robots":["r*"],"trigger":"rising","for":0.5,"keep":"latest","attached":true,"remote":"127.0.0.1:5","broker":"b1","matching":1,"sequences":[{"source":"s","num":5,"last":9}]},
			{"client":"","id":"x","condition":"true","attached":true,"remote":"127.0.0.1:6","broker":"b1","sequences":[]}]`),
	}, shown{routes: true})
	if err != nil {
		t.Fatal(err)
	}
	want := `summary brokers=3 silent=1 robots=4 away=3 clients=2 clients_away=1 subscriptions=3 waiting=4 lost=2 registry=b1
broker b1 url=ws://x/ws robots=2 up=1 clients=2 attached=1 subscriptions=3 routes=1 waiting=4 lost=2 memory=123MB/8.0GB disk=2.5MB/8.0GB links=b2,b3 note="here,registry,inboxes gave way"
broker b2 url=ws://y/ws robots=0 up=0 clients=0 attached=0 subscriptions=0 routes=0 waiting=0 lost=0 memory=- disk=- links=b1 note=-
broker b3 url=- robots=- up=- clients=- attached=- subscriptions=- routes=- waiting=- lost=- memory=- disk=- links=- note="out of reach"
link b1-b2 state=up for=` + ago(time.Now(), 1) + ` sent=12.3kB received=7B waiting=0B compressed=true cost=1.25 multicast="for ` + ago(time.Now(), 1) + `" problem=-
link b1-b3 state=down for=- sent=0B received=0B waiting=0B compressed=false cost=- multicast="no: it lost too much" problem="connection refused"
link b1-b4 state=down for=- sent=0B received=0B waiting=0B compressed=false cost=- multicast=- problem=-
robot r0 state=up for=` + ago(time.Now(), 1) + ` broker=b1 player=127.0.0.1:6665 gateway=127.0.0.1:7000 world=cave readings=10 matched=2 lost=0 devices="laser:0 ranger:3 (gateway 1) (silent for ` + ago(time.Now(), 1) + `)"
robot r1 state=away for=- broker=b1 player=x:6665 gateway="127.0.0.1:7001 index 0" world=- readings=0 matched=0 lost=0 devices="connection refused"
robot r2 state=away for=- broker=b1 player=y:1 gateway="127.0.0.1:7001 index 1" world=- readings=0 matched=0 lost=0 devices=-
robot r3 state=away for=- broker=b1 player=y:1 gateway=- world=- readings=0 matched=0 lost=0 devices=-
client c1 broker=b1 state=attached address=127.0.0.1:5 subscriptions=2 sources=1 notifications=9 unacknowledged=4 waiting=1
client c2 broker=b2 state=away address=- subscriptions=1 sources=0 notifications=0 unacknowledged=0 waiting=0
subscription - id=x robots=* matching=0 options=- condition=true
subscription c1 id=far robots=* matching=2 options=- condition="laser.min > 7"
subscription c1 id=near robots=r* matching=1 options=rising,for=0.5,latest condition="laser.min < 1"
route c2 source=b1.7 acknowledged=4 path=b1→b2
route c3 source=b3.1 acknowledged=0 path=b3→…
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestAgo(t *testing.T) {
	now := time.Unix(1000000, 0)
	for since, want := range map[float64]string{0: "-", 999999.5: "0s", 999941: "59s", 999900: "1m", 992800: "2h", 700000: "3d", 1000009: "0s"} {
		if got := ago(now, since); got != want {
			t.Errorf("%v: %s, expected %s", since, got, want)
		}
	}
}

func TestTableFits(t *testing.T) {
	made := table{headings: []string{"NAME", "N", "EMPTY", "M", "WHAT"}, right: numbers(1, 3), spare: []int{3, 2}}
	made.add("r10", "7", "-", "123456", "a text that is rather long")
	made.add("r2", "1000", "-", "1", "-")
	made.sort()
	for _, c := range []struct {
		width int
		want  string
		left  []string
	}{
		{0, "NAME     N  EMPTY       M  WHAT\nr2    1000  -           1  -\nr10      7  -      123456  a text that is rather long\n", nil},
		{51, "NAME     N       M  WHAT\nr2    1000       1  -\nr10      7  123456  a text that is rather long\n", []string{"EMPTY"}},
		{30, "NAME     N  WHAT\nr2    1000  -\nr10      7  a text that is …\n", []string{"EMPTY", "M"}},
		{10, "NAME     …\nr2    …\nr10      …\n", []string{"EMPTY", "M"}},
	} {
		var out strings.Builder
		left := made.print(&out, style{}, c.width)
		if diff := cmp.Diff(c.want, out.String()) + cmp.Diff(c.left, left); diff != "" {
			t.Errorf("%d characters: %s", c.width, diff)
		}
	}
}

func TestNatural(t *testing.T) {
	for _, c := range [][2]string{{"r2", "r10"}, {"a", "b"}, {"r", "r1"}, {"r01", "r2"}, {"r01", "r1"}, {"127.0.0.1:9", "127.0.0.1:10"}, {"x9y", "x9z"}, {"", "0"}} {
		if natural(c[0], c[1]) >= 0 || natural(c[1], c[0]) <= 0 || natural(c[0], c[0]) != 0 {
			t.Errorf("%q is not before %q", c[0], c[1])
		}
	}
}

func TestStatusOfSomeRobots(t *testing.T) {
	l := lists{Robots: json.RawMessage(`[{"robot":"r1"},{"robot":"r10"},{"robot":"r2"}]`),
		Subscriptions: json.RawMessage(`[{"id":"all"},{"id":"one","robots":["r2"]},{"id":"tens","robots":["r?0"]}]`)}
	if err := l.keep("r1*"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(`[{"robot":"r1"},{"robot":"r10"}]`, string(l.Robots)) + cmp.Diff(`[{"id":"all"},{"id":"tens","robots":["r?0"]}]`, string(l.Subscriptions)); diff != "" {
		t.Error(diff)
	}
}
