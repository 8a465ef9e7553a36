package benchtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/subscribe/protocol"
)

// Broker is a whole broker in this process, and the fleet that it reads.
type Broker struct {
	Fleet  *Fleet
	bridge *bridge.Bridge
	cancel context.CancelFunc
	ended  chan error
	robots chan error
}

// Start starts the fleet and a broker that reads it, with its data in dir, and
// waits until all robots are up.
func Start(ctx context.Context, fleet *Fleet, dir string) (*Broker, error) {
	c := config.Default()
	c.Broker.ID, c.Broker.Listen, c.Broker.Data = "bench", "127.0.0.1:0", dir
	c.Players = fleet.Players()
	c.Complete()
	if err := c.Validate().Err(); err != nil {
		return nil, err
	}
	made, err := bridge.New(bridge.Config{Config: c, Dial: fleet.Dial})
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	b := &Broker{Fleet: fleet, bridge: made, cancel: cancel, ended: make(chan error, 1), robots: make(chan error, 1)}
	go func() { b.robots <- fleet.Run(running) }()
	go func() { b.ended <- made.Run(running) }()
	if err := Up(ctx, made.URL(), fleet.Len()); err != nil {
		return nil, errors.Join(err, b.Stop())
	}
	return b, nil
}

// Stop ends the broker and the fleet, and waits for them.
func (b *Broker) Stop() error {
	b.cancel()
	return errors.Join(<-b.ended, <-b.robots)
}

// URL is where the broker serves.
func (b *Broker) URL() string { return b.bridge.URL() }

// Totals are sums over a broker's robots.
type Totals struct {
	Up       int    // robots
	Readings uint64 // tested
	Matched  uint64
	Lost     uint64 // told by the robots' servers as overflow
}

// Totals asks the broker for its robots.
func (b *Broker) Totals() (Totals, error) { return totals(b.URL()) }

func totals(url string) (t Totals, err error) {
	resp, err := http.Get(url + "/api/robots")
	if err != nil {
		return t, err
	}
	defer resp.Body.Close()
	var all []struct {
		State                   string
		Readings, Matched, Lost uint64
	}
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		return t, fmt.Errorf("benchtest: %s/api/robots: %w", url, err)
	}
	for _, r := range all {
		if r.State == protocol.RobotUp {
			t.Up++
		}
		t.Readings += r.Readings
		t.Matched += r.Matched
		t.Lost += r.Lost
	}
	return t, nil
}

// Up waits until a broker has so many robots that are up.
func Up(ctx context.Context, url string, robots int) error {
	return Until(ctx, fmt.Sprintf("%d robots are up", robots), func() (bool, error) {
		t, err := totals(url)
		return t.Up >= robots, err
	})
}

// Tested waits until so many readings have been tested.
func (b *Broker) Tested(ctx context.Context, readings uint64) error {
	return Until(ctx, fmt.Sprintf("%d readings are tested", readings), func() (bool, error) {
		t, err := b.Totals()
		return t.Readings >= readings, err
	})
}

// patience is how long Until waits.
const patience = 60 * time.Second

// Until looks every few milliseconds until what is expected is true.
func Until(ctx context.Context, what string, ok func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		if done, err := ok(); err != nil || done {
			return err
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return fmt.Errorf("benchtest: waiting until %s: %w", what, ctx.Err())
		}
	}
}

// Metric returns a metric without labels as /metrics of a broker at url shows it.
func Metric(url, name string) (float64, error) {
	resp, err := http.Get(url + "/metrics")
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("benchtest: the broker at %s has no metric %s", url, name)
}
