package link

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"callboard/bridge/link/frame"
	"callboard/bridge/overlay"
	"callboard/player/deadline/deadlinetest"
	"callboard/subscribe/protocol"
)

// stranger speaks the protocol by hand, as b1 to b2 or as b2 to b1.
type stranger struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

func newStranger(t *testing.T, conn net.Conn) *stranger {
	return &stranger{t, conn, bufio.NewReader(conn)}
}

func connect(t *testing.T, m *memoryNet, address string) *stranger {
	t.Helper()
	conn, err := m.Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	return newStranger(t, conn)
}

func (s *stranger) write(pieces ...[]byte) {
	for _, p := range pieces {
		s.conn.Write(p) // what the other side thinks of it is what the test looks at
	}
}

// read returns the next piece that is no heartbeat.
func (s *stranger) read() (kind byte, content string, err error) {
	for {
		kind, data, err := readPiece(s.r, nil, func(byte) int { return 1 << 20 })
		if err != nil || kind != pieceHeartbeat {
			return kind, string(data), err
		}
	}
}

func (s *stranger) expect(kind byte, content string) {
	s.t.Helper()
	got, text, err := s.read()
	if err != nil || got != kind || !strings.Contains(text, content) {
		s.t.Fatalf("piece %d, %q, %v; expected %d with %q", got, text, err, kind, content)
	}
}

func helloPiece(change func(*hello)) []byte {
	h := hello{Protocol: Protocol, Version: Version, Format: frame.Format(), ID: "b1", To: "b2", Attempt: 1, MaxFrame: 1 << 20, Heartbeat: 1_000_000}
	if change != nil {
		change(&h)
	}
	content, err := helloEncoding.Marshal(h)
	if err != nil {
		panic(err)
	}
	return piece(pieceHello, content)
}

func piece(kind byte, content []byte) []byte {
	return endPiece(append(beginPiece(nil, kind), content...), 0)
}

func framePiece(t *testing.T, all ...overlay.Message) []byte {
	data, err := frame.NewEncoder().Append(nil, all)
	if err != nil {
		t.Fatal(err)
	}
	return piece(pieceFrame, data)
}

var beginning = piece(pieceBegin, nil)

// accepting runs b2, which waits for b1.
func accepting(t *testing.T, change func(*Config)) (*broker, *memoryNet) {
	var memory memoryNet
	listener, err := memory.Listen("b2")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Self: "b2", Neighbours: []Neighbour{{ID: "b1"}, {ID: "b3", Address: "b3"}}, Listener: listener, Transport: &memory}
	if change != nil {
		change(&cfg)
	}
	return start(t, cfg), &memory
}

