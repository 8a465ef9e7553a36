package spool

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func open(t fataler, dir string) *Store {
	t.Helper()
	s, err := Open(Config{Dir: dir, Broker: "b1", boot: func() string { return "boot" }, noSync: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// copyDir is what a killed process leaves: the files as they are.
func copyDir(t fataler, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// rig is a broker with a store, a matcher that is always up to date and
// clients that say little.
type rig struct {
	b       *overlay.Broker
	s       *Store // nil: the records are kept as they are
	now     overlay.Instant
	records []overlay.Record
	sets    map[overlay.Handle]uint64
	order   []overlay.Handle
	outputs []string
}

func newRig(t fataler, s *Store, restored Restored) *rig {
	t.Helper()
	b, err := overlay.New(overlay.Config{ID: "b1", Window: 3, Inbox: overlay.Limits{Count: 8}})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{b: b, s: s, now: 1_000_000, sets: map[overlay.Handle]uint64{}}
	if len(restored.Records) > 0 {
		r.step(&overlay.Restore{Records: restored.Records})
	}
	r.step(&overlay.Start{StoreLost: restored.Lost})
	r.step(&overlay.Advertise{Robot: "r0"})
	return r
}

func (r *rig) step(in overlay.Input) {
	r.now += 1000
	r.b.Step(r.now, in)
	records := r.b.Records()
	if r.s != nil {
		r.s.Append(records)
	}
	for _, rec := range records {
		r.records = append(r.records, cloneRecord(rec))
	}
	var answers []overlay.Input
	for _, o := range r.b.Outputs() {
		switch o := o.(type) {
		case *overlay.Install:
			if _, known := r.sets[o.Handle]; !known {
				r.order = append(r.order, o.Handle)
			}
			r.sets[o.Handle] = o.Set
			a := &overlay.Installed{Handle: o.Handle, Set: o.Set, Robots: map[string]int{}}
			for _, id := range o.Count {
				a.Robots[id] = 1
			}
			answers = append(answers, a)
		case *overlay.Notify:
			r.outputs = append(r.outputs, fmt.Sprintf("notify %d %s %d+%d %s %s", o.Conn, o.Source, o.Seq, o.Skipped, o.Reading.JSON, text(o.Subscriptions)))
		case *overlay.Send:
			r.outputs = append(r.outputs, fmt.Sprintf("%d %s", o.Conn, text(o.Message)))
		}
	}
	for _, a := range answers {
		r.step(a)
	}
}

func text(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func cloneRecord(r overlay.Record) overlay.Record {
	b, err := appendRecord(nil, r)
	if err != nil {
		panic(err)
	}
	records, err := decodeRecords(b)
	if err != nil {
		panic(err)
	}
	return records[0]
}

func (r *rig) publish(n int, ids ...string) {
	reading := &overlay.Reading{Robot: "r0", Interface: "laser", Time: float64(n), JSON: fmt.Appendf(nil, `{"n":%d}`, n)}
	m := &overlay.Matched{Reading: reading}
	state := n%3 != 0
	for _, h := range r.order {
		hit := overlay.Hit{Handle: h, Set: r.sets[h]}
		for i, id := range ids {
			name := protocol.Matched{ID: id}
			if i == 1 {
				name.State, name.Values = &state, []byte(`{"v":1}`)
			}
			hit.Names = append(hit.Names, name)
		}
		m.Hits = append(m.Hits, hit)
	}
	r.step(m)
}

func sub(id, keep string) *overlay.Subscription {
	return &overlay.Subscription{
		Subscription: protocol.Subscription{ID: id, Condition: "laser.min < 1", Keep: keep, Select: map[string]string{"v": "1"}},
		Allowed:      []string{"r*"}, Needs: [][]string{{"laser", "ranger"}},
	}
}

// finds tells what a broker that begins with these records has and sends to
// its clients when they come back.
func finds(t fataler, restored Restored) []string {
	r := newRig(t, nil, restored)
	r.now = 10_000_000
	for i, c := range r.b.Clients() {
		h := &overlay.Hello{Conn: overlay.Conn(1000 + i), Client: c.Client, Session: c.Session, Num: map[string]uint64{}}
		for _, s := range c.Sources {
			h.Num[s.Source] = s.Num
		}
		for _, s := range c.Subscriptions {
			h.Subscriptions = append(h.Subscriptions, s.Subscription)
		}
		r.outputs = append(r.outputs, fmt.Sprintf("%+v", c.Sources))
		r.step(h)
		for range 20 { // acknowledge all that comes
			info, _ := r.b.Client(h.Conn)
			for _, s := range info.Sources {
				r.step(&overlay.Ack{Conn: h.Conn, Source: s.Source, Num: s.Num + uint64(s.Sent)})
			}
		}
	}
	return r.outputs
}

// TestRestored: whatever a broker did and wherever commits fell, the store
// gives back what all its records in order give.
func TestRestored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		top, err := os.MkdirTemp("", "spool")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(top)
		dir := filepath.Join(top, "0")
		s := open(t, dir)
		defer func() { s.Close() }()
		r := newRig(t, s, s.Restored())
		conns := map[string]overlay.Conn{}
		last := overlay.Conn(0)
		for n := range rapid.IntRange(1, 60).Draw(t, "steps") {
			client := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "client")
			id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "id")
			keep := rapid.SampledFrom([]string{"all", "latest"}).Draw(t, "keep")
			switch rapid.SampledFrom([]string{"hello", "drop", "subscribe", "unsubscribe", "update", "ack", "publish", "publish", "publish", "commit", "crash"}).Draw(t, "do") {
			case "hello":
				last++
				h := &overlay.Hello{Conn: last, Client: client}
				if c := conns[client]; c != 0 && rapid.Bool().Draw(t, "resume") {
					if info, ok := r.b.Client(c); ok {
						h.Session = info.Session
					}
				}
				h.Subscriptions = []*overlay.Subscription{sub(id, keep)}
				conns[client] = last
				r.step(h)
			case "drop":
				r.step(&overlay.Disconnected{Conn: conns[client]})
			case "subscribe":
				r.step(&overlay.Subscribe{Conn: conns[client], Subscription: sub(id, keep)})
			case "unsubscribe":
				r.step(&overlay.Unsubscribe{Conn: conns[client], ID: id})
			case "update":
				changed := sub(id, keep)
				changed.Condition = fmt.Sprint("laser.min < ", n)
				r.step(&overlay.Update{Conn: conns[client], Subscription: changed})
			case "ack":
				if info, ok := r.b.Client(conns[client]); ok && len(info.Sources) > 0 {
					src := info.Sources[len(info.Sources)-1]
					r.step(&overlay.Ack{Conn: conns[client], Source: src.Source, Num: rapid.Uint64Range(src.Num, src.Last).Draw(t, "num")})
				}
			case "publish":
				for i := range rapid.IntRange(1, 5).Draw(t, "readings") {
					r.publish(10*n+i, id, "a")
				}
			case "commit":
				if err := s.commit(); err != nil {
					t.Fatal(err)
				}
			case "crash":
				dir = filepath.Join(top, fmt.Sprint(n+1))
				copyDir(t, s.cfg.Dir, dir)
				s.Close()
				s = open(t, dir)
				restored := s.Restored()
				if restored.Lost {
					t.Fatalf("lost: %s", restored.Why)
				}
				all := r.records
				r = newRig(t, s, restored)
				r.records = append(all, r.records...)
				clear(conns)
			}
		}
		want := finds(t, Restored{Records: cloneAll(r.records)})
		check := filepath.Join(top, "check")
		copyDir(t, s.cfg.Dir, check)
		c := open(t, check)
		defer c.Close()
		restored := c.Restored()
		if restored.Lost {
			t.Fatalf("lost: %s", restored.Why)
		}
		if diff := cmp.Diff(want, finds(t, restored)); diff != "" {
			t.Fatalf("restored differs (-all records +store):\n%s", diff)
		}
		checkIndex(t, c)
	})
}

