package run

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
)

// LogWriter writes a Player log that real readlog replays. Robots' names, the
// devices with all digits of their geometry, and sessions stand in ## lines,
// which Player's reader ignores.
type LogWriter struct {
	out     lineBuffer
	lines   *playerlog.Writer
	servers map[server]string // who has host and port: Player's address of it
	given   map[string]server // what a Player server got instead of its own
	pending []pendingLine     // geometry, to be written with the time of the next message
	time    float64           // of the message that was written last
}

// pendingLine is a geometry or configuration to be written.
type pendingLine struct {
	addr   player.Addr
	answer iface.Answer
}

// lineBuffer gathers lines, and writes whole ones only.
type lineBuffer struct {
	w       io.Writer
	buf     []byte
	written int64
}

// enough is how many bytes are written with one call.
const enough = 64 << 10

// Write takes whole lines.
func (l *lineBuffer) Write(b []byte) (int, error) {
	l.buf = append(l.buf, b...)
	if len(l.buf) < enough {
		return len(b), nil
	}
	return len(b), l.flush()
}

func (l *lineBuffer) flush() error {
	n, err := l.w.Write(l.buf)
	l.written += int64(n)
	l.buf = l.buf[:0]
	return err
}

// NewLogWriter makes a LogWriter and writes the log's head.
func NewLogWriter(w io.Writer) (*LogWriter, error) {
	l := &LogWriter{out: lineBuffer{w: w}, servers: map[server]string{}, given: map[string]server{}}
	var err error
	l.lines, err = playerlog.NewWriter(playerlog.WriterConfig{W: &l.out})
	return l, err
}

// Write writes a record; see Writer.
func (l *LogWriter) Write(rec *Record) error {
	if rec.Kind != Data {
		return l.event(rec)
	}
	if rec.Payload == nil && rec.Object != nil {
		return &Unwritable{rec.Header, "what a broker tells of this interface cannot be made a Player message"}
	}
	h := rec.Header
	h.Addr = l.addr(rec.Player, h.Addr)
	if err := l.flushPending(h.Timestamp); err != nil {
		return err
	}
	err := l.lines.Write(h, rec.Payload)
	var not *playerlog.Unwritable
	if errors.As(err, &not) {
		return &Unwritable{rec.Header, not.Why}
	}
	if err == nil {
		l.time = h.Timestamp
	}
	return err
}

// flushPending writes geometry that was told of, with the time of the message
// that follows: Player's reader waits for as long as passes between lines.
func (l *LogWriter) flushPending(time float64) error {
	for _, p := range l.pending {
		h := player.Header{Addr: p.addr, Type: player.Ack, Subtype: p.answer.Subtype, Timestamp: time}
		var not *playerlog.Unwritable
		if err := l.lines.Write(h, p.answer.Payload); err != nil && !errors.As(err, &not) {
			return err
		}
	}
	l.pending = l.pending[:0]
	return nil
}

// event writes what is no message.
func (l *LogWriter) event(rec *Record) error {
	e := eventOf(rec)
	if !rec.Logged.IsZero() {
		e.Logged = rec.Logged.UTC().Format(time.RFC3339Nano)
	}
	for i := range e.Device {
		d := rec.Device
		if d == nil {
			d = rec.Devices[i]
		}
		a := l.addr(rec.Player, d.Addr)
		e.Device[i].Host, e.Device[i].Port = a.Host, a.Robot
		for _, answer := range iface.Answers(d.Interf, d.Geometry, d.Config) {
			if playerlog.Holds(d.Interf, player.Ack, answer.Subtype) {
				l.pending = append(l.pending, pendingLine{a, answer})
			}
		}
	}
	text, err := e.text()
	if err != nil {
		return fmt.Errorf("run: %w", err)
	}
	const before = "## " + eventMark
	if len(before)+len(text) >= playerlog.MaxLine {
		return &Unwritable{rec.Header, fmt.Sprintf("what is to be told of %s has %d bytes", rec.Robot, len(text))}
	}
	_, err = l.out.Write(append(append([]byte(before), text...), '\n'))
	return l.told(err)
}

func (l *LogWriter) told(err error) error {
	if err != nil {
		return fmt.Errorf("run: writing the log: %w", err)
	}
	return nil
}

// addr returns the address that a device has in the log. Servers on several
// machines may all call themselves 127.0.0.1, and have the same port: then one
// gets another address, its own by which it was reached if that helps.
func (l *LogWriter) addr(address string, a player.Addr) player.Addr {
	own := server{addr(a).Host, a.Robot}
	if have, ok := l.servers[own]; !ok || have == address {
		l.servers[own] = address
		return a
	}
	s, ok := l.given[address]
	if !ok {
		s = own
		if host, port, ok := numeric(address); ok {
			s = server{host, port}
		}
		for taken := true; taken; s.port++ {
			if _, taken = l.servers[s]; !taken {
				break
			}
		}
		l.given[address], l.servers[s] = s, address
	}
	a.Host, a.Robot = s.host, s.port
	return a
}

// numeric returns the IPv4 address and port in host:port, as Player has them.
func numeric(address string) (host, port uint32, ok bool) {
	text, number, err := net.SplitHostPort(address)
	if err != nil {
		return 0, 0, false
	}
	ip, err := netip.ParseAddr(text)
	n, bad := strconv.ParseUint(number, 10, 16)
	if err != nil || bad != nil || !ip.Is4() {
		return 0, 0, false
	}
	b := ip.As4()
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24, uint32(n), true
}

// Flush writes what is buffered; geometry waits for its message.
func (l *LogWriter) Flush() error { return l.told(l.out.flush()) }

// Size is how many bytes the log has.
func (l *LogWriter) Size() int64 { return l.out.written + int64(len(l.out.buf)) }

// Close completes the log.
func (l *LogWriter) Close() error {
	if err := l.flushPending(l.time); err != nil {
		return err
	}
	return l.Flush()
}