// bubble runs a test with a clock of its own.
func bubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func TestRefusedConnections(t *testing.T) {
	for _, tt := range []struct {
		name   string
		sends  [][]byte
		told   string // in the refusal; "": the connection is closed
		logged string
	}{
		{"a web browser", [][]byte{[]byte("GET / HTTP/1.1\r\nHost: b2\r\n\r\n")}, "", "begins no piece that is expected here"},
		{"garbage", [][]byte{{0, 0, 0, 3, pieceHello, 0xff, 0xff, 0xff}}, "its hello cannot be read", "cannot be read"},
		{"another protocol", [][]byte{helloPiece(func(h *hello) { h.Protocol = "mqtt" })}, `it speaks "mqtt" version 1; expected "callboard.link" version 1`, "mqtt"},
		{"another version", [][]byte{helloPiece(func(h *hello) { h.Version = 2 })}, "version 2; expected", "version 2"},
		{"another format", [][]byte{helloPiece(func(h *hello) { h.Format = 5 })}, "it is of another release: its messages have the format 0000000000000005", "another release"},
		{"an unknown broker", [][]byte{helloPiece(func(h *hello) { h.ID = "b9" })}, `broker "b9" is no neighbour of broker "b2"`, "no neighbour"},
		{"no id", [][]byte{helloPiece(func(h *hello) { h.ID = "" })}, "an id of 0 bytes", "an id of"},
		{"the wrong broker", [][]byte{helloPiece(func(h *hello) { h.To = "b7" })}, `it wants broker "b7"; this is "b2"`, "b7"},
		{"another mode of the registry", [][]byte{helloPiece(func(h *hello) { h.Registry = "every" })}, `broker "b1" has registry.mode = "every", and broker "b2" has "one"`, "expected one mode in a whole network"},
		{"the higher id", [][]byte{helloPiece(func(h *hello) { h.ID = "b3" })}, `broker "b3" waits to be dialed`, "waits to be dialed"},
		{"tiny frames", [][]byte{helloPiece(func(h *hello) { h.MaxFrame = 10 })}, "it takes frames of up to 10 bytes", "10 bytes"},
		{"no heartbeat", [][]byte{helloPiece(func(h *hello) { h.Heartbeat = 1 << 60 })}, "its heartbeat is", "heartbeat"},
		{"a long hello", [][]byte{piece(pieceHello, make([]byte, maxHello+1))}, "", "with 4097 bytes; expected up to 4096"},
		{"a frame first", [][]byte{framePiece(t, head(1))}, "", "begins no piece"},
		{"silence", nil, "", "handshake"},
		{"no begin", [][]byte{helloPiece(nil)}, "", "handshake"},
		{"refusal", [][]byte{helloPiece(nil), textPiece(pieceRefuse, "I\ndo not")}, "", `it refuses: I do not`},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			b2, memory := accepting(t, nil)
			s := connect(t, memory, "b2")
			go s.write(tt.sends...)
			begun := time.Now()
			var told string
			for {
				kind, text, err := s.read()
				if kind == pieceRefuse {
					told = text
				}
				if err != nil {
					break
				}
			}
			if took := time.Since(begun); took > 5*time.Second {
				t.Errorf("the connection was closed after %v; expected up to 5 s", took)
			}
			if !strings.Contains(told, tt.told) || told == "" && tt.told != "" {
				t.Errorf("told %q; expected %q", told, tt.told)
			}
			synctest.Wait()
			if log := b2.log.String(); !strings.Contains(log, "link refused") || !strings.Contains(log, tt.logged) {
				t.Errorf("logged %s; expected %q", log, tt.logged)
			}
			if len(b2.all) > 0 {
				t.Errorf("%v", b2.all)
			}
			s.conn.Close()
			b2.stop()
		})
	}
}

// The dialing side checks, too, and tries again.
func TestWrongAnswers(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		answer     []byte
	}{
		{"another broker", `it is broker "b3"; expected "b2"`, helloPiece(func(h *hello) { h.ID, h.To = "b3", "b1" })},
		{"for another", `it wants broker "b5"; this is "b1"`, helloPiece(func(h *hello) { h.ID, h.To = "b2", "b5" })},
		{"another version", "version 7; expected", helloPiece(func(h *hello) { h.Version = 7 })},
		{"another mode of the registry", `broker "b2" has registry.mode = "every", and broker "b1" has "one"; expected one mode in a whole network`, helloPiece(func(h *hello) { h.ID, h.To, h.Registry = "b2", "b1", "every" })},
		{"refused", "it refuses: who are you", textPiece(pieceRefuse, "who are you")},
		{"cut", "handshake: in a piece of", helloPiece(nil)[:20]},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			var memory memoryNet
			listener, err := memory.Listen("there")
			if err != nil {
				t.Fatal(err)
			}
			b1 := start(t, Config{Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: "there"}}, Transport: &memory, DialMin: 100 * time.Millisecond, DialMax: time.Second})
			begun := time.Now()
			const attempts = 10
			var last uint64
			for range attempts {
				conn, err := listener.Accept()
				if err != nil {
					t.Fatal(err)
				}
				s := newStranger(t, conn)
				_, content, err := s.read()
				if err != nil {
					t.Fatal(err)
				}
				h, err := decodeHello([]byte(content))
				if err != nil || h.ID != "b1" || h.To != "b2" || h.Attempt <= last {
					t.Fatalf("%+v after attempt %d: %v", h, last, err)
				}
				last = h.Attempt
				s.write(tt.answer)
				if tt.name == "cut" {
					conn.Close()
				}
				s.read()
				conn.Close()
				synctest.Wait()
				if got := b1.Status()[0].Problem; !strings.Contains(got, tt.want) {
					t.Errorf("%q; expected %q", got, tt.want)
				}
			}
			if took := time.Since(begun); took < 3*time.Second || took > 9*time.Second { // 0.05…0.1, 0.1…0.2, …, 0.5…1 s
				t.Errorf("%d attempts in %v", attempts, took)
			}
			if n := strings.Count(b1.log.String(), "no link"); n != 1 {
				t.Errorf("logged %d times; expected once", n)
			}
			listener.Close()
			b1.stop()
		})
	}
}

