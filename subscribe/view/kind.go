// Package view derives what conditions see from a robot's readings: Laser,
// Sonar and Position views with their derived values, assembled scans, and
// the state of one robot. Each view is derived once per reading and serves
// conditions, JSON and queries alike.
package view

import "callboard/player"

// Kind is a kind of view: what a condition calls laser, sonar, position.
type Kind uint8

// The kinds of views.
const (
	KindLaser Kind = iota
	KindSonar
	KindPosition
	NumKinds = iota
)

var kindNames = [NumKinds]string{"laser", "sonar", "position"}

// String gives the name that conditions use.
func (k Kind) String() string { return kindNames[k] }

// Kinds is a set of kinds.
type Kinds uint32

// Set is the set of k alone.
func (k Kind) Set() Kinds { return 1 << k }

// Has tells whether all kinds of o are in s.
func (s Kinds) Has(o Kinds) bool { return s&o == o }

// View is one reading as conditions see it: a *Laser, *Sonar or *Position.
type View interface {
	// AppendJSON appends the view as a JSON object. Numbers that are not
	// finite are null.
	AppendJSON(dst []byte) []byte
	// stamp notes whose reading it is.
	stamp(time float64, index int)
}

// State is one view of each kind, nil where there is none.
type State struct {
	Laser    *Laser    `expr:"laser"`
	Sonar    *Sonar    `expr:"sonar"`
	Position *Position `expr:"position"`
}

// Of gives the view of a kind, nil if there is none.
func (s *State) Of(k Kind) View {
	switch {
	case k == KindLaser && s.Laser != nil:
		return s.Laser
	case k == KindSonar && s.Sonar != nil:
		return s.Sonar
	case k == KindPosition && s.Position != nil:
		return s.Position
	}
	return nil
}

// set puts a view where its kind belongs.
func (s *State) set(v View) {
	switch v := v.(type) {
	case *Laser:
		s.Laser = v
	case *Sonar:
		s.Sonar = v
	case *Position:
		s.Position = v
	}
}

// newView makes an empty view of a kind.
func newView(k Kind) View {
	switch k {
	case KindLaser:
		return new(Laser)
	case KindSonar:
		return new(Sonar)
	default:
		return new(Position)
	}
}

// Interfaces are the Player interfaces whose readings conditions know: those
// that are worth opening.
func Interfaces() []player.Interface {
	return []player.Interface{player.InterfacePosition2D, player.InterfaceSonar, player.InterfaceLaser, player.InterfaceRanger}
}
