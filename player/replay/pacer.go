package replay

import "time"

// slack is how far the replay may fall behind, before that is given up rather
// than made good.
const slack = time.Second

// pacer says when what stands on the time line is due.
type pacer struct {
	speed   float64   // multiple of the recording's; 0: all is due
	line    float64   // s, on the time line,
	real    time.Time // which is now there
	stopped bool
}

// start puts the present moment at a place of the time line.
func (p *pacer) start(now time.Time, line float64) { p.real, p.line = now, line }

// here is where the present moment stands.
func (p *pacer) here(now time.Time) float64 {
	if p.stopped {
		return p.line
	}
	return p.line + now.Sub(p.real).Seconds()*p.speed
}

// set changes the speed and whether it runs at all; the present moment stays
// where it is.
func (p *pacer) set(now time.Time, playing bool, speed float64) {
	if p.stopped == !playing && p.speed == speed {
		return
	}
	p.line, p.real = p.here(now), now
	p.stopped, p.speed = !playing, speed
}

// left returns how long it is until line is due; not above 0: now. What is so
// late that it cannot be made good is due now, and all that follows relative to
// it.
func (p *pacer) left(now time.Time, line float64) time.Duration {
	if p.speed == 0 {
		p.start(now, line)
		return 0
	}
	left := seconds((line - p.here(now)) / p.speed)
	if left < -slack {
		p.start(now, line)
	}
	return left
}