// begun returns a session of b2 with a stranger as b1.
func begun(t *testing.T, change func(*Config)) (*broker, *stranger) {
	b2, memory := accepting(t, change)
	s := connect(t, memory, "b2")
	s.write(helloPiece(nil))
	s.expect(pieceHello, "b2")
	s.write(beginning)
	b2.expect(t, "up")
	return b2, s
}

func TestSessionsThatFail(t *testing.T) {
	notCompressed := piece(pieceCompressed, []byte{0, 0, 0, 1, 0})
	big := framePiece(t, reading(1))
	for _, tt := range []struct {
		name  string
		sends []byte
		close bool
		want  string
		bye   string // what the stranger is told
	}{
		{"closed", nil, true, "EOF", ""},
		{"cut in a head", big[:3], true, "unexpected EOF", ""},
		{"cut in a frame", big[:len(big)/2], true, "in a piece of", ""},
		{"silent", nil, false, "nothing came for 3s", "nothing came for 3s"},
		{"silent in a frame", big[:len(big)/2], false, "nothing came for 3s", "nothing came"},
		{"no CBOR", piece(pieceFrame, []byte("garbage")), false, "frame of 7 bytes: byte 0: 0x67; expected an array", "expected an array"},
		{"an unknown key", piece(pieceFrame, []byte{0x81, 0x82, 0x02, 0x82, 0x05, 0x01}), false, "key number 5 was not told", "was not told"},
		{"too long", []byte{0x7f, 0xff, 0xff, 0xff, pieceFrame}, false, "with 2147483647 bytes; expected up to 134217728", "expected up to"},
		{"not agreed", notCompressed, false, "begins no piece that is expected here", "begins no piece"},
		{"hello again", helloPiece(nil), false, "begins no piece that is expected here", "begins no piece"},
		{"a long heartbeat", piece(pieceHeartbeat, []byte{1}), false, "with 1 bytes; expected up to 0", "expected up to 0"},
		{"bye", textPiece(pieceBye, "going"), false, "it ended the session: going", ""},
	} {
		bubble(t, tt.name, func(t *testing.T) {
			b2, s := begun(t, nil)
			s.write(framePiece(t, head(1)))
			b2.expect(t, "frame")
			go s.write(tt.sends)
			if tt.close {
				synctest.Wait()
				s.conn.Close()
			} else if tt.bye != "" {
				s.expect(pieceBye, tt.bye)
			}
			if _, _, err := s.read(); err == nil {
				t.Error("the connection was not closed")
			}
			b2.expect(t, "down")
			if got := b2.Status()[0].Problem; !strings.Contains(got, tt.want) {
				t.Errorf("%q; expected %q", got, tt.want)
			}
			for _, e := range b2.all[2 : len(b2.all)-1] {
				t.Errorf("%s: something of a frame that was not whole took effect: %v", e.what, e.messages)
			}
			s.conn.Close()
			b2.stop()
		})
	}
}

