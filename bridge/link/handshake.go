package link

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"

	"callboard/bridge/link/frame"
	"callboard/bridge/overlay"
)

// Name and version of the protocol.
const (
	Protocol = "callboard.link"
	Version  = 1
)

const (
	maxID        = 256
	maxHeartbeat = time.Minute // that a neighbour may ask for
)

// hello is the first piece of each side, the dialing one's first. Unknown
// fields are ignored.
type hello struct {
	Protocol  string `cbor:"protocol"`
	Version   uint64 `cbor:"version"`
	Format    uint64 `cbor:"format"`    // of the overlay's messages: frame.Format()
	ID        string `cbor:"id"`        // the sender
	To        string `cbor:"to"`        // whom the sender takes the other side for
	Attempt   uint64 `cbor:"attempt"`   // grows with each dial of the sender; 0 from the other side
	MaxFrame  uint64 `cbor:"max_frame"` // longest frame that the sender takes, bytes
	Heartbeat uint64 `cbor:"heartbeat"` // longest silence of the sender, µs
	Compress  bool   `cbor:"compress"`  // the sender asks for compression
	Registry  string `cbor:"registry"`  // the sender's overlay.Mode, "one" if left out

	Groups []string `cbor:"groups,omitempty"` // of segments that the sender is on

	Side          string `cbor:"side,omitempty"`            // the sender is this side of a pair and wants a witness, no session
	TakeOverAfter uint64 `cbor:"take_over_after,omitempty"` // of that pair, µs
}

var (
	helloDecoding = must(cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		MaxNestedLevels: 4, MaxMapPairs: 64, MaxArrayElements: 64, UTF8: cbor.UTF8RejectInvalid,
	}.DecMode())
	helloEncoding = must(cbor.CoreDetEncOptions().EncMode())
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err) // options of a literal that the library does not take
	}
	return value
}

// refusal is an error that the other side is told.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

func checkID(id overlay.BrokerID) error {
	switch {
	case id == "" || len(id) > maxID:
		return fmt.Errorf("an id of %d bytes; expected 1 to %d", len(id), maxID)
	case !utf8.ValidString(string(id)) || strings.ContainsFunc(string(id), unicode.IsControl):
		return fmt.Errorf("the id %q is not printable text", id)
	}
	return nil
}

func (l *Links) hello(to Neighbour, attempt uint64) []byte {
	content, err := helloEncoding.Marshal(hello{
		Protocol: Protocol, Version: Version, Format: frame.Format(), ID: string(l.cfg.Self), To: string(to.ID), Attempt: attempt,
		MaxFrame: uint64(l.cfg.MaxFrame), Heartbeat: uint64(l.cfg.Heartbeat.Microseconds()), Compress: l.compresses(to),
		Registry: string(l.cfg.Registry), Groups: l.groups(), Side: l.side, TakeOverAfter: uint64(l.takeOverAfter.Microseconds()),
	})
	if err != nil {
		panic(err) // a flat struct of texts and numbers
	}
	return endPiece(append(beginPiece(nil, pieceHello), content...), 0)
}

// compresses reports whether compression is asked for on a link.
func (l *Links) compresses(n Neighbour) bool { return l.cfg.Compress || n.Compress }

// decodeHello reads a hello and checks what does not depend on who sent it.
func decodeHello(content []byte) (hello, error) {
	var h hello
	if err := helloDecoding.Unmarshal(content, &h); err != nil {
		return h, refuse("its hello cannot be read: %v", err)
	}
	switch {
	case h.Protocol != Protocol || h.Version != Version:
		return h, refuse("it speaks %.64q version %d; expected %q version %d", h.Protocol, h.Version, Protocol, Version)
	case h.Format != frame.Format():
		return h, refuse("it is of another release: its messages have the format %016x; expected %016x", h.Format, frame.Format())
	case checkID(overlay.BrokerID(h.ID)) != nil:
		return h, refuse("%v", checkID(overlay.BrokerID(h.ID)))
	case h.MaxFrame < minMaxFrame:
		return h, refuse("it takes frames of up to %d bytes; expected %d at least", h.MaxFrame, minMaxFrame)
	case h.Heartbeat == 0 || h.Heartbeat > uint64(maxHeartbeat.Microseconds()):
		return h, refuse("its heartbeat is %d µs; expected up to %v", h.Heartbeat, maxHeartbeat)
	}
	return h, nil
}

// opening is a connection on its way to become a session.
type opening struct {
	raw  net.Conn
	conn net.Conn // what the transport has made of raw
	r    *bufio.Reader
}

