package server

import (
	"testing"

	"callboard/player"
)

// Whatever sizes follow each other, a message holds at most twice its size, or
// what small ones may; so a full queue of small messages holds no large buffers.
func TestBuffersFitTheirMessages(t *testing.T) {
	for round := range 3 {
		for _, size := range []int{4 << 20, 4, 2_764_800, 100, 100_000, 2_800_000, 60 << 10, 1 << 20, 65496, 131_072} {
			m := bodyMessage(player.Header{Type: player.Data}, make([]byte, size))
			if n := len(m.raw); n != player.HeaderSize+size || cap(m.raw) > max(2*n, smallBuffer+smallBuffer/4) {
				t.Errorf("round %d: %d of %d bytes in a buffer of %d", round, n, player.HeaderSize+size, cap(m.raw))
			}
			m.release()
		}
	}
}
