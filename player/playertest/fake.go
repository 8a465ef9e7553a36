package playertest

import "testing"

// Fault is what is wrong with a Fake.
type Fault int

// Faults. Each behaves as a good server (one position2d:0 of driver "fake",
// publishing) up to its fault.
const (
	Good        Fault = iota // no fault
	Absent                   // nothing listens on the address
	Silent                   // accepts and never sends a byte
	HalfBanner               // sends half a banner and stops
	NoAnswers                // banner, then no answer to anything
	NoOpen                   // answers everything but DEV
	CutHeader                // closes in the middle of a reading's header
	CutBody                  // closes in the middle of a reading's body
	Garbage                  // banner, then bytes that are no messages
	HugeSize                 // a reading that announces 2^31 bytes
	LargeSize                // a reading that announces 32 MiB and sends 100 bytes
	ShortBody                // a reading too short for its struct, then good ones
	BadCounts                // a laser scan whose counts differ, then good readings
	Hangup                   // closes right after the banner
	RefuseOpen               // NACKs every DEV, with body
	ErrorAccess              // ACKs every DEV with access 3
	Dribble                  // good, but a byte at a time
)

// Fake serves with the fault on a free loopback port until the test ends.
func Fake(t testing.TB, f Fault) *Server { return nil }
