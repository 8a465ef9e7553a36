package playertest_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"callboard/player/playertest"
)

const captures = "../../testdata/captures"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names returns all captures.
func names(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join(captures, "*.s2c.bin"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d captures in %s, %v", len(files), captures, err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".s2c.bin")
	}
	return files
}

func load(t *testing.T, name string) *playertest.Capture {
	t.Helper()
	c, err := playertest.Load(captures, name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLoadAllCaptures(t *testing.T) {
	for _, name := range names(t) {
		c := load(t, name)
		if name == "a_connect_devlist" && (len(c.Client) != 11 || len(c.Server) != 11 || c.Port != 6665) {
			t.Errorf("%s: %d and %d messages from port %d, expected 11, 11, 6665", name, len(c.Client), len(c.Server), c.Port)
		}
		if !strings.HasPrefix(name, "i_raw") && (len(c.Client) == 0 || len(c.Server) == 0) {
			t.Errorf("%s: %d and %d messages", name, len(c.Client), len(c.Server))
		}
	}
}

// conn is a client that reads what comes.
type conn struct {
	t  *testing.T
	nc net.Conn
}

func dial(t *testing.T, s *playertest.Server) *conn {
	t.Helper()
	nc, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	nc.SetDeadline(time.Now().Add(20 * time.Second))
	return &conn{t, nc}
}

func (c *conn) bytes(n int) []byte {
	c.t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(c.nc, b); err != nil {
		c.t.Fatal(err)
	}
	return b
}

func (c *conn) next() playertest.Message {
	c.t.Helper()
	head := c.bytes(40)
	return playertest.Cut(append(head, c.bytes(int(binary.BigEndian.Uint32(head[36:])))...), 0)[0]
}

func (c *conn) send(typ, interf, index, subtype uint32, body []byte) {
	c.t.Helper()
	b := make([]byte, 40)
	for i, v := range []uint32{0, 0, interf, index, typ, subtype} {
		binary.BigEndian.PutUint32(b[4*i:], v)
	}
	binary.BigEndian.PutUint32(b[36:], uint32(len(body)))
	if _, err := c.nc.Write(append(b, body...)); err != nil {
		c.t.Fatal(err)
	}
}

// answer reads up to the next ACK or NACK; readings are added to data.
func (c *conn) answer(data *[]playertest.Message) playertest.Message {
	c.t.Helper()
	for {
		m := c.next()
		if m.Type != 1 {
			return m
		}
		*data = append(*data, m)
	}
}

func words(v ...uint32) []byte {
	var b []byte
	for _, w := range v {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

// same compares readings but for their addresses' host and port.
func same(t *testing.T, got, want []playertest.Message) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d readings, expected %d", len(got), len(want))
	}
	for i := range got {
		if !slices.Equal(got[i].Raw[8:], want[i].Raw[8:]) {
			t.Fatalf("reading %d is %s, expected %s", i, got[i], want[i])
		}
	}
}

// connectAll opens everything that the server lists and asks for all
// geometries, in an order of its own.
func connectAll(t *testing.T, s *playertest.Server) (*conn, []playertest.Message) {
	t.Helper()
	c := dial(t, s)
	c.bytes(32)
	var data []playertest.Message
	c.send(3, 1, 0, 1, nil)
	list := c.answer(&data).Body
	for at := len(list) - 16; at >= 8; at -= 16 {
		if port := binary.BigEndian.Uint32(list[at+4:]); port != s.Port() {
			t.Fatalf("device of port %d, expected %d", port, s.Port())
		}
		interf, index := binary.BigEndian.Uint32(list[at+8:]), binary.BigEndian.Uint32(list[at+12:])
		c.send(3, 1, 0, 2, append(slices.Clone(list[at:at+16]), make([]byte, 8)...))
		if m := c.answer(&data); m.Type != 4 {
			t.Fatalf("DRIVERINFO of %d:%d: %s", interf, index, m)
		}
		c.send(3, 1, 0, 3, words(0, 0, interf, index, 1, 0, 0))
		if m := c.answer(&data); m.Type != 4 {
			t.Fatalf("DEV of %d:%d: %s", interf, index, m)
		}
	}
	return c, data
}

func TestPlayDeliversAllReadings(t *testing.T) {
	for _, name := range append(names(t), "tworobots") {
		t.Run(name, func(t *testing.T) {
			capture := playertest.TwoRobots()
			if name != "tworobots" {
				capture = load(t, name)
			}
			want := capture.Data()
			if len(want) == 0 || name == "i_errors" { // there an open fails
				return
			}
			s := playertest.Play(t, capture, playertest.Options{})
			c, data := connectAll(t, s)
			for len(data) < len(want) {
				c.answerData(&data)
			}
			same(t, data, want)
			<-s.Delivered()
		})
	}
}

// answerData reads one message, which must be a reading.
func (c *conn) answerData(data *[]playertest.Message) {
	c.t.Helper()
	m := c.next()
	if m.Type != 1 {
		c.t.Fatalf("%s, expected a reading", m)
	}
	*data = append(*data, m)
}

func TestPlayPullRounds(t *testing.T) {
	capture := load(t, "b_ranger_pull")
	for _, o := range []playertest.Options{{}, {Round: 5}, {Leak: true}} {
		s := playertest.Play(t, capture, o)
		c := dial(t, s)
		c.bytes(32)
		var data []playertest.Message
		c.send(3, 1, 0, 5, words(2))
		c.answer(&data)
		c.send(3, 1, 0, 3, words(0, 0, 62, 0, 1, 0, 0))
		c.answer(&data)
		c.send(3, 62, 0, 5, nil) // GET_CONFIG before GET_GEOM
		if m := c.answer(&data); m.Type != 4 || len(m.Body) != 56 {
			t.Fatalf("GET_CONFIG: %s with %d bytes", m, len(m.Body))
		}
		c.send(3, 62, 0, 1, nil)
		if m := c.answer(&data); m.Type != 4 || len(m.Body) < 88 {
			t.Fatalf("GET_GEOM: %s with %d bytes", m, len(m.Body))
		}
		if leaked := len(data) > 0; leaked != o.Leak {
			t.Errorf("%+v: %d readings before the first round", o, len(data))
		}
		want := capture.Data()
		for len(data) < len(want) {
			c.send(3, 1, 0, 4, nil)
			if m := c.next(); m.Type != 4 || m.Subtype != 4 {
				t.Fatalf("%s, expected the ACK of a DATA request", m)
			}
			before := len(data)
			m := c.answer(&data)
			if m.Type != 5 || len(data) == before {
				t.Fatalf("%s after %d readings, expected a SYNCH after some", m, len(data)-before)
			}
			if o.Round > 0 && len(data) < len(want) && len(data)-before != o.Round {
				t.Fatalf("round of %d, expected %d", len(data)-before, o.Round)
			}
		}
		same(t, data, want)
	}
}

func TestPlayAnswersFromTheCapture(t *testing.T) {
	s := playertest.Play(t, load(t, "f_simulation"), playertest.Options{})
	c := dial(t, s)
	c.bytes(32)
	capture := load(t, "f_simulation")
	asked := 0
	for i := len(capture.Client) - 1; i >= 0; i-- { // backwards
		m := capture.Client[i]
		if m.Type != 3 || m.Interf == 1 {
			continue
		}
		asked++
		c.send(3, uint32(m.Interf), uint32(m.Index), uint32(m.Subtype), m.Body)
		var data []playertest.Message
		if a := c.answer(&data); a.Interf != m.Interf || a.Subtype != m.Subtype {
			t.Errorf("%s answered by %s", m, a)
		}
	}
	c.send(3, 31, 0, 99, nil)
	var data []playertest.Message
	if a := c.answer(&data); a.Type != 6 {
		t.Errorf("an unknown request was answered by %s, expected a NACK", a)
	}
	c.send(3, 31, 9, 1, nil) // unknown device: silence
	c.send(3, 1, 0, 1, nil)
	if a := c.answer(&data); a.Interf != 1 {
		t.Errorf("%s, expected the device list", a)
	}
	if got := len(s.Received()); got != asked+3 {
		t.Errorf("%d messages received, expected %d", got, asked+3)
	}
}

func TestPlayLoopsWithTimeGoingOn(t *testing.T) {
	capture := load(t, "c_replace_order")
	s := playertest.Play(t, capture, playertest.Options{Loop: true})
	c, data := connectAll(t, s)
	for len(data) < 3*len(capture.Data()) {
		c.answerData(&data)
	}
	for i := 1; i < len(data); i++ {
		if data[i].Timestamp < data[i-1].Timestamp {
			t.Fatalf("time runs back at reading %d: %v after %v", i, data[i].Timestamp, data[i-1].Timestamp)
		}
	}
}

func TestTwoRobotsDoublesScansAsRangertolaserDoes(t *testing.T) {
	var pairs int
	var last *playertest.Message
	for _, m := range playertest.TwoRobots().Data() {
		if m.Interf != 6 {
			continue
		}
		if last != nil && last.Timestamp == m.Timestamp {
			pairs++
			if string(last.Body[:16+8+180*4]) != string(m.Body[:16+8+180*4]) {
				t.Errorf("the scans of %v differ in their ranges", m.Timestamp)
			}
		}
		last = &m
	}
	if pairs < 20 {
		t.Errorf("%d scans came twice, expected at least 20", pairs)
	}
}

func TestFakes(t *testing.T) {
	// What a client that reads all it can gets: messages until the fault.
	for _, test := range []struct {
		fault   playertest.Fault
		data    int // readings before the stream ends or stops; -1: enough
		ended   bool
		opening uint8 // type of the answer to DEV, 0 none
	}{
		{playertest.Good, -1, false, 4},
		{playertest.Dribble, -1, false, 4},
		{playertest.ShortBody, -1, false, 4},
		{playertest.BadCounts, -1, false, 4},
		{playertest.RefuseOpen, 0, false, 6},
		{playertest.ErrorAccess, 0, false, 4},
		{playertest.NoOpen, 0, false, 0},
		{playertest.NoAnswers, 0, false, 0},
		{playertest.CutHeader, 2, true, 4},
		{playertest.CutBody, 2, true, 4},
		{playertest.HugeSize, 2, false, 4},
		{playertest.LargeSize, 2, false, 4},
		{playertest.Stall, 3, false, 4},
	} {
		s := playertest.Fake(t, test.fault)
		c := dial(t, s)
		c.bytes(32)
		for _, interf := range []uint32{4, 6} {
			c.send(3, 1, 0, 3, words(0, 0, interf, 0, 1, 0, 0))
		}
		c.nc.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		var data int
		var opening uint8
		err := error(nil)
		for err == nil && data < 20 {
			head := make([]byte, 40)
			if _, err = io.ReadFull(c.nc, head); err != nil {
				break
			}
			size := binary.BigEndian.Uint32(head[36:])
			body := make([]byte, min(size, 1000))
			if _, err = io.ReadFull(c.nc, body); err != nil {
				break
			}
			m := playertest.Cut(append(head, body...), 0)[0]
			if m.Type == 1 {
				data++
			} else if m.Subtype == 3 {
				opening = m.Type
			}
		}
		var timeout net.Error
		ended := err != nil && !(errors.As(err, &timeout) && timeout.Timeout())
		if test.data == -1 && data < 20 || test.data >= 0 && data != test.data || ended != test.ended || opening != test.opening {
			t.Errorf("fault %d: %d readings, ended %v, DEV answered by %d; expected %+v", test.fault, data, ended, opening, test)
		}
		c.nc.Close()
		s.Close()
	}
}

func TestFakesBeforeTheFirstMessage(t *testing.T) {
	if _, err := net.Dial("tcp", playertest.Fake(t, playertest.Absent).Addr()); err == nil {
		t.Error("an absent server accepts")
	}
	for fault, want := range map[playertest.Fault]int{playertest.Silent: 0, playertest.HalfBanner: 16, playertest.Hangup: 32, playertest.Garbage: 100} {
		c := dial(t, playertest.Fake(t, fault))
		c.nc.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		b, _ := io.ReadAll(c.nc)
		if want == 100 && len(b) < 32+40 || want < 100 && len(b) != want {
			t.Errorf("fault %d: read %q, expected %d bytes", fault, b, want)
		}
	}
}
