// Package simdriver serves the models of a simulated world as Player drivers.
package simdriver

import (
	"context"
	"log/slog"
	"time"

	"callboard/player/server"
	"callboard/sim"
)

// Config says what is simulated and how fast.
type Config struct {
	// World is the world; the Simulation owns it from New on. Required.
	World *sim.World
	// Speed is the multiple of real time at which simulated time runs; 0: as
	// fast as possible. There is no default: demo and sim say 1.
	Speed float64
	// Duration is the simulated time after which Run returns nil; 0: never.
	Duration time.Duration
	// Wander lets robots that no client has commanded lately drive about by
	// themselves.
	Wander bool
	// Logger takes what happens. Default: discarded.
	Logger *slog.Logger
}

// Simulation runs a world and gives the drivers that serve it. It is made by
// New; its drivers may be handed to any number of servers before Run.
type Simulation struct{ cfg Config }

// New checks cfg and looks the world's robots up.
func New(cfg Config) (*Simulation, error) { return &Simulation{cfg: cfg}, nil }

// Run steps the world until ctx ends (nil), or the duration is over (nil).
func (s *Simulation) Run(ctx context.Context) error { return nil }

// Robots gives the names of the robots, in file order: the top-level position
// models. Each can be given a port of its own, or an index on a common one.
func (s *Simulation) Robots() []string { return nil }

// Driver gives a driver that serves one robot: position2d:index and, for each
// of its rangers, ranger:index*n and on, n being the greatest number of rangers
// of any robot. index is 0 for a robot with a port of its own.
func (s *Simulation) Driver(robot string, index uint16) (server.Driver, error) { return nil, nil }

// World gives the driver of simulation:0, which may stand on any port beside
// the robots: make one for each.
func (s *Simulation) World() server.Driver { return nil }

// Clock gives the simulated time in s; for server.Config.Clock. Any goroutine
// may call it.
func (s *Simulation) Clock() float64 { return 0 }

// Do calls f with the world between two steps and returns when f has. It fails
// if ctx ends first or Run does.
func (s *Simulation) Do(ctx context.Context, f func(*sim.World)) error { return nil }