func cloneAll(records []overlay.Record) (all []overlay.Record) {
	for _, r := range records {
		all = append(all, cloneRecord(r))
	}
	return all
}

// checkIndex brings all to the disk and compares what is there with what the
// index knows: nothing is left over.
func checkIndex(t fataler, s *Store) {
	t.Helper()
	if err := s.commit(); err != nil {
		t.Fatal(err)
	}
	readings := map[*heldState]int{}
	for _, e := range s.index.entries {
		for _, i := range e.items[e.head:] {
			if !i.gap() {
				readings[i.heldState]++
			}
		}
	}
	for r, refs := range readings {
		if r.refs != refs || !r.stored || r.reading != nil {
			t.Fatalf("reading %d: %d items refer to it, it counts %d; stored: %t", r.id, refs, r.refs, r.stored)
		}
	}
	tx, err := s.db.Begin(false)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if n := tx.Bucket(bucketReadings).Stats().KeyN; n != len(readings) {
		t.Fatalf("%d readings in the database, %d in the index", n, len(readings))
	}
	if n := tx.Bucket(bucketEntries).Stats().KeyN; n != len(s.index.entries) {
		t.Fatalf("%d entries in the database, %d in the index", n, len(s.index.entries))
	}
}

func TestLocked(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	defer s.Close()
	_, err := Open(Config{Dir: dir, Broker: "b2"})
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`in use by broker "b1" (process %d, since `, os.Getpid())) {
		t.Fatalf("error %v names no owner", err)
	}
}

