package link

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"callboard/bridge/link/frame"
	"callboard/bridge/multicast"
	"callboard/bridge/overlay"
)

// script is a connection that says what it was given, and then ends.
type script struct{ io.Reader }

func (s *script) Write(b []byte) (int, error)      { return len(b), nil }
func (s *script) Close() error                     { return nil }
func (s *script) LocalAddr() net.Addr              { return memoryAddr("here") }
func (s *script) RemoteAddr() net.Addr             { return memoryAddr("there") }
func (s *script) SetDeadline(time.Time) error      { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// counting is a Handler that counts.
type counting struct{ up, down, frames int }

func (c *counting) Up(overlay.BrokerID, uint64)                       { c.up++ }
func (c *counting) Down(overlay.BrokerID, uint64)                     { c.down++ }
func (c *counting) Frame(overlay.BrokerID, uint64, []overlay.Message) { c.frames++ }

// FuzzAccept plays bytes from the network to a broker that waits for
// connections: nothing panics or hangs, and each session that begins ends.
func FuzzAccept(f *testing.F) {
	hi := helloPiece(func(h *hello) { h.Compress = true })
	one, _ := frame.NewEncoder().Append(nil, []overlay.Message{reading(1), head(1)})
	d := newDeflater()
	compressed := endPiece(d.piece(nil, one), 0)
	session := bytes.Join([][]byte{hi, beginning, piece(pieceFrame, one), piece(pieceHeartbeat, nil), compressed, textPiece(pieceBye, "end")}, nil)
	f.Add(session)
	f.Add(session[:len(session)-30])
	f.Add(hi)
	f.Add(append(bytes.Clone(hi), textPiece(pieceRefuse, "no")...))
	f.Add(append(append(bytes.Clone(hi), beginning...), compressed...))
	onSegment := helloPiece(func(h *hello) { h.Groups = []string{testGroup.String()} })
	joined := piece(pieceStream, (&multicast.Offer{Group: testGroup, Port: 5, Datagram: 1400, Window: 100}).Append(nil))
	f.Add(bytes.Join([][]byte{onSegment, beginning, joined, piece(pieceNumber, []byte{0, 0, 0, 2}), piece(pieceFrame, one), piece(pieceNumber, []byte{0, 0, 0, 1}), piece(pieceFrame, one)}, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &counting{}
		l, err := New(Config{Self: "b2", Segments: []Segment{{Group: newLossyNet(1, 0).join()}}, Neighbours: []Neighbour{{ID: "b1"}}, Listener: &memoryListener{}, Handler: c, Compress: true, MaxFrame: minMaxFrame})
		if err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		o, err := l.open(ctx, &script{Reader: bytes.NewReader(data)}, false)
		if err != nil {
			t.Fatal(err)
		}
		p, h, err := o.welcome(l)
		if err != nil {
			return
		}
		p.carry(ctx, newSession(p, p.configured(), o, h, h.Attempt))
		if c.up != 1 || c.down != 1 || p.status().Up {
			t.Fatalf("%+v", c)
		}
	})
}

func FuzzInflate(f *testing.F) {
	d := newDeflater()
	for _, text := range []string{"{}", string(bytes.Repeat([]byte("laser"), 100))} {
		p := d.piece(nil, bytes.Repeat([]byte(text), 100))
		f.Add(p[pieceHead:], p[pieceHead:])
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		in := newInflater(1 << 16)
		for _, content := range [][]byte{first, second} {
			plain, err := in.inflate(content)
			if err != nil {
				return
			}
			if len(plain) > 1<<16 || len(in.rest.b) > leftOver {
				t.Fatalf("%d bytes, %d left over", len(plain), len(in.rest.b))
			}
		}
	})
}
