package gateway_test

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"callboard/bridge/gateway"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
)

func bodyOf(t testing.TB, payload any) []byte {
	t.Helper()
	b, err := iface.Append(nil, payload)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// All that a program can do it does through the gateway, of interfaces that no
// table has, too.
func TestProgramUsesARobot(t *testing.T) {
	robot := newReal(position, laser, odd)
	s, _ := serve(t, "127.0.0.1:0", robot)
	r := start(t, nil, one("r0", s.Addr().String()))
	r.isUp()
	p := r.attach(0)
	want := []string{"position2d:0 drives position2d:0", "laser:0 drives laser:0", "777:5 drives 777:5"}
	if got := p.until(3); !slices.Equal(got, want) {
		t.Errorf("devices %q", got)
	}

	p.open(odd)
	p.open(position)
	robot.noted(t, "open 777:5", "open position2d:0")
	pos := bodyOf(t, &iface.Position2DData{Pos: iface.Pose2D{Px: 3}})
	robot.pub.PublishBody(laser, 1, 1, make([]byte, 36)) // nobody has it open
	robot.pub.PublishBody(position, 1, 2, pos)
	robot.pub.PublishBody(odd, 200, 3, []byte{1, 2, 3, 4})
	p.reads(position, 1, 2, pos)
	p.reads(odd, 200, 3, []byte{1, 2, 3, 4})

	vel := bodyOf(t, &iface.Position2DCmdVel{Vel: iface.Pose2D{Px: 0.5}, State: 1})
	p.send(position, player.Command, iface.CmdPosition2DVel, &iface.Raw{Body: vel})
	p.send(odd, player.Command, 9, raw(9, 9, 9, 9))
	m := p.request(odd, 8, raw(8, 8, 8, 8))
	if m.Type != player.Ack || m.Timestamp != 7.5 || m.Seq != 3 || !bytes.Equal(m.Body, []byte{8, 8, 8, 8}) {
		t.Errorf("answer %+v", m)
	}
	prop := &iface.IntpropReq{Key: "k\x00", Value: -5}
	if m := p.request(laser, iface.ReqGetIntprop, prop); m.Type != player.Ack || !bytes.Equal(m.Body, bodyOf(t, prop)) {
		t.Errorf("property: %+v", m)
	}
	robot.noted(t, "open 777:5", "open position2d:0",
		fmt.Sprintf("CMD 1 of position2d:0: %x", vel), "CMD 9 of 777:5: 09090909", "REQ 8 of 777:5: 08080808",
		fmt.Sprintf("REQ 254 of laser:0: %x", bodyOf(t, prop)))
	if m := p.request(player.Addr{Interf: player.InterfaceSonar}, 1, nil); m.Type != player.Nack {
		t.Errorf("a device that is not there: %s", m.Header)
	}

	p.close(position)
	robot.pub.PublishBody(position, 1, 4, pos)
	robot.pub.PublishBody(odd, 201, 5, nil)
	p.reads(odd, 201, 5, nil)
	if n := s.Stats().Accepted; n != 1 {
		t.Errorf("the robot's server saw %d clients, expected 1", n)
	}
}

// What the broker has open by itself stays open, and is read, whatever
// programs do; what programs open, each as often as it likes, is open once.
func TestProgramsShareTheSession(t *testing.T) {
	robot := newReal(position, laser)
	s, _ := serve(t, "127.0.0.1:0", robot)
	r := start(t, func(a player.Addr) bool { return a.Interf == player.InterfaceLaser }, one("r0", s.Addr().String()))
	r.isUp()
	a, b := r.attach(0), r.attach(0)
	a.until(2)
	for _, p := range []*program{a, a, b} {
		p.open(laser)
		p.open(position)
	}
	robot.pub.PublishBody(position, 1, 1, make([]byte, 52))
	robot.pub.PublishBody(laser, 1, 2, make([]byte, 36))
	for _, p := range []*program{a, b} {
		for range map[*program]int{a: 2, b: 1}[p] {
			p.reads(position, 1, 1, make([]byte, 52))
		}
		for range map[*program]int{a: 2, b: 1}[p] {
			p.reads(laser, 1, 2, make([]byte, 36))
		}
	}
	if got := <-r.sessions[0].data; got != "DATA 1 of laser:0" {
		t.Errorf("the broker read %s", got)
	}
	b.nc.Close()
	for range 2 {
		a.close(laser)
		a.close(position)
	}
	robot.noted(t, "open laser:0", "REQ 1 of laser:0: ", "open position2d:0", "close position2d:0")
	robot.pub.PublishBody(laser, 1, 3, make([]byte, 36))
	if got := <-r.sessions[0].data; got != "DATA 1 of laser:0" {
		t.Errorf("the broker read %s", got)
	}
}

// Each program gets the answers to its own requests, in their order, however
// many are on their way.
func TestAnswersGoToWhoAsked(t *testing.T) {
	robot := newReal(position, odd)
	var mu sync.Mutex
	var held []*server.Call
	robot.answer = func(c *server.Call) {
		c.Body = bytes.Clone(c.Body)
		mu.Lock()
		defer mu.Unlock()
		if held = append(held, c); len(held) == 4*15 {
			for _, c := range held {
				c.Reply(player.Header{Type: player.Ack}, c.Body)
			}
		}
	}
	s, _ := serve(t, "127.0.0.1:0", robot)
	r := start(t, nil, one("r0", s.Addr().String()))
	r.isUp()
	var programs []*program
	for i := range byte(4) {
		p := r.attach(0)
		p.until(2)
		for n := range byte(15) {
			p.send(odd, player.Request, 1+n%2, raw(i, n, 0, 0))
		}
		programs = append(programs, p)
	}
	for i, p := range programs {
		for n := range byte(15) {
			if m := p.next(); m.Type != player.Ack || !bytes.Equal(m.Body, []byte{byte(i), n, 0, 0}) || m.Subtype != 1+n%2 {
				t.Fatalf("program %d, answer %d: %s %x", i, n, m.Header, m.Body)
			}
		}
	}
}

// While the robot is away all is refused at once, its devices stay listed, and
// programs stay attached: they get their devices' data again by themselves.
func TestRobotAwayAndBack(t *testing.T) {
	robot := newReal(position, laser)
	s, stop := serve(t, "127.0.0.1:0", robot)
	address := s.Addr().String()
	r := start(t, nil, one("r0", address))
	r.isUp()
	p := r.attach(0)
	p.until(2)
	p.open(position)
	stop()
	late := r.attach(0)
	deadline := time.Now().Add(patience)
	for late.access(laser, player.AccessOpen) { // until the gateway has seen it
		late.close(laser)
		if time.Now().After(deadline) {
			t.Fatal("a device of a robot that is away can be opened")
		}
	}
	before := time.Now()
	for range 10 {
		if m := p.request(position, iface.ReqPosition2DGetGeom, nil); m.Type != player.Nack || m.Size != 0 {
			t.Fatalf("a request while the robot is away: %s", m.Header)
		}
		p.send(position, player.Command, iface.CmdPosition2DVel, &iface.Position2DCmdVel{})
	}
	if late.access(laser, player.AccessOpen) {
		t.Error("a device was opened while the robot is away")
	}
	if took := time.Since(before); took > 2*time.Second {
		t.Errorf("refusals took %v", took)
	}
	if n := len(late.devices()); n != 2 {
		t.Errorf("%d devices are listed", n)
	}

	back := newReal(position, laser, odd)
	back.onOpen = func(a player.Addr) error {
		if a.Interf == position.Interf {
			go back.pub.PublishBody(position, 1, 1, make([]byte, 52))
		}
		return nil
	}
	serve(t, address, back)
	r.isUp()
	p.reads(position, 1, 1, make([]byte, 52))
	late.until(3)
	late.open(odd)
	p.close(position)
	back.noted(t, "open position2d:0", "open 777:5", "close position2d:0")
}

// A device that its driver cannot start is refused, and one that takes too
// long is, too.
func TestDevicesThatCannotBeOpened(t *testing.T) {
	robot := newReal(position, laser)
	robot.onOpen = func(a player.Addr) error {
		if a.Interf == laser.Interf {
			return fmt.Errorf("no hardware")
		}
		return nil
	}
	s, _ := serve(t, "127.0.0.1:0", robot)
	r := start(t, nil, one("r0", s.Addr().String()))
	r.isUp()
	p := r.attach(0)
	p.until(2)
	if p.access(laser, player.AccessOpen) {
		t.Error("a device without hardware was opened")
	}
	p.open(position)
}

// Large messages pass as they are, whatever their size.
func TestLargeMessages(t *testing.T) {
	robot := newReal(camera)
	s, _ := serve(t, "127.0.0.1:0", robot)
	r := start(t, nil, one("r0", s.Addr().String()))
	r.isUp()
	p := r.attach(0)
	p.until(1)
	p.open(camera)
	for i, size := range []int{4, 100_000, 5 << 20, 9 << 20, 100} {
		image := bytes.Repeat([]byte{byte(i + 1)}, size&^3)
		robot.pub.PublishBody(camera, 1, float64(i), image)
		p.reads(camera, 1, float64(i), image)
	}
	tile := bodyOf(t, &iface.MapData{Width: 1000, Height: 1000, DataRange: 1, Data: slices.Repeat([]int8{7}, 300_000)})
	robot.answer = func(c *server.Call) { c.Reply(player.Header{Type: player.Ack}, tile) }
	if m := p.request(camera, iface.ReqCameraGetImage, nil); !bytes.Equal(m.Body, tile) {
		t.Errorf("%s: another body", m.Header)
	}
}

// A PULL round has what came together: SYNCH ends no burst in its middle.
func TestPullRounds(t *testing.T) {
	robot := newReal(position, laser)
	s, _ := serve(t, "127.0.0.1:0", robot)
	r := start(t, nil, one("r0", s.Addr().String()))
	r.isUp()
	p := r.attach(0)
	p.until(2)
	p.open(position)
	p.open(laser)
	p.request(self, player.PlayerDatamode, &iface.DeviceDatamodeReq{Mode: player.Pull})
	for round := range 50 {
		if m := p.request(self, player.PlayerData, nil); m.Type != player.Ack {
			t.Fatalf("got %s", m.Header)
		}
		server.Batch(robot.pub, func() {
			for n := range 3 {
				robot.pub.PublishBody(position, 1, float64(round), make([]byte, 52))
				robot.pub.PublishBody(laser, 1, float64(n), make([]byte, 36))
			}
		})
		for n := range 3 {
			p.reads(position, 1, float64(round), make([]byte, 52))
			p.reads(laser, 1, float64(n), make([]byte, 36))
		}
		if m := p.next(); m.Type != player.Synch || m.Subtype != player.SynchOK {
			t.Fatalf("got %s, expected the end of the round", m.Header)
		}
	}
}

// One Player server with several robots: each port has the robot's own devices,
// from index 0, and behind them those that belong to none.
func TestSeveralRobotsOfOneServer(t *testing.T) {
	at := func(i player.Interface, index uint16) player.Addr { return player.Addr{Interf: i, Index: index} }
	second, scanner := at(player.InterfacePosition2D, 1), at(player.InterfaceLaser, 3)
	robot := newReal(position, scanner, second, laser, at(player.InterfaceSimulation, 0))
	s, _ := serve(t, "127.0.0.1:0", robot)
	r := start(t, nil, gateway.Player{Address: s.Addr().String(), Robots: []gateway.Robot{
		{Name: "a", Devices: []string{"position2d:0"}}, {Name: "b", Devices: []string{"position2d:1", "laser:3"}},
	}})
	r.isUp()
	a, b := r.attach(0), r.attach(1)
	if got := strings.Join(a.until(3), ", "); got != "position2d:0 drives position2d:0, laser:0 drives laser:0, simulation:0 drives simulation:0" {
		t.Errorf("a has %s", got)
	}
	if got := strings.Join(b.until(4), ", "); got != "laser:0 drives laser:3, position2d:0 drives position2d:1, laser:1 drives laser:0, simulation:0 drives simulation:0" {
		t.Errorf("b has %s", got)
	}
	if b.access(second, player.AccessOpen) {
		t.Error("a device is there under its index at the Player server")
	}
	a.open(position)
	b.open(position)
	robot.pub.PublishBody(second, 1, 1, make([]byte, 52))
	b.reads(position, 1, 1, make([]byte, 52))
	robot.pub.PublishBody(position, 1, 2, make([]byte, 52))
	a.reads(position, 1, 2, make([]byte, 52))

	vel := bodyOf(t, &iface.Position2DCmdVel{Vel: iface.Pose2D{Px: 0.5}, State: 1})
	b.send(position, player.Command, iface.CmdPosition2DVel, &iface.Raw{Body: vel})
	if m := b.request(laser, iface.ReqLaserGetGeom, nil); m.Index != 0 || m.Interf != laser.Interf {
		t.Errorf("the answer of laser:0 is of %s", m.Header)
	}
	robot.noted(t, "open position2d:0", "open position2d:1",
		fmt.Sprintf("CMD 1 of position2d:1: %x", vel), "REQ 1 of laser:3: ")
	for _, test := range []struct {
		robot string
		there player.Addr
		want  int
	}{{"a", position, 0}, {"b", second, 0}, {"b", scanner, 0}, {"b", laser, 1}} {
		if got, ok := r.gateway.Index(test.robot, test.there); !ok || got != test.want {
			t.Errorf("%s of %s has index %d, %t; expected %d", test.there, test.robot, got, ok, test.want)
		}
	}
	if got, ok := r.gateway.Index("a", second); ok {
		t.Errorf("another robot's device has index %d", got)
	}
}

// A device that shows a robot's ranger once more is there for that robot, and its
// driver's name has the ranger's index here.
func TestTwinsGoWithTheirRobots(t *testing.T) {
	at := func(i player.Interface, index uint16) player.Addr { return player.Addr{Interf: i, Index: index} }
	first, second := at(player.InterfaceRanger, 0), at(player.InterfaceRanger, 1)
	robot := newReal(first, second, at(player.InterfaceLaser, 0), at(player.InterfaceLaser, 1))
	robot.infos[2].Driver, robot.infos[3].Driver = player.TwinDriver(first), player.TwinDriver(second)
	s, _ := serve(t, "127.0.0.1:0", robot)
	r := start(t, nil, gateway.Player{Address: s.Addr().String(), Robots: []gateway.Robot{
		{Name: "a", Devices: []string{"ranger:0"}}, {Name: "b", Devices: []string{"ranger:1"}},
	}})
	r.isUp()
	for i, want := range []string{"ranger:0 drives ranger:0, laser:0 twin of ranger:0", "ranger:0 drives ranger:1, laser:0 twin of ranger:0"} {
		if got := strings.Join(r.attach(i).until(2), ", "); got != want {
			t.Errorf("robot %d has %s, expected %s", i, got, want)
		}
	}
}

// A robot that has some of a server's devices is none that has the server to
// itself: what it has begins at 0, too.
func TestRobotWithAPartOfAServer(t *testing.T) {
	second := player.Addr{Interf: player.InterfacePosition2D, Index: 1}
	robot := newReal(position, second, odd)
	s, _ := serve(t, "127.0.0.1:0", robot)
	r := start(t, nil, gateway.Player{Address: s.Addr().String(), Robots: []gateway.Robot{{Name: "b", Devices: []string{"position2d:1"}}}})
	r.isUp()
	b := r.attach(0)
	if got := strings.Join(b.until(3), ", "); got != "position2d:1 drives position2d:0, position2d:0 drives position2d:1, 777:0 drives 777:5" {
		t.Errorf("b has %s", got)
	}
}

// Above 256 robots all are on one port: the k-th device of an interface of the
// n-th of N robots is k·N + n.
func TestManyRobotsShareAPort(t *testing.T) {
	const robots = 300
	var devices []player.Addr
	var behind gateway.Player
	for n := range uint16(robots - 1) {
		own := []player.Addr{{Interf: player.InterfacePosition2D, Index: n}, {Interf: player.InterfaceRanger, Index: 2 * n}, {Interf: player.InterfaceRanger, Index: 2*n + 1}}
		devices = append(devices, own...)
		behind.Robots = append(behind.Robots, gateway.Robot{Name: fmt.Sprint("r", n), Devices: []string{own[0].String(), own[1].String(), own[2].String()}})
	}
	swarm := newReal(append(devices, player.Addr{Interf: player.InterfaceSimulation})...)
	s, _ := serve(t, "127.0.0.1:0", swarm)
	behind.Address = s.Addr().String()
	single := newReal(position, odd)
	s2, _ := serve(t, "127.0.0.1:0", single)
	r := start(t, nil, behind, one("last", s2.Addr().String()))
	r.isUp()
	ports := r.gateway.Ports()
	if len(ports) != 1 || len(ports[0].Robots) != robots || ports[0].Robots[robots-1] != "last" {
		t.Fatalf("%d ports; the first has %d robots", len(ports), len(ports[0].Robots))
	}
	if at, i := r.gateway.Where("last"); at != ports[0].Address || i != robots-1 {
		t.Errorf("last is at %s, %d", at, i)
	}
	if at, _ := r.gateway.Where("nobody"); at != "" {
		t.Errorf("nobody is at %s", at)
	}
	p := r.attach(0)
	var list iface.DeviceDevlist
	for len(list.Devices) < 3*(robots-1)+1+2 {
		if err := iface.Decode(p.request(self, player.PlayerDevlist, nil).Body, &list); err != nil {
			t.Fatal(err)
		}
	}
	at := func(i player.Interface, index int) player.Addr { return player.Addr{Interf: i, Index: uint16(index)} }
	for _, test := range []struct {
		from  *real
		there player.Addr
		here  player.Addr
	}{
		{swarm, at(4, 0), at(4, 0)},
		{swarm, at(4, 17), at(4, 17)},
		{swarm, at(62, 2*17), at(62, 17)},
		{swarm, at(62, 2*17+1), at(62, robots+17)},
		{swarm, at(31, 0), at(31, 0)},
		{single, at(4, 0), at(4, robots-1)},
		{single, odd, at(777, robots-1)},
	} {
		p.open(test.here)
		test.from.pub.PublishBody(test.there, 1, 1, nil)
		p.reads(test.here, 1, 1, nil)
		p.close(test.here)
	}
	for _, none := range []player.Addr{at(4, robots), at(31, 1), at(777, 5), at(62, 2*robots)} {
		if p.access(none, player.AccessOpen) {
			t.Errorf("%s is there", none)
		}
	}
}

// Programs of a gateway that ends are let go at once, also one that waits for
// a device.
func TestStop(t *testing.T) {
	robot := newReal(position)
	opening, never := make(chan struct{}), make(chan struct{})
	robot.onOpen = func(player.Addr) error {
		close(opening)
		<-never
		return nil
	}
	s, _ := serve(t, "127.0.0.1:0", robot)
	r := start(t, nil, one("r0", s.Addr().String()))
	t.Cleanup(func() { close(never) })
	r.isUp()
	p, idle := r.attach(0), r.attach(0)
	p.until(1)
	p.send(self, player.Request, player.PlayerDev, &iface.DeviceReq{Addr: position, Access: player.AccessOpen})
	<-opening
	before := time.Now()
	r.stop()
	if took := time.Since(before); took > 2*time.Second {
		t.Errorf("stopping took %v", took)
	}
	p.ended()
	idle.ended()
}

// Programs that attach before the robot was ever there find an empty list.
func TestBeforeTheFirstSession(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	r := start(t, nil, one("r0", address))
	p := r.attach(0)
	if got := p.devices(); len(got) != 0 {
		t.Errorf("devices %q", got)
	}
	if p.access(position, player.AccessOpen) {
		t.Error("a device was opened")
	}
	serve(t, address, newReal(position))
	p.until(1)
	p.open(position)
}

func TestNewRefuses(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	players := []gateway.Player{one("a", "x:1"), one("b", "x:2")}
	for listen, want := range map[string]string{
		"nonsense":            `"nonsense" is no address; expected HOST:PORT`,
		"127.0.0.1:x":         "has no port number",
		"127.0.0.1:65535":     "not enough ports",
		l.Addr().String():     "port " + l.Addr().String() + " is taken",
		"256.256.256.256:700": "cannot listen on 256.256.256.256:700",
	} {
		if g, err := gateway.New(gateway.Config{Listen: listen, Players: players}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected an error with %q", listen, err, want)
			if err == nil {
				g.Close()
			}
		}
	}
	players[0].Robots[0].Devices = []string{"[laser"}
	if _, err := gateway.New(gateway.Config{Listen: "127.0.0.1:0", Players: players}); err == nil || !strings.Contains(err.Error(), "no pattern") {
		t.Errorf("a bad pattern: %v", err)
	}
}