func TestOtherBroker(t *testing.T) {
	dir := t.TempDir()
	open(t, dir).Close()
	if _, err := Open(Config{Dir: dir, Broker: "b2"}); err == nil || !strings.Contains(err.Error(), `store of broker "b1", and this is "b2"`) {
		t.Fatal(err)
	}
}

func TestVersion(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	m := marker{Version: formatVersion + 1, Boot: "boot", Clean: true}
	s.Close()
	f, err := os.OpenFile(filepath.Join(dir, "marker"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.write(f, false); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := Open(Config{Dir: dir, Broker: "b1"}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("version %d, and this program reads version %d; start the program that wrote it", formatVersion+1, formatVersion)) {
		t.Fatal(err)
	}
}

// TestLost: when records may be missing, Restored says so, until the broker
// has begun anew.
func TestLost(t *testing.T) {
	fill := func(t *testing.T, s *Store) {
		r := newRig(t, s, s.Restored())
		r.step(&overlay.Hello{Conn: 1, Client: "x", Subscriptions: []*overlay.Subscription{sub("a", "")}})
		for n := range 5 {
			r.publish(n, "a")
		}
	}
	damage := func(file string, change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, file)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(b), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		name   string
		boot   string
		commit bool
		change func(*testing.T, string)
		lost   string // part of why
	}{
		{name: "killed"},
		{name: "killed after a commit", commit: true},
		{name: "torn end", change: damage("tail-1", func(b []byte) []byte { return b[:len(b)-3] })},
		{name: "torn header", change: damage("tail-1", func(b []byte) []byte { return append(b, 0, 0, 1) })},
		{name: "power cut", boot: "another", lost: "the machine stopped"},
		{name: "corrupt tail", change: damage("tail-1", func(b []byte) []byte { b[len(b)/2] ^= 1; return b }), lost: "tail-1: at byte"},
		{name: "zeros", change: damage("tail-1", func(b []byte) []byte { return append(b, make([]byte, 100)...) }), lost: "checksum"},
		{name: "missing batch", change: damage("tail-1", func(b []byte) []byte { return b[batchHeader+int(b[3])+int(b[2])<<8:] }), lost: "batch 2 follows batch 0"},
		{name: "no marker", commit: true, change: damage("marker", func([]byte) []byte { return nil }), lost: "marker"},
		{name: "database damaged", commit: true, change: damage("spool.db", func(b []byte) []byte { return append(make([]byte, 8192), b[8192:]...) }), lost: "it was damaged"},
		{name: "first meta page damaged", commit: true, change: damage("spool.db", func(b []byte) []byte { b[60] ^= 1; return b }), lost: "meta page"},
		{name: "second meta page damaged", commit: true, change: damage("spool.db", func(b []byte) []byte { b[os.Getpagesize()+60] ^= 1; return b }), lost: "meta page"},
		{name: "a page in use is free", commit: true, change: damage("spool.db", freeRoot), lost: "it was damaged"},
		{name: "database gone", commit: true, change: damage("spool.db", func(b []byte) []byte { return nil }), lost: "spool.db is missing"},
		{name: "database cut", commit: true, change: damage("spool.db", func(b []byte) []byte { return b[:5000] }), lost: "it was damaged"},
	} {
		t.Run(test.name, func(t *testing.T) {
			top := t.TempDir()
			s := open(t, filepath.Join(top, "a"))
			fill(t, s)
			if test.commit {
				if err := s.commit(); err != nil {
					t.Fatal(err)
				}
			}
			dir := filepath.Join(top, "b")
			copyDir(t, s.cfg.Dir, dir)
			s.Close()
			if test.change != nil {
				test.change(t, dir)
			}
			boot := "boot"
			if test.boot != "" {
				boot = test.boot
			}
			reopen := func() *Store {
				s, err := Open(Config{Dir: dir, Broker: "b1", boot: func() string { return boot }, noSync: true})
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			for range 2 { // what was lost stays lost while nothing is appended
				s = reopen()
				got := s.restored
				if got.Lost != (test.lost != "") || !strings.Contains(got.Why, test.lost) && got.Why != "what was last stored could not be written" {
					t.Fatalf("lost %t %q, want %q", got.Lost, got.Why, test.lost)
				}
				s.closeFiles()
			}
			s = reopen()
			r := newRig(t, s, s.Restored())
			if err := s.commit(); err != nil {
				t.Fatal(err)
			}
			want := finds(t, Restored{Records: cloneAll(r.s.mustRecords(t))})
			s.closeFiles()
			s = reopen()
			defer s.Close()
			if restored := s.Restored(); restored.Lost {
				t.Fatalf("lost once more: %s", restored.Why)
			} else if diff := cmp.Diff(want, finds(t, restored)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

// freeRoot makes the root's page one of the list of free pages.
func freeRoot(b []byte) []byte {
	n, size := binary.NativeEndian, uint64(os.Getpagesize())
	meta := b[pageHeader:]
	if other := b[size+pageHeader:]; n.Uint64(other[48:]) > n.Uint64(meta[48:]) {
		meta = other
	}
	list := b[n.Uint64(meta[32:])*size:]
	n.PutUint64(list[pageHeader:], n.Uint64(meta[16:]))
	return b
}

// mustRecords reads what the database has.
func (s *Store) mustRecords(t fataler) []overlay.Record {
	probe := &Store{cfg: s.cfg, index: newIndex()}
	if err := s.db.View(probe.load); err != nil {
		t.Fatal(err)
	}
	return probe.restored.Records
}

// TestUnsure: that a session's set may be an old one is stored, by commit and
// without, and a session that goes on is sure again.
func TestUnsure(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "0"))
	session := overlay.Session{Attachment: 1, Edge: "b1", Revision: 1}
	sessions := []*overlay.SessionRecord{
		{Client: "sure", Session: session, Epoch: overlay.Epoch(session)},
		{Client: "unsure", Session: session, Epoch: overlay.Epoch(session), Unsure: true},
	}
	s.Append([]overlay.Record{sessions[0], sessions[1]})
	read := func(to string) (got []*overlay.SessionRecord) {
		copyDir(t, s.cfg.Dir, filepath.Join(dir, to))
		c := open(t, filepath.Join(dir, to))
		defer c.Close()
		for _, r := range c.Restored().Records {
			if r, ok := r.(*overlay.SessionRecord); ok {
				got = append(got, r)
			}
		}
		return got
	}
	if diff := cmp.Diff(sessions, read("tail")); diff != "" {
		t.Errorf("from the tail (-want +got):\n%s", diff)
	}
	if err := s.commit(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(sessions, read("database")); diff != "" {
		t.Errorf("from the database (-want +got):\n%s", diff)
	}
	s.Close()
}

// TestStopped: a store that is stopped while it is opened is as it was.
func TestStopped(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	s.Append(prelude())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	close(stop)
	if _, err := Open(Config{Dir: dir, Broker: "b1", Stop: stop}); !errors.Is(err, ErrStopped) {
		t.Fatalf("%v; expected that it was stopped", err)
	}
	s = open(t, dir)
	defer s.Close()
	if restored := s.Restored(); restored.Lost || len(restored.Records) != len(prelude()) {
		t.Errorf("lost: %q; %d records", restored.Why, len(restored.Records))
	}
}
