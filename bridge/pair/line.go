package pair

import (
	"bufio"
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"callboard/bridge/overlay"
	"callboard/bridge/spool"
	"callboard/bridge/standby"
	"callboard/bridge/standby/format"
)

// line is a connection with the other side.
type line struct {
	pair  *Pair
	which standby.Line
	conn  net.Conn
	r     *bufio.Reader
	out   queue

	sealing, checking *seals // nil on the inner line

	pieces []overlay.Record // of a snapshot that is coming
}

// Times of connections, in T, and at least.
const (
	silentFor = 10 // a connection on which nothing comes is no more
	leastWait = 300 * time.Millisecond
	writeTime = 10 * time.Second
)

func (p *Pair) patience() time.Duration { return max(silentFor*p.cfg.Heartbeat, leastWait) }

// greet says hello, hears the other side's, and makes a line of a connection.
func (p *Pair) greet(conn net.Conn, r *bufio.Reader, which standby.Line) (*line, error) {
	_ = conn.SetDeadline(time.Now().Add(p.patience())) // a closed connection says so when read from
	own := &hello{Protocol: protocol, Version: version, ID: string(p.cfg.ID), Side: p.cfg.Side.String()}
	var err error
	if own.Nonce, err = newNonce(); err != nil {
		return nil, err
	}
	key := p.pairKey()
	if which == standby.Inner {
		own.Key, own.Outer = key, p.cfg.OtherOuter
	} else if key == nil {
		return nil, errors.New("the key of the pair has not come over the inner line yet")
	}
	if _, err := conn.Write(own.frame()); err != nil {
		return nil, err
	}
	h, err := readHello(r)
	if err == nil {
		err = h.check(own)
	}
	if err != nil {
		return nil, err
	}
	l := &line{pair: p, which: which, conn: conn, r: r}
	l.out.init(maxWaiting)
	l.out.begin()
	if which == standby.Inner {
		err = p.learn(h)
	} else {
		a, b := own.Nonce, h.Nonce
		if p.cfg.Side == standby.B {
			a, b = b, a
		}
		l.sealing, l.checking = newSeals(key, a, b, p.cfg.Side), newSeals(key, a, b, p.cfg.Side.Other())
		err = l.prove()
	}
	_ = conn.SetDeadline(time.Time{})
	return l, err
}

// prove sees, before the line takes another one's place, that the other side has
// the key.
func (l *line) prove() error {
	proof := appendFrame(nil, kindHello, nil)
	if _, err := l.conn.Write(append(proof, l.sealing.of(proof)...)); err != nil {
		return err
	}
	kind, _, err := l.frame(0)
	if err == nil && kind != kindHello {
		err = errors.New("it does not prove that it is the other side")
	}
	return err
}

// frame reads the next frame, and checks its seal.
func (l *line) frame(most int) (kind byte, content []byte, err error) {
	if kind, content, err = readFrame(l.r, most); err != nil || l.checking == nil {
		return kind, content, err
	}
	seal := make([]byte, sealSize)
	if _, err := io.ReadFull(l.r, seal); err != nil {
		return 0, nil, err
	}
	if !hmac.Equal(seal, l.checking.of(appendFrame(nil, kind, content))) {
		return 0, nil, errors.New("it is not sealed with the pair's key")
	}
	return kind, content, nil
}

func (p *Pair) pairKey() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.key.key
}

// learn takes what the other side says of the pair over the inner line.
func (p *Pair) learn(h *hello) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h.Outer != "" && h.Outer != p.outer {
		p.outer = h.Outer
		close(p.changed)
		p.changed = make(chan struct{})
	}
	if p.cfg.Side == standby.B && h.Key != nil {
		return p.key.set(h.Key)
	}
	return nil
}

// carry has the line be the pair's until it ends.
func (l *line) carry(ctx context.Context) error {
	defer context.AfterFunc(ctx, l.close)()
	p := l.pair
	p.mu.Lock()
	if old := p.lines[l.which]; old != nil {
		old.close()
	}
	p.lines[l.which] = l
	p.mu.Unlock()
	defer p.forget(l)
	written := make(chan struct{})
	go func() {
		defer close(written)
		l.write()
	}()
	err := l.read()
	l.close()
	<-written
	return err
}

// forget forgets a line that has ended.
func (p *Pair) forget(l *line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines[l.which] == l {
		p.lines[l.which] = nil
	}
	if p.copying.line == l {
		p.copying = copying{}
	}
}

