package main

import (
	"fmt"
	"time"
)

// progressPeriod is how often progress is told, and progressDelay when first:
// what is quick needs none.
const (
	progressPeriod = 200 * time.Millisecond
	progressDelay  = 500 * time.Millisecond
)

// progress tells people on a terminal how far a long work is, until done is
// called: what of all bytes, how fast, how long yet. alone says that nothing
// is printed to stdout meanwhile, which may be the same terminal.
func (p *program) progress(what string, alone bool, bytes func() (done, all int64)) (done func()) {
	if !p.terminal(p.stderr) || !alone && p.terminal(p.stdout) {
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	began := time.Now()
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(progressPeriod)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				p.clearLine()
				return
			case now := <-ticker.C:
				if took := now.Sub(began); took >= progressDelay {
					read, all := bytes()
					fmt.Fprintf(p.stderr, "\r\x1b[K%s: %s", what, progressText(read, all, took))
				}
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
	}
}

// progressText words progress: "12 % of 5.0 GB, 410 MB/s, 11 s left".
func progressText(done, all int64, took time.Duration) string {
	rate := float64(done) / took.Seconds()
	text := fmt.Sprintf("%s, %s/s", size(uint64(done)), size(uint64(rate)))
	if all > 0 {
		text = fmt.Sprintf("%.0f %% of %s, %s/s", 100*min(float64(done)/float64(all), 1), size(uint64(all)), size(uint64(rate)))
		if left := float64(all-done) / rate; rate > 0 && left >= 0 {
			text += ", " + time.Duration(left*float64(time.Second)).Round(time.Second).String() + " left"
		}
	}
	return text
}

// clearLine clears the line of progress on a terminal.
func (p *program) clearLine() {
	if p.terminal(p.stderr) {
		fmt.Fprint(p.stderr, "\r\x1b[K")
	}
}
