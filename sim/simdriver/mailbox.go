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
type mailbox struct {
	wake chan struct{} // holds one: there is mail

	mu     sync.Mutex
	mail   []func()
	spare  []func()
	closed bool
}

// put adds what is to be done before the next step. It tells whether there was
// room.
func (m *mailbox) put(f func()) bool {
	m.mu.Lock()
	ok := !m.closed && len(m.mail) < maxMail
	if ok {
		m.mail = append(m.mail, f)
	}
	m.mu.Unlock()
	if ok {
		select {
		case m.wake <- struct{}{}:
		default:
		}
	}
	return ok
}

// drain does what has come so far, in order.
func (m *mailbox) drain() {
	m.mu.Lock()
	mail := m.mail
	m.mail, m.spare = m.spare[:0], nil
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
	m.mail = nil
	m.mu.Unlock()
}
