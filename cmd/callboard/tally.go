package main

import (
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	callboard "callboard/clients/go"
)

const (
	recentRoams = 20     // hand-overs that are told of
	maxDelays   = 10_000 // of the newest hand-overs, for their percentiles
)

// tally counts what the roaming programs of a demo got. Twice over: by the
// numbers that the protocol gives, and by the times of readings, which the
// simulation makes at even steps; so that a fault that the numbers hide would
// show.
type tally struct {
	mu        sync.Mutex
	began     time.Time
	interval  float64           // s between readings of one device
	sequences map[string]uint64 // last number, by program and source
	times     map[string]float64
	spared    map[string]uint64 // readings that a robot's session has told to be lost before any broker had them
	total     total
	delays    []time.Duration // a ring
	next      int
	recent    []roamed // newest first
	guides    map[string]string
}

// total is what was counted.
type total struct {
	Programs  int    `json:"programs"`
	Delivered uint64 `json:"delivered"`
	Lost      uint64 `json:"lost"`
	Doubled   uint64 `json:"doubled"`
	Missed    uint64 `json:"missed"` // readings that no broker ever had; not lost by the network
	Roams     uint64 `json:"roams"`  // hand-overs
	Stayed    uint64 `json:"stayed"` // moves that another broker refused
	Commands  uint64 `json:"commands"`
	Failed    uint64 `json:"failed"` // commands without an answer in time
}

// roamed is one hand-over.
type roamed struct {
	Program string  `json:"program"`
	From    string  `json:"from"`
	To      string  `json:"to"`
	Took    float64 `json:"took"` // s, until the new broker had taken the program; more if the first notification there was later than that
	Time    float64 `json:"time"` // s, Unix
}

// told is what the page and the terminal show.
type told struct {
	total
	Seconds float64           `json:"seconds"` // it has run
	P50     float64           `json:"p50"`     // s of hand-overs
	P99     float64           `json:"p99"`
	Recent  []roamed          `json:"recent"`
	Guides  map[string]string `json:"guides"` // robots by the clients that guide them
}

func newTally(interval time.Duration) *tally {
	return &tally{
		began: time.Now(), interval: interval.Seconds(),
		sequences: map[string]uint64{}, times: map[string]float64{}, spared: map[string]uint64{}, guides: map[string]string{},
	}
}

// notified counts a notification of a program. regular says that it is one of
// those that come with every reading of its device.
func (t *tally) notified(program string, n *callboard.Notification, regular bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.Delivered++
	word := program + " " + n.Source
	last := t.sequences[word]
	switch {
	case n.Seq <= last:
		t.total.Doubled++
		return
	case n.Seq != last+1+n.Skipped:
		t.total.Lost += n.Seq - last - 1 - min(n.Skipped, n.Seq-last-1)
	}
	t.sequences[word] = n.Seq
	if regular {
		t.regular(program+" "+n.Robot+" "+n.Interface, n.Robot, n.Time)
	}
}

// regular checks that a device's readings come at even steps.
func (t *tally) regular(word, robot string, at float64) {
	before, known := t.times[word]
	t.times[word] = at
	if !known {
		return
	}
	steps := math.Round((at - before) / t.interval)
	switch {
	case steps <= 0:
		t.total.Doubled++
	case steps > 1:
		missing := uint64(steps) - 1
		spared := min(missing, t.spared[robot])
		t.spared[robot] -= spared
		t.total.Missed += spared
		t.total.Lost += missing - spared
	}
}

// gap counts what a broker declares to be lost.
func (t *tally) gap(program string, g *callboard.Gap) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if g.To == nil {
		t.total.Lost++ // how many is not known
		return
	}
	t.total.Lost += *g.To - g.From + 1
	t.sequences[program+" "+g.Source] = *g.To
}

// overflow takes note of readings that were lost between a robot and its broker.
func (t *tally) overflow(robot string, lost uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spared[robot] += lost
}

