package simdriver

import (
	"errors"
	"sync"
)

// maxMail is how many commands and requests may wait for the next step.
const maxMail = 1 << 16

var (
	errFull  = errors.New("simdriver: too many commands wait for the simulation")
	errEnded = errors.New("simdriver: the simulation has ended")
)

// mailbox takes what clients want of the world to the goroutine that owns it.
// Commands and requests are refused when there is no room for them. What devices
// there are and whether they are open is state: it always has room, as there is
// at most one note for each device and one more for each command to it.
type mailbox struct {
	wake chan struct{} // holds one: there is mail

	mu      sync.Mutex
	mail    []func()
	spare   []func()
	waiting int     // commands and requests in mail
	notes   []*note // in mail
	closed  bool
}

// note says that a device was opened or closed since whatever was noted of it
// before.
type note struct {
	b    *binding
	open bool // it is now
	shut bool // it was closed meanwhile
}

// put adds what is to be done before the next step. It reports whether there was
// room.
func (m *mailbox) put(f func()) bool { return m.command(nil, f) }

// command puts a command or request for a device, behind which whether it is
// open is noted anew.
func (m *mailbox) command(b *binding, f func()) bool {
	m.mu.Lock()
	ok := !m.closed && m.waiting < maxMail
	if ok {
		m.waiting++
		m.mail = append(m.mail, f)
		if b != nil {
			b.note = nil
		}
	}
	m.mu.Unlock()
	if ok {
		m.ring()
	}
	return ok
}

// attach serves a device from now on.
func (m *mailbox) attach(f func()) {
	m.mu.Lock()
	if !m.closed {
		m.mail = append(m.mail, f)
	}
	m.mu.Unlock()
}

// opened notes that a device is open now, or is not. It fails once the
// simulation has ended.
func (m *mailbox) opened(b *binding, open bool) error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return errEnded
	}
	n := b.note
	if n == nil {
		n = &note{b: b}
		b.note = n
		m.notes = append(m.notes, n)
		m.mail = append(m.mail, n.apply)
	}
	n.open, n.shut = open, n.shut || !open
	m.mu.Unlock()
	m.ring()
	return nil
}

// apply subscribes the device's model as the note says. What was closed and
// opened again has let go meanwhile: a base stood still, and its command is
// forgotten.
func (n *note) apply() {
	b := n.b
	if n.shut && b.subscribed {
		b.model.Unsubscribe()
		b.subscribed = false
	}
	if n.open && !b.subscribed {
		b.model.Subscribe()
		b.subscribed = true
	}
}

// ring wakes the goroutine that owns the world.
func (m *mailbox) ring() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// drain does what has come so far, in order.
func (m *mailbox) drain() {
	m.mu.Lock()
	mail := m.mail
	m.mail, m.spare, m.waiting = m.spare[:0], nil, 0
	for i, n := range m.notes {
		n.b.note, m.notes[i] = nil, nil
	}
	m.notes = m.notes[:0]
	m.mu.Unlock()
	for i, f := range mail {
		f()
		mail[i] = nil
	}
	m.mu.Lock()
	m.spare = mail[:0]
	m.mu.Unlock()
}

// close refuses further mail.
func (m *mailbox) close() {
	m.mu.Lock()
	m.closed = true
	m.mail, m.notes = nil, nil
	m.mu.Unlock()
}
