package bridge_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"callboard/bridge/config"
	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
)

// updates hands on what a program gets of a blackboard.
type updates struct {
	up  chan struct{}
	got chan iface.BlackboardEntry
}

func (u *updates) Up([]client.Device)    { u.up <- struct{}{} }
func (u *updates) Changed(client.Device) {}
func (u *updates) Round()                {}
func (u *updates) Overflow(uint64)       {}
func (u *updates) Down(error)            {}
func (u *updates) Message(_ player.Header, payload any) {
	if e, ok := payload.(*iface.BlackboardEntry); ok {
		u.got <- *e
	}
}

// TestConditionsOfPlayerPrograms: a program that knows nothing but Player subscribes
// to a condition, and is told when it becomes true.
func TestConditionsOfPlayerPrograms(t *testing.T) {
	b := simulated(t, func(c *config.Config) { c.Gateway.Listen = "127.0.0.1:0" }, "r0")
	u := &updates{make(chan struct{}, 10), make(chan iface.BlackboardEntry, 10)}
	c, err := client.New(client.Config{
		Address: b.GatewayPorts()[0].Address, Handler: u, Open: func(a player.Addr) bool { return a.Interf == player.InterfaceBlackboard },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	defer func() { cancel(); <-done }()
	<-u.up
	board := player.Addr{Interf: player.InterfaceBlackboard}
	ask := func(subtype uint8, key string) error {
		entry := &iface.BlackboardEntry{Key: iface.CString(key), Group: iface.CString("callboard")}
		return c.Request(ctx, board, subtype, entry, entry)
	}
	if err := ask(iface.ReqBlackboardSubscribeToKey, "laser.mim < 1"); err == nil {
		t.Error("a condition that is none was taken")
	}
	if err := ask(iface.ReqBlackboardSubscribeToKey, "laser.min < 100 and position.x < 1"); err != nil {
		t.Fatal(err)
	}
	select {
	case e := <-u.got:
		var told struct {
			Robot  string
			Time   float64
			Values map[string]float64
		}
		if err := json.Unmarshal([]byte(iface.GoString(string(e.Data))), &told); err != nil || told.Robot != "r0" || told.Time <= 0 ||
			!near(told.Values["laser.min"], 2.8) || told.Values["position.x"] != 0 || len(told.Values) != 2 {
			t.Errorf("told %s (%v)", e.Data, err)
		}
	case <-time.After(patience):
		t.Fatal("no update")
	}
}
