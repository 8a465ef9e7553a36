package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"callboard/player"
	"callboard/player/iface"
)

const (
	quiet     = 100 * time.Millisecond // of a pushing server: then the input has run dry
	farewell  = time.Second            // for what waits to be sent when Run is ended
	maxEarly  = 4 << 20                // bytes of DATA kept until Up
	maxInAir  = 64                     // requests of the session's own at a time
	housework = time.Second            // at least so often
)

// session is one connection, from banner to end. Its goroutine is the one
// that Run runs in; others only reach pending and out.
type session struct {
	client  *Client
	cfg     *Config
	count   *counters
	log     *slog.Logger
	conn    net.Conn
	in      *reader
	out     *writer
	pending pending

	version string        // of the server, as its banner says
	listed  []player.Addr // all devices that it has, in its order; not changed once up
	devices []*device     // those that are or may be opened
	byID    map[uint32]*device
	setup   setup
	upAt    time.Time // zero: not up yet
	early   []byte    // DATA that came before Up, as on the wire
	earlyAt int       // where in early the delivery stands

	wake     time.Time // when tick is due
	lastRead time.Time
	probing  bool   // silent for Idle: a sign of life was asked for
	fresh    bool   // pushed data came that waits for a Round
	pull     []byte // the DATA request
	dataAcks int    // DATA requests whose ACK is to come
	pulling  bool   // a round is on its way
	warned   map[uint64]bool

	stopping      <-chan struct{} // closed when Run is to end
	awaitsClients bool            // the server waits for its clients

	burst    bool        // Relay.Data was called
	unlisted bool        // the relay has not been told of the devices as they are
	mail     atomic.Bool // what is to be open has changed
	heard    time.Time   // when the newest DATA came
	closedAt time.Time   // when a device was last closed for good; zero: looked after
}

func newSession(c *Client, conn net.Conn) *session {
	return &session{
		client: c, cfg: &c.cfg, count: &c.counters, log: c.cfg.Logger.With("server", c.cfg.Address),
		conn: conn, in: newReader(conn), out: newWriter(conn, c.cfg.RequestTimeout),
		pending: pending{grace: c.cfg.RequestTimeout},
		byID:    map[uint32]*device{},
		warned:  map[uint64]bool{},
	}
}

