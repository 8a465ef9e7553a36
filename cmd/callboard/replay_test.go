package main

import (
	"testing"
	"time"

	"callboard/player/replay"
)

func TestReplayLine(t *testing.T) {
	run := replay.Progress{At: 1250 * time.Millisecond, Length: time.Minute, Messages: 1, Started: true, Playing: true}
	paused, ended, before := run, run, replay.Progress{Length: time.Minute}
	paused.Playing = false
	ended.Playing, ended.Ended = false, true
	for want, at := range map[string]replay.Progress{
		"1.3s of 1m0s  4 times as fast as recorded  1 message  2 clients":        run,
		"1.3s of 1m0s  paused  1 message  2 clients":                             paused,
		"1.3s of 1m0s  at its end  1 message  2 clients":                         ended,
		"0s of 1m0s  waits for a client to open a device  0 messages  2 clients": before,
	} {
		if got := replayLine(at, 4, 2); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
