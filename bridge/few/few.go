// Package few has a map for what is a few mostly, and may be many: a broker has
// several for each of thousands of clients, most of which have one subscription and
// hear of one other broker.
package few

import "iter"

// most is how many keys are looked for one by one.
const most = 8

// Map is a map. As long as it has a few keys it takes no more memory than they do. The
// zero value is empty.
type Map[K comparable, V any] struct {
	few  []pair[K, V] // in no order
	many map[K]V      // instead, once there were more
}

type pair[K comparable, V any] struct {
	key   K
	value V
}

func (m *Map[K, V]) find(key K) int {
	for i := range m.few {
		if m.few[i].key == key {
			return i
		}
	}
	return -1
}

// Get returns a key's value, the zero value if there is none.
func (m *Map[K, V]) Get(key K) V {
	v, _ := m.Lookup(key)
	return v
}

// Lookup returns a key's value, and whether there is one.
func (m *Map[K, V]) Lookup(key K) (V, bool) {
	if m.many != nil {
		v, ok := m.many[key]
		return v, ok
	}
	if i := m.find(key); i >= 0 {
		return m.few[i].value, true
	}
	var none V
	return none, false
}

// Has reports whether there is a key.
func (m *Map[K, V]) Has(key K) bool {
	_, ok := m.Lookup(key)
	return ok
}

// Put sets a key's value.
func (m *Map[K, V]) Put(key K, value V) {
	if m.many != nil {
		m.many[key] = value
		return
	}
	i := m.find(key)
	switch {
	case i >= 0:
		m.few[i].value = value
	case len(m.few) < most:
		if m.few == nil {
			m.few = make([]pair[K, V], 0, 1)
		}
		m.few = append(m.few, pair[K, V]{key, value})
	default:
		m.many = make(map[K]V, 2*most)
		for _, p := range m.few {
			m.many[p.key] = p.value
		}
		m.many[key] = value
		m.few = nil
	}
}

// Delete removes a key, if it is there.
func (m *Map[K, V]) Delete(key K) {
	if m.many != nil {
		delete(m.many, key)
		return
	}
	if i := m.find(key); i >= 0 {
		last := len(m.few) - 1
		m.few[i] = m.few[last]
		m.few[last] = pair[K, V]{}
		m.few = m.few[:last]
	}
}

// Len returns how many keys there are.
func (m *Map[K, V]) Len() int { return len(m.few) + len(m.many) }

// All yields keys and values in no order. The key that is yielded may be deleted; nothing
// else may change meanwhile.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		if m.many != nil {
			for k, v := range m.many {
				if !yield(k, v) {
					return
				}
			}
			return
		}
		for i := len(m.few) - 1; i >= 0; i-- { // from the end: what is deleted gets the place of one that was yielded
			if !yield(m.few[i].key, m.few[i].value) {
				return
			}
		}
	}
}

// Keys yields the keys, as All does.
func (m *Map[K, V]) Keys() iter.Seq[K] {
	return func(yield func(K) bool) {
		for k := range m.All() {
			if !yield(k) {
				return
			}
		}
	}
}
