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
	made.print(&aligned, style{}, true)
	made.print(&piped, style{}, false)
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
		Brokers: json.RawMessage(`[{"id":"b1","url":"ws://x/ws","robots":2,"up":1,"clients":2,"attached":1,"subscriptions":3,"waiting":4,"links":["b2","b3"],"here":true}]`),
		Robots: json.RawMessage(`[
			{"robot":"r0","state":"up","since":1,"player":"127.0.0.1:6665","broker":"b1","world":"cave","devices":[{"interface":"laser","index":0}],"readings":10,"matched":2,"lost":0},
			{"robot":"r1","state":"away","since":0,"player":"x:6665","broker":"b1","devices":[],"error":"connection refused"}]`),
		Subscriptions: json.RawMessage(`[
			{"client":"c1","id":"far","condition":"laser.min > 7","attached":true,"remote":"127.0.0.1:5","matching":2,"sequences":[{"source":"s","num":5,"last":9}]},
			{"client":"c1","id":"near","condition":"laser.min < 1","robots":["r*"],"trigger":"rising","for":0.5,"keep":"latest","attached":true,"remote":"127.0.0.1:5","matching":1,"sequences":[{"source":"s","num":5,"last":9}]},
			{"client":"","id":"x","condition":"true","attached":true,"remote":"127.0.0.1:6","sequences":[]}]`),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `broker b1 url=ws://x/ws robots=2 up=1 clients=2 attached=1 subscriptions=3 waiting=4 links=b2,b3
robot r0 state=up for=` + ago(time.Now(), 1) + ` broker=b1 player=127.0.0.1:6665 world=cave readings=10 matched=2 lost=0 devices=laser:0
robot r1 state=away for=- broker=b1 player=x:6665 world=- readings=0 matched=0 lost=0 devices="connection refused"
client - state=attached address=127.0.0.1:6 subscriptions=1 notifications=0 unacknowledged=0
client c1 state=attached address=127.0.0.1:5 subscriptions=2 notifications=9 unacknowledged=4
subscription - id=x robots=* matching=0 options=- condition=true
subscription c1 id=far robots=* matching=2 options=- condition="laser.min > 7"
subscription c1 id=near robots=r* matching=1 options=rising,for=0.5,latest condition="laser.min < 1"
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
