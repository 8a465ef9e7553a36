//go:build linux

package virtual

import (
	"context"
	"net"
	"net/netip"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// inNamespace runs f on a thread in a network namespace of its own, and skips the
// test where there can be none.
func inNamespace(t *testing.T, f func()) {
	t.Helper()
	skipped := make(chan string, 1)
	go func() {
		defer close(skipped)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			skipped <- "this machine has no network namespace for us: " + err.Error()
			return
		}
		for _, line := range []string{"link add v0 type veth peer name v1", "link set v0 up", "link set v1 up"} {
			if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
				skipped <- "ip " + line + ": " + string(out)
				return
			}
		}
		f()
	}()
	if why := <-skipped; why != "" {
		t.Skip(why)
	}
}

// TestHold: the interface has the address as long as it is held, and the network is
// told.
func TestHold(t *testing.T) {
	for _, text := range []string{"10.98.0.100/24", "fd00:98::100/64"} {
		t.Run(text, func(t *testing.T) {
			inNamespace(t, func() {
				address := netip.MustParsePrefix(text)
				heard := hear(t)
				ctx, stop := context.WithCancel(t.Context())
				time.AfterFunc(lifetime*time.Second+2*renewal, stop) // it is renewed
				lost := make(chan struct{})
				go func() {
					defer close(lost)
					<-ctx.Done()
				}()
				if err := Hold(ctx, Config{Address: address, Interface: "v0"}, 10*time.Millisecond, 100*time.Millisecond); err != nil {
					t.Error(err)
				}
				<-lost
				if has(t, address.Addr()) {
					t.Error("the interface has it still")
				}
				if n := heard(address.Addr()); n != 3 {
					t.Errorf("it is announced %d times, want 3", n)
				}
			})
		})
	}
	inNamespace(t, func() {
		if err := Hold(t.Context(), Config{Address: netip.MustParsePrefix("10.98.0.100/24"), Interface: "none"}); err == nil || !strings.Contains(err.Error(), "none") {
			t.Errorf("an interface that is none: %v", err)
		}
	})
}

func has(t *testing.T, address netip.Addr) bool {
	t.Helper()
	in, err := net.InterfaceByName("v0")
	if err != nil {
		t.Fatal(err)
	}
	all, err := in.Addrs()
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(all, func(a net.Addr) bool { return strings.HasPrefix(a.String(), address.String()+"/") })
}

// hear listens at the other end of the wire. What it returns counts the
// announcements of an address, which must be the interface's in all.
func hear(t *testing.T) func(netip.Addr) int {
	t.Helper()
	s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, int(htons(unix.ETH_P_ALL)))
	if err != nil {
		t.Fatal(err)
	}
	in, err := net.InterfaceByName("v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(s, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ALL), Ifindex: in.Index}); err != nil {
		t.Fatal(err)
	}
	return func(address netip.Addr) (n int) {
		defer unix.Close(s)
		b := make([]byte, 2048)
		for {
			length, _, err := unix.Recvfrom(s, b, 0)
			if err != nil {
				return n
			}
			p := b[:length]
			arp := address.Is4() && length >= 28 && string(p[14:18]) == string(address.AsSlice()) && string(p[24:28]) == string(address.AsSlice())
			nd := address.Is6() && length >= 64 && p[6] == 58 && p[40] == 136 && string(p[48:64]) == string(address.AsSlice())
			if arp || nd {
				n++
			}
		}
	}
}
