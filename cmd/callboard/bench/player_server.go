package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"callboard/bridge/benchtest"
	"callboard/cmd/callboard/bench/network"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/listener"
	"callboard/player/server"

	"golang.org/x/sync/errgroup"
)

// saturating is more scans a second than any server delivers to many clients.
const saturating = 4000

// scanDevice gives the same scan at a rate, as Player's driver dummy does.
type scanDevice struct {
	benchtest.Canned
	rate int
	body []byte
}

func newScan() *iface.LaserData {
	scan := &iface.LaserData{MinAngle: -1.57, MaxAngle: 1.57, Resolution: 0.0087, MaxRange: 8, ID: 7,
		Ranges: make([]float32, 361), Intensity: make([]uint8, 361)}
	for i := range scan.Ranges {
		scan.Ranges[i], scan.Intensity[i] = float32(i)/100, uint8(i)
	}
	return scan
}

// Run publishes until ctx ends. What is late is made good, up to a tenth of a
// second.
func (d *scanDevice) Run(ctx context.Context) error {
	period := time.Second / time.Duration(d.rate)
	tick := time.NewTicker(period)
	defer tick.Stop()
	for next := time.Now(); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		now := time.Now()
		if late := now.Add(-max(period, 100*time.Millisecond)); next.Before(late) {
			next = late
		}
		for ; next.Before(now); next = next.Add(period) {
			d.Publish(iface.DataLaserScan, float64(now.UnixMicro())/1e6, d.body)
		}
	}
}

// maxReaders is more than any case has.
const maxReaders = 1 << 16

// serveScans is the process that is measured: it prints its address and serves
// until ctx or its input ends.
func serveScans(ctx context.Context, rate int) error {
	body, err := iface.Append(nil, newScan())
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s, err := server.New(server.Config{Listener: l, Drivers: []server.Driver{&scanDevice{benchtest.Canned{Interf: player.InterfaceLaser}, rate, body}},
		Limit: listener.New(listener.Limits{Connections: maxReaders, Address: maxReaders})})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fmt.Println(l.Addr())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	var group errgroup.Group
	group.Go(func() error { return s.Run(ctx) })
	return group.Wait()
}

// scanServer is a process that serves scans.
type scanServer struct {
	address string
	pid     int
	stop    func() error
}

// startOwn starts this program as a server.
func startOwn(_ context.Context, rate int) (*scanServer, error) {
	address, process, err := startProgram("bench", "player", "--serve", strconv.Itoa(rate))
	if err != nil {
		return nil, err
	}
	return &scanServer{address: address, pid: process.Process.Pid, stop: func() error { return terminate(process) }}, nil
}

// startReal has a program start a real Player server.
func startReal(ctx context.Context, program string, rate int) (*scanServer, error) {
	dir, err := os.MkdirTemp("", "callboard-bench-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "dummy.cfg")
	text := fmt.Sprintf("driver ( name \"dummy\" provides [ \"laser:0\" ] rate %d )\n", rate)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return nil, err
	}
	address, err := network.FreeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	process := exec.Command(program, port, file)
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("starting a real server: %w", err)
	}
	stop := func() error {
		return errors.Join(terminate(process), os.RemoveAll(dir))
	}
	for end := time.Now().Add(10 * time.Second); ; {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return &scanServer{address: address, pid: process.Process.Pid, stop: stop}, nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return nil, errors.Join(fmt.Errorf("the real server does not serve on port %s: %w", port, err), stop())
		}
		time.Sleep(50 * time.Millisecond)
	}
}