func TestHeartbeats(t *testing.T) {
	bubble(t, "both ways", func(t *testing.T) {
		var memory memoryNet
		listener, err := memory.Listen("b2")
		if err != nil {
			t.Fatal(err)
		}
		b2 := start(t, Config{Self: "b2", Neighbours: []Neighbour{{ID: "b1"}}, Listener: listener})
		b1 := start(t, Config{Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: "b2"}}, Transport: &memory})
		b1.expect(t, "up")
		b2.expect(t, "up")
		<-time.After(10 * time.Minute)
		synctest.Wait()
		if len(b1.all) != 1 || len(b2.all) != 1 {
			t.Errorf("a silent link did not stay: %v, %v", b1.all, b2.all)
		}
		if got := b1.Status()[0].Received.Bytes / pieceHead; got < 595 || got > 605 {
			t.Errorf("%d heartbeats in ten minutes; expected 600", got)
		}
		b1.stop()
		b2.stop()
	})
	bubble(t, "after a standstill", func(t *testing.T) {
		var memory memoryNet
		var still deadlinetest.Standstill
		listener, err := memory.Listen("b2")
		if err != nil {
			t.Fatal(err)
		}
		b2 := start(t, Config{Self: "b2", Neighbours: []Neighbour{{ID: "b1"}}, Listener: still.Listen(listener)})
		b1 := start(t, Config{Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: "b2"}}, Transport: &memory})
		b1.expect(t, "up")
		b2.expect(t, "up")
		for range 10 {
			<-time.After(10 * time.Second)
			still.End()
		}
		<-time.After(10 * time.Second)
		if len(b1.all) != 1 || len(b2.all) != 1 {
			t.Errorf("the link did not stay: %v, %v", b1.all, b2.all)
		}
		b1.stop()
		b2.stop()
	})
	bubble(t, "a slower neighbour", func(t *testing.T) {
		b2, memory := accepting(t, nil)
		s := connect(t, memory, "b2")
		s.write(helloPiece(func(h *hello) { h.Heartbeat = 10_000_000 }))
		s.expect(pieceHello, "b2")
		s.write(beginning)
		up := time.Now()
		b2.expect(t, "up")
		go s.read()
		b2.expect(t, "down")
		if took := time.Since(up); took != 30*time.Second {
			t.Errorf("the session ended after %v; expected 30 s", took)
		}
		s.conn.Close()
		b2.stop()
	})
}

// A neighbour that does not read holds nobody up: what waits for it is
// bounded, and the session ends.
func TestASlowReader(t *testing.T) {
	bubble(t, "full", func(t *testing.T) {
		b2, s := begun(t, func(c *Config) { c.QueueBytes = 100_000 })
		begun := time.Now()
		sent := 0
		for b2.Status()[0].Dropped == 0 && sent < 10_000 {
			b2.Send(frameTo("b1", 1, reading(sent)))
			sent++
			if waiting := b2.Status()[0].Waiting; waiting > 100_000 {
				t.Fatalf("%d bytes wait", waiting)
			}
			synctest.Wait()
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("Send took %v", took)
		}
		b2.expect(t, "down")
		st := b2.Status()[0]
		if !strings.Contains(st.Problem, "more waits to be sent than may") || sent < 50 || sent > 200 {
			t.Errorf("%q after %d", st.Problem, sent)
		}
		if st.Dropped == 0 || st.Dropped+st.Sent.Messages != uint64(sent) {
			t.Errorf("%d dropped and %d on their way of %d", st.Dropped, st.Sent.Messages, sent)
		}
		if _, err := io.Copy(io.Discard, s.conn); err != nil { // the stranger learns it
			t.Error(err)
		}
		s.conn.Close()
		b2.stop()
	})
	bubble(t, "stalled", func(t *testing.T) {
		b2, s := begun(t, nil)
		b2.Send(frameTo("b1", 1, reading(1)))
		done := make(chan struct{})
		go func() { // it lives, but it does not read
			defer close(done)
			for range 100 {
				<-time.After(time.Second)
				if _, err := s.conn.Write(piece(pieceHeartbeat, nil)); err != nil {
					return
				}
			}
		}()
		begun := time.Now()
		b2.expect(t, "down")
		if took := time.Since(begun); took != 3*time.Second {
			t.Errorf("the session ended after %v; expected 3 s", took)
		}
		if got := b2.Status()[0].Problem; !strings.Contains(got, "nothing could be sent for 3s") {
			t.Error(got)
		}
		<-done
		b2.stop()
	})
	bubble(t, "one frame larger than the queue", func(t *testing.T) {
		b2, s := begun(t, func(c *Config) { c.QueueBytes = 100 })
		go b2.Send(frameTo("b1", 1, reading(1)))
		s.expect(pieceFrame, "ranges")
		s.conn.Close()
		b2.stop()
	})
}

