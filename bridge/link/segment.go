package link

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"callboard/bridge/multicast"
	"callboard/player/deadline"
)

// Group is how datagrams go to the brokers of a segment, and come from them: by
// sockets, or in memory in tests.
type Group interface {
	// Address is the group's address and port, by which brokers of one segment know
	// that they are.
	Address() netip.AddrPort
	// Port is where datagrams for this broker alone arrive.
	Port() uint16
	// Window is how many datagrams may wait to be received.
	Window() int
	// Send sends datagrams. Any may be lost. They may be changed afterwards.
	Send(all []Datagram)
	// Receive hands over datagrams until Close. A datagram may be kept until take
	// returns. Dropped is how many the socket has dropped so far.
	Receive(take func(from netip.Addr, datagram []byte, dropped uint32)) error
	// Close ends Receive.
	Close() error
}

// Datagram is what a Group sends.
type Datagram struct {
	To      netip.AddrPort // zero: the group
	Content []byte
}

// Alarm wakes a segment. A Group that has a better one than Go's timers has a
// method NewAlarm.
type Alarm interface {
	// Set has the alarm ring after a time, and not when it was set to before.
	Set(after time.Duration)
	// Rings has a token when it rings.
	Rings() <-chan struct{}
	Close() error
}

// Segment is a part of the network whose brokers share datagrams: neighbours that
// have one in common send what several of them want by multicast.
type Segment struct {
	Group    Group   // closed when the links end
	Rate     float64 // bits/s; default 200 Mbit/s
	Datagram int     // bytes of the longest; default 1,400
}

// segment runs a broker's part in a segment: it owns the machine, and is the way of
// frames to and from all sessions whose neighbours are there.
type segment struct {
	links *Links
	group Group
	log   *slog.Logger
	begun time.Time
	alarm Alarm
	wake  chan struct{} // frames wait
	queue []queued      // under links.queueMu
	spare []queued      // of the sending goroutine

	mu       sync.Mutex
	machine  *multicast.Segment
	sessions map[uint64]*session
	rings    time.Duration // when the alarm does
	dropped  uint32        // by the socket
	saved    uint64        // bytes
	received multicast.Received
	out      []Datagram
	series   seriesWriter
}

// queued is a frame of one step that waits for the segment's goroutine.
type queued struct {
	session *session
	outgoing
}

func newSegment(l *Links, cfg Segment) *segment {
	g := &segment{
		links: l, group: cfg.Group, log: l.cfg.Logger.With("segment", cfg.Group.Address().String()),
		begun: time.Now(), wake: make(chan struct{}, 1), sessions: map[uint64]*session{}, rings: never,
	}
	g.machine = multicast.NewSegment(multicast.Config{
		Sender: multicast.SenderConfig{
			Stream: newStream(), Group: cfg.Group.Address(), Port: cfg.Group.Port(), Datagram: cfg.Datagram, Rate: cfg.Rate, Queue: l.cfg.QueueBytes,
		},
		Window: cfg.Group.Window(), Heartbeat: l.cfg.Heartbeat,
	}, 0)
	return g
}

const never = time.Duration(1<<63 - 1)

func newStream() (s multicast.Stream) {
	rand.Read(s.ID[:]) // it does not fail
	rand.Read(s.Key[:])
	return s
}

// commonSegment returns the segment that two brokers have in common: of several
// the one with the lowest name, so that both take the same; nil if there is none.
func (l *Links) commonSegment(theirs []string) (common *segment) {
	name := ""
	for _, g := range l.segments {
		own := g.group.Address().String()
		if slices.Contains(theirs, own) && (common == nil || own < name) {
			common, name = g, own
		}
	}
	return common
}

// groups are the names of this broker's segments.
func (l *Links) groups() (names []string) {
	for _, g := range l.segments {
		names = append(names, g.group.Address().String())
	}
	return names
}

// run carries the segment until ctx ends.
func (g *segment) run(ctx context.Context) error {
	alarm, err := g.newAlarm()
	if err != nil {
		g.group.Close()
		return fmt.Errorf("segment %v: %w", g.group.Address(), err)
	}
	defer alarm.Close()
	g.mu.Lock()
	g.alarm = alarm
	g.mu.Unlock()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var receiving sync.WaitGroup
	receiving.Go(func() {
		if err := g.group.Receive(g.receive); err != nil && ctx.Err() == nil {
			stop(fmt.Errorf("segment %v: %w", g.group.Address(), err))
		}
	})
	minutes := time.NewTicker(time.Minute)
	defer minutes.Stop()
	refused := uint64(0)
	g.step(nil) // sessions may have begun before there was an alarm
	for {
		select {
		case <-ctx.Done():
			g.group.Close()
			receiving.Wait()
			if err := context.Cause(ctx); err != context.Canceled {
				return err
			}
			return nil
		case <-g.wake:
			g.send()
		case <-minutes.C:
			if st := g.stats(); st.Refused() > refused {
				g.log.Warn("datagrams were refused on the segment: forged, replayed, or of nobody known", "datagrams", st.Refused()-refused)
				refused = st.Refused()
			}
		case <-alarm.Rings():
			g.mu.Lock()
			g.rings = never
			g.mu.Unlock()
			g.step(nil)
		}
	}
}

