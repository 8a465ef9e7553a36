//go:build linux

package segment

import (
	"fmt"
	"net/netip"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"callboard/bridge/link"
)

// namespace is a thread in a network namespace of its own: what it opens is there.
type namespace struct {
	thread int
	do     chan func()
}

// newNamespace skips the test where there can be none.
func newNamespace(t *testing.T) *namespace {
	t.Helper()
	n := &namespace{do: make(chan func())}
	ready := make(chan error)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		err := unix.Unshare(unix.CLONE_NEWNET)
		n.thread = unix.Gettid()
		ready <- err
		for f := range n.do {
			f()
		}
	}()
	t.Cleanup(func() { close(n.do); <-ended })
	if err := <-ready; err != nil {
		t.Skipf("this machine has no network namespace for us: %v", err)
	}
	return n
}

// run has the thread do something.
func (n *namespace) run(f func()) {
	done := make(chan struct{})
	n.do <- func() { defer close(done); f() }
	<-done
}

// ip runs commands of ip(8) in the namespace, a line each.
func (n *namespace) ip(t *testing.T, lines string) {
	t.Helper()
	for line := range strings.Lines(lines) {
		var out []byte
		var err error
		n.run(func() { out, err = exec.Command("ip", strings.Fields(line)...).CombinedOutput() })
		if err != nil {
			t.Skipf("ip %s: %v %s", strings.TrimSpace(line), err, out)
		}
	}
}

// TestTwoMachines: brokers in two network namespaces, with two wires between them: on
// one is the segment, and what comes by the other to the same group is passed over.
func TestTwoMachines(t *testing.T) {
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("there is no ip(8)")
	}
	a, b := newNamespace(t), newNamespace(t)
	for i := range 2 {
		a.ip(t, fmt.Sprintf("link add a%d type veth peer name b%d\nlink set b%d netns %s", i, i, i, strconv.Itoa(b.thread)))
		a.ip(t, fmt.Sprintf("addr add 10.98.%d.1/24 dev a%d\nlink set a%d up", i, i, i))
		b.ip(t, fmt.Sprintf("addr add 10.98.%d.2/24 dev b%d\nlink set b%d up", i, i, i))
	}
	group := netip.MustParseAddrPort("239.255.67.70:8803")
	open := func(n *namespace, name string) (s *Segment) {
		t.Helper()
		var err error
		n.run(func() { s, err = Open(Config{Interface: name, Group: group}) })
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	here, elsewhere, there := open(a, "a0"), open(a, "a1"), open(b, "b0")
	defer here.Close()
	defer elsewhere.Close()
	type came struct {
		from    netip.Addr
		content string
	}
	got := make(chan came, 1000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		there.Receive(func(from netip.Addr, datagram []byte, _ uint32) { got <- came{from, string(datagram)} })
	}()
	expect := func(want came) {
		t.Helper()
		select {
		case g := <-got:
			if g != want {
				t.Fatalf("%v; expected %v", g, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("nothing came; expected %v", want)
		}
	}
	from := netip.MustParseAddr("10.98.0.1")
	for range 50 { // the first ones may come before the wire carries
		elsewhere.Send([]link.Datagram{{Content: []byte("by the other wire")}})
		here.Send([]link.Datagram{{Content: []byte("to all")}})
		select {
		case g := <-got:
			if want := (came{from, "to all"}); g != want {
				t.Fatalf("%v; expected %v", g, want)
			}
		case <-time.After(100 * time.Millisecond):
			continue
		}
		break
	}
	here.Send([]link.Datagram{{To: netip.AddrPortFrom(netip.MustParseAddr("10.98.0.2"), there.Port()), Content: []byte("to you")}})
	for {
		g := <-got
		if g.content == "to all" {
			continue // one that was late
		}
		if want := (came{from, "to you"}); g != want {
			t.Fatalf("%v; expected %v", g, want)
		}
		break
	}
	here.Send([]link.Datagram{{Content: make([]byte, 1472)}}) // the longest that the wire takes whole
	expect(came{from, string(make([]byte, 1472))})
	here.Send([]link.Datagram{{Content: make([]byte, 1473)}, {Content: []byte("the next one")}}) // a longer one is lost, not cut
	expect(came{from, "the next one"})
	there.Close()
	<-done
}
