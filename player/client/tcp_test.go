package client_test

import (
	"bytes"
	"fmt"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
	"callboard/player/playertest"
)

// The tests here run over real TCP.

// shown writes a reading down with its body as it would be encoded.
func shown(h player.Header, payload any) string {
	body, err := iface.Append(nil, payload)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s at %v: %x", h, h.Timestamp, body)
}

// Sessions of real servers, played again, bring every reading, once, in
// order, in both modes: also when readings come before they are asked for.
func TestCapturesThroughTheClient(t *testing.T) {
	files, err := filepath.Glob("../../testdata/captures/*.s2c.bin")
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	played := 0
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".s2c.bin")
		c, err := playertest.Load(filepath.Dir(f), name)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Data()) == 0 {
			continue
		}
		played++
		for _, o := range []struct {
			name string
			mode uint8
			leak bool
		}{{"push", player.Push, false}, {"pull", player.Pull, false}, {"leaky pull", player.Pull, true}} {
			t.Run(name+" "+o.name, func(t *testing.T) {
				playCapture(t, c, o.mode, o.leak)
			})
		}
	}
	if played < 30 {
		t.Errorf("%d captures have readings, expected at least 30", played)
	}
}

func playCapture(t *testing.T, c *playertest.Capture, mode uint8, leak bool) {
	server := playertest.Play(t, c, playertest.Options{Leak: leak})
	events := newEvents()
	events.show = shown
	r := start(t, client.Config{Address: server.Addr(), Mode: mode, Handler: events, SetupTimeout: 100 * time.Millisecond,
		Open: func(player.Addr) bool { return true }})
	var want []string
	for _, m := range c.Data() {
		h := player.Header{Addr: player.Addr{Interf: player.Interface(m.Interf), Index: m.Index}, Type: player.Data, Subtype: m.Subtype}
		want = append(want, fmt.Sprintf("%s at %v: %x", h, m.Timestamp, m.Body))
	}
	// Two captured clients opened a device twice and so got its readings twice;
	// one had its log played twice.
	last := want[len(want)-1]
	distinct := len(want)
	for distinct > 1 && want[distinct-2] == last {
		distinct--
	}
	times := 0
	for _, w := range want[:distinct] {
		if w == last {
			times++
		}
	}
	events.until(t, last, times)
	r.stop(t)
	var got []string
	for _, l := range events.all() {
		if strings.HasPrefix(l, "DATA") {
			got = append(got, l)
		}
	}
	for len(got) < len(want) && len(got) > 0 && got[len(got)-1] == want[len(got)-1] && want[len(got)] == got[len(got)-1] {
		got = append(got, want[len(got)]) // until saw the first of equal last readings
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("readings (-recorded +got):\n%s", diff)
	}
	if n := r.Counters(); n.Undecodable+n.Stray+n.Unexpected+n.Unsolicited != 0 {
		t.Errorf("counters %+v, expected nothing odd", n)
	}
}

// Every fault ends in an error or in working on; the client comes back where
// the session ended.
func TestFaultyServers(t *testing.T) {
	for _, test := range []struct {
		fault playertest.Fault
		down  string // in the error, with alternatives; "": the session goes on
		ready string // an event that must come then
	}{
		{playertest.Absent, "connection refused", ""},
		{playertest.Silent, "0 of the 32 bytes of Player's banner in time", ""},
		{playertest.HalfBanner, "bytes of Player's banner in time", ""},
		{playertest.Hangup, "closed the connection|reset", ""},
		{playertest.NoAnswers, "set the data mode: client: the Player server did not answer in time", ""},
		{playertest.NoOpen, "", "up"},
		{playertest.RefuseOpen, "", "up"},
		{playertest.ErrorAccess, "", "up"},
		{playertest.CutHeader, "bytes into a message|reset", ""},
		{playertest.CutBody, "bytes into a message|reset", ""},
		{playertest.Garbage, "announces a body of", ""},
		{playertest.HugeSize, "announces a body of", ""},
		{playertest.LargeSize, "", ""},
		{playertest.ShortBody, "", "DATA 1 of position2d:0 at 1"},
		{playertest.BadCounts, "", "DATA 1 of laser:0 at 1"},
		{playertest.Stall, "was silent for", ""},
		{playertest.Dribble, "", "DATA 1 of position2d:0 at 1"},
	} {
		t.Run(fmt.Sprint(test.fault), func(t *testing.T) {
			server := playertest.Fake(t, test.fault)
			r := start(t, client.Config{Address: server.Addr(), ConnectTimeout: 150 * time.Millisecond,
				RequestTimeout: 150 * time.Millisecond, SetupTimeout: 100 * time.Millisecond, Idle: 150 * time.Millisecond,
				BackoffMin: time.Millisecond, BackoffMax: time.Millisecond})
			switch {
			case test.down != "":
				r.events.until(t, "down", 2)
				err := r.events.lastDown()
				if !slices.ContainsFunc(strings.Split(test.down, "|"), func(s string) bool { return strings.Contains(err.Error(), s) }) {
					t.Errorf("ended with %v, expected %q in it", err, test.down)
				}
			case test.fault == playertest.LargeSize:
				r.events.until(t, "down", 1)
				if err := r.events.lastDown(); !strings.Contains(err.Error(), "bytes into a message") && !strings.Contains(err.Error(), "announces") {
					t.Errorf("ended with %v, expected that the message is not completed", err)
				}
			case test.ready == "up":
				r.events.until(t, "up", 1)
			default:
				r.untilPrefix(t, test.ready)
			}
			r.stop(t)
		})
	}
}

