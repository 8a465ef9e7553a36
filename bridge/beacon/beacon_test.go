package beacon

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// loopback returns a group of the test's own on the loopback, or skips it.
func loopback(t *testing.T) Network {
	t.Helper()
	all, err := net.Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 || unusable(&i) != "" {
			continue
		}
		conn, err := net.ListenPacket("udp4", "127.0.0.1:0") // a port that is free
		if err != nil {
			t.Fatal(err)
		}
		port := conn.LocalAddr().(*net.UDPAddr).Port
		conn.Close()
		n := Network{Group: netip.AddrPortFrom(netip.MustParseAddr("239.255.67.67"), uint16(port)), Interfaces: []string{i.Name}}
		if err := (&Outlet{}).sendOnce(&n); err != nil {
			t.Skipf("this machine has no multicast on %s: %v", i.Name, err)
		}
		listening, err := join(&n)
		if err != nil {
			t.Skipf("this machine takes no multicast on %s: %v", i.Name, err)
		}
		listening.Close()
		return n
	}
	t.Skip("this machine has no loopback interface with an IPv4 address")
	panic("unreachable")
}

func (o *Outlet) sendOnce(n *Network) error {
	defer o.Close()
	return o.Send(n, []byte("try"))
}

func TestBrokersAreHeard(t *testing.T) {
	network := loopback(t)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	const listeners = 2 // programs of one machine
	heard := make(chan Beacon, 1000)
	for range listeners {
		wg.Go(func() {
			if err := Listen(ctx, ListenConfig{Network: network}, func(b Beacon) { heard <- b }); err != nil {
				t.Error(err)
			}
		})
	}
	want := map[string]Beacon{}
	for i := range 3 {
		b := Beacon{Broker: fmt.Sprintf("b%d", i), URL: fmt.Sprintf("ws://127.0.0.1:88%02d/ws", i), Heartbeat: 10 * time.Millisecond}
		want[b.Broker] = b
		s, err := New(Config{Broker: b.Broker, URL: b.URL, Heartbeat: b.Heartbeat, Network: network})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if err := s.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	times := map[string]int{}
	deadline := time.After(time.Minute)
	for len(times) < 3 || times["b0"] < 5 || times["b1"] < 5 || times["b2"] < 5 {
		select {
		case got := <-heard:
			if diff := cmp.Diff(want[got.Broker], got, cmpopts.IgnoreFields(Beacon{}, "From")); diff != "" {
				t.Fatal(diff)
			}
			if !got.From.IsValid() || !got.From.Addr().Is4() {
				t.Errorf("from %v", got.From)
			}
			times[got.Broker]++
		case <-deadline:
			t.Fatalf("heard only %v", times)
		}
	}
}

func TestWhatIsNoBeaconIsPassedOver(t *testing.T) {
	network := loopback(t)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	heard := make(chan Beacon, 1000)
	wg.Go(func() { Listen(ctx, ListenConfig{Network: network}, func(b Beacon) { heard <- b }) })
	good, err := (&Beacon{Broker: "b1", URL: "ws://b1/ws", Heartbeat: time.Second}).encode()
	if err != nil {
		t.Fatal(err)
	}
	var out Outlet
	defer out.Close()
	for {
		for _, data := range [][]byte{{}, []byte("garbage"), make([]byte, 5000), good[:len(good)-1], good} {
			if err := out.Send(&network, data); err != nil {
				t.Fatal(err)
			}
		}
		select {
		case got := <-heard:
			if got.Broker != "b1" {
				t.Fatalf("%+v", got)
			}
			return
		case <-time.After(10 * time.Millisecond): // it may not have joined yet
		}
	}
}

func TestWithoutMulticast(t *testing.T) {
	network := Network{Interfaces: []string{"none0"}}
	ctx, cancel := context.WithCancel(context.Background())
	var log lockedBuffer
	s, err := New(Config{Broker: "b1", URL: "ws://b1/ws", Heartbeat: time.Millisecond, Network: network, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	wg.Go(func() {
		err := Listen(ctx, ListenConfig{Network: network, Logger: slog.New(slog.NewTextHandler(&log, nil))}, func(Beacon) {})
		if err != nil {
			t.Error(err)
		}
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if strings.Contains(log.String(), "cannot announce") && strings.Contains(log.String(), "cannot hear") {
			break
		}
		<-time.After(time.Millisecond)
	}
	cancel()
	wg.Wait()
	if lines := strings.Count(log.String(), "\n"); lines != 2 || strings.Count(log.String(), "there is no network interface none0") != lines {
		t.Errorf("%d lines were logged; expected one for each: %s", lines, log.String())
	}
}

// lockedBuffer takes a log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestWrongConfigurations(t *testing.T) {
	good := Config{Broker: "b1", URL: "ws://b1/ws"}
	for _, tt := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Broker = "" }, `beacons of broker "": a broker's id of 0 bytes; expected 1 to 256`},
		{func(c *Config) { c.Broker = "b\n" }, `beacons of broker "b\n": the broker's id "b\n" is not printable text`},
		{func(c *Config) { c.URL = "http://b1" }, `beacons of broker "b1": the URL "http://b1"; expected ws://host:port/… or wss://host:port/…`},
		{func(c *Config) { c.URL = "ws://b1/" + strings.Repeat("x", 1024) }, `beacons of broker "b1": a beacon of 1076 bytes; expected up to 1024`},
		{func(c *Config) { c.Heartbeat = time.Hour }, `beacons of broker "b1": a heartbeat of 1h0m0s; expected up to 1m0s`},
		{func(c *Config) { c.Network.Group = netip.MustParseAddrPort("10.0.0.1:5") }, `beacons of broker "b1": the group 10.0.0.1:5; expected an IPv4 multicast address and a port, as 239.255.67.66:8802`},
	} {
		cfg := good
		tt.change(&cfg)
		if _, err := New(cfg); err == nil || err.Error() != tt.want {
			t.Errorf("%v; expected %s", err, tt.want)
		}
	}
	if err := Listen(context.Background(), ListenConfig{Network: Network{Group: netip.MustParseAddrPort("[ff02::1]:5")}}, nil); err == nil {
		t.Error("listens on an IPv6 group")
	}
}

