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
	go func() {
		<-signals
		cancel()
		select {
		case <-signals: // a second one: at once
		case <-time.After(stopTime):
			fmt.Fprintln(os.Stderr, "callboard: it did not stop in time")
		}
		os.Exit(exitFailed)
	}()
	p := &program{name: os.Args[0], stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv}
	return p.run(ctx, os.Args[1:])
}
