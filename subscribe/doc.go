// Package subscribe tests readings against conditions: subscriptions, their
// policies (trigger, min_interval, for, by the readings' time) and the matcher.
// It is pure: no goroutines, clocks, locks or I/O.
package subscribe
