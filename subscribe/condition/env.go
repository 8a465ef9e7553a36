package condition

import (
	"callboard/subscribe/view"
)

// Env is what an expression sees: the arriving reading, the views that stand,
// and those before them. The names are the schema's.
type Env struct {
	view.State
	Prev      view.State `expr:"prev"`
	Robot     string     `expr:"robot"`
	World     string     `expr:"world"`
	Interface string     `expr:"interface"`
	Index     int        `expr:"index"`
	Time      float64    `expr:"time"` // s

	// Have and HavePrev are the kinds that State and Prev have.
	Have     view.Kinds `expr:"-"`
	HavePrev view.Kinds `expr:"-"`

	element float64 // #, in a predicate
	failure failure // of what runs

	stamp uint64 // of the reading, for what is derived; 0 derives anew each time
	lists [mostLists]derived
	kept  []kept // by slot
}

// kept is a value that was evaluated for a reading.
type kept struct {
	stamp uint64
	value float64
}

// Value gives a value, evaluated once per reading; the slot is its alone.
func (e *Env) Value(slot int, v *Value) float64 {
	for slot >= len(e.kept) {
		e.kept = append(e.kept, kept{})
	}
	k := &e.kept[slot]
	if k.stamp != e.stamp || e.stamp == 0 {
		*k = kept{e.stamp, v.read(e)}
	}
	return k.value
}

// Take makes e what a condition sees when the reading arrives. Robot and
// World stay as they are.
func (e *Env) Take(a *view.Arrival) {
	e.stamp++
	e.State, e.Prev, e.Have, e.HavePrev = a.Now, a.Prev, a.Have, a.HavePrev
	e.Interface, e.Index, e.Time = a.Interface, int(a.Device.Index), a.Time
}
