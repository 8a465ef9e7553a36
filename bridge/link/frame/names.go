package frame

// Tables of names live as long as a session of a link, one of a kind at each
// end. The sender decides which number a name takes and tells it with the
// name; a number may be given to another name later.

const (
	// MaxNames is how many texts, epochs and keys, each, an end remembers.
	MaxNames = 1 << 16
	// maxName is the longest text that gets a number, in bytes.
	maxName = 256
)

// numbers is the sender's side: the number of each name that the receiver
// knows. When all are taken, the next one goes that was not used since the
// hand passed it last.
type numbers[T comparable] struct {
	byName map[T]uint32
	names  []T
	used   []bool
	hand   int
	limit  int
}

func newNumbers[T comparable](limit int) *numbers[T] {
	return &numbers[T]{byName: map[T]uint32{}, limit: limit}
}

// number returns a name's number, and whether the receiver knows it already.
func (t *numbers[T]) number(name T) (n uint32, known bool) {
	if n, ok := t.byName[name]; ok {
		t.used[n] = true
		return n, true
	}
	if len(t.names) < t.limit {
		n = uint32(len(t.names))
		t.names = append(t.names, name)
		t.used = append(t.used, false)
	} else {
		for t.used[t.hand] {
			t.used[t.hand] = false
			t.hand = (t.hand + 1) % len(t.names)
		}
		n = uint32(t.hand)
		t.hand = (t.hand + 1) % len(t.names)
		delete(t.byName, t.names[n])
		t.names[n] = name
	}
	t.byName[name] = n
	return n, false
}

// names is the receiver's side. Numbers are given in order, so that it grows
// with what was received.
type names[T any] struct {
	known []T
	limit int
}

// put remembers a name. It reports whether the number can be used.
func (t *names[T]) put(n uint64, name T) bool {
	switch {
	case n < uint64(len(t.known)):
		t.known[n] = name
	case n == uint64(len(t.known)) && len(t.known) < t.limit:
		t.known = append(t.known, name)
	default:
		return false
	}
	return true
}

func (t *names[T]) get(n uint64) (name T, ok bool) {
	if n >= uint64(len(t.known)) {
		return name, false
	}
	return t.known[n], true
}
