package pair

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"

	"callboard/bridge/standby"
)

// Path is where the outer line begins on the address that serves clients.
const Path = "/standby"

const upgrade = "callboard-pair"

// listen takes connections on the inner line.
func (p *Pair) listen(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { p.cfg.Inner.Close() })()
	for {
		conn, err := p.cfg.Inner.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("pair: listen on %s: %w", p.cfg.Inner.Addr(), err)
		case err != nil: // no descriptors, say: they may come back
			if !rest(ctx, leastWait) {
				return nil
			}
			continue
		}
		go func() {
			defer conn.Close()
			p.accepted(ctx, conn, bufio.NewReaderSize(conn, readChunk), standby.Inner)
		}()
	}
}

// accepted serves a connection that the other side has made. Side A makes them;
// one that B makes only asks whether A lives.
func (p *Pair) accepted(ctx context.Context, conn net.Conn, r *bufio.Reader, which standby.Line) {
	l, err := p.greet(conn, r, which)
	if err != nil {
		p.log.Debug("a connection of the other side came to nothing", "line", name(which), "remote", conn.RemoteAddr(), "error", err)
		return
	}
	if p.cfg.Side == standby.A {
		return
	}
	err = l.carry(ctx)
	p.ended(ctx, l, err)
}

// ServeHTTP is where the outer line comes in, among the clients.
func (p *Pair) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h, is := w.(http.Hijacker)
	if !is || r.Header.Get("Upgrade") != upgrade || p.cfg.Side != standby.B {
		http.Error(w, "this is for the other side of the pair", http.StatusBadRequest)
		return
	}
	conn, buffered, err := h.Hijack()
	if err != nil {
		return // nothing can be said any more
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(p.patience())) // a closed connection says so when written to
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", upgrade); err != nil {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	p.accepted(ctx, conn, buffered.Reader, standby.Outer)
}

// dialOn is how side A makes a line, again and again.
func (p *Pair) dialOn(ctx context.Context, which standby.Line) {
	if p.cfg.Side != standby.A {
		return
	}
	told := ""
	for wait := time.Duration(0); rest(ctx, wait); {
		l, err := p.dial(ctx, which)
		if err == nil {
			told, wait = "", 0
			err = l.carry(ctx)
			l.conn.Close()
			p.ended(ctx, l, err)
			continue
		}
		if err.Error() != told && ctx.Err() == nil {
			told = err.Error()
			p.log.Warn("the other side cannot be reached", "line", name(which), "error", err)
		}
		wait = min(max(2*wait, p.cfg.Heartbeat/2), leastWait)
	}
}

func (p *Pair) dial(ctx context.Context, which standby.Line) (*line, error) {
	ctx, cancel := context.WithTimeout(ctx, p.patience())
	defer cancel()
	var d net.Dialer
	address := p.cfg.OtherInner
	if which == standby.Outer {
		address = p.cfg.OtherOuter
	}
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(conn, readChunk)
	if which == standby.Outer {
		if p.cfg.OuterTLS {
			conn = tls.Client(conn, p.outerTLS())
		}
		r, err = switchOver(conn, address)
	}
	if err == nil {
		var l *line
		if l, err = p.greet(conn, r, which); err == nil {
			return l, nil
		}
	}
	conn.Close()
	return nil, err
}

// switchOver makes an HTTP connection a line.
func switchOver(conn net.Conn, host string) (*bufio.Reader, error) {
	_ = conn.SetDeadline(time.Now().Add(leastWait)) // a closed connection says so when written to
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", Path, host, upgrade); err != nil {
		return nil, err
	}
	r := bufio.NewReaderSize(conn, readChunk)
	answer, err := http.ReadResponse(r, nil)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusSwitchingProtocols {
		answer.Body.Close()
		return nil, fmt.Errorf("it answers %s; expected 101", answer.Status)
	}
	return r, nil
}

// ended looks what a line has ended of: where the process at the other end is
// dead, its address refuses the next connection (H2).
func (p *Pair) ended(ctx context.Context, l *line, err error) {
	var late net.Error
	if ctx.Err() != nil || errors.Is(err, net.ErrClosed) || errors.As(err, &late) && late.Timeout() || l.which != standby.Inner {
		return
	}
	p.log.Debug("a line has ended", "line", name(l.which), "error", err)
	for range 5 {
		switch alive, dead := p.probe(ctx); {
		case dead:
			p.input(&standby.Dead{})
			return
		case alive:
			return
		}
		if !rest(ctx, p.cfg.Heartbeat/10) {
			return
		}
	}
}

// probe asks whether the process of the other side lives. A connection that is
// taken and says nothing is of one that is just ending.
func (p *Pair) probe(ctx context.Context) (alive, dead bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*p.cfg.Heartbeat)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", p.cfg.OtherInner)
	if err != nil {
		return false, errors.Is(err, syscall.ECONNREFUSED)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(2 * p.cfg.Heartbeat)) // a closed connection says so when read from
	_, err = readHello(bufio.NewReader(conn))
	return err == nil, false
}

func name(which standby.Line) string {
	if which == standby.Inner {
		return "inner"
	}
	return "outer"
}

// rest waits. It returns false if ctx has ended.
func rest(ctx context.Context, length time.Duration) bool {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
