package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"time"

	"callboard/bridge/benchtest"
	"callboard/bridge/gateway"
	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
	"callboard/player/server"

	"golang.org/x/sync/errgroup"
)

var imageAt = player.Addr{Interf: player.InterfaceCamera}

// quietSession is the broker's end of a session that it reads nothing of.
type quietSession struct{ up chan struct{} }

func (s quietSession) Up([]client.Device) {
	select {
	case s.up <- struct{}{}:
	default:
	}
}
func (quietSession) Changed(client.Device)      {}
func (quietSession) Message(player.Header, any) {}
func (quietSession) Round()                     {}
func (quietSession) Overflow(uint64)            {}
func (quietSession) Down(error)                 {}

// gateway reports what readings of several sizes cost on their way from a
// robot's server through the gateway to a program, all in this process.
func (b *playerBench) gateway(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var group errgroup.Group
	robot := &benchtest.Canned{Interf: imageAt.Interf}
	run := func() error {
		program, err := attachThrough(ctx, &group, robot)
		if err != nil {
			return err
		}
		defer program.Close()
		for _, size := range []int{92, 1884, 100_040, 2_764_840} {
			if err := b.through(robot, program, size); err != nil {
				return err
			}
		}
		return nil
	}
	err := run()
	cancel()
	_ = group.Wait() // ends as it was told to
	return err
}

// attachThrough serves robot, runs a gateway for it, and attaches a program that
// has the device open.
func attachThrough(ctx context.Context, group *errgroup.Group, robot *benchtest.Canned) (net.Conn, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s, err := server.New(server.Config{Listener: l, Drivers: []server.Driver{robot}})
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	group.Go(func() error { return s.Run(ctx) })
	g, err := gateway.New(gateway.Config{Listen: "127.0.0.1:0", Players: []gateway.Player{
		{Address: l.Addr().String(), Robots: []gateway.Robot{{Name: "r0"}}},
	}})
	if err != nil {
		return nil, err
	}
	session := quietSession{make(chan struct{}, 1)}
	c, err := client.New(client.Config{
		Address: l.Addr().String(), Handler: session, Relay: g.Relay(0),
		Open: func(player.Addr) bool { return false },
	})
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.Attach(0, c)
	group.Go(func() error { return c.Run(ctx) })
	group.Go(func() error { return g.Run(ctx) })
	select {
	case <-session.up:
	case <-time.After(10 * time.Second):
		return nil, errors.New("the gateway has no session with the robot after 10 s")
	}
	return openThrough(g.Ports()[0].Address)
}

// openThrough attaches a program and opens the device.
func openThrough(address string) (net.Conn, error) {
	program, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	ask, err := request(player.PlayerDev, &iface.DeviceReq{Addr: imageAt, Access: player.AccessOpen})
	if err == nil {
		_, err = program.Write(ask)
	}
	head := make([]byte, player.BannerSize+player.HeaderSize)
	if err == nil {
		_, err = io.ReadFull(program, head)
	}
	var h player.Header
	if err == nil {
		h, err = player.ParseHeader(head[player.BannerSize:])
	}
	if err == nil {
		_, err = io.CopyN(io.Discard, program, int64(h.Size))
	}
	if err == nil && h.Type != player.Ack {
		err = fmt.Errorf("the gateway does not open %s", imageAt)
	}
	if err != nil {
		return nil, errors.Join(err, program.Close())
	}
	return program, nil
}

// through sends readings of a size, header included, each once the one before
// has arrived.
func (b *playerBench) through(robot *benchtest.Canned, program net.Conn, size int) error {
	body, buf := make([]byte, size-player.HeaderSize), make([]byte, size)
	for range 20 { // buffers grow
		if err := passOne(robot, program, body, buf); err != nil {
			return err
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	cpu, n := processorTime(), 0
	for end := time.Now().Add(b.v.Duration("duration")); time.Now().Before(end); n++ {
		if err := passOne(robot, program, body, buf); err != nil {
			return err
		}
	}
	cpu = processorTime() - cpu
	runtime.ReadMemStats(&after)
	name := fmt.Sprintf("gateway/%d bytes", size)
	b.tell(name, "allocated", float64(after.TotalAlloc-before.TotalAlloc)/float64(n)/float64(size), "of its size")
	b.tell(name, "cpu", float64(cpu.Nanoseconds())/float64(n)/1e3, "µs")
	return nil
}

func passOne(robot *benchtest.Canned, program net.Conn, body, buf []byte) error {
	robot.Publish(iface.DataCameraState, 1, body)
	_, err := io.ReadFull(program, buf)
	return err
}
