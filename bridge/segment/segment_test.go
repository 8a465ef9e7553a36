//go:build linux

package segment

import (
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"callboard/bridge/link"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// loopback opens a segment of the test's own on the loopback, or skips it.
func loopback(t *testing.T, group netip.AddrPort) *Segment {
	t.Helper()
	s, err := Open(Config{Interface: "lo", Group: group})
	if err != nil {
		t.Skipf("this machine has no segment on the loopback: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// freeGroup is a group with a port that is free.
func freeGroup(t *testing.T) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return netip.AddrPortFrom(netip.MustParseAddr("239.255.67.67"), uint16(conn.LocalAddr().(*net.UDPAddr).Port))
}

// heard collects what comes to a segment.
type heard struct {
	mu  sync.Mutex
	all []string
	got chan struct{}
}

func receive(t *testing.T, s *Segment) *heard {
	h := &heard{got: make(chan struct{}, 1000)}
	var wg sync.WaitGroup
	wg.Go(func() {
		s.Receive(func(from netip.Addr, datagram []byte, _ uint32) {
			if !from.IsLoopback() {
				t.Errorf("from %v", from)
			}
			h.mu.Lock()
			h.all = append(h.all, string(datagram))
			h.mu.Unlock()
			h.got <- struct{}{}
		})
	})
	t.Cleanup(func() { s.Close(); wg.Wait() })
	return h
}

func (h *heard) expect(t *testing.T, want ...string) {
	t.Helper()
	for range want {
		select {
		case <-h.got:
		case <-time.After(time.Minute):
			t.Fatalf("heard %q; expected %q", h.all, want)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := strings.Join(h.all, "|"); got != strings.Join(want, "|") {
		t.Errorf("heard %q; expected %q", h.all, want)
	}
	h.all = nil
}

// TestGroupAndOwn: two brokers of one machine hear what goes to the group, their own
// too, and each what goes to it alone; a third one of another group hears nothing,
// though it shares the port.
func TestGroupAndOwn(t *testing.T) {
	group := freeGroup(t)
	one, two := loopback(t, group), loopback(t, group)
	other := loopback(t, netip.AddrPortFrom(netip.MustParseAddr("239.255.67.68"), group.Port()))
	hears, hearsToo, hearsNot := receive(t, one), receive(t, two), receive(t, other)
	var all []link.Datagram
	var want []string
	for i := range 3 * batch {
		want = append(want, strings.Repeat("x", i+1))
		all = append(all, link.Datagram{Content: []byte(want[i])})
	}
	one.Send(all)
	hears.expect(t, want...)
	hearsToo.expect(t, want...)
	one.Send([]link.Datagram{{To: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), two.Port()), Content: []byte("to you")}})
	hearsToo.expect(t, "to you")
	other.Send([]link.Datagram{{Content: []byte("other")}})
	hearsNot.expect(t, "other")
	if len(hears.all)+len(hearsToo.all) > 0 {
		t.Errorf("heard %q and %q", hears.all, hearsToo.all)
	}
	if one.Address() != group || one.Port() == two.Port() || one.Window() < minWindow || one.Window() > maxWindow {
		t.Errorf("%v, ports %d and %d, window %d", one.Address(), one.Port(), two.Port(), one.Window())
	}
}

// TestDrops: the kernel says what it has dropped.
func TestDrops(t *testing.T) {
	group := freeGroup(t)
	from, to := loopback(t, group), loopback(t, group)
	var all []link.Datagram
	for range 20_000 {
		all = append(all, link.Datagram{Content: make([]byte, 1000)})
	}
	from.Send(all) // nobody receives meanwhile
	told := make(chan uint32, 100_000)
	var wg sync.WaitGroup
	wg.Go(func() {
		to.Receive(func(_ netip.Addr, _ []byte, dropped uint32) {
			if dropped > 0 {
				select {
				case told <- dropped:
				default:
				}
			}
		})
	})
	for n := uint32(0); n == 0; {
		from.Send(all[:1]) // the count comes with a datagram
		select {
		case n = <-told:
		case <-time.After(10 * time.Millisecond):
		}
	}
	to.Close()
	wg.Wait()
}

func TestWindow(t *testing.T) {
	for buffer, want := range map[int]int{212_992: 69, 8 << 20: 2048, 0: 16, 1 << 20: 341} {
		if got := window(buffer); got != want {
			t.Errorf("a buffer of %d bytes holds %d; expected %d", buffer, got, want)
		}
	}
}

func TestWrongSegments(t *testing.T) {
	group := netip.MustParseAddrPort("239.255.67.67:5000")
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{Config{Group: group}, "a segment without an interface"},
		{Config{Interface: "lo", Group: netip.MustParseAddrPort("10.0.0.1:5")}, "the group 10.0.0.1:5; expected an IPv4 multicast address and a port, as 239.255.67.66:8803"},
		{Config{Interface: "none0", Group: group}, "segment 239.255.67.67:5000 on none0: there is no network interface of that name"},
		{Config{Interface: "lo", Group: group, Datagram: 100_000}, "datagrams of 100000 bytes do not fit its MTU"},
	} {
		if s, err := Open(tt.cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, %v; expected %s", s, err, tt.want)
		}
	}
}

// TestAlarm: it rings when it was set to last, sooner or later than before.
func TestAlarm(t *testing.T) {
	a, err := newAlarm()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	ring := func() {
		t.Helper()
		select {
		case <-a.Rings():
		case <-time.After(time.Minute):
			t.Fatal("it does not ring")
		}
	}
	for _, after := range []time.Duration{0, 100 * time.Microsecond, -time.Second} {
		a.Set(after)
		ring()
	}
	a.Set(time.Hour)
	began := time.Now()
	a.Set(5 * time.Millisecond)
	ring()
	if passed := time.Since(began); passed < 5*time.Millisecond {
		t.Errorf("it rings after %v", passed)
	}
}
