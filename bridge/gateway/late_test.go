package gateway_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"callboard/bridge/gateway"
	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
)

// sleeper is a Player server whose only driver does not run: what it is asked
// waits until the test wakes it.
type sleeper struct {
	t    *testing.T
	nc   net.Conn
	mu   sync.Mutex
	wait []player.Message
	woke bool
}

func (s *sleeper) serve(l net.Listener) {
	nc, err := l.Accept()
	if err != nil {
		return
	}
	defer nc.Close()
	s.nc = nc
	nc.Write(append([]byte("Player v.3.1.1-dev"), make([]byte, 14)...))
	p := &program{t: s.t, nc: nc}
	for {
		head := make([]byte, player.HeaderSize)
		if _, err := io.ReadFull(p.nc, head); err != nil {
			return
		}
		h, err := player.ParseHeader(head)
		if err != nil {
			return
		}
		s.take(player.Message{Header: h, Body: p.bytes(int(h.Size))})
		p.nc.SetReadDeadline(time.Time{})
	}
}

func (s *sleeper) take(m player.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case m.Interf == player.InterfacePlayer && m.Subtype == player.PlayerDevlist:
		m.Body = bodyOf(s.t, &iface.DeviceDevlist{Devices: []iface.DevAddr{odd}})
		s.answer(m)
	case m.Interf == player.InterfacePlayer && m.Subtype == player.PlayerDriverinfo:
		m.Body = bodyOf(s.t, &iface.DeviceDriverinfo{Addr: odd, DriverName: "sleeper\x00"})
		s.answer(m)
	case m.Interf == player.InterfacePlayer:
		s.answer(m)
	case s.woke:
		s.answer(m)
	default:
		s.wait = append(s.wait, m)
	}
}

// answer returns the body.
func (s *sleeper) answer(m player.Message) {
	m.Type, m.Size = player.Ack, uint32(len(m.Body))
	s.nc.Write(append(m.Header.Append(nil), m.Body...))
}

func (s *sleeper) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.wait {
		s.answer(m)
	}
	s.woke = true
}

// Programs that asked a device that does not answer are refused after a while;
// when it answers after all, no other program gets what was meant for them.
func TestLateAnswersGoToNobodyElse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &sleeper{t: t}
	var serving sync.WaitGroup
	serving.Go(func() { s.serve(l) })
	t.Cleanup(func() { l.Close(); serving.Wait() })
	const timeout = 20 * time.Millisecond
	r := startWith(t, nil, func(c *client.Config) { c.RequestTimeout, c.Idle = timeout, time.Hour }, gateway.Player{
		Address: l.Addr().String(), Robots: []gateway.Robot{{Name: "r0"}}})
	r.isUp()
	early := r.attach(0)
	early.until(1)
	for n := range byte(3) { // each far longer than a request is worth waiting for
		if m := early.request(odd, 7, raw(n, 0, 0, 0)); m.Type != player.Nack {
			t.Fatalf("got %s", m.Header)
		}
	}
	s.wake()
	late := r.attach(0)
	for n := range byte(5) {
		if m := late.request(odd, 7, raw(n, 1, 1, 1)); m.Type == player.Ack && !bytes.Equal(m.Body, []byte{n, 1, 1, 1}) {
			t.Fatalf("request %d got %x", n, m.Body)
		}
	}
}