func (g *segment) newAlarm() (Alarm, error) {
	if with, ok := g.group.(interface{ NewAlarm() (Alarm, error) }); ok {
		return with.NewAlarm()
	}
	return newTimer(), nil
}

func (g *segment) now() time.Duration { return time.Since(g.begun) }

// receive takes a datagram.
func (g *segment) receive(from netip.Addr, datagram []byte, dropped uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if dropped != g.dropped {
		g.dropped = dropped
		g.stepLocked(&multicast.SocketDropped{Total: dropped})
	}
	g.received = multicast.Received{From: from, Datagram: datagram}
	g.stepLocked(&g.received)
}

// step steps the machine and carries out what it puts out.
func (g *segment) step(in multicast.Input) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stepLocked(in)
}

// stepLocked is step with g.mu held.
func (g *segment) stepLocked(in multicast.Input) {
	g.machine.Step(g.now(), in)
	renew := false
	for _, out := range g.machine.Outputs() {
		switch out := out.(type) {
		case *multicast.Send:
			g.datagram(out)
		case *multicast.Tell:
			if s := g.sessions[out.Session]; s != nil {
				s.tell(out.Message)
			}
		case *multicast.Arrived:
			if s := g.sessions[out.Session]; s != nil {
				s.end(s.in.fromGroup(out)) // nil: it does not
			}
		case *multicast.Complete:
			if s := g.sessions[out.Session]; s != nil {
				s.end(s.in.complete(out.Pair))
			}
		case *multicast.End:
			if s := g.sessions[out.Session]; s != nil {
				s.end(out.Reason)
			}
		case *multicast.NewStream:
			renew = true
		}
	}
	if len(g.out) > 0 {
		g.group.Send(g.out)
		clear(g.out)
		g.out = g.out[:0]
	}
	if renew {
		g.stepLocked(&multicast.Renewed{Stream: newStream()})
		return
	}
	if at := g.machine.Deadline(); at < g.rings && g.alarm != nil {
		g.rings = at
		g.alarm.Set(max(at-g.now(), 0))
	}
}

// datagram collects what is to be sent.
func (g *segment) datagram(out *multicast.Send) {
	if out.Session == 0 {
		g.out = append(g.out, Datagram{Content: out.Datagram})
		return
	}
	if s := g.sessions[out.Session]; s != nil && s.statusPort > 0 {
		g.out = append(g.out, Datagram{To: netip.AddrPortFrom(s.address, s.statusPort), Content: out.Datagram})
	}
}

// up takes a session in.
func (g *segment) up(s *session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sessions[s.number] = s
	g.stepLocked(&multicast.Up{Session: s.number, Address: s.address})
}

// down gives a session up: nothing more of it arrives.
func (g *segment) down(s *session) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sessions, s.number)
	g.stepLocked(&multicast.Down{Session: s.number})
}

// renew begins another stream: a neighbour that has the key of this one is none any
// more.
func (g *segment) renew() { g.step(&multicast.Retire{}) }

// told takes a neighbour's message about a stream.
func (g *segment) told(s *session, content []byte) error {
	m, err := multicast.ReadMessage(content)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if offer, ok := m.(*multicast.Offer); ok {
		if offer.Group != g.group.Address() {
			return fmt.Errorf("it offers a stream to the group %v; expected %v", offer.Group, g.group.Address())
		}
		s.statusPort = offer.Port
	}
	g.stepLocked(&multicast.Told{Session: s.number, Message: m})
	return nil
}

// addressOf returns who is at the other end of a connection; the zero value if that
// is no address of the network.
func addressOf(conn net.Conn) netip.Addr {
	if tcp, ok := deadline.Unwrap(conn).RemoteAddr().(*net.TCPAddr); ok {
		return tcp.AddrPort().Addr().Unmap()
	}
	return netip.Addr{}
}

// timer is an Alarm of Go's timers.
type timer struct {
	rings chan struct{}
	timer *time.Timer
}

func newTimer() *timer {
	t := &timer{rings: make(chan struct{}, 1)}
	t.timer = time.AfterFunc(never, func() {
		select {
		case t.rings <- struct{}{}:
		default:
		}
	})
	return t
}

func (t *timer) Set(after time.Duration) { t.timer.Reset(after) }
func (t *timer) Rings() <-chan struct{}  { return t.rings }
func (t *timer) Close() error            { t.timer.Stop(); return nil }
