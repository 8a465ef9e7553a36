// Package simdriver serves the models of a simulated world as Player drivers,
// as Stage's plug-in does, with simulated time in all timestamps. See DESIGN.md.
package simdriver

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"callboard/player"
	"callboard/player/server"
	"callboard/sim"
	"callboard/sim/worldfile"
)

// Config says what is simulated and how fast.
type Config struct {
	// World is the world; the Simulation owns it from New on. Required.
	World *sim.World
	// Speed is the multiple of real time at which simulated time runs; 0: as
	// fast as possible.
	Speed float64
	// Duration is the simulated time after which Run returns nil; 0: never.
	Duration time.Duration
	// Wander lets robots that no client commands drive about by themselves.
	Wander bool
	// Idle is how long, in simulated time, a robot that was commanded waits for
	// the next command before it wanders again. Default 10 s.
	Idle time.Duration
	// Paused lets the world wait at its beginning until a client of the
	// simulation interface ends the pause or asks for steps.
	Paused bool
	// Seed of the wandering.
	Seed uint64
	// Logger takes what happens. Default: discarded.
	Logger *slog.Logger
}

// slack is how far simulated time may fall behind real time, before it is given
// up rather than made good.
const slack = time.Second

// Simulation runs a world and returns the drivers that serve it. Its drivers may
// be handed to any number of servers.
type Simulation struct {
	cfg   Config
	log   *slog.Logger
	mail  mailbox
	clock atomic.Int64 // µs, the world's
	ended chan struct{}

	names  []string // of robots, in file order
	robots map[string]*sim.Model
	models map[*worldfile.Model]*sim.Model
	most   map[player.Interface]int // models that any robot has for an interface

	// What follows belongs to Run.
	world     *sim.World
	served    [][]*binding // by model index
	due       []*binding   // of the present step
	wanderers *sim.Wanderers
	paused    bool
	errands   []errand // steps that are owed while paused

	mu      sync.Mutex
	running bool
}

