package pair

import (
	"bufio"
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"callboard/bridge/spool"
	"callboard/bridge/standby"
)

// TestSeals: what is said on the outer line is taken as it was said, once, in its
// order, and from the other side only.
func TestSeals(t *testing.T) {
	key, a, b := bytes.Repeat([]byte{7}, keySize), bytes.Repeat([]byte{1}, 16), bytes.Repeat([]byte{2}, 16)
	says := func() *seals { return newSeals(key, a, b, standby.A) }
	from, hears := says(), says()
	first, second := from.of([]byte("one")), from.of([]byte("two"))
	if !bytes.Equal(hears.of([]byte("one")), first) || !bytes.Equal(hears.of([]byte("two")), second) {
		t.Fatal("it does not hear what is said")
	}
	for name, heard := range map[string][]byte{
		"other words": says().of([]byte("One")), "said again": hears.of([]byte("one")), "another key": newSeals(a, a, b, standby.A).of([]byte("one")),
		"another connection": newSeals(key, b, a, standby.A).of([]byte("one")), "the other way": newSeals(key, a, b, standby.B).of([]byte("one")),
	} {
		if bytes.Equal(heard, first) {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestHello: who is not the other side of this pair is refused.
func TestHello(t *testing.T) {
	own := &hello{Protocol: protocol, Version: version, ID: "p", Side: "A", Nonce: make([]byte, 16)}
	for name, change := range map[string]func(h *hello){
		"":               func(*hello) {},
		"speaks":         func(h *hello) { h.Version++ },
		"of broker":      func(h *hello) { h.ID = "q" },
		"both sides":     func(h *hello) { h.Side = "A" },
		"nonce":          func(h *hello) { h.Nonce = nil },
		"a key of 3 byt": func(h *hello) { h.Key = []byte{1, 2, 3} },
	} {
		h := *own
		h.Side = "B"
		change(&h)
		heard, err := readHello(bufio.NewReader(bytes.NewReader(h.frame())))
		if err != nil {
			t.Fatal(err)
		}
		if err := heard.check(own); (err == nil) != (name == "") || err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// FuzzFrame: whatever comes on a line, nothing panics, and no more is made room for
// than has come.
func FuzzFrame(f *testing.F) {
	f.Add((&hello{Protocol: protocol}).frame())
	f.Add(appendFrame(nil, kindMessage, encoded(&standby.Ask{Life: 3})))
	f.Add([]byte{255, 255, 255, 255, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		kind, content, err := readFrame(bufio.NewReader(bytes.NewReader(b)), maxFrame)
		if err == nil && !bytes.HasPrefix(b, appendFrame(nil, kind, content)) {
			t.Errorf("%x is read as %d %x", b, kind, content)
		}
		if cap(content) > len(b)*4+2*readChunk {
			t.Errorf("%d bytes for %d", cap(content), len(b))
		}
		_, _ = readHello(bufio.NewReader(bytes.NewReader(b)))
	})
}

// TestFiles: how a side stands, its life and its key outlive the process; a file
// that is damaged is told.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	s, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := standby.State{Term: 7, Stands: standby.In, Floor: 9, Given: true}
	if err := s.save(want); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if s, err = openState(dir); err != nil || s.stored != want {
		t.Fatalf("%+v, %v", s.stored, err)
	}
	s.Close()
	path := filepath.Join(dir, "standby.state")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text[5] ^= 1
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openState(dir); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a damaged file: %v", err)
	}

	last := uint64(0)
	for _, least := range []uint64{100, 50, 200} {
		life, err := nextLife(dir, least)
		if err != nil || life <= last || life < least {
			t.Errorf("life %d after %d, %v", life, last, err)
		}
		last = life
	}

	k, err := openKey(dir, standby.A)
	if err != nil || len(k.key) != keySize {
		t.Fatalf("key %x, %v", k.key, err)
	}
	if again, err := openKey(dir, standby.A); err != nil || !bytes.Equal(again.key, k.key) {
		t.Errorf("another key: %v", err)
	}
	if b, err := openKey(t.TempDir(), standby.B); err != nil || b.key != nil {
		t.Errorf("B has a key: %v", err)
	}
}

// TestQueue: what waits is bounded, and a queue that has ended lets nobody wait.
func TestQueue(t *testing.T) {
	var q queue
	q.init(10)
	if q.put([]byte("a")) {
		t.Error("it takes something without a connection")
	}
	q.begin()
	if !q.put(make([]byte, 8)) || q.put(make([]byte, 3)) || !q.put(make([]byte, 2)) {
		t.Error("not as much as may wait")
	}
	if n := len(q.take()); n != 2 {
		t.Errorf("%d taken", n)
	}
	q.put(make([]byte, 9))
	done := make(chan bool)
	go func() { done <- q.putBelow(5, []byte("b")) }()
	go func() { done <- q.take() != nil && q.take() == nil }()
	q.end()
	<-done
	<-done
}

// TestSaveWaits: while a side stores how it stands, nothing behind that is done, and
// nobody who has something to hand in waits.
func TestSaveWaits(t *testing.T) {
	dir := t.TempDir()
	store, err := spool.Open(spool.Config{Dir: dir, Broker: "p"})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer inner.Close()
	role := begins{make(chan *Begun, 1)}
	p, err := New(Config{ID: "p", Dir: dir, Store: store, Restored: store.Restored(), Inner: inner, OtherInner: "127.0.0.1:1", OtherOuter: "127.0.0.1:1", Heartbeat: time.Second, Role: role})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	disk := make(chan error)
	p.state.sync = func(*os.File) error { return <-disk }
	if err := p.Lose(); err != nil {
		t.Fatal(err)
	}
	p.input(&standby.Tick{})
	select {
	case <-role.begun:
		t.Error("the side is active and has not stored that")
	default:
	}
	disk <- nil
	b := <-role.begun
	if batch := b.Append(nil); batch < 2 {
		t.Errorf("batch %d; expected one behind that which begins the term", batch)
	}
	go p.input(&standby.FromOther{Line: standby.Outer, Message: &standby.Beat{Life: 1, Number: 1, Status: standby.Status{Term: 1000}}})
	disk <- nil // how it stands now
	<-role.begun
	if batch := b.Append(nil); batch <= store.Position().Number {
		t.Errorf("a side that has stopped keeps batch %d", batch)
	}
}

// begins is a Role that is told when it begins, and nil when it stops.
type begins struct{ begun chan *Begun }

func (r begins) Restore(uint64, standby.Batch) {}
func (r begins) Replace(*spool.Snapshot)       {}
func (r begins) Wanted(string)                 {}
func (r begins) Begin(b *Begun)                { r.begun <- b }
func (r begins) Stop()                         { r.begun <- nil }
