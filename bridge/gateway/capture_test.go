package gateway_test

import (
	"bytes"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playertest"
)

const captures = "../../testdata/captures"

func loadCaptures(t testing.TB, pattern string) []*playertest.Capture {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(captures, pattern+".s2c.bin"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures %s in %s; %v", pattern, captures, err)
	}
	var all []*playertest.Capture
	for _, f := range files {
		c, err := playertest.Load(captures, strings.TrimSuffix(filepath.Base(f), ".s2c.bin"))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// apart returns a message as it stands on the wire, without the two fields that
// say whose it is: host and port.
func apart(raw []byte) string { return string(raw[8:]) }

// Whatever real Player servers have sent reaches a program byte for byte, but
// for the host and port in headers: readings of all interfaces, each device's
// in their order, and answers to all that was ever asked.
func TestCapturesPassUnchanged(t *testing.T) {
	readings, answers := 0, 0
	interfaces := map[uint16]bool{}
	for _, capture := range loadCaptures(t, "[a-h]_*") {
		data := capture.Data()
		var opened []player.Addr
		want := map[player.Addr]string{} // all of a device's readings, one after the other
		for _, m := range data {
			a := player.Addr{Interf: player.Interface(m.Interf), Index: m.Index}
			if !slices.Contains(opened, a) {
				opened = append(opened, a)
			}
			want[a] += apart(m.Raw)
			interfaces[m.Interf] = true
		}
		robot := playertest.Play(t, capture, playertest.Options{})
		r := start(t, nil, one("r0", robot.Addr()))
		r.isUp()
		p := r.attach(0)
		for _, a := range opened {
			if !p.access(a, player.AccessOpen) {
				t.Fatalf("%s: %s of %q could not be opened", capture.Name, a, p.devices())
			}
		}
		got := map[player.Addr]string{}
		for range data {
			m := p.next()
			got[player.Addr{Interf: m.Interf, Index: m.Index}] += apart(append(m.Header.Append(nil), m.Body...))
		}
		for a := range want {
			if got[a] != want[a] {
				t.Errorf("%s: %s: other bytes came through the gateway", capture.Name, a)
			}
		}
		readings += len(data)
		answers += compareAnswers(t, capture, r, robot)
		r.stop()
		robot.Close()
	}
	t.Logf("%d readings of %d interfaces, %d answers", readings, len(interfaces), answers)
	if readings < 500 || answers < 100 || len(interfaces) < 20 {
		t.Errorf("compared only %d readings of %d interfaces and %d answers", readings, len(interfaces), answers)
	}
}

// compareAnswers asks what the capture's client asked, the robot's server
// itself and through the gateway.
func compareAnswers(t *testing.T, capture *playertest.Capture, r *rig, robot *playertest.Server) int {
	t.Helper()
	direct, p := attach(t, robot.Addr()), r.attach(0)
	devices := strings.Join(p.devices(), " ")
	n := 0
	for _, m := range capture.Client {
		a := player.Addr{Interf: player.Interface(m.Interf), Index: m.Index}
		if m.Type != uint8(player.Request) || m.Interf == 1 || m.Subtype == iface.ReqCapabilities || !strings.Contains(devices, a.String()+" ") {
			continue
		}
		for _, to := range []*program{direct, p} {
			if _, err := to.nc.Write(m.Raw); err != nil {
				t.Fatal(err)
			}
		}
		want, got := direct.next(), p.next()
		if apart(append(got.Header.Append(nil), got.Body...)) != apart(append(want.Header.Append(nil), want.Body...)) {
			t.Errorf("%s: to %s\ngot      %+v %x\nexpected %+v %x", capture.Name, m, got.Header, got.Body, want.Header, want.Body)
		}
		n++
	}
	return n
}

// What was ever thrown at the real server is thrown at the gateway: it
// survives, the robot's server is sent nothing that would crash it (that fails
// the test there), and another program notices nothing.
func TestHostilePrograms(t *testing.T) {
	robot := playertest.Play(t, playertest.TwoRobots(), playertest.Options{Open: []uint32{}})
	r := start(t, nil, one("r0", robot.Addr()))
	r.isUp()
	other := r.attach(0)
	devices := other.until(12)
	for _, capture := range loadCaptures(t, "i_*") {
		p := r.attach(0)
		p.nc.Write(capture.C2S) // fails once the gateway has given up
		p.nc.Close()
		if got := other.devices(); !slices.Equal(got, devices) {
			t.Errorf("%s: the other program sees %q", capture.Name, got)
		}
	}
	for _, m := range robot.Received() {
		if m.Subtype == iface.ReqCapabilities && m.Interf != 1 {
			t.Errorf("%s reached the robot", m)
		}
	}
	if n := robot.Accepted(); n != 1 {
		t.Errorf("the robot's server saw %d clients", n)
	}
}

// FuzzProgram throws bytes at the gateway: what it passes to the robot's
// server is whole messages, none of which crashes a real one, and others are
// served.
func FuzzProgram(f *testing.F) {
	for _, capture := range loadCaptures(f, "*") {
		if len(capture.C2S) < 4000 {
			f.Add(capture.C2S)
		}
	}
	robot := newReal(position, laser, camera, odd, player.Addr{Interf: player.InterfaceSimulation}, player.Addr{Interf: player.InterfaceMap})
	s, _ := serve(f, "127.0.0.1:0", robot)
	r := start(f, nil, one("r0", s.Addr().String()))
	r.isUp()
	r.attach(0).until(6)
	f.Fuzz(func(t *testing.T, stream []byte) {
		robot.mu.Lock()
		robot.lines = nil
		robot.mu.Unlock()
		before := s.Stats()
		p := attach(t, r.gateway.Ports()[0].Address)
		p.nc.Write(stream)
		p.nc.Close()
		q := attach(t, r.gateway.Ports()[0].Address)
		if m := q.request(odd, 99, raw(1, 2, 3, 4)); m.Type != player.Ack || !bytes.Equal(m.Body, []byte{1, 2, 3, 4}) {
			t.Fatalf("another program got %s", m.Header)
		}
		after := s.Stats()
		if after.Accepted != before.Accepted || after.BadSize != 0 || after.Undecodable != 0 || after.UnknownDevice != 0 {
			t.Fatalf("the robot's server saw %+v", after)
		}
		q.nc.Close()
	})
}

// FuzzRobot throws bytes at the gateway from the robot's side: it survives, and
// what reaches a program is whole messages.
func FuzzRobot(f *testing.F) {
	for _, capture := range loadCaptures(f, "*") {
		if len(capture.S2C) < 4000 {
			f.Add(capture.S2C)
		}
	}
	f.Fuzz(func(t *testing.T, stream []byte) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		said := make(chan struct{})
		go func() {
			defer close(said)
			if nc, err := l.Accept(); err == nil {
				nc.Write(stream)
				nc.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, nc)
				nc.Close()
			}
		}()
		r := start(t, func(a player.Addr) bool { return a.Interf == player.InterfaceLaser }, one("r0", l.Addr().String()))
		p := r.attach(0)
		<-said
		for _, a := range []player.Addr{position, laser, odd} {
			p.send(self, player.Request, player.PlayerDev, &iface.DeviceReq{Addr: a, Access: player.AccessOpen})
		}
		p.send(self, player.Request, player.PlayerDevlist, nil)
		for { // of DATA and answers, the list is the last answer
			if m := p.next(); m.Type == player.Ack && m.Interf == player.InterfacePlayer && m.Subtype == player.PlayerDevlist {
				break
			}
		}
		r.stop()
		l.Close()
	})
}
