// Package clock has the time that a broker goes by: Unix time, read from the wall
// clock once and counted on from there. Whoever sets the wall clock back or forward
// meanwhile makes no heartbeat late and no client forgotten.
package clock

import "time"

// Clock is such a time. The zero value is none.
type Clock struct{ began time.Time }

// New returns a clock that begins with what the wall clock says.
func New() Clock { return Clock{time.Now()} }

// Started reports whether the clock was made by New.
func (c Clock) Started() bool { return !c.began.IsZero() }

// Now returns the time. It never runs back.
func (c Clock) Now() time.Time { return c.At(time.Now()) }

// At returns the time at which time.Now gave t in this process, whatever the wall
// clock said then.
func (c Clock) At(t time.Time) time.Time { return c.began.Add(t.Sub(c.began)) }

// Micro returns Now in µs since 1970.
func (c Clock) Micro() int64 { return c.MicroAt(time.Now()) }

// MicroAt returns At in µs since 1970.
func (c Clock) MicroAt(t time.Time) int64 { return c.At(t).UnixMicro() }

// Time returns the time that so many µs since 1970 are, as time.Now would have
// given it then: what has passed since is what time.Since says.
func (c Clock) Time(micro int64) time.Time {
	return c.began.Add(time.Duration(micro-c.began.UnixMicro()) * time.Microsecond)
}
