package segment

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"callboard/bridge/link"
)

// batch is how many datagrams one call sends or receives.
const batch = 64

// Segment is a broker's sockets on a segment: one that the group's datagrams come
// to, and one of its own, that sends and takes statuses.
type Segment struct {
	cfg   Config
	iface *net.Interface
	group *socket
	own   *socket
	port  uint16
	to    net.UDPAddr // the group

	mu       sync.Mutex
	messages []ipv4.Message // of Send
	closed   bool
}

// socket is one of them.
type socket struct {
	conn   *net.UDPConn
	packet *ipv4.PacketConn
	window int
}

// Open joins the segment. Its errors say what is wrong with the interface.
func Open(cfg Config) (*Segment, error) {
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	s, err := open(cfg)
	if err != nil {
		return nil, fmt.Errorf("segment %v on %s: %w", cfg.Group, cfg.Interface, err)
	}
	return s, nil
}

func open(cfg Config) (_ *Segment, err error) {
	s := &Segment{cfg: cfg, to: *net.UDPAddrFromAddrPort(cfg.Group)}
	if s.iface, err = net.InterfaceByName(cfg.Interface); err != nil {
		return nil, errors.New("there is no network interface of that name")
	}
	switch {
	case s.iface.Flags&net.FlagUp == 0:
		return nil, errors.New("the interface is down")
	case s.iface.Flags&(net.FlagMulticast|net.FlagLoopback) == 0:
		return nil, errors.New("the interface has no multicast")
	case s.iface.MTU < cfg.Datagram+ipHeads:
		return nil, fmt.Errorf("datagrams of %d bytes do not fit its MTU of %d; expected up to %d", cfg.Datagram, s.iface.MTU, s.iface.MTU-ipHeads)
	}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	if s.group, err = listen(netip.AddrPortFrom(netip.IPv4Unspecified(), cfg.Group.Port()), true); err != nil {
		return nil, err
	}
	if err = s.group.packet.JoinGroup(s.iface, &net.UDPAddr{IP: s.to.IP}); err != nil {
		return nil, fmt.Errorf("joining the group: %w", err)
	}
	if s.own, err = listen(netip.AddrPortFrom(netip.IPv4Unspecified(), 0), false); err != nil {
		return nil, err
	}
	s.port = uint16(s.own.conn.LocalAddr().(*net.UDPAddr).Port)
	if err = errors.Join(s.sendFrom(), s.own.packet.SetMulticastLoopback(true), s.own.packet.SetMulticastTTL(1)); err != nil {
		return nil, fmt.Errorf("sending to the group: %w", err)
	}
	if s.group.window < maxWindow {
		cfg.Logger.Warn("the segment's socket has a small buffer, so less is on its way at a time; expected more of net.core.rmem_max",
			"segment", cfg.Group.String(), "interface", cfg.Interface, "datagrams", s.group.window, "expected", maxWindow, "rmem_max", bufferWanted)
	}
	return s, nil
}

// sendFrom has what is sent to the group go out by the interface, with its address:
// the kernel would take another one's on the loopback.
func (s *Segment) sendFrom() error {
	address, err := addressOf(s.iface)
	if err != nil {
		return err
	}
	raw, err := s.own.conn.SyscallConn()
	if err != nil {
		return err
	}
	failed := raw.Control(func(fd uintptr) {
		err = unix.SetsockoptIPMreqn(int(fd), unix.IPPROTO_IP, unix.IP_MULTICAST_IF, &unix.IPMreqn{Address: address, Ifindex: int32(s.iface.Index)})
	})
	return errors.Join(failed, err)
}

// addressOf returns an interface's first IPv4 address.
func addressOf(i *net.Interface) ([4]byte, error) {
	all, err := i.Addrs()
	if err != nil {
		return [4]byte{}, err
	}
	for _, a := range all {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil {
			return [4]byte(ip.IP.To4()), nil
		}
	}
	return [4]byte{}, errors.New("the interface has no IPv4 address")
}

// listen opens a socket. Brokers of one machine share the group's port.
func listen(address netip.AddrPort, shared bool) (*socket, error) {
	buffer := 0
	control := func(_, _ string, raw syscall.RawConn) error {
		var err error
		failed := raw.Control(func(fd uintptr) { buffer, err = prepare(int(fd), shared) })
		return errors.Join(failed, err)
	}
	lc := net.ListenConfig{Control: control}
	conn, err := lc.ListenPacket(context.Background(), "udp4", address.String())
	if err != nil {
		return nil, err
	}
	return &socket{conn.(*net.UDPConn), ipv4.NewPacketConn(conn), window(buffer)}, nil
}

// prepare sets what a socket is to have, and returns the size of its buffer.
func prepare(fd int, shared bool) (buffer int, err error) {
	set := func(level, option, value int, what string) {
		if e := unix.SetsockoptInt(fd, level, option, value); e != nil && err == nil {
			err = fmt.Errorf("%s: %w", what, e)
		}
	}
	if shared {
		set(unix.SOL_SOCKET, unix.SO_REUSEADDR, 1, "sharing the group's port")
	}
	set(unix.IPPROTO_IP, unix.IP_MULTICAST_ALL, 0, "groups of other sockets")
	set(unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DO, "no fragments")
	set(unix.IPPROTO_IP, unix.IP_PKTINFO, 1, "the interface of datagrams")
	set(unix.SOL_SOCKET, unix.SO_RXQ_OVFL, 1, "the count of dropped datagrams")
	if err != nil {
		return 0, err
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, bufferWanted/2) != nil { // the kernel doubles it
		set(unix.SOL_SOCKET, unix.SO_RCVBUF, bufferWanted/2, "the receive buffer")
	}
	set(unix.SOL_SOCKET, unix.SO_SNDBUF, bufferWanted/8, "the send buffer")
	if err != nil {
		return 0, err
	}
	return unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
}