func TestDecode(t *testing.T) {
	encode := func(c any) []byte {
		data, err := cbor.Marshal(c)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	later := encode(map[string]any{"callboard": 1, "broker": "b1", "url": "ws://b1/ws", "heartbeat": 1_000_000, "load": 0.5})
	got, err := Decode(later)
	if diff := cmp.Diff(Beacon{Broker: "b1", URL: "ws://b1/ws", Heartbeat: time.Second}, got, cmpopts.EquateComparable(netip.AddrPort{})); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, tt := range []struct {
		data []byte
		want string
	}{
		{nil, "no beacon: EOF"},
		{[]byte("hello"), "no beacon: "},
		{encode(map[string]any{"broker": "b1"}), "no beacon: it has no version"},
		{encode(content{2, "b1", "ws://b1/ws", 1}), "a beacon of version 2; expected up to 1"},
		{encode(content{1, "", "ws://b1/ws", 1}), "a broker's id of 0 bytes; expected 1 to 256"},
		{encode(content{1, "b1", "ws:///ws", 1}), `the URL "ws:///ws"; expected`},
		{encode(content{1, "b1", "ws://b1/ws", 1 << 63}), "a heartbeat of 2m0s; expected up to 1m0s"},
		{encode(content{1, "b1", "ws://b1/ws", 0}), "a heartbeat of 0s"},
		{make([]byte, 1025), "a beacon of 1025 bytes; expected up to 1024"},
		{append(bytes.Clone(later), 0), "no beacon: "},
	} {
		if _, err := Decode(tt.data); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("% x: %v; expected %s", tt.data, err, tt.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, b := range []Beacon{{Broker: "b1", URL: "ws://b1/ws", Heartbeat: time.Second}, {Broker: "ä", URL: "wss://[::1]:1", Heartbeat: 1000}} {
		data, err := b.encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := Decode(data)
		if err != nil {
			return
		}
		again, err := b.encode()
		if err != nil {
			t.Fatalf("%+v was read from % x but cannot be written: %v", b, data, err)
		}
		if same, err := Decode(again); err != nil || same != b {
			t.Fatalf("%+v became %+v, %v", b, same, err)
		}
	})
}