// untilPrefix waits for an event that begins so.
func (r *running) untilPrefix(t testing.TB, prefix string) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		for _, l := range r.events.all() {
			if strings.HasPrefix(l, prefix) {
				return
			}
		}
		select {
		case <-r.events.more:
		case <-limit:
			t.Fatalf("nothing begins with %q: %q", prefix, r.events.all())
		}
	}
}

// tally is a Handler that only counts, and tells when it has all.
type tally struct {
	n, want int
	all     chan struct{}
	up      chan struct{}
}

func (h *tally) Up([]client.Device)    { close(h.up) }
func (h *tally) Changed(client.Device) {}
func (h *tally) Round()                {}
func (h *tally) Overflow(uint64)       {}
func (h *tally) Down(error)            {}
func (h *tally) Message(player.Header, any) {
	if h.n++; h.n == h.want {
		h.n = 0
		h.all <- struct{}{}
	}
}

// streamer serves one laser and sends batch whenever told to.
func streamer(t testing.TB, batch []byte) (address string, more chan<- struct{}) {
	next := make(chan struct{})
	t.Cleanup(func() { close(next) })
	return listen(t, func(conn net.Conn) {
		f := newFake(t, conn, laser0)
		go func() {
			for range next {
				_, _ = conn.Write(batch)
			}
		}()
		f.serve()
	}), next
}

func laserBatch(t testing.TB, n int) []byte {
	var batch bytes.Buffer
	scan := laserScan(make([]float32, 361)...)
	scan.Intensity = make([]uint8, 361)
	for i := range n {
		b, err := iface.AppendMessage(nil, player.Header{Addr: laser0, Type: player.Data, Subtype: 1, Timestamp: float64(i)}, scan)
		if err != nil {
			t.Fatal(err)
		}
		batch.Write(b)
	}
	return batch.Bytes()
}

// Reading allocates nothing per message once everything has been seen.
func TestReadingAllocatesNothing(t *testing.T) {
	const n = 500
	address, more := streamer(t, laserBatch(t, n))
	h := &tally{want: n, all: make(chan struct{}), up: make(chan struct{})}
	r := start(t, client.Config{Address: address, Handler: h})
	<-h.up
	var before, after runtime.MemStats
	for round := range 3 {
		if round == 1 {
			runtime.ReadMemStats(&before)
		}
		more <- struct{}{}
		<-h.all
	}
	runtime.ReadMemStats(&after)
	if got := after.Mallocs - before.Mallocs; got > n/10 {
		t.Errorf("%d allocations for %d messages, expected none for each", got, 2*n)
	}
	r.stop(t)
}

// BenchmarkReading is a laser scan of 361 beams with intensities, from the
// socket to the handler.
func BenchmarkReading(b *testing.B) {
	const n = 500
	address, more := streamer(b, laserBatch(b, n))
	h := &tally{want: n, all: make(chan struct{}), up: make(chan struct{})}
	r := start(b, client.Config{Address: address, Handler: h})
	<-h.up
	b.ReportAllocs()
	b.ResetTimer()
	for i := 0; i < b.N; i += n {
		more <- struct{}{}
		<-h.all
	}
	b.StopTimer()
	r.stop(b)
}