// run is the session, until it fails or ctx ends.
func (s *session) run(ctx context.Context) error {
	defer s.conn.Close()
	s.stopping = ctx.Done()
	stop := context.AfterFunc(ctx, func() { _ = s.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	version, err := s.in.banner(ctx, time.Now().Add(s.cfg.ConnectTimeout))
	if err != nil {
		return err
	}
	s.version = version
	s.count.bytes.Add(player.BannerSize)
	s.log.Debug("connected", "version", version)
	var writing sync.WaitGroup
	writing.Go(s.out.run)
	defer writing.Wait()
	defer s.pending.end()
	if err = s.begin(time.Now()); err == nil {
		err = s.loop(ctx)
	}
	if ctx.Err() != nil {
		s.leave()
		return ctx.Err()
	}
	if e := s.out.failure(); e != nil {
		err = fmt.Errorf("write: %w", e)
	}
	_ = s.conn.Close() // so that the writer, if it is stuck, ends
	s.out.finish(0)
	return err
}

// leave ends the connection so that the last commands arrive: closing it
// with unread input would make the server drop them.
func (s *session) leave() {
	s.out.finish(farewell)
	half, ok := s.conn.(interface{ CloseWrite() error })
	if !ok || half.CloseWrite() != nil {
		return
	}
	if s.conn.SetReadDeadline(time.Now().Add(farewell)) == nil {
		_, _ = io.Copy(io.Discard, s.conn)
	}
}

// loop handles what has come, does what is due, waits for more.
func (s *session) loop(ctx context.Context) error {
	for {
		handled := false
		for {
			h, body, ok, err := s.in.next()
			if err != nil {
				return err
			}
			if !ok {
				break
			}
			handled = true
			s.count.messages.Add(1)
			if err := s.handle(h, body); err != nil {
				return err
			}
		}
		if s.burst {
			s.burst = false
			s.cfg.Relay.Burst()
		}
		now := time.Now()
		s.attend(now)
		if handled {
			s.lastRead = now // a Handler that takes its time is no silence of the server
		}
		if s.mail.Swap(false) {
			if err := s.reconcile(now); err != nil {
				return err
			}
		}
		if !now.Before(s.wake) {
			if err := s.tick(now); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n, err := s.in.fill(s.wake, &s.mail)
		s.attend(time.Now())
		if n > 0 {
			s.count.bytes.Add(uint64(n))
			s.lastRead = time.Now()
			s.probing = false
		}
		switch {
		case err == nil, errors.Is(err, os.ErrDeadlineExceeded):
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF) && s.in.partial() > 0:
			return fmt.Errorf("the server closed the connection %d bytes into a message: %w", s.in.partial(), io.ErrUnexpectedEOF)
		case errors.Is(err, io.EOF):
			return fmt.Errorf("the server closed the connection: %w", err)
		default:
			return fmt.Errorf("read: %w", err)
		}
	}
}

// tick does what time brings and sets when it is due again.
func (s *session) tick(now time.Time) error {
	s.wake = now.Add(housework)
	late, next := s.pending.expired(now)
	s.due(next)
	for _, x := range late {
		s.count.timeouts.Add(1)
		if x.relayed != nil {
			x.relayed(player.Header{}, nil, ErrTimeout)
		} else if err := x.fn(answer{err: ErrTimeout}); err != nil {
			return err
		}
	}
	if err := s.probe(now); err != nil {
		return err
	}
	if err := s.advance(now); err != nil {
		return err
	}
	if err := s.revive(now); err != nil {
		return err
	}
	if s.fresh {
		if at := s.lastRead.Add(quiet); now.Before(at) {
			s.due(at)
		} else {
			s.fresh = false
			s.cfg.Handler.Round()
		}
	}
	s.in.trim(now)
	return s.watch(now)
}

// probeKey is the property that devices are asked for to see what they are past.
const probeKey = "callboard"

// probe asks devices that owe answers for a sign of life. Real drivers refuse a
// property that they do not have, in the order in which they were asked.
func (s *session) probe(now time.Time) error {
	for _, p := range s.pending.unproven(now) {
		var req any
		switch p.subtype {
		case iface.ReqGetIntprop:
			req = &iface.IntpropReq{Key: iface.CString(probeKey)}
		case iface.ReqGetDblprop:
			req = &iface.DblpropReq{Key: iface.CString(probeKey)}
		case iface.ReqGetStrprop:
			req = &iface.StrpropReq{Key: iface.CString(probeKey)}
		}
		x := &exchange{id: p.id, subtype: p.subtype, fn: func(answer) error { return nil }}
		addr := player.Addr{Interf: player.Interface(p.id >> 16), Index: uint16(p.id)}
		if err := s.ask(x, addr, req); err != nil {
			return err
		}
	}
	return nil
}

// due moves tick forward to at, unless that is zero.
func (s *session) due(at time.Time) {
	if !at.IsZero() && at.Before(s.wake) {
		s.wake = at
	}
}

// watch asks a silent server for a sign of life, and gives up on one that
// sends none. Any byte is a sign: a slow message is no silence.
func (s *session) watch(now time.Time) error {
	silent := now.Sub(s.lastRead)
	if silent < s.cfg.Idle {
		s.due(s.lastRead.Add(s.cfg.Idle))
		return nil
	}
	if end := s.cfg.Idle + s.cfg.RequestTimeout; silent >= end {
		if n := s.in.partial(); n > 0 {
			return fmt.Errorf("the server stopped %d bytes into a message and was silent for %v", n, silent.Round(time.Millisecond))
		}
		return fmt.Errorf("the server was silent for %v and did not answer a request", silent.Round(time.Millisecond))
	}
	s.due(s.lastRead.Add(s.cfg.Idle + s.cfg.RequestTimeout))
	if s.probing {
		return nil
	}
	s.probing = true
	return s.own(now, player.Addr{Interf: player.InterfacePlayer}, player.PlayerDevlist, nil,
		func(answer) error { return nil })
}

// ask sends a request and registers its exchange.
func (s *session) ask(x *exchange, addr player.Addr, req any) error {
	msg, err := message(player.Request, addr, x.subtype, req)
	if err != nil {
		return err
	}
	x.sent = msg[player.HeaderSize:]
	err = s.pending.add(x, func() error { return s.out.send(msg, x.fn != nil, nil) })
	if err == nil {
		s.count.requests.Add(1)
	}
	return err
}

// own sends a request of the session's own; fn gets the answer or ErrTimeout.
func (s *session) own(now time.Time, addr player.Addr, subtype uint8, req any, fn func(answer) error) error {
	x := &exchange{id: id(addr), subtype: subtype, fn: fn}
	// Opening never expires: to ask again while the first request may yet be
	// served would open the device twice, and bring its data twice.
	if addr.Interf != player.InterfacePlayer || subtype != player.PlayerDev {
		x.expires = now.Add(s.cfg.RequestTimeout)
		s.due(x.expires)
	}
	return s.ask(x, addr, req)
}

// handle takes one message.
func (s *session) handle(h player.Header, body []byte) error {
	switch h.Type {
	case player.Data:
		return s.data(h, body)
	case player.Ack, player.Nack:
		return s.answer(h, body)
	case player.Synch:
		return s.synch(h, body)
	}
	s.count.unexpected.Add(1)
	return nil
}

// answer finds the request that an ACK or NACK belongs to.
func (s *session) answer(h player.Header, body []byte) error {
	if h.Interf == player.InterfacePlayer && h.Subtype == player.PlayerData && s.dataAcks > 0 {
		s.dataAcks--
		if h.Type == player.Nack {
			return errors.New("the server refuses to be asked for data (NACK), expected that it can be pulled")
		}
		return nil
	}
	x := s.pending.take(id(h.Addr), h.Subtype)
	if x == nil {
		s.count.unsolicited.Add(1)
		return nil
	}
	if h.Type == player.Nack {
		s.count.nacks.Add(1)
	}
	switch {
	case x.relayed != nil:
		s.overhear(h, body)
		x.relayed(h, body, nil)
		return nil
	case x.fn != nil:
		return x.fn(answer{header: h, body: body})
	}
	x.done <- answer{header: h, body: append([]byte(nil), body...)}
	return nil
}

// synch ends a pulled round and asks for the next.
func (s *session) synch(h player.Header, body []byte) error {
	if !s.pulling {
		s.count.unsolicited.Add(1)
		return nil
	}
	s.pulling = false
	s.count.rounds.Add(1)
	if h.Subtype == player.SynchOverflow {
		var lost iface.Uint32
		if err := iface.Decode(body, &lost); err != nil {
			s.count.undecodable.Add(1)
		}
		s.count.overflows.Add(1)
		s.count.lost.Add(uint64(lost.Value))
		s.cfg.Handler.Overflow(uint64(lost.Value))
	}
	// The request goes first: the server may work while the round is handled.
	err := s.pullRound()
	s.cfg.Handler.Round()
	return err
}

// pullRound asks for the next round.
func (s *session) pullRound() error {
	s.pulling = true
	s.dataAcks++
	return s.out.send(s.pull, true, nil)
}