// What one step replays crosses in frames of bounded size, in order. It has
// room as a whole, however long, and no frame is too long for the neighbour.
func TestALongReplayIsCut(t *testing.T) {
	for _, compress := range []bool{false, true} {
		t.Run(fmt.Sprintf("compressed %v", compress), func(t *testing.T) {
			b1, b2 := pair(t, networks(t)[0], func(c *Config) {
				c.QueueBytes, c.MaxFrame = 100, 2*overlay.ReplayBytes
				c.Compress = compress
			})
			session := b1.expect(t, "up").session
			b2.expect(t, "up")
			var sent []overlay.Message
			for n := range 40 { // 2 MB
				m := &overlay.ReplayMessage{Key: head(0).Key}
				for i := range 50 {
					seq := uint64(50*n + i + 1)
					r := reading(int(seq)).Reading
					m.Items = append(m.Items, overlay.Item{Kind: overlay.ItemNotification, From: seq, To: seq, Reading: r, Names: []protocol.Matched{{ID: "near"}}})
				}
				sent = append(sent, m)
			}
			sent = append(sent, head(1))
			b1.Send(frameTo("b2", session, sent...))
			var got []overlay.Message
			frames := 0
			for len(got) < len(sent) {
				got = append(got, b2.expect(t, "frame").messages...)
				frames++
			}
			if diff := cmp.Diff(sent, got, cmpopts.IgnoreUnexported(overlay.Reading{}, overlay.Subscription{}), cmp.Comparer(bytes.Equal)); diff != "" {
				t.Error(diff)
			}
			if frames < 20 || frames > 41 {
				t.Errorf("%d frames for 40 replays of 54 kB each", frames)
			}
			b1.Send(frameTo("b2", session, head(2))) // the room is there again
			b2.expect(t, "frame")
			if waiting := b1.Status()[0].Waiting; waiting < 0 {
				t.Errorf("%d bytes wait", waiting)
			}
			b1.stop()
			b2.stop()
		})
	}
}

// A slow link is not a dead one: bytes that move keep the session.
func TestALongFrameOnASlowLink(t *testing.T) {
	bubble(t, "both ways", func(t *testing.T) {
		b2, s := begun(t, nil)
		long := reading(1)
		long.Reading.JSON = bytes.Repeat([]byte("x"), 500_000)
		p := framePiece(t, long)
		total := len(p)
		b2.Send(frameTo("b1", 1, long))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for read := 0; read < total; { // 50 kB in two seconds
				n, err := io.ReadFull(s.r, make([]byte, min(50_000, total-read)))
				if err != nil {
					t.Error(err)
					return
				}
				read += n
				<-time.After(2 * time.Second)
			}
			io.Copy(io.Discard, s.r)
		}()
		for len(p) > 0 {
			n := min(len(p), 50_000)
			s.write(p[:n])
			p = p[n:]
			<-time.After(2 * time.Second)
		}
		b2.expect(t, "frame")
		s.conn.Close()
		<-done
		b2.stop()
	})
}

func TestANewConnectionTakesOver(t *testing.T) {
	bubble(t, "newer", func(t *testing.T) {
		b2, memory := accepting(t, nil)
		first := connect(t, memory, "b2")
		first.write(helloPiece(func(h *hello) { h.Attempt = 5 }))
		first.expect(pieceHello, "")
		first.write(beginning)
		up := b2.expect(t, "up")

		older := connect(t, memory, "b2")
		older.write(helloPiece(func(h *hello) { h.Attempt = 4 }))
		older.expect(pieceRefuse, `this connection of broker "b1" is older than the one in use`)

		second := connect(t, memory, "b2")
		second.write(helloPiece(func(h *hello) { h.Attempt = 6 }))
		second.expect(pieceHello, "")
		second.write(beginning)
		first.expect(pieceBye, "the neighbour has connected anew")
		if down := b2.expect(t, "down"); down.session != up.session {
			t.Errorf("session %d ended; expected %d", down.session, up.session)
		}
		if again := b2.expect(t, "up"); again.session <= up.session {
			t.Errorf("session %d after %d", again.session, up.session)
		}
		second.write(framePiece(t, head(7)))
		b2.expect(t, "frame")
		for _, s := range []*stranger{first, older, second} {
			s.conn.Close()
		}
		b2.stop()
	})
}

// Frames right behind the handshake are not lost in its buffer.
func TestFramesRightBehindBegin(t *testing.T) {
	bubble(t, "in one write", func(t *testing.T) {
		b2, memory := accepting(t, nil)
		s := connect(t, memory, "b2")
		s.write(helloPiece(nil))
		s.expect(pieceHello, "")
		s.write(append(append(bytes.Clone(beginning), framePiece(t, head(1))...), piece(pieceHeartbeat, nil)...))
		b2.expect(t, "up")
		b2.expect(t, "frame")
		s.conn.Close()
		b2.expect(t, "down")
		b2.stop()
	})
}

