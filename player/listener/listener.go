// Package listener bounds the connections of a server: in all, and of each
// address, so that one that opens many keeps nobody else out. Of those that
// have not said anything sensible yet the oldest gives way to a new one. Servers
// of this module listen through it; see Limit.
package listener

import (
	"container/list"
	"errors"
	"net"
	"net/netip"
	"sync"
	"syscall"
)

// Limits say how many connections a Limit lets be open.
type Limits struct {
	Connections int // that are kept at a time (Conn.Keep); default 10,000
	Address     int // of them from one address; default a quarter of Connections
	Reserve     int // open beside those that are kept, also of one address: silent ones, and an operator's requests; default 256
}

func (l Limits) withDefaults() Limits {
	if l.Connections <= 0 {
		l.Connections = 10_000
	}
	if l.Address <= 0 {
		l.Address = max(1, l.Connections/4)
	}
	if l.Reserve <= 0 {
		l.Reserve = 256
	}
	return l
}

// Limit bounds the connections of one or several listeners together.
type Limit struct {
	limits Limits

	mu        sync.Mutex
	open      int
	kept      int
	addresses map[netip.Prefix]*address
	marks     uint64 // counts, to tell which silence began first
	stats     Stats
}

// Stats are what a Limit has counted.
type Stats struct {
	Open    int    // connections now
	Kept    int    // of them
	GaveWay uint64 // silent connections that were closed for new ones
	Refused uint64 // new connections that were closed at once
}

// address is what is open from one address.
type address struct {
	open, kept int
	silent     list.List // of *Conn, the longest silent first
}

// New returns a Limit; what the limits leave out has its default.
func New(limits Limits) *Limit {
	return &Limit{limits: limits.withDefaults(), addresses: map[netip.Prefix]*address{}}
}

// Change sets other limits. Connections that are beyond them stay.
func (l *Limit) Change(limits Limits) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.limits = limits.withDefaults()
}

// Stats returns what has been counted.
func (l *Limit) Stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.stats
	s.Open, s.Kept = l.open, l.kept
	return s
}

// Full reports whether no further connection of that address could be kept.
func (l *Limit) Full(remote net.Addr) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.addresses[prefixOf(remote)]
	return l.kept >= l.limits.Connections || a != nil && a.kept >= l.limits.Address
}

// Listen returns a listener whose connections, each a *Conn, count. It never
// lets a new one wait: if there is no room a silent one gives way, and if there
// is none of these the new one is closed.
func (l *Limit) Listen(inner net.Listener) net.Listener { return &listener{inner, l} }

type listener struct {
	net.Listener
	limit *Limit
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		switch {
		case err == nil:
			if c := l.limit.admit(conn); c != nil {
				return c, nil
			}
			conn.Close()
		case !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) || !l.limit.giveWay():
			return nil, err
		}
	}
}

// admit counts a new connection, which is silent at first; nil if there is no
// room for it.
func (l *Limit) admit(inner net.Conn) *Conn {
	prefix := prefixOf(inner.RemoteAddr())
	l.mu.Lock()
	a := l.addresses[prefix]
	var victim *Conn
	switch {
	case a != nil && a.open >= l.limits.Address+l.limits.Reserve:
		victim = a.oldest()
	case l.open >= l.limits.Connections+l.limits.Reserve:
		victim = l.oldest()
	default:
		defer l.mu.Unlock()
		return l.add(inner, prefix)
	}
	if victim == nil {
		l.stats.Refused++
		l.mu.Unlock()
		return nil
	}
	l.stats.GaveWay++
	l.remove(victim)
	c := l.add(inner, prefix)
	l.mu.Unlock()
	victim.Conn.Close()
	return c
}

// giveWay closes the connection that has been silent for the longest time; it
// reports whether there was one.
func (l *Limit) giveWay() bool {
	l.mu.Lock()
	victim := l.oldest()
	if victim != nil {
		l.stats.GaveWay++
		l.remove(victim)
	}
	l.mu.Unlock()
	if victim == nil {
		return false
	}
	victim.Conn.Close()
	return true
}

// oldest returns the connection of the address that has been silent for the
// longest time; nil if none is silent.
func (a *address) oldest() *Conn {
	if front := a.silent.Front(); front != nil {
		return front.Value.(*Conn)
	}
	return nil
}

// oldest returns that of all addresses.
func (l *Limit) oldest() *Conn {
	var found *Conn
	for _, a := range l.addresses {
		if c := a.oldest(); c != nil && (found == nil || c.mark < found.mark) {
			found = c
		}
	}
	return found
}

func (l *Limit) add(inner net.Conn, prefix netip.Prefix) *Conn {
	a := l.addresses[prefix]
	if a == nil {
		a = &address{}
		l.addresses[prefix] = a
	}
	a.open++
	l.open++
	c := &Conn{Conn: inner, limit: l, prefix: prefix, address: a}
	c.silence()
	return c
}

func (l *Limit) remove(c *Conn) {
	if c.gone {
		return
	}
	c.gone = true
	c.speak()
	if c.kept {
		c.address.kept--
		l.kept--
	}
	c.address.open--
	l.open--
	if c.address.open == 0 {
		delete(l.addresses, c.prefix)
	}
}

// Conn is a connection that counts until it is closed. It is silent until it is
// said to be busy or kept.
type Conn struct {
	net.Conn
	limit   *Limit
	prefix  netip.Prefix
	address *address

	// Under limit.mu.
	element *list.Element // among the silent; nil: it is not
	mark    uint64        // since when
	kept    bool
	gone    bool
}

// NetConn returns the connection beneath.
func (c *Conn) NetConn() net.Conn { return c.Conn }

// silence puts the connection behind those that are silent already.
func (c *Conn) silence() {
	c.limit.marks++
	c.mark = c.limit.marks
	c.element = c.address.silent.PushBack(c)
}

func (c *Conn) speak() {
	if c.element != nil {
		c.address.silent.Remove(c.element)
		c.element = nil
	}
}

// Busy reports that the peer has asked for something that is being done: until
// Silent the connection does not give way.
func (c *Conn) Busy() {
	c.limit.mu.Lock()
	defer c.limit.mu.Unlock()
	c.speak()
}

// Silent reports that the connection may give way again, after those that have been
// silent for longer. One that is kept never does.
func (c *Conn) Silent() {
	c.limit.mu.Lock()
	defer c.limit.mu.Unlock()
	if c.gone || c.kept {
		return
	}
	c.speak()
	c.silence()
}

// Keep reports that the peer is one to be served for long: the connection does not
// give way any more. It reports false if as many are kept already as may be.
func (c *Conn) Keep() bool {
	l := c.limit
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.kept:
		return true
	case c.gone || l.kept >= l.limits.Connections || c.address.kept >= l.limits.Address:
		return false
	}
	c.kept = true
	c.address.kept++
	l.kept++
	c.speak()
	return true
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.limit.mu.Lock()
	c.limit.remove(c)
	c.limit.mu.Unlock()
	return c.Conn.Close()
}

// prefixOf returns what counts as one address: an IPv4 address, or the network
// of 64 bits that an IPv6 host chooses its addresses from. What has no IP
// address counts as one.
func prefixOf(remote net.Addr) netip.Prefix {
	if remote == nil {
		return netip.Prefix{}
	}
	at, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return netip.Prefix{}
	}
	ip, bits := at.Addr().Unmap().WithZone(""), 32
	if ip.Is6() {
		bits = 64
	}
	prefix, _ := ip.Prefix(bits) // such lengths are valid
	return prefix
}