// Address implements link.Group.
func (s *Segment) Address() netip.AddrPort { return s.cfg.Group }

// Port implements link.Group.
func (s *Segment) Port() uint16 { return s.port }

// Window implements link.Group.
func (s *Segment) Window() int { return s.group.window }

// Send implements link.Group. What the kernel does not take is lost, as on the
// network.
func (s *Segment) Send(all []link.Datagram) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(all) > 0 && !s.closed {
		n := min(len(all), batch)
		for len(s.messages) < n {
			s.messages = append(s.messages, ipv4.Message{Buffers: make([][]byte, 1)})
		}
		for i, d := range all[:n] {
			m := &s.messages[i]
			m.Buffers[0], m.Addr = d.Content, &s.to
			if d.To.IsValid() {
				m.Addr = net.UDPAddrFromAddrPort(d.To)
			}
		}
		sent, err := s.own.packet.WriteBatch(s.messages[:n], 0)
		if err != nil || sent <= 0 {
			sent = 1 // the first one is lost
		}
		all = all[sent:]
	}
}

// Receive implements link.Group.
func (s *Segment) Receive(take func(from netip.Addr, datagram []byte, dropped uint32)) error {
	var lock sync.Mutex
	var dropped [2]uint32
	var group sync.WaitGroup
	errs := make([]error, 2)
	for i, socket := range []*socket{s.group, s.own} {
		group.Go(func() {
			errs[i] = socket.receive(func(from netip.Addr, index int, datagram []byte, drops uint32) {
				if index != s.iface.Index && s.iface.Flags&net.FlagLoopback == 0 && i == 0 {
					return // came by another interface
				}
				lock.Lock()
				if drops > 0 {
					dropped[i] = drops
				}
				total := dropped[0] + dropped[1]
				lock.Unlock()
				take(from, datagram, total)
			})
			s.Close() // the other one ends too
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// receive hands over what comes, until the socket is closed.
func (s *socket) receive(take func(from netip.Addr, index int, datagram []byte, dropped uint32)) error {
	messages := make([]ipv4.Message, batch)
	for i := range messages {
		messages[i] = ipv4.Message{Buffers: [][]byte{make([]byte, 9216)}, OOB: make([]byte, 128)}
	}
	for {
		n, err := s.packet.ReadBatch(messages, 0)
		if err != nil {
			return err
		}
		for i := range messages[:n] {
			m := &messages[i]
			from, ok := m.Addr.(*net.UDPAddr)
			if !ok || m.Flags&unix.MSG_TRUNC != 0 {
				continue
			}
			index, dropped := control(m.OOB[:m.NN])
			take(from.AddrPort().Addr().Unmap(), index, m.Buffers[0][:m.N], dropped)
		}
	}
}

// control reads the interface that a datagram came by, and how many its socket has
// dropped.
func control(oob []byte) (index int, dropped uint32) {
	for len(oob) > 0 {
		h, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return index, dropped
		}
		switch {
		case h.Level == unix.IPPROTO_IP && h.Type == unix.IP_PKTINFO && len(data) >= 4:
			index = int(binary.NativeEndian.Uint32(data))
		case h.Level == unix.SOL_SOCKET && h.Type == unix.SO_RXQ_OVFL && len(data) >= 4:
			dropped = binary.NativeEndian.Uint32(data)
		}
		oob = rest
	}
	return index, dropped
}

// Close implements link.Group.
func (s *Segment) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	for _, socket := range []*socket{s.group, s.own} {
		if socket != nil {
			errs = append(errs, socket.conn.Close())
		}
	}
	return errors.Join(errs...)
}

// NewAlarm returns an alarm that is finer than Go's timers, which are 1 ms coarse
// while the program waits for the network: twice what a repair takes.
func (s *Segment) NewAlarm() (link.Alarm, error) { return newAlarm() }

// alarm is a timerfd in Go's poller.
type alarm struct {
	file  *os.File
	raw   syscall.RawConn
	rings chan struct{}
	done  chan struct{}
}

func newAlarm() (*alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("a timer: %w", err)
	}
	a := &alarm{file: os.NewFile(uintptr(fd), "timer"), rings: make(chan struct{}, 1), done: make(chan struct{})}
	if a.raw, err = a.file.SyscallConn(); err != nil {
		a.file.Close()
		return nil, fmt.Errorf("a timer: %w", err)
	}
	go func() {
		defer close(a.done)
		var expirations [8]byte
		for {
			if _, err := a.file.Read(expirations[:]); err != nil {
				return
			}
			select {
			case a.rings <- struct{}{}:
			default:
			}
		}
	}()
	return a, nil
}

// Set implements link.Alarm.
func (a *alarm) Set(after time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(max(1, after.Nanoseconds()))} // 0 would stop it
	_ = a.raw.Control(func(fd uintptr) { _ = unix.TimerfdSettime(int(fd), 0, &spec, nil) })
}

// Rings implements link.Alarm.
func (a *alarm) Rings() <-chan struct{} { return a.rings }

// Close implements link.Alarm.
func (a *alarm) Close() error {
	err := a.file.Close()
	<-a.done
	return err
}