// handedOver counts a hand-over.
func (t *tally) handedOver(r roamed) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.Roams++
	took := time.Duration(r.Took * float64(time.Second))
	if len(t.delays) < maxDelays {
		t.delays = append(t.delays, took)
	} else {
		t.delays[t.next] = took
		t.next = (t.next + 1) % maxDelays
	}
	t.recent = slices.Insert(t.recent, 0, r)
	t.recent = t.recent[:min(len(t.recent), recentRoams)]
}

// guide takes note of a program that has begun.
func (t *tally) guide(client, robot string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total.Programs++
	t.guides[client] = robot
}

// add counts something else.
func (t *tally) add(f func(*total)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.total)
}

// told returns the count as it is now.
func (t *tally) told() told {
	t.mu.Lock()
	defer t.mu.Unlock()
	sorted := slices.Sorted(slices.Values(t.delays))
	return told{
		total: t.total, Seconds: time.Since(t.began).Seconds(), Recent: append([]roamed{}, t.recent...), Guides: maps.Clone(t.guides),
		P50: percentile(sorted, 0.50).Seconds(), P99: percentile(sorted, 0.99).Seconds(),
	}
}

// percentile returns the time that a share of the sorted ones does not exceed.
func percentile(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}

// people words a count for a terminal.
func (c told) people(s style) string {
	number := func(n uint64, bad bool) string {
		text := grouped(n)
		if bad && n > 0 {
			return s.yellow(text)
		}
		return s.bold(text)
	}
	parts := []string{
		number(c.Delivered, false) + " delivered",
		number(c.Lost, true) + " lost",
		number(c.Doubled, true) + " doubled",
		number(c.Roams, false) + " hand-overs",
	}
	if c.Roams > 0 {
		parts[3] += ", p50 " + milliseconds(c.P50) + ", p99 " + milliseconds(c.P99)
	}
	return strings.Join(parts, s.dim(" · "))
}

// line words a count for a pipe.
func (c told) line(kind string) string {
	return fmt.Sprintf("%s seconds=%.0f delivered=%d lost=%d doubled=%d handovers=%d p50=%.4f p99=%.4f", kind, c.Seconds, c.Delivered, c.Lost, c.Doubled, c.Roams, c.P50, c.P99)
}

// grouped writes a number with commas.
func grouped(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

func milliseconds(seconds float64) string {
	if seconds < 0.01 {
		return strconv.FormatFloat(seconds*1000, 'f', 1, 64) + " ms"
	}
	return strconv.FormatFloat(seconds*1000, 'f', 0, 64) + " ms"
}

// counter shows a running count: a live line on a terminal, a line now and
// then elsewhere.
type counter struct {
	w     io.Writer
	live  bool
	style style
}

const (
	liveEvery  = 500 * time.Millisecond
	plainEvery = 5 * time.Second
)

func (c counter) every() time.Duration {
	if c.live {
		return liveEvery
	}
	return plainEvery
}

func (c counter) show(t told) {
	if c.live {
		fmt.Fprintf(c.w, "\r\x1b[K%s  %s", time.Duration(t.Seconds)*time.Second, t.people(c.style))
		return
	}
	fmt.Fprintln(c.w, t.line("roam"))
}

// end leaves the live line.
func (c counter) end() {
	if c.live {
		fmt.Fprint(c.w, "\r\x1b[K")
	}
}

// summary returns the count at the end; anything lost or doubled is an error.
func (p *program) summary(n *cluster) error {
	t := n.tally.told()
	if p.terminal(p.stdout) {
		fmt.Fprintf(p.stdout, "%s, %s on %s in %s\n", t.people(style{p.colours(p.stdout)}), plural(t.Programs, "program"), plural(len(n.brokers), "broker"), time.Duration(t.Seconds)*time.Second)
	} else {
		fmt.Fprintln(p.stdout, t.line("total"))
	}
	if t.Lost > 0 || t.Doubled > 0 {
		return fmt.Errorf("%d notifications were lost and %d came twice; expected none", t.Lost, t.Doubled)
	}
	return nil
}
