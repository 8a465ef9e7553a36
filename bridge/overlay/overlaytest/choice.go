package overlaytest

import "math/rand/v2"

// Choice is where a schedule takes its decisions from.
type Choice interface {
	// Intn returns a number from 0 to n-1. When there is nothing left to choose
	// by, it returns 0.
	Intn(n int) int
}

// Seed chooses by a pseudo-random sequence.
func Seed(seed uint64) Choice { return seeded{rand.New(rand.NewPCG(seed, 0x5ca1ab1e))} }

type seeded struct{ r *rand.Rand }

func (s seeded) Intn(n int) int { return s.r.IntN(n) }

// Bytes chooses by bytes, as a fuzzer makes them: two for each choice.
func Bytes(b []byte) Choice { return &byBytes{b} }

type byBytes struct{ left []byte }

func (c *byBytes) Intn(n int) int {
	if len(c.left) < 2 {
		c.left = nil
		return 0
	}
	v := int(c.left[0])<<8 | int(c.left[1])
	c.left = c.left[2:]
	return v % n
}

// drawn chooses by a function, as a property test's library has it.
type drawn func(n int) int

func (d drawn) Intn(n int) int { return d(n) }

// Draw chooses by a function.
func Draw(f func(n int) int) Choice { return drawn(f) }

// chance is true in so many of 10,000 cases.
func chance(c Choice, of10000 int) bool { return c.Intn(10_000) < of10000 }

func pick[T any](c Choice, all []T) T { return all[c.Intn(len(all))] }
