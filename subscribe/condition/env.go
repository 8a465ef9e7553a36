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

	stamp uint64     // of the reading, for what is derived; 0 derives anew each time
	lists []*derived // by number, those that were asked for
	kept  []*page    // by slot
}

// page is kept values in a row: few of the slots are ever used.
type page [pageSize]kept

const pageSize = 32

// kept is a value that was evaluated for a reading.
type kept struct {
	stamp uint64
	value float64
}

// Value returns a value, evaluated once per reading; the slot is its alone.
func (e *Env) Value(slot int, v *Value) float64 {
	at := slot / pageSize
	if at >= len(e.kept) || e.kept[at] == nil {
		e.grow(at)
	}
	k := &e.kept[at][slot%pageSize]
	if k.stamp != e.stamp || e.stamp == 0 {
		*k = kept{e.stamp, v.read(e)}
	}
	return k.value
}

func (e *Env) grow(at int) {
	for at >= len(e.kept) {
		e.kept = append(e.kept, nil)
	}
	e.kept[at] = new(page)
}

// Take makes e what a condition sees when the reading arrives. Robot and
// World stay as they are.
func (e *Env) Take(a *view.Arrival) {
	e.stamp++
	e.State, e.Prev, e.Have, e.HavePrev = a.Now, a.Prev, a.Have, a.HavePrev
	e.Interface, e.Index, e.Time = a.Interface, int(a.Device.Index), a.Time
}
