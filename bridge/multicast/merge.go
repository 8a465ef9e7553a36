package multicast

import "fmt"

// Merge puts frames of one neighbour's session, which come over two channels, in
// the order of their pair numbers (Y10).
type Merge[T any] struct {
	Limit   int // weight that may wait; what is next always has room
	next    uint32
	waiting map[uint32]weighed[T]
	weight  int
}

type weighed[T any] struct {
	frame  T
	weight int
}

// Add takes a frame and hands on those whose turn it is. It fails when a number
// comes twice, or more waits than may.
func (m *Merge[T]) Add(number uint32, frame T, weight int, hand func(T)) error {
	switch ahead := number - m.next - 1; { // numbers begin at 1, and wrap
	case ahead == 0:
		m.next++
		hand(frame)
		m.hand(hand)
		return nil
	case ahead >= 1<<31:
		return fmt.Errorf("frame %d comes again; expected %d", number, m.next+1)
	}
	if _, twice := m.waiting[number]; twice {
		return fmt.Errorf("frame %d comes again, and waits for %d", number, m.next+1)
	}
	if m.weight+weight > m.Limit {
		return fmt.Errorf("more waits for frame %d than may: %d bytes and %d more", m.next+1, m.weight, weight)
	}
	if m.waiting == nil {
		m.waiting = map[uint32]weighed[T]{}
	}
	m.waiting[number] = weighed[T]{frame, weight}
	m.weight += weight
	return nil
}

func (m *Merge[T]) hand(hand func(T)) {
	for {
		w, ok := m.waiting[m.next+1]
		if !ok {
			return
		}
		m.next++
		delete(m.waiting, m.next)
		m.weight -= w.weight
		hand(w.frame)
	}
}

// Next is the number of the frame that is waited for.
func (m *Merge[T]) Next() uint32 { return m.next + 1 }

// Waiting is how many frames wait for it.
func (m *Merge[T]) Waiting() int { return len(m.waiting) }
