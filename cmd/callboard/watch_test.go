package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"
)

func TestSelection(t *testing.T) {
	for text, want := range map[string][2]string{
		"laser.min":          {"laser.min", "laser.min"},
		" laser.min ":        {"laser.min", "laser.min"},
		"near=laser.min < 1": {"near", "laser.min < 1"},
		"near = a == b":      {"near", "a == b"},
		"a == b":             {"a == b", "a == b"},
		"index==0":           {"index==0", "index==0"},
		"a<=b":               {"a<=b", "a<=b"},
		"a.b=c":              {"a.b=c", "a.b=c"},
		"let x = 1; x":       {"let x = 1; x", "let x = 1; x"},
		"x=":                 {"x", ""},
		"":                   {"", ""},
		"a,b":                {"a,b", "a,b"},
	} {
		if name, expression := selection(text); name != want[0] || expression != want[1] {
			t.Errorf("%q: %q, %q", text, name, expression)
		}
	}
}

func TestCaret(t *testing.T) {
	long := strings.Repeat("laser.min < 1 && ", 20) + "lasr.max > 3"
	for _, c := range []struct {
		text string
		at   protocol.Position
		want string
	}{
		{"laser.min", protocol.Position{Line: 1, Column: 7}, "\n  laser.min\n        ^"},
		{"a\nbß < c", protocol.Position{Line: 2, Column: 4}, "\n  bß < c\n     ^"},
		{"\ta", protocol.Position{Line: 1, Column: 2}, "\n   a\n   ^"},
		{"a", protocol.Position{Line: 1, Column: 99}, "\n  a\n   ^"},
		{"a", protocol.Position{Line: 3, Column: 1}, ""},
		{" ", protocol.Position{Line: 1, Column: 1}, ""},
		{long, protocol.Position{Line: 1, Column: 341}, "\n  " + long[280:] + "\n  " + strings.Repeat(" ", 60) + "^"},
	} {
		if got := caret(c.text, c.at); got != c.want {
			t.Errorf("%q: %s", c.text, got)
		}
	}
}

func TestNotificationLine(t *testing.T) {
	yes := true
	for name, c := range map[string]struct {
		notify protocol.Notify
		want   string
	}{
		"laser": {protocol.Notify{
			Robot: "r0", Interface: "laser", Index: 1, Time: 12.3456, Subscriptions: []protocol.Matched{{ID: "watch"}},
			Reading: json.RawMessage(`{"ranges":[1,2],"count":2,"min":0.4200001,"max":8,"bearing":-1.5707963,"front":null,"left":1e-7,"right":12345678901,"max_range":8,"time":12.3}`),
		}, "r0 laser:1 12.346 min=0.42 bearing=-1.571 front=null left=1e-07 right=12345678901"},
		"position": {protocol.Notify{
			Robot: "r0", Interface: "position2d", Time: 1, Subscriptions: []protocol.Matched{{ID: "watch", State: &yes}},
			Reading: json.RawMessage(`{"x":1,"y":-2.5,"yaw":0,"vx":0.5,"vy":0,"vyaw":0,"speed":0.5,"stall":false,"time":1,"index":0}`),
		}, "r0 position2d:0 1.000 true x=1 y=-2.5 yaw=0 vyaw=0 speed=0.5 stall=false"},
		"marks": {protocol.Notify{
			Robot: "r0", Interface: "fiducial", Time: 1, Subscriptions: []protocol.Matched{{ID: "watch"}},
			Reading: protocol.JSON(protocol.Seal(view.AppendText(nil, &view.Fiducial{Count: 2, ID: 5, Range: 1.5, Bearing: math.NaN(), X: 1, IDs: []float64{5, 6}}))),
		}, "r0 fiducial:0 1.000 count=2 id=5 range=1.5 bearing=null x=1 y=0"},
		"a mark whose id is not known": {protocol.Notify{
			Robot: "r0", Interface: "fiducial", Time: 1, Subscriptions: []protocol.Matched{{ID: "watch", Values: json.RawMessage(`{"ids":[4294967295,-2147483648],"id":4294967295,"all":9007199254740991,"more":1e16,"far":1234567890.5}`)}},
		}, "r0 fiducial:0 1.000 ids=[4294967295 -2147483648] id=4294967295 all=9007199254740991 more=1e+16 far=1.235e+09"},
		"bumpers": {protocol.Notify{
			Robot: "r0", Interface: "bumper", Time: 1, Subscriptions: []protocol.Matched{{ID: "watch"}},
			Reading: json.RawMessage(view.AppendText(nil, &view.Bumper{Any: true, Pressed: 1, First: 2, Count: 3})),
		}, "r0 bumper:0 1.000 any=true pressed=1 first=2 count=3"},
		"selected": {protocol.Notify{
			Robot: "r0", Interface: "laser", Time: 1,
			Subscriptions: []protocol.Matched{{ID: "watch", Values: json.RawMessage(`{"laser.min < 1":true,"all":[1.23456,2,3,4,5,6,7],"few":[1,2,3,4,5,6],"word":"a b","o":{"a": 1},"n":null}`)}},
		}, `r0 laser:0 1.000 "laser.min < 1"=true all=[1.235 2 3 4 5 … 7] few=[1 2 3 4 5 6] word="a b" o={"a":1} n=null`},
	} {
		printer := &notificationPrinter{}
		if got := printer.line(&callboard.Notification{Notify: c.notify}); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestNotificationOnTerminal(t *testing.T) {
	printer := &notificationPrinter{style: style{on: true}}
	line := func(robot string) string {
		return printer.line(&callboard.Notification{Notify: protocol.Notify{Robot: robot, Interface: "laser", Reading: json.RawMessage(`{"min":1}`)}})
	}
	long, short := line("robot-ä"), line("r0")
	if want := "\x1b[1mrobot-ä\x1b[0m \x1b[2mlaser:0\x1b[0m 0.000 \x1b[2mmin=\x1b[0m1"; long != want {
		t.Errorf("got %q", long)
	}
	if want := "\x1b[1mr0     \x1b[0m \x1b[2mlaser:0\x1b[0m"; !strings.HasPrefix(short, want) {
		t.Errorf("got %q", short)
	}
}

func TestAttachmentWords(t *testing.T) {
	over := &callboard.Handover{Took: 12345678}
	for want, e := range map[string]*callboard.Attached{
		"moved from b1 to b2 within 12ms":        {Broker: "b2", Handover: over},
		"attached to b1 again within 12ms":       {Broker: "b1", Handover: over},
		"attached to b1 again, as a new session": {Broker: "b1"},
		"moved from b1 to b2, as a new session":  {Broker: "b2"},
	} {
		if got := attachment(e, "b1"); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
