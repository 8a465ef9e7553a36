//go:build unix

package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callboard/player"
	playerclient "callboard/player/client"
	"callboard/player/iface"
	"callboard/player/listener"
	"callboard/player/server"
)

// serveEnv has this test's program serve so many scans a second instead, so that
// the processor time of a server is not that of its readers.
const serveEnv = "CALLBOARD_SERVE_SCANS"

// realEnv names a program that starts a real Player server. It is called with a
// port of 127.0.0.1 and a configuration file, as in exec player -p $1 $2.
const realEnv = "CALLBOARD_REAL_PLAYER"

// serveScans prints its address and serves scans until its input ends.
func serveScans(rate int) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	f := newFake()
	s, err := server.New(server.Config{Listener: l, Drivers: []server.Driver{f},
		Limit: listener.New(listener.Limits{Connections: 1 << 16, Address: 1 << 16})})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	go func() {
		period := time.Second / time.Duration(rate)
		tick := time.NewTicker(period)
		for next := time.Now(); ctx.Err() == nil; {
			<-tick.C
			now := time.Now()
			if late := now.Add(-max(period, 100*time.Millisecond)); next.Before(late) {
				next = late // what is late is made good, up to a tenth of a second
			}
			for ; next.Before(now); next = next.Add(period) {
				f.pub.Publish(laser, 1, float64(now.UnixMicro())/1e6, scan())
			}
		}
	}()
	fmt.Println(l.Addr())
	return s.Run(ctx)
}

// process is a Player server of its own process.
type process struct {
	address string
	cmd     *exec.Cmd
}

// startOwn starts this program as a server.
func startOwn(b *testing.B, rate int) *process {
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", serveEnv, rate))
	in, err := p.cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); p.cmd.Wait() })
	if p.address, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		b.Fatal(err)
	}
	p.address = strings.TrimSpace(p.address)
	return p
}

// startReal has the program of realEnv start a real server.
func startReal(b *testing.B, rate int) *process {
	cfg := filepath.Join(b.TempDir(), "dummy.cfg")
	text := fmt.Sprintf("driver ( name \"dummy\" provides [ \"laser:0\" ] rate %d )\n", rate)
	if err := os.WriteFile(cfg, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	p := &process{address: l.Addr().String()}
	l.Close()
	_, port, _ := net.SplitHostPort(p.address)
	p.cmd = exec.Command(os.Getenv(realEnv), port, cfg)
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if conn, err := net.Dial("tcp", p.address); err == nil {
			conn.Close()
			return p
		}
	}
	b.Fatalf("the real server does not serve on port %s", port)
	return nil
}

// cpu is what the process has used so far, in s.
func (p *process) cpu() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return float64(user+system) / 100 // Linux counts in hundredths
}

// reader is a client that does as stock programs do: no socket option is set,
// which means Nagle's algorithm and delayed acknowledgements.
type reader struct {
	conn             net.Conn
	messages, rounds atomic.Uint64
}

// read opens the laser and skips scans until the connection is closed.
func (r *reader) read(b *testing.B, mode uint8) {
	ask := func(subtype uint8, payload any) {
		_, _ = r.conn.Write(encode(b, player.Header{Addr: self, Type: player.Request, Subtype: subtype}, payload))
	}
	in := bufio.NewReaderSize(r.conn, 64<<10)
	_, _ = in.Discard(player.BannerSize)
	ask(player.PlayerDatamode, &iface.DeviceDatamodeReq{Mode: mode})
	ask(player.PlayerDev, &iface.DeviceReq{Addr: laser, Access: player.AccessOpen})
	round := func() {
		if mode == player.Pull {
			ask(player.PlayerData, nil)
		}
	}
	for round(); ; {
		head, err := in.Peek(player.HeaderSize)
		if err != nil {
			return
		}
		h, err := player.ParseHeader(head)
		if err != nil || h.Type == player.Nack {
			b.Errorf("got %s, %v", h, err)
			return
		}
		_, _ = in.Discard(player.HeaderSize + int(h.Size))
		switch h.Type {
		case player.Data:
			r.messages.Add(1)
		case player.Synch:
			r.rounds.Add(1)
			round()
		}
	}
}

