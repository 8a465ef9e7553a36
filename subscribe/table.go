package subscribe

// table keeps something for numbers during one pass; a new pass begins
// without clearing it. It grows with the most that one pass has kept, not
// with what is installed.
type table[V any] struct {
	cells []cell[V]
	pass  uint64
	used  int
}

type cell[V any] struct {
	number, pass uint64
	value        V
}

// begin begins a pass.
func (t *table[V]) begin() { t.pass, t.used = t.pass+1, 0 }

// at returns the place of a number's value, and whether it had one.
func (t *table[V]) at(number uint64) (v *V, had bool) {
	if 2*t.used >= len(t.cells) {
		t.grow()
	}
	mask := uint64(len(t.cells) - 1)
	for i := number * 0x9e3779b97f4a7c15 >> 32 & mask; ; i = (i + 1) & mask {
		c := &t.cells[i]
		if c.pass != t.pass {
			t.used++
			*c = cell[V]{number: number, pass: t.pass}
			return &c.value, false
		}
		if c.number == number {
			return &c.value, true
		}
	}
}

func (t *table[V]) grow() {
	old := t.cells
	t.cells, t.used = make([]cell[V], max(16, 2*len(old))), 0
	for i := range old {
		if c := &old[i]; c.pass == t.pass {
			v, _ := t.at(c.number)
			*v = c.value
		}
	}
}
