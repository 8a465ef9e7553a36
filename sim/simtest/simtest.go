// Package simtest serves simulated robots to tests, over Player's protocol.
package simtest

import (
	"context"
	"errors"
	"net"
	"testing"

	"golang.org/x/sync/errgroup"

	"callboard/player/server"
	"callboard/sim"
	"callboard/sim/simdriver"
	"callboard/sim/worldfile"
	"callboard/worlds"
)

// Wander serves robots of a bundled world who drive about until the test ends, so
// many times as fast as real ones. It returns their addresses.
func Wander(t testing.TB, speed float64, robots ...string) []string {
	t.Helper()
	open, name := worlds.Robots(len(robots))
	return Serve(t, open, name, simdriver.Config{Speed: speed, Wander: true}, robots...)
}

// Serve serves robots of a world until the test ends, each at a port of its own. It
// returns their addresses.
func Serve(t testing.TB, open worldfile.Open, name string, how simdriver.Config, robots ...string) []string {
	t.Helper()
	file, problems := worldfile.Load(open, name)
	if file == nil {
		t.Fatal(problems)
	}
	world, err := sim.New(sim.Config{World: file})
	if err != nil {
		t.Fatal(err)
	}
	how.World = world
	simulation, err := simdriver.New(how)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var group errgroup.Group
	var addresses []string
	for _, robot := range robots {
		drivers, err := simulation.Drivers([]string{robot})
		if err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		player, err := server.New(server.Config{Listener: listener, Drivers: append(drivers, simulation.World()), Clock: simulation.Clock})
		if err != nil {
			t.Fatal(err)
		}
		group.Go(func() error { return player.Run(ctx) })
		addresses = append(addresses, listener.Addr().String())
	}
	group.Go(func() error { return simulation.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		if err := group.Wait(); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the simulation ended with: %v", err)
		}
	})
	return addresses
}