func (l *line) close() {
	l.out.end()
	l.conn.Close()
}

// send has the other side be told something. A line on which that much waits is
// none.
func (l *line) send(kind byte, content []byte) {
	if content != nil && !l.out.put(appendFrame(nil, kind, content)) {
		l.close()
	}
}

// write writes what waits, sealed in the order in which it goes.
func (l *line) write() {
	for all := l.out.take(); all != nil; all = l.out.take() {
		if l.sealing != nil {
			for i, b := range all {
				all[i] = append(b, l.sealing.of(b)...)
			}
		}
		_ = l.conn.SetWriteDeadline(time.Now().Add(writeTime)) // a closed connection says so when written to
		buffers := net.Buffers(all)
		if _, err := buffers.WriteTo(l.conn); err != nil {
			l.close()
			return
		}
	}
}

// read hands over what comes until the line ends. A line on which nothing comes
// for long may be cut: another one is made.
func (l *line) read() error {
	p := l.pair
	for {
		_ = l.conn.SetReadDeadline(time.Now().Add(p.patience())) // the same
		kind, content, err := l.frame(maxFrame)
		if err != nil {
			return err
		}
		switch kind {
		case kindPiece:
			records, err := spool.DecodeRecords(content)
			if err != nil {
				return fmt.Errorf("a piece of a snapshot: %w", err)
			}
			l.pieces = append(l.pieces, records...)
		case kindMessage:
			m, err := format.Parse(content)
			if err != nil {
				return err
			}
			if s, is := m.(*standby.Snapshot); is {
				s.Records, l.pieces = l.pieces, nil
			}
			p.fromOther(l, m)
		case kindWant:
			if l.which == standby.Inner {
				p.wanted(string(content))
			}
		default:
			return fmt.Errorf("it says something of kind %d; expected up to %d", kind, kindWant)
		}
	}
}

// fromOther hands the rules a message of the other side.
func (p *Pair) fromOther(l *line, m standby.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines[l.which] != l { // another connection has taken its place
		return
	}
	switch m := m.(type) {
	case *standby.Beat:
		p.copying.arrived(m.Last)
	case *standby.Acked:
		p.copying.arrived(m.Last)
	}
	p.step(&standby.FromOther{Line: l.which, Message: m})
}

// toOther carries out that the other side is told something.
func (p *Pair) toOther(o *standby.ToOther) {
	l := p.lines[o.Line]
	if l == nil {
		return
	}
	if s, is := o.Message.(*standby.Snapshot); is {
		p.copy(l, s.Term)
		return
	}
	l.send(kindMessage, encoded(o.Message))
}

// copying is a snapshot that is on its way.
type copying struct {
	line *line
	at   standby.Position // up to where it reaches; 0: it is being made
}

// arrived takes where the other side has come to.
func (c *copying) arrived(last standby.Position) {
	if c.at.Index > 0 && last.Index >= c.at.Index && last.ID >= c.at.ID {
		*c = copying{}
	}
}

// copy sends a snapshot, unless one is on its way.
func (p *Pair) copy(l *line, term standby.Term) {
	if p.copying.line == l {
		return
	}
	p.copying = copying{line: l}
	go func() {
		if err := p.sendSnapshot(l, term); err != nil {
			p.log.Warn("no snapshot for the other side", "error", err)
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.copying.line == l {
				p.copying = copying{}
			}
		}
	}()
}

// maxAhead is how many bytes of a snapshot wait to be written.
const maxAhead = 4 << 20

func (p *Pair) sendSnapshot(l *line, term standby.Term) error {
	s, err := p.cfg.Store.Snapshot()
	if err != nil {
		return err
	}
	pieces, err := s.Pieces()
	if err != nil {
		return err
	}
	for _, piece := range pieces {
		if !l.out.putBelow(maxAhead, appendFrame(nil, kindPiece, piece)) {
			return nil // the line has ended, and forgets it
		}
	}
	x := &standby.Snapshot{Term: term, Last: standby.Position{Index: s.At.Number, ID: standby.Term(s.At.Term)}}
	for _, t := range s.Terms {
		x.Terms = append(x.Terms, standby.Term(t))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.copying.line == l {
		p.copying.at = x.Last
		l.send(kindMessage, encoded(x))
	}
	return nil
}
