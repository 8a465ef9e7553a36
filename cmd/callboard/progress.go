package main

import (
	"fmt"
	"strconv"
	"time"
)

// progressPeriod is how often progress is told, and progressDelay when first:
// what is quick needs none.
const (
	progressPeriod = 200 * time.Millisecond
	progressDelay  = 500 * time.Millisecond
)

// progress tells people on a terminal how far a long work is, until done is
// called; text words it, for the time that it took so far. alone says that
// nothing is printed to stdout meanwhile, which may be the same terminal.
func (p *program) progress(what string, alone bool, text func(took time.Duration) string) (done func()) {
	if !alone && p.terminal(p.stdout) {
		return func() {}
	}
	began := time.Now()
	return p.statusLine(progressPeriod, func(now time.Time) string {
		took := now.Sub(began)
		if took < progressDelay {
			return ""
		}
		return what + ": " + text(took)
	})
}

// statusLine shows a line on a terminal every period, unless it is empty, until
// stop is called.
func (p *program) statusLine(period time.Duration, line func(now time.Time) string) (stop func()) {
	if !p.terminal(p.stderr) {
		return func() {}
	}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTicker(period)
		defer t.Stop()
		for {
			select {
			case <-done:
				p.clearLine()
				return
			case now := <-t.C:
				if text := line(now); text != "" {
					fmt.Fprintf(p.stderr, "\r\x1b[K%s", text)
				}
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// bytesText words how many of all bytes are done: "12 % of 5.0 GB, 410 MB/s, 11 s left".
func bytesText(done, all int64, took time.Duration) string {
	rate := float64(done) / took.Seconds()
	text := fmt.Sprintf("%s, %s/s", size(uint64(done)), size(uint64(rate)))
	if all > 0 {
		text = fmt.Sprintf("%.0f %% of %s, %s/s", 100*min(float64(done)/float64(all), 1), size(uint64(all)), size(uint64(rate)))
		if left := float64(all-done) / rate; rate > 0 && left >= 0 {
			text += ", " + leftText(left)
		}
	}
	return text
}

// simulatedText words how far a simulation is: "12 % of 1h0m0s simulated, 350
// times real time, 9s left". all is 0 for one without end.
func simulatedText(done, all, took time.Duration) string {
	rate := done.Seconds() / took.Seconds()
	pace := strconv.FormatFloat(rate, 'g', 3, 64)
	if rate >= 100 {
		pace = strconv.FormatFloat(rate, 'f', 0, 64)
	}
	if all == 0 {
		return fmt.Sprintf("%s simulated, %s times real time", done.Round(time.Second), pace)
	}
	text := fmt.Sprintf("%.0f %% of %s simulated, %s times real time", 100*min(done.Seconds()/all.Seconds(), 1), all, pace)
	if left := (all - done).Seconds() / rate; rate > 0 && left >= 0 {
		text += ", " + leftText(left)
	}
	return text
}

// leftText words how many seconds are left, as far as anyone can know.
func leftText(seconds float64) string {
	return time.Duration(min(seconds, 1e9)*float64(time.Second)).Round(time.Second).String() + " left"
}

// clearLine clears the line of progress on a terminal.
func (p *program) clearLine() {
	if p.terminal(p.stderr) {
		fmt.Fprint(p.stderr, "\r\x1b[K")
	}
}
