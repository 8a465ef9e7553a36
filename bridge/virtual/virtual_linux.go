package virtual

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/net/ipv6"
	"golang.org/x/sys/unix"
)

// The kernel takes the address away if it is not renewed: a process that stands
// still loses it.
const (
	lifetime = 2 // s
	renewal  = 500 * time.Millisecond
)

// Hold gives the interface the address until ctx ends, and announces it: at once,
// and after each of later.
func Hold(ctx context.Context, c Config, later ...time.Duration) error {
	link, err := netlink.LinkByName(c.Interface)
	if err != nil {
		return fmt.Errorf("interface %s: %w", c.Interface, err)
	}
	address := &netlink.Addr{
		IPNet:    &net.IPNet{IP: c.Address.Addr().AsSlice(), Mask: net.CIDRMask(c.Address.Bits(), c.Address.Addr().BitLen())},
		ValidLft: lifetime, PreferedLft: lifetime, Flags: unix.IFA_F_NODAD,
	}
	if err := netlink.AddrReplace(link, address); err != nil {
		return fmt.Errorf("address %s on %s: %w", c.Address, c.Interface, err)
	}
	defer netlink.AddrDel(link, address) // it goes by itself, too
	renew := time.NewTicker(renewal)
	defer renew.Stop()
	began := time.Now()
	for failed := error(nil); ; {
		failed = errors.Join(failed, announce(c.Address.Addr(), link.Attrs()))
		next := time.NewTimer(time.Hour)
		if len(later) > 0 {
			next.Reset(later[0] - time.Since(began))
			later = later[1:]
		} else {
			next.Stop()
		}
		for again := false; !again; {
			select {
			case <-ctx.Done():
				next.Stop()
				return failed
			case <-renew.C:
				if err := netlink.AddrReplace(link, address); err != nil {
					return fmt.Errorf("address %s on %s: %w", c.Address, c.Interface, err)
				}
			case <-next.C:
				again = true
			}
		}
	}
}

// announce tells all on the network that an address is here: they may take it for
// another machine's.
func announce(address netip.Addr, at *netlink.LinkAttrs) error {
	if len(at.HardwareAddr) != 6 {
		return nil // no Ethernet: nobody asks where an address is
	}
	var err error
	if address.Is4() {
		err = announceARP(address, at)
	} else {
		err = announceND(address, at)
	}
	if err != nil {
		return fmt.Errorf("announcing %s on %s: %w", address, at.Name, err)
	}
	return nil
}

// announceARP is a gratuitous ARP (RFC 5227, 3).
func announceARP(address netip.Addr, at *netlink.LinkAttrs) error {
	s, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(s)
	ip := address.As4()
	b := []byte{0, 1, 8, 0, 6, 4, 0, 1} // Ethernet, IPv4, their lengths, a request
	b = append(append(b, at.HardwareAddr...), ip[:]...)
	b = append(append(b, 0, 0, 0, 0, 0, 0), ip[:]...)
	to := &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ARP), Ifindex: at.Index, Halen: 6, Addr: [8]byte{255, 255, 255, 255, 255, 255}}
	return unix.Sendto(s, b, 0, to)
}

func htons(v uint16) uint16 { return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v)) }

// announceND is an unsolicited neighbour advertisement (RFC 4861, 7.2.6).
func announceND(address netip.Addr, at *netlink.LinkAttrs) error {
	c, err := net.ListenPacket("ip6:ipv6-icmp", "::")
	if err != nil {
		return err
	}
	defer c.Close()
	p := ipv6.NewPacketConn(c)
	out, err := net.InterfaceByIndex(at.Index)
	if err == nil {
		err = errors.Join(p.SetMulticastInterface(out), p.SetMulticastHopLimit(255))
	}
	if err != nil {
		return err
	}
	ip := address.As16()
	b := []byte{136, 0, 0, 0, 0x20, 0, 0, 0} // advertisement; the kernel sums; override
	b = append(append(b, ip[:]...), 2, 1)    // the target, and its address on the link
	b = append(b, at.HardwareAddr...)
	_, err = p.WriteTo(b, nil, &net.IPAddr{IP: net.IPv6linklocalallnodes, Zone: at.Name})
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		return nil // the interface has no address of IPv6 yet
	}
	return err
}
