package robots

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
)

// TestBounds: what is told of a robot's values holds whatever its devices do.
func TestBounds(t *testing.T) {
	scanner := func(index uint16, most float64) *player.Device {
		return &player.Device{Addr: player.Addr{Interf: player.InterfaceRanger, Index: index}, Config: &player.RangerConfig{MaxRange: most}}
	}
	unknown := &player.Device{Addr: player.Addr{Interf: player.InterfaceRanger, Index: 1}}
	laser := &player.Device{Addr: player.Addr{Interf: player.InterfaceLaser}}
	index := func(lo, hi float64) Bound { return Bound{"index", lo, hi} }
	scans := func(most float64) (all []Bound) {
		for _, name := range scanValues {
			all = append(all, Bound{name, math.Inf(-1), most})
		}
		return all
	}
	var b bounds
	for _, c := range []struct {
		devices []*player.Device
		want    []Bound
	}{
		{nil, nil},
		{[]*player.Device{scanner(0, 8), scanner(3, 5)}, append([]Bound{index(0, 3)}, scans(8)...)},
		{[]*player.Device{scanner(0, 5)}, append([]Bound{index(0, 0)}, scans(8)...)}, // a scan of before may stand
		{[]*player.Device{scanner(0, 5), unknown}, []Bound{index(0, 1)}},
		{[]*player.Device{scanner(0, 5), laser}, []Bound{index(0, 0)}},
		{[]*player.Device{scanner(0, 0)}, []Bound{index(0, 0)}}, // it has none
	} {
		if diff := cmp.Diff(c.want, b.of(c.devices)); diff != "" {
			t.Errorf("%v: %s", c.devices, diff)
		}
	}
}
