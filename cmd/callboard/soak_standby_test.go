//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"callboard/bridge/benchtest"
	"callboard/bridge/config"
	"callboard/cmd/callboard/bench/twins"
	"callboard/subscribe/protocol"
)

// TestStandbySoak has all happen to pairs of brokers, one thing after the other, for as
// long as CALLBOARD_SOAK_STANDBY says, half with a witness and half without: processes
// that are killed, that stand still, that are told to switch; power cuts, which the end
// of a store does not survive; full disks; both sides at once. Programs lose nothing
// and get nothing twice, but for what they are told of.
func TestStandbySoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("CALLBOARD_SOAK_STANDBY"))
	if err != nil {
		t.Skip("CALLBOARD_SOAK_STANDBY says how long: 30m")
	}
	seed := uint64(1)
	for _, witness := range []bool{true, false} {
		t.Run(fmt.Sprintf("witness %v", witness), func(t *testing.T) { soakStandby(t, witness, length/2, seed) })
	}
}

// standbyFault is one kind of trouble. It returns what mends it.
type standbyFault struct {
	name string
	do   func(p *standbySoak, active int) (mend func() error, err error)
}

// standbySoak is a pair that is troubled.
type standbySoak struct {
	*twins.Twins
	programs []*twins.Program
	full     bool // processes that are started have a full disk
}

func (p *standbySoak) again(i int) func() error { return p.Sides[i].Start }

var standbyFaults = []standbyFault{
	{"kill active", func(p *standbySoak, a int) (func() error, error) { return p.again(a), p.Sides[a].Kill() }},
	{"kill standby", func(p *standbySoak, a int) (func() error, error) { return p.again(1 - a), p.Sides[1-a].Kill() }},
	{"switch", func(p *standbySoak, a int) (func() error, error) {
		return func() error { return nil }, p.Sides[a].Switch()
	}},
	{"freeze active", func(p *standbySoak, a int) (func() error, error) {
		return func() error { return p.Sides[a].Signal(syscall.SIGCONT) }, p.Sides[a].Signal(syscall.SIGSTOP)
	}},
	{"freeze standby", func(p *standbySoak, a int) (func() error, error) {
		return func() error { return p.Sides[1-a].Signal(syscall.SIGCONT) }, p.Sides[1-a].Signal(syscall.SIGSTOP)
	}},
	{"power cut of active", func(p *standbySoak, a int) (func() error, error) {
		err := p.Sides[a].Kill()
		return p.again(a), firstError(err, cutPower(p.Sides[a].Data()))
	}},
	{"both killed", func(p *standbySoak, a int) (func() error, error) {
		err := firstError(p.Sides[a].Kill(), p.Sides[1-a].Kill())
		for _, one := range p.programs {
			one.Unread()
		}
		return func() error { return firstError(p.Sides[0].Start(), p.Sides[1].Start()) }, err
	}},
	{"full disk of standby", func(p *standbySoak, a int) (func() error, error) {
		if err := p.Sides[1-a].Kill(); err != nil {
			return nil, err
		}
		p.full = true
		err := p.Sides[1-a].Start()
		p.full = false
		return func() error { return firstError(p.Sides[1-a].Kill(), p.Sides[1-a].Start()) }, err
	}},
}

// cutPower takes away what a machine that loses its power may not have on its disk: the
// tails' ends, and that the store was of this boot.
func cutPower(data string) error {
	tails, err := filepath.Glob(filepath.Join(data, "tail-*"))
	if err != nil {
		return err
	}
	for _, tail := range tails {
		info, err := os.Stat(tail)
		if err != nil {
			return err
		}
		if err := os.Truncate(tail, info.Size()/2); err != nil {
			return err
		}
	}
	return os.Remove(filepath.Join(data, "marker")) // without it the store has lost its end
}

func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func soakStandby(t *testing.T, witness bool, length time.Duration, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 7))
	ctx, cancel := context.WithTimeout(t.Context(), length+5*time.Minute)
	defer cancel()
	fleet, err := benchtest.NewFleetOn(2, 20, func(int) (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") })
	if err != nil {
		t.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- fleet.Run(running) }()
	defer func() { stop(); <-ended }()
	p := &standbySoak{}
	var players []config.Player
	for i, one := range fleet.Players() {
		one.Address, one.Robot = fleet.Addresses()[i], fleet.Robot(i)
		players = append(players, one)
	}
	p.Twins, err = twins.Start(twins.Config{Dir: t.TempDir(), Players: players, Witness: witness, Heartbeat: 100 * time.Millisecond, Command: p.command})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for i := range 4 {
		one, err := p.NewProgram(ctx, fmt.Sprint("program-", i), 1, protocol.Subscription{ID: "all", Condition: "laser.min < 100"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer one.Close()
		p.programs = append(p.programs, one)
	}
	go func() {
		ticks := time.NewTicker(10 * time.Millisecond)
		defer ticks.Stop()
		for n := 1; running.Err() == nil; n++ {
			<-ticks.C
			for r := range 2 {
				fleet.Publish(r, true, float64(n))
			}
		}
	}()
	happened := map[string]int{}
	for began := time.Now(); time.Since(began) < length; {
		within, cancel := context.WithTimeout(ctx, 2*time.Minute)
		active, err := p.Whole(within)
		cancel()
		if err != nil {
			t.Fatalf("after %v: %v", happened, err)
		}
		fault := standbyFaults[random.IntN(len(standbyFaults))]
		happened[fault.name]++
		mend, err := fault.do(p, active)
		if err != nil {
			t.Fatalf("%s: %v", fault.name, err)
		}
		select { // it lasts for a while
		case <-time.After(time.Duration(random.IntN(2000)) * time.Millisecond):
		case <-ctx.Done():
		}
		if err := mend(); err != nil {
			t.Fatalf("%s is not mended: %v", fault.name, err)
		}
	}
	within, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if _, err := p.Whole(within); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // what is told beside readings may come after them
	var all twins.Counts
	for _, one := range p.programs {
		c := one.Now()
		all.Readings, all.Declared = all.Readings+c.Readings, all.Declared+c.Declared
		if c.Bad() > 0 {
			t.Errorf("a program has got %+v", c)
		}
	}
	t.Logf("%v: %d readings came, %d times something was declared; %v", length, all.Readings, all.Declared, happened)
}

// command makes the process of a side. Where the disk is full no file grows beyond
// 64 KiB.
func (p *standbySoak) command(config string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"callboard", "serve", "--config", config, "--log-level", "error"}
	if p.full {
		script := "ulimit -f 64; trap '' XFSZ; exec -a callboard \"$0\" " + strings.Join(args[1:], " ")
		return &exec.Cmd{Path: "/bin/bash", Args: []string{"bash", "-c", script, program}}, nil
	}
	return &exec.Cmd{Path: program, Args: args}, nil
}
