//go:build !race

package server_test

import (
	"testing"

	"callboard/player"
)

// A reading costs its publisher no allocation, whoever reads it or does not.
func TestPublishAllocatesNothing(t *testing.T) {
	r := start(t, nil)
	for range 3 {
		c := r.client()
		c.rule(-1, -1, 1, -1, 1)
		c.mode(player.Pull)
		c.open(laser)
	}
	s := scan()
	publish := func() { r.driver.pub.Publish(laser, 1, 1, s) }
	publish()
	if got := testing.AllocsPerRun(1000, publish); got > 0.1 {
		t.Errorf("%v allocations a reading, expected none", got)
	}
}
