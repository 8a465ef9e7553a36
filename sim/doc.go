// Package sim is a simulator of robots on a floor, as Stage is one: models
// from a world file that drive, bump and measure, stepped by its own clock.
//
// It is pure: it starts no goroutine, opens nothing and reads no clock. Who
// owns a World calls Step; the same file, seed and calls make the same bytes.
// Lengths are in m, angles in rad, anticlockwise from x.
package sim
