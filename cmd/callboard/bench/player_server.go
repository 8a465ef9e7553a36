package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

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
	rate int
	body []byte
	pub  server.Publisher
}

func newScan() *iface.LaserData {
	scan := &iface.LaserData{MinAngle: -1.57, MaxAngle: 1.57, Resolution: 0.0087, MaxRange: 8, ID: 7,
		Ranges: make([]float32, 361), Intensity: make([]uint8, 361)}
	for i := range scan.Ranges {
		scan.Ranges[i], scan.Intensity[i] = float32(i)/100, uint8(i)
	}
	return scan
}

func (d *scanDevice) Devices() []server.DeviceInfo {
	return []server.DeviceInfo{{Interf: player.InterfaceLaser, Driver: "dummy"}}
}
func (d *scanDevice) Attach(p server.Publisher) { d.pub = p }
func (d *scanDevice) Open(player.Addr) error    { return nil }
func (d *scanDevice) Close(player.Addr)         {}
func (d *scanDevice) Handle(c *server.Call) {
	if c.Header.Subtype == iface.ReqLaserGetGeom {
		c.Ack(&iface.LaserGeom{})
		return
	}
	c.Nack(nil)
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
			d.pub.PublishBody(player.Addr{Interf: player.InterfaceLaser}, iface.DataLaserScan, float64(now.UnixMicro())/1e6, d.body)
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
	s, err := server.New(server.Config{Listener: l, Drivers: []server.Driver{&scanDevice{rate: rate, body: body}},
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
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	process := exec.Command(program, "bench", "player", "--serve", strconv.Itoa(rate))
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("starting a server: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	stop := func() error { return errors.Join(in.Close(), process.Wait()) }
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the server told no address: %w", err), stop())
	}
	return &scanServer{address: strings.TrimSpace(line), pid: process.Process.Pid, stop: stop}, nil
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
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(address)
	process := exec.Command(program, port, file)
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("starting a real server: %w", err)
	}
	stop := func() error {
		_ = process.Process.Signal(syscall.SIGTERM)
		_ = process.Wait() // its end is a signal
		return os.RemoveAll(dir)
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

// freeAddress gives an address that nothing listens on at present.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// processorOf is what a process has used so far, in user and system mode; 0
// where the system does not tell.
func processorOf(pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	const tick = 10 * time.Millisecond // Linux tells programs in hundredths
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}
