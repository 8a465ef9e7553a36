package twins

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	callboard "callboard/clients/go"
	"callboard/subscribe/protocol"
)

// Program is one that subscribes to all that its robots send, at a pair, and checks
// what comes.
type Program struct {
	client *callboard.Client
	cancel context.CancelFunc
	ended  chan error
	step   float64 // s of readings' time between two of a robot

	mu      sync.Mutex
	url     string
	at      time.Time            // when it came there
	first   time.Time            // the first notification since; zero: none
	unread  map[string]bool      // robots that nobody has read
	longest time.Duration        // between two since Mark
	last    time.Time            // the newest notification
	newest  map[string]float64   // time of the newest reading, by robot
	missed  map[string][]missing // by robot
	told    map[string]time.Time // when it was last told what has become of a robot
	seqs    map[string]uint64    // by source
	delays  func(*callboard.Notification)
	Counts  Counts
}

// Counts are what a program has got.
type Counts struct {
	Readings uint64 `json:"readings"`
	Lost     uint64 `json:"lost"`     // readings that never came, undeclared
	Doubled  uint64 `json:"doubled"`  // or out of order
	Declared uint64 `json:"declared"` // gaps, and robots that began anew
	Faults   uint64 `json:"faults"`   // of the protocol: numbers that do not follow
	Attached uint64 `json:"attached"`
}

// Bad counts what must not be.
func (c Counts) Bad() uint64 { return c.Lost + c.Doubled + c.Faults }

// NewProgram attaches one. step is the time between two readings of a robot, in s of
// readings' time. each is called with every notification; nil: nobody is.
func (t *Twins) NewProgram(ctx context.Context, name string, step float64, sub protocol.Subscription, each func(*callboard.Notification)) (*Program, error) {
	p := &Program{step: step, newest: map[string]float64{}, told: map[string]time.Time{}, unread: map[string]bool{}, missed: map[string][]missing{}, seqs: map[string]uint64{}, ended: make(chan error, 1), delays: each}
	urls := t.URLs()
	var err error
	p.client, err = callboard.New(callboard.Config{
		Brokers: urls, Client: name, BackoffMin: 10 * time.Millisecond, BackoffMax: 100 * time.Millisecond, Handle: p.take,
		Choose: func(current string, _ []callboard.Broker) []string {
			if current != "" {
				return []string{current}
			}
			return urls
		},
	})
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.cancel = cancel
	go func() { p.ended <- p.client.Run(running) }()
	if _, err := p.client.Subscribe(ctx, sub); err != nil {
		p.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// Close ends it.
func (p *Program) Close() {
	p.cancel()
	<-p.ended
}

func (p *Program) take(e callboard.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case *callboard.Notification:
		p.notified(e)
	case *callboard.Attached:
		p.url, p.at, p.first = e.URL, time.Now(), time.Time{}
		p.Counts.Attached++
	case *callboard.Gap:
		p.Counts.Declared++
		p.newest, p.seqs = map[string]float64{}, map[string]uint64{}
	case *callboard.Robot:
		p.Counts.Declared++
		p.told[e.Robot.Robot] = time.Now()
		p.missed[e.Robot.Robot] = slices.DeleteFunc(p.missed[e.Robot.Robot], func(m missing) bool { return time.Since(m.at) < explained })
	case *callboard.Fault:
		p.Counts.Faults++
	}
}

func (p *Program) notified(n *callboard.Notification) {
	now := time.Now()
	if !p.last.IsZero() {
		p.longest = max(p.longest, now.Sub(p.last))
	}
	p.last = now
	if p.first.IsZero() {
		p.first = p.last
	}
	p.Counts.Readings++
	if last, known := p.seqs[n.Source]; known && n.Seq != last+1+n.Skipped {
		p.Counts.Faults++
	}
	p.seqs[n.Source] = n.Seq
	if before, known := p.newest[n.Robot]; known {
		switch steps := math.Round((n.Time - before) / p.step); {
		case steps < 1:
			p.Counts.Doubled++
		case steps > 1 && p.unread[n.Robot]:
			delete(p.unread, n.Robot)
		case steps > 1 && time.Since(p.told[n.Robot]) > explained:
			p.missed[n.Robot] = append(p.missed[n.Robot], missing{uint64(steps - 1), p.last})
		}
	}
	p.newest[n.Robot] = n.Time
	if p.delays != nil {
		p.delays(n)
	}
}

// Now returns what it has got so far.
func (p *Program) Now() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.Counts
	for _, all := range p.missed {
		for _, m := range all {
			if time.Since(m.at) >= explained {
				c.Lost += m.count
			}
		}
	}
	return c
}

// missing are readings of a robot that have not come. What has become of a robot is
// told beside its readings: it may come soon before, or after.
type missing struct {
	count uint64
	at    time.Time
}

const explained = time.Second

// Unread says that nobody has read the robots for a while: that they have gone on
// meanwhile is no loss, once.
func (p *Program) Unread() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for robot := range p.newest {
		p.unread[robot] = true
	}
}

// Mark has Longest begin anew.
func (p *Program) Mark() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.longest = 0
}

// Longest is the longest time between two notifications since Mark.
func (p *Program) Longest() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(p.longest, time.Since(p.last))
}

// GoesOn waits until a notification has come from a side, after a moment. It returns
// how long after that the first one came.
func (p *Program) GoesOn(ctx context.Context, url string, since time.Time) (time.Duration, error) {
	for {
		p.mu.Lock()
		at, first := p.url, p.first
		p.mu.Unlock()
		if at == url && !first.IsZero() && first.After(since) {
			return first.Sub(since), nil
		}
		select {
		case <-time.After(500 * time.Microsecond):
		case <-ctx.Done():
			return 0, fmt.Errorf("nothing comes from %s; the program hangs on %s", url, at)
		}
	}
}