// open makes a connection ready for the handshake, which ends with ctx and the
// configured time.
func (l *Links) open(ctx context.Context, raw net.Conn, dialed bool) (*opening, error) {
	o := &opening{raw: raw}
	raw.SetDeadline(time.Now().Add(l.cfg.Handshake))
	var err error
	if o.conn, err = l.cfg.Transport.Secure(ctx, raw, dialed); err != nil {
		return nil, err
	}
	o.r = bufio.NewReaderSize(o.conn, readChunk)
	return o, nil
}

// expect reads the next piece of the handshake.
func (o *opening) expect(kind byte) ([]byte, error) {
	got, content, err := readPiece(o.r, nil, func(k byte) int {
		switch {
		case k == pieceRefuse:
			return maxReason
		case k != kind:
			return -1
		case k == pieceHello:
			return maxHello
		}
		return 0
	})
	if err != nil {
		return nil, fmt.Errorf("handshake: %w", err)
	}
	if got == pieceRefuse {
		return nil, fmt.Errorf("it refuses: %s", printable(content))
	}
	return content, nil
}

// printable returns another broker's reason in a form that can be logged.
func printable(text []byte) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(text), "?"))
}

// answer sends a refusal to the other side.
func (o *opening) answer(err error) {
	var r *refusal
	if errors.As(err, &r) {
		o.conn.Write(textPiece(pieceRefuse, r.reason))
	}
}

// greet is the dialing side's handshake: hello, hello, begin. When it returns,
// the other side has agreed to a session.
func (o *opening) greet(l *Links, n Neighbour, attempt uint64) (hello, error) {
	if _, err := o.conn.Write(l.hello(n, attempt)); err != nil {
		return hello{}, fmt.Errorf("handshake: %w", err)
	}
	content, err := o.expect(pieceHello)
	if err != nil {
		return hello{}, err
	}
	h, err := decodeHello(content)
	if err == nil {
		err = o.checkPeer(l, h, n)
	}
	if err != nil {
		o.answer(err)
		return h, err
	}
	if _, err := o.conn.Write(endPiece(beginPiece(nil, pieceBegin), 0)); err != nil {
		return h, fmt.Errorf("handshake: %w", err)
	}
	return h, nil
}

// welcome is the other side's: it learns who dialed.
func (o *opening) welcome(l *Links) (*peer, hello, error) {
	content, err := o.expect(pieceHello)
	if err != nil {
		return nil, hello{}, err
	}
	h, err := decodeHello(content)
	if err != nil {
		o.answer(err)
		return nil, h, err
	}
	p := l.neighbour(overlay.BrokerID(h.ID))
	var n Neighbour
	if p != nil {
		n = p.configured()
	}
	switch {
	case p == nil:
		err = refuse("broker %q is no neighbour of broker %q", h.ID, l.cfg.Self)
	case h.Side != "" && l.cfg.Votes == nil:
		err = refuse("broker %q is no witness: it keeps nothing, or is one of a pair itself", l.cfg.Self)
	case h.Side != "":
		err = o.checkPeer(l, h, n)
	case p.dials():
		err = refuse("broker %q waits to be dialed, since its id is not the lower one", h.ID)
	default:
		if err = o.checkPeer(l, h, n); err == nil {
			err = p.stale(h.Attempt)
		}
	}
	if err != nil {
		o.answer(err)
		return p, h, err
	}
	if _, err := o.conn.Write(l.hello(n, 0)); err != nil {
		return p, h, fmt.Errorf("handshake: %w", err)
	}
	_, err = o.expect(pieceBegin)
	return p, h, err
}

// checkPeer refuses a neighbour that is another than the one expected, or that
// goes by other rules.
func (o *opening) checkPeer(l *Links, h hello, n Neighbour) error {
	switch {
	case h.ID != string(n.ID):
		return refuse("it is broker %q; expected %q", h.ID, n.ID)
	case h.To != string(l.cfg.Self):
		return refuse("it wants broker %q; this is %q", h.To, l.cfg.Self)
	}
	if mode := cmp.Or(h.Registry, string(overlay.ModeOne)); mode != string(l.cfg.Registry) {
		return refuse("broker %q has registry.mode = %.64q, and broker %q has %q; expected one mode in a whole network", h.ID, mode, l.cfg.Self, l.cfg.Registry)
	}
	if err := l.cfg.Transport.Verify(o.conn, n); err != nil {
		return refuse("%v", err)
	}
	return nil
}
