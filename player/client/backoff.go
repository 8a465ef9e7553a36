package client

import "time"

// backoff returns pauses that double from min to max, each spread over its
// upper half, so that many clients do not come back at the same moment.
type backoff struct {
	min, max time.Duration
	jitter   func() float64
	last     time.Duration // the pause without jitter, 0: none yet
}

// next returns the next pause.
func (b *backoff) next() time.Duration {
	switch {
	case b.last == 0:
		b.last = b.min
	case b.last > b.max/2:
		b.last = b.max
	default:
		b.last *= 2
	}
	return b.last/2 + time.Duration(b.jitter()*float64(b.last/2))
}

// base is the last pause without jitter.
func (b *backoff) base() time.Duration { return b.last }

func (b *backoff) reset() { b.last = 0 }