// BenchmarkServer has clients read scans of 1,884 bytes from a server of its own
// process, and with CALLBOARD_REAL_PLAYER also from a real one, with its driver
// dummy. One operation is a second. cpu% is the server's alone, of one core;
// starved are the clients that got less than half of the mean.
func BenchmarkServer(b *testing.B) {
	servers := map[string]func(*testing.B, int) *process{"callboard": startOwn}
	if os.Getenv(realEnv) != "" {
		servers["real"] = startReal
	}
	for _, c := range []struct {
		name          string
		rate, clients int
		mode          uint8
	}{
		{"push", 1000, 50, player.Push},
		{"saturation", 4000, 100, player.Push}, // more than can be served
		{"pull", 100, 1, player.Pull},
	} {
		for name, start := range servers {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				p := start(b, c.rate)
				var all []*reader
				var running sync.WaitGroup
				for range c.clients {
					conn, err := net.Dial("tcp", p.address)
					if err != nil {
						b.Fatal(err)
					}
					_ = conn.(*net.TCPConn).SetNoDelay(false)
					r := &reader{conn: conn}
					all = append(all, r)
					running.Go(func() { r.read(b, c.mode) })
				}
				time.Sleep(500 * time.Millisecond) // does not count
				before := make([]uint64, len(all))
				rounds := -all[0].rounds.Load()
				for i, r := range all {
					before[i] = r.messages.Load()
				}
				used := p.cpu()
				for b.Loop() {
					time.Sleep(time.Second)
				}
				seconds, sum := b.Elapsed().Seconds(), 0.0
				got := make([]float64, len(all))
				for i, r := range all {
					got[i] = float64(r.messages.Load()-before[i]) / seconds
					sum += got[i]
				}
				b.ReportMetric(100*(p.cpu()-used)/seconds, "cpu%")
				b.ReportMetric(sum, "msg/s")
				b.ReportMetric(slices.Min(got), "least-msg/s")
				starved := 0
				for _, g := range got {
					if g < sum/float64(len(all))/2 {
						starved++
					}
				}
				b.ReportMetric(float64(starved), "starved")
				if c.mode == player.Pull {
					b.ReportMetric(float64(rounds+all[0].rounds.Load())/seconds, "rounds/s")
				}
				for _, r := range all {
					r.conn.Close()
				}
				running.Wait()
			})
		}
	}
}

// session is a handler of our client that counts.
type session struct {
	up       chan struct{}
	messages *atomic.Uint64
}

func (s session) Up([]playerclient.Device)    { s.up <- struct{}{} }
func (s session) Changed(playerclient.Device) {}
func (s session) Message(player.Header, any)  { s.messages.Add(1) }
func (s session) Round()                      {}
func (s session) Overflow(uint64)             {}
func (s session) Down(error)                  {}

// BenchmarkSessions runs sessions of our client, in this process, with a server
// that sends each 10 scans a second. One operation is a second; cpu% is that of
// all clients.
func BenchmarkSessions(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			p := startOwn(b, 10)
			ctx, cancel := context.WithCancel(b.Context())
			var running sync.WaitGroup
			defer running.Wait()
			defer cancel()
			var messages atomic.Uint64
			up := make(chan struct{}, n)
			for range n {
				c, err := playerclient.New(playerclient.Config{Address: p.address, Handler: session{up, &messages}})
				if err != nil {
					b.Fatal(err)
				}
				running.Go(func() { _ = c.Run(ctx) })
			}
			for range n {
				<-up
			}
			before, used := messages.Load(), cpu()
			for b.Loop() {
				time.Sleep(time.Second)
			}
			seconds := b.Elapsed().Seconds()
			b.ReportMetric(100*(cpu()-used)/seconds, "cpu%")
			b.ReportMetric(float64(messages.Load()-before)/seconds, "msg/s")
		})
	}
}
