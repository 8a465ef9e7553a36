package listener

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
)

// fakeConn is a connection from an address that only knows whether it is closed.
type fakeConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.from))
}
func (c *fakeConn) Close() error { c.closed = true; return nil }

// fakeListener returns what is put into it: connections and errors.
type fakeListener struct {
	net.Listener
	next []any
}

func (l *fakeListener) Accept() (net.Conn, error) {
	if len(l.next) == 0 {
		return nil, net.ErrClosed
	}
	first := l.next[0]
	l.next = l.next[1:]
	if err, ok := first.(error); ok {
		return nil, err
	}
	return first.(net.Conn), nil
}

// rig accepts connections through a Limit.
type rig struct {
	t     *testing.T
	inner fakeListener
	limit *Limit
	outer net.Listener
}

func newRig(t *testing.T, limits Limits) *rig {
	r := &rig{t: t, limit: New(limits)}
	r.outer = r.limit.Listen(&r.inner)
	return r
}

// dial returns the accepted connection, nil if it was refused.
func (r *rig) dial(from string) (*Conn, *fakeConn) {
	r.t.Helper()
	under := &fakeConn{from: from}
	r.inner.next = append(r.inner.next, under)
	conn, err := r.outer.Accept()
	if errors.Is(err, net.ErrClosed) {
		if !under.closed {
			r.t.Fatal("a connection was refused and not closed")
		}
		return nil, under
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return conn.(*Conn), under
}

func port(host string, n int) string {
	return netip.AddrPortFrom(netip.MustParseAddr(host), uint16(n)).String()
}

// Whatever one address opens, others come in, and the oldest silent connection
// of that address is the one that goes.
func TestSilentConnectionsGiveWay(t *testing.T) {
	r := newRig(t, Limits{Connections: 40, Reserve: 4})
	var opened []*fakeConn
	for i := range 1000 {
		_, under := r.dial(port("10.0.0.1", i+1))
		opened = append(opened, under)
	}
	for i, c := range opened {
		if want := i < len(opened)-14; c.closed != want {
			t.Fatalf("connection %d of %d: closed %v", i, len(opened), c.closed)
		}
	}
	other, under := r.dial("10.0.0.2:1")
	if other == nil || under.closed {
		t.Fatal("another address was kept out")
	}
	if s := r.limit.Stats(); s.Open != 15 || s.GaveWay != 1000-14 || s.Refused != 0 {
		t.Fatalf("%+v", s)
	}
}

// Many addresses together cannot keep a further one out either.
func TestAllAddressesTogether(t *testing.T) {
	r := newRig(t, Limits{Connections: 20, Reserve: 4})
	var first *fakeConn
	for i := range 100 {
		c, under := r.dial(port(fmt.Sprintf("10.0.0.%d", i+1), 1))
		if i == 0 {
			first = under
			c.Silent() // heard of again: it is not the oldest for that
		}
	}
	if !first.closed {
		t.Error("the oldest of all did not give way")
	}
	if s := r.limit.Stats(); s.Open != 24 {
		t.Errorf("%+v", s)
	}
}

// What is kept or busy never gives way; beyond the share of an address nothing
// more of it is kept, and what others have is not touched.
func TestKept(t *testing.T) {
	r := newRig(t, Limits{Connections: 8, Address: 3, Reserve: 2})
	var kept []*fakeConn
	for i := range 3 {
		c, under := r.dial(port("10.0.0.1", i+1))
		if !c.Keep() || !c.Keep() {
			t.Fatalf("connection %d was not kept", i)
		}
		kept = append(kept, under)
	}
	busy, busyUnder := r.dial("10.0.0.1:10")
	busy.Busy()
	if busy.Keep() || !r.limit.Full(busy.RemoteAddr()) {
		t.Fatal("more than the address's share was kept")
	}
	silent, silentUnder := r.dial("10.0.0.1:11")
	next, nextUnder := r.dial("10.0.0.1:12")
	if next == nil || !silentUnder.closed {
		t.Fatal("the silent one did not give way")
	}
	next.Busy()
	if silent.Keep() || silent.Close() != nil {
		t.Fatal("one that has given way was kept")
	}
	if c, _ := r.dial("10.0.0.1:13"); c != nil {
		t.Fatal("a connection came in though none was silent")
	}
	for _, c := range append(kept, busyUnder, nextUnder) {
		if c.closed {
			t.Fatal("what is kept or busy gave way")
		}
	}
	if other, _ := r.dial("10.0.0.2:1"); r.limit.Full(other.RemoteAddr()) || !other.Keep() {
		t.Fatal("another address was kept out")
	}
	busy.Silent()
	if c, _ := r.dial("10.0.0.1:14"); c == nil || !busyUnder.closed {
		t.Fatal("a busy one that is silent again did not give way")
	}
}

// Places come back, each once, and addresses without connections are forgotten.
func TestPlacesComeBack(t *testing.T) {
	r := newRig(t, Limits{Connections: 4, Address: 2, Reserve: 1})
	for i := range 100 {
		c, _ := r.dial(port("10.0.0.1", i+1))
		if !c.Keep() {
			t.Fatalf("connection %d was not kept", i)
		}
		c.Close()
		c.Close()
		c.Silent()
	}
	if s := r.limit.Stats(); s != (Stats{}) || len(r.limit.addresses) != 0 {
		t.Errorf("%+v, %d addresses", s, len(r.limit.addresses))
	}
}

// The addresses of one IPv6 network are one host's.
func TestAddresses(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		same bool
	}{
		{"10.0.0.1:1", "10.0.0.1:2", true},
		{"10.0.0.1:1", "10.0.0.2:1", false},
		{"10.0.0.1:1", "[::ffff:10.0.0.1]:2", true},
		{"[2001:db8::1]:1", "[2001:db8::ffff:1]:1", true},
		{"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false},
		{"[fe80::1%eth0]:1", "[fe80::2%eth1]:1", true},
		{"127.0.0.1:1", "[::1]:1", false},
	} {
		a, b := &fakeConn{from: tt.a}, &fakeConn{from: tt.b}
		if same := prefixOf(a.RemoteAddr()) == prefixOf(b.RemoteAddr()); same != tt.same {
			t.Errorf("%s and %s: the same %v", tt.a, tt.b, same)
		}
	}
}

// Without a file left for a new connection a silent one gives way too.
func TestOutOfFiles(t *testing.T) {
	r := newRig(t, Limits{})
	_, old := r.dial("10.0.0.1:1")
	full := &net.OpError{Op: "accept", Err: os.NewSyscallError("accept4", syscall.EMFILE)}
	r.inner.next = append(r.inner.next, full)
	if c, _ := r.dial("10.0.0.2:1"); c == nil || !old.closed {
		t.Fatal("the silent connection did not give way")
	} else {
		c.Busy()
	}
	r.inner.next = append(r.inner.next, full)
	if _, err := r.outer.Accept(); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("accept: %v", err)
	}
}

// TestChange: other limits hold for who comes, not for who is there.
func TestChange(t *testing.T) {
	r := newRig(t, Limits{Connections: 2, Address: 2, Reserve: 1})
	var all []*Conn
	for i := range 5 {
		if i == 2 {
			r.limit.Change(Limits{Connections: 4, Address: 4, Reserve: 1})
		}
		c, _ := r.dial(port("10.0.0.1", i+1))
		if kept := c.Keep(); kept != (i < 4) {
			t.Errorf("connection %d kept: %v", i, kept)
		}
		all = append(all, c)
	}
	r.limit.Change(Limits{Connections: 1, Address: 1, Reserve: 1})
	if s := r.limit.Stats(); s.Open != 5 || s.Kept != 4 {
		t.Errorf("%+v; expected all to stay", s)
	}
	for _, c := range all[1:] {
		c.Close()
	}
	if c, _ := r.dial(port("10.0.0.1", 9)); c.Keep() {
		t.Error("two are kept; expected one")
	}
}