// A Frame call that blocks holds the neighbour back, and ends nothing by
// itself while the neighbour's own queue has room.
func TestABusyBrokerHoldsItsNeighbourBack(t *testing.T) {
	bubble(t, "blocked", func(t *testing.T) {
		h := &blocking{recorder: newRecorder(), release: make(chan struct{})}
		b2, s := begunWith(t, h)
		wrote := make(chan struct{})
		go func() {
			s.write(framePiece(t, head(1)), framePiece(t, head(1)), framePiece(t, head(1)))
			close(wrote)
		}()
		go io.Copy(io.Discard, s.conn)
		<-time.After(time.Minute)
		if !b2.Status()[0].Up {
			t.Error("the session ended while the broker was busy")
		}
		close(h.release)
		<-wrote
		s.conn.Close()
		b2.stop()
	})
}

type blocking struct {
	*recorder
	release chan struct{}
}

func (b *blocking) Frame(n overlay.BrokerID, s uint64, m []overlay.Message) { <-b.release }

func begunWith(t *testing.T, h *blocking) (*broker, *stranger) {
	b2, memory := accepting(t, func(c *Config) { c.Handler = h })
	s := connect(t, memory, "b2")
	s.write(helloPiece(nil))
	s.expect(pieceHello, "b2")
	s.write(beginning)
	h.expect(t, "up")
	return b2, s
}

// What a length promises costs nothing before it comes.
func TestMemoryIsBoundedByWhatCame(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	data := append([]byte{0x07, 0xff, 0xff, 0xff, pieceFrame}, make([]byte, 1000)...)
	_, _, err := readPiece(bufio.NewReader(bytes.NewReader(data)), nil, func(byte) int { return 1 << 30 })
	runtime.ReadMemStats(&after)
	if err == nil || after.TotalAlloc-before.TotalAlloc > 4*readChunk {
		t.Errorf("%v; %d bytes taken for 1000", err, after.TotalAlloc-before.TotalAlloc)
	}
}

func TestStopEndsEverything(t *testing.T) {
	n := networks(t)[1]
	listener := n.listen(t)
	b2 := start(t, calm(Config{Self: "b2", Neighbours: []Neighbour{{ID: "b1"}}, Listener: listener}))
	for range 3 { // connections in the middle of their handshake
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	b1 := start(t, calm(Config{Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: listener.Addr().String()}, {ID: "b3", Address: "127.0.0.1:1"}}}))
	b1.expect(t, "up")
	b2.expect(t, "up")
	begun := time.Now()
	b2.stop()
	b1.stop()
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	b2.expect(t, "down")
	b1.expect(t, "down")
}

func TestDialingEnds(t *testing.T) {
	bubble(t, "a dial that hangs", func(t *testing.T) {
		dials := 0
		b1 := start(t, Config{Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: "there"}}, Transport: dialing{dial: func(ctx context.Context, address string) (net.Conn, error) {
			dials++
			<-ctx.Done()
			return nil, ctx.Err()
		}}})
		<-time.After(time.Minute)
		b1.stop()
		if dials < 6 || dials > 12 {
			t.Errorf("%d dials in a minute; expected one each 5 to 10 s", dials)
		}
	})
}

// TestSilentStrangersKeepNobodyOut: who connects and says nothing gives way to a
// neighbour; a link that is up does not.
func TestSilentStrangersKeepNobodyOut(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		b2, memory := accepting(t, nil)
		silent := func() (first *stranger) {
			first = connect(t, memory, "b2")
			for range 5 * maxOpening {
				connect(t, memory, "b2")
			}
			return first
		}
		first := silent()
		b1 := connect(t, memory, "b2")
		b1.write(helloPiece(nil))
		b1.expect(pieceHello, "b2")
		b1.write(beginning)
		b2.expect(t, "up")
		if _, _, err := first.read(); err == nil {
			t.Error("the oldest of the silent is still there")
		}
		silent()
		b1.write(framePiece(t, head(1)))
		b2.expect(t, "frame")
	})
}
