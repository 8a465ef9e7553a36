// Command callboard stands between Player/Stage robots and the programs that
// act on them; see README.md.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// stopTime is how long a command may take to stop once it is asked to.
const stopTime = 5 * time.Second

func main() { os.Exit(execute()) }

// execute runs the binary until its command ends.
func execute() int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // errUnread tells of it
	p := &program{name: os.Args[0], stdin: os.Stdin, stdout: output{os.Stdout}, stderr: os.Stderr, getenv: os.Getenv}
	go func() {
		<-signals
		cancel()
		p.stopped(signals)
		os.Exit(exitFailed)
	}()
	return p.run(ctx, os.Args[1:])
}

// stopped returns when a command that was asked to stop has had its time: that
// is at once where it only reads, and holds nothing that is to be put in order.
func (p *program) stopped(signals <-chan os.Signal) {
	late := time.After(stopTime)
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case <-signals: // a second one
			return
		case <-late:
			fmt.Fprintln(os.Stderr, "callboard: it did not stop in time")
			return
		case <-look.C:
			if p.reading.Load() {
				fmt.Fprintln(os.Stderr, "callboard: interrupted")
				return
			}
		}
	}
}