// New checks cfg and looks the world's robots up.
func New(cfg Config) (*Simulation, error) {
	if cfg.World == nil {
		return nil, fmt.Errorf("simdriver: no world given")
	}
	if cfg.Speed < 0 || math.IsNaN(cfg.Speed) || math.IsInf(cfg.Speed, 0) {
		return nil, fmt.Errorf("simdriver: speed %v, expected 0 (as fast as possible) or more", cfg.Speed)
	}
	if cfg.Duration < 0 {
		return nil, fmt.Errorf("simdriver: duration %v, expected 0 (no end) or more", cfg.Duration)
	}
	if cfg.Idle == 0 {
		cfg.Idle = 10 * time.Second
	}
	s := &Simulation{
		cfg: cfg, log: cfg.Logger, world: cfg.World,
		ended:  make(chan struct{}),
		robots: map[string]*sim.Model{},
		models: map[*worldfile.Model]*sim.Model{},
		most:   map[player.Interface]int{},
		paused: cfg.Paused,
		served: make([][]*binding, len(cfg.World.Models())),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	s.mail.wake = make(chan struct{}, 1)
	s.clock.Store(s.world.Microseconds())
	for _, m := range s.world.Robots() {
		name := m.Name()
		if _, taken := s.robots[name]; taken {
			name = m.Spec().Auto
		}
		if _, taken := s.robots[name]; taken {
			continue
		}
		s.robots[name] = m
		s.names = append(s.names, name)
		for _, interf := range ofRobot {
			s.most[interf] = max(s.most[interf], len(parts(m, interf)))
		}
	}
	for _, m := range s.world.Models() {
		s.models[m.Spec()] = m
	}
	if cfg.Wander {
		s.wanderers = sim.NewWanderers(s.world, cfg.Seed)
	}
	return s, nil
}

// Robots returns the names of the robots, in file order: the position models that
// sit on no other.
func (s *Simulation) Robots() []string { return s.names }

// Clock returns the simulated time in s; for server.Config.Clock. Any goroutine
// may call it.
func (s *Simulation) Clock() float64 { return float64(s.clock.Load()) / 1e6 }

// Do calls f with the world, between two steps, and returns when f has. It
// fails if ctx ends first or Run has ended.
func (s *Simulation) Do(ctx context.Context, f func(*sim.World)) error {
	done := make(chan struct{})
	if !s.mail.put(func() { f(s.world); close(done) }) {
		return errFull
	}
	select {
	case <-done:
		return nil
	case <-s.ended:
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Run steps the world and publishes what its models measure until ctx ends or
// the duration is over; either returns nil. It can be called once.
func (s *Simulation) Run(ctx context.Context) error {
	s.mu.Lock()
	started := s.running
	s.running = true
	s.mu.Unlock()
	if started {
		return fmt.Errorf("simdriver: Run was called before")
	}
	defer close(s.ended)
	defer s.mail.close()
	p := newPacer(s.cfg.Speed, s.world.Time())
	defer p.stop()
	end := s.world.Time() + s.cfg.Duration
	for {
		s.mail.drain()
		if ctx.Err() != nil || s.cfg.Duration > 0 && s.world.Time() >= end {
			return nil
		}
		if s.paused {
			if len(s.errands) > 0 {
				s.step()
				s.advanced()
				continue
			}
			select {
			case <-ctx.Done():
			case <-s.mail.wake:
			}
			p.rebase(s.world.Time())
			continue
		}
		if p.wait(ctx, s.mail.wake, s.world.Time()+s.world.Interval()) {
			s.step()
		}
	}
}

// step makes one step and publishes what it brought.
func (s *Simulation) step() {
	if s.wanderers != nil {
		s.wanderers.Drive()
	}
	s.world.Step()
	s.clock.Store(s.world.Microseconds())
	s.due = s.due[:0]
	for _, m := range s.world.Updated() {
		s.due = append(s.due, s.served[m.Index()]...)
	}
	s.publish(s.world.Seconds())
}

// publish sends what is due: what goes to one server in one go, so that no
// client's round ends between a scan and its intensities.
func (s *Simulation) publish(now float64) {
	for due := s.due; len(due) > 0; {
		n := 1
		for n < len(due) && due[n].pub == due[0].pub {
			n++
		}
		together := due[:n]
		due = due[n:]
		server.Batch(together[0].pub, func() {
			for _, b := range together {
				if b.pub.Opened(b.addr) {
					b.endpoint.publish(now)
				}
			}
		})
	}
}

// commanded notes that a client has taken a robot over.
func (s *Simulation) commanded(m *sim.Model) {
	if s.wanderers != nil {
		s.wanderers.Pause(m, s.world.Time()+s.cfg.Idle)
	}
}

// pacer keeps simulated time with real time.
type pacer struct {
	speed float64
	real  time.Time
	sim   time.Duration // the simulated time at real
	timer *time.Timer
}

func newPacer(speed float64, sim time.Duration) *pacer {
	p := &pacer{speed: speed, timer: time.NewTimer(time.Hour)}
	p.rebase(sim)
	return p
}

func (p *pacer) stop() { p.timer.Stop() }

// rebase takes the present moment for simulated time sim.
func (p *pacer) rebase(sim time.Duration) { p.real, p.sim = time.Now(), sim }

// wait waits until the step to simulated time next is due. It tells whether it
// is: false means that there is mail or ctx has ended.
func (p *pacer) wait(ctx context.Context, wake <-chan struct{}, next time.Duration) bool {
	if p.speed == 0 {
		return true
	}
	due := p.real.Add(time.Duration(float64(next-p.sim) / p.speed))
	left := time.Until(due)
	if left < -slack {
		p.rebase(next)
	}
	if left <= 0 {
		return true
	}
	p.timer.Reset(left)
	select {
	case <-p.timer.C:
		return true
	case <-wake:
	case <-ctx.Done():
	}
	return false
}
