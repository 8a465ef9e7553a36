package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"callboard/bridge/node"
	"callboard/bridge/robots"

	"github.com/google/go-cmp/cmp"
)

// countsAt is a network in which a robot has sent so many readings, and a client got and
// acknowledged so many notifications.
func countsAt(seconds int, readings, last, num uint64) *counts {
	return countsOf(network{
		brokers: []node.Broker{{ID: "b1", Source: "s", Sessions: []node.Session{{Client: "c1", Attached: true, Subscriptions: 1,
			Sequences: []node.Sequence{{Source: "s", Last: last, Num: num}}}}}},
		robots: []node.Robot{
			{Robot: robots.Robot{Robot: "r10", State: "up", Readings: 1}, Broker: "b1"},
			{Robot: robots.Robot{Robot: "r2", State: "up", Readings: readings, Matched: readings / 2}, Broker: "b1"},
			{Robot: robots.Robot{Robot: "r2", State: "up", Readings: 7}, Broker: "b2", Refused: true},
		},
	}, time.Unix(1000+int64(seconds), 0))
}

// Rates are of what came since the last time; what is not known, or began anew, has none.
func TestLoad(t *testing.T) {
	first, second := countsAt(0, 100, 50, 50), countsAt(2, 120, 80, 65)
	for _, c := range []struct {
		load load
		want string
	}{
		{first.since(nil), `{"robots":[{"robot":"r2","broker":"b1","state":"up","readings":null,"matched":null,"lost":0},{"robot":"r2","broker":"b2","state":"refused","readings":null,"matched":null,"lost":0},{"robot":"r10","broker":"b1","state":"up","readings":null,"matched":null,"lost":0}],` +
			`"clients":[{"client":"c1","broker":"b1","state":"attached","notifications":null,"behind":0,"lag":0,"subscriptions":1}],"subscriptions":[]}`},
		{second.since(first), `{"robots":[{"robot":"r2","broker":"b1","state":"up","readings":10,"matched":5,"lost":0},{"robot":"r2","broker":"b2","state":"refused","readings":null,"matched":null,"lost":0},{"robot":"r10","broker":"b1","state":"up","readings":0,"matched":0,"lost":0}],` +
			`"clients":[{"client":"c1","broker":"b1","state":"attached","notifications":15,"behind":15,"lag":1,"subscriptions":1}],"subscriptions":[]}`},
		{countsAt(3, 5, 6, 6).since(second), `{"robots":[{"robot":"r2","broker":"b1","state":"up","readings":null,"matched":null,"lost":0},{"robot":"r2","broker":"b2","state":"refused","readings":null,"matched":null,"lost":0},{"robot":"r10","broker":"b1","state":"up","readings":0,"matched":0,"lost":0}],` +
			`"clients":[{"client":"c1","broker":"b1","state":"attached","notifications":null,"behind":0,"lag":0,"subscriptions":1}],"subscriptions":[]}`},
	} {
		got, err := json.Marshal(c.load)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

// Where there is no room for all, each table has the same, and what one does not need
// the others get.
func TestShareOut(t *testing.T) {
	parts := []part{{}, {}, {}}
	for i, n := range []int{10, 1, 4} {
		for range n {
			parts[i].table.add("x")
		}
	}
	for rows, want := range map[int][]int{-3: {1, 1, 1}, 4: {2, 1, 1}, 9: {4, 1, 4}, 12: {7, 1, 4}, 99: {10, 1, 4}} {
		if diff := cmp.Diff(want, shareOut(rows, parts)); diff != "" {
			t.Errorf("%d rows: %s", rows, diff)
		}
	}
}

func TestFitFields(t *testing.T) {
	s := style{on: true}
	fields := []string{s.bold("r0"), s.dim("laser:0"), "1.000", s.dim("min=") + "0.4"}
	for width, want := range map[int]string{0: "r0 laser:0 1.000 min=0.4", 24: "r0 laser:0 1.000 min=0.4", 23: "r0 laser:0 1.000 …", 18: "r0 laser:0 1.000 …", 17: "r0 laser:0 …", 4: "r0 …", 2: "r0", 1: "…"} {
		if got := colouring.ReplaceAllString(fitFields(fields, width), ""); got != want {
			t.Errorf("%d: %q, expected %q", width, got, want)
		}
	}
	if got := fitFields(fields, 0); got != strings.Join(fields, " ") {
		t.Errorf("%q", got)
	}
}
