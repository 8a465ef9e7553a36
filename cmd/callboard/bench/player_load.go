package bench

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
)

const (
	pushMode = player.Push
	pullMode = player.Pull
)

// served is what a server did for its readers.
type served struct {
	rate    float64 // messages a second, to all readers
	rounds  float64 // PULL rounds a second
	cpu     float64 // processors
	least   float64 // messages a second of the reader that got least
	starved int     // readers that got less than half of the mean
}

// reader is a client that reads scans and skips them.
type reader struct {
	conn     net.Conn
	mode     uint8
	buffer   int           // bytes
	opened   chan struct{} // closed once the laser is open
	messages atomic.Uint64
	rounds   atomic.Uint64
}

// dialReader attaches as stock programs do: no socket option is set, which
// means Nagle's algorithm and delayed acknowledgements.
func dialReader(address string, mode uint8) (*reader, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &reader{conn: conn, mode: mode, buffer: 64 << 10, opened: make(chan struct{})}, conn.(*net.TCPConn).SetNoDelay(false)
}

// run opens the laser and reads until the connection is closed.
func (r *reader) run() error {
	in := bufio.NewReaderSize(r.conn, r.buffer)
	if _, err := in.Discard(player.BannerSize); err != nil {
		return err
	}
	if err := r.ask(player.PlayerDatamode, &iface.DeviceDatamodeReq{Mode: r.mode}); err != nil {
		return err
	}
	if err := r.ask(player.PlayerDev, &iface.DeviceReq{Addr: player.Addr{Interf: player.InterfaceLaser}, Access: player.AccessOpen}); err != nil {
		return err
	}
	pull, err := request(player.PlayerData, nil)
	if err != nil {
		return err
	}
	round := func() (err error) {
		if r.mode == pullMode {
			_, err = r.conn.Write(pull)
		}
		return err
	}
	for err = round(); err == nil; {
		var head []byte
		if head, err = in.Peek(player.HeaderSize); err != nil {
			return err
		}
		h, err := player.ParseHeader(head)
		if err != nil {
			return err
		}
		if _, err := in.Discard(player.HeaderSize + int(h.Size)); err != nil {
			return err
		}
		switch h.Type {
		case player.Data:
			r.messages.Add(1)
		case player.Synch:
			r.rounds.Add(1)
			if err := round(); err != nil {
				return err
			}
		case player.Nack:
			return fmt.Errorf("got %s", h)
		case player.Ack:
			if h.Subtype == player.PlayerDev {
				close(r.opened)
			}
		}
	}
	return err
}

func (r *reader) ask(subtype uint8, payload any) error {
	b, err := request(subtype, payload)
	if err == nil {
		_, err = r.conn.Write(b)
	}
	return err
}

// request makes a message to the server itself.
func request(subtype uint8, payload any) ([]byte, error) {
	body, err := iface.Append(nil, payload)
	if err != nil {
		return nil, err
	}
	h := player.Header{Addr: player.Addr{Interf: player.InterfacePlayer}, Type: player.Request, Subtype: subtype, Size: uint32(len(body))}
	return append(h.Append(nil), body...), nil
}

// measure has readers read from a server for a while, after a while that does
// not count.
func measure(ctx context.Context, s *scanServer, readers int, mode uint8, d time.Duration) (served, error) {
	all := make([]*reader, 0, readers)
	var running sync.WaitGroup
	var over atomic.Bool
	var failed atomic.Pointer[error]
	defer func() {
		over.Store(true)
		for _, r := range all {
			r.conn.Close()
		}
		running.Wait()
	}()
	for range readers {
		r, err := dialReader(s.address, mode)
		if err != nil {
			return served{}, err
		}
		all = append(all, r)
		running.Go(func() {
			if err := r.run(); !over.Load() {
				failed.Store(&err)
			}
		})
	}
	if err := wait(ctx, d/4+200*time.Millisecond); err != nil {
		return served{}, err
	}
	before := make([]uint64, len(all))
	rounds := uint64(0)
	for i, r := range all {
		before[i] = r.messages.Load()
		rounds -= r.rounds.Load()
	}
	cpu, from := processorOf(s.pid), time.Now()
	if err := wait(ctx, d); err != nil {
		return served{}, err
	}
	seconds := time.Since(from).Seconds()
	l := served{cpu: (processorOf(s.pid) - cpu).Seconds() / seconds}
	got := make([]float64, len(all))
	for i, r := range all {
		got[i] = float64(r.messages.Load()-before[i]) / seconds
		rounds += r.rounds.Load()
		l.rate += got[i]
		if i == 0 || got[i] < l.least {
			l.least = got[i]
		}
	}
	for _, g := range got {
		if g < l.rate/float64(len(all))/2 {
			l.starved++
		}
	}
	l.rounds = float64(rounds) / seconds
	if err := failed.Load(); err != nil {
		return l, fmt.Errorf("a reader failed: %w", *err)
	}
	return l, nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// counting is a session's handler that counts.
type counting struct {
	up               chan struct{}
	messages, rounds *atomic.Uint64
}

func (c counting) Up([]client.Device)         { c.up <- struct{}{} }
func (c counting) Changed(client.Device)      {}
func (c counting) Message(player.Header, any) { c.messages.Add(1) }
func (c counting) Round()                     { c.rounds.Add(1) }
func (c counting) Overflow(uint64)            {}
func (c counting) Down(error)                 {}

// sessionsOf runs n sessions of our client and counts for a while.
func sessionsOf(ctx context.Context, address string, n int, mode uint8, d time.Duration) (rate, rounds, cpu float64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	var messages, synchs atomic.Uint64
	up := make(chan struct{}, 1024)
	for range n {
		c, err := client.New(client.Config{Address: address, Mode: mode, Handler: counting{up, &messages, &synchs}})
		if err != nil {
			return 0, 0, 0, err
		}
		running.Go(func() { _ = c.Run(ctx) }) // ends with its context
	}
	late := time.After(time.Minute)
	for i := range n {
		select {
		case <-up:
		case <-ctx.Done():
			return 0, 0, 0, ctx.Err()
		case <-late:
			return 0, 0, 0, fmt.Errorf("only %d of %d sessions are up after a minute", i, n)
		}
	}
	if err := wait(ctx, d/4); err != nil {
		return 0, 0, 0, err
	}
	m, s, used, from := messages.Load(), synchs.Load(), processorTime(), time.Now()
	if err := wait(ctx, d); err != nil {
		return 0, 0, 0, err
	}
	seconds := time.Since(from).Seconds()
	return float64(messages.Load()-m) / seconds, float64(synchs.Load()-s) / seconds, (processorTime() - used).Seconds() / seconds, nil
}

func pullSession(ctx context.Context, address string, d time.Duration) (rate, rounds float64, err error) {
	rate, rounds, _, err = sessionsOf(ctx, address, 1, pullMode, d)
	return rate, rounds, err
}

func manySessions(ctx context.Context, address string, n int, d time.Duration) (rate, cpu float64, err error) {
	rate, _, cpu, err = sessionsOf(ctx, address, n, pushMode, d)
	return rate, cpu, err
}
