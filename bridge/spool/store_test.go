package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"callboard/bridge/node/storetest"
	"callboard/bridge/overlay"
)

type fataler = storetest.TB

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

// began is when brokers here begin, and now when others find out what they have left.
const (
	began = overlay.Instant(1_000_000)
	now   = 2 * began
)

// begin starts a broker whose store this is.
func begin(t fataler, s *Store) *storetest.Rig {
	t.Helper()
	restored := s.Restored()
	return storetest.Begin(t, began, restored.Records, restored.Lost, func(records []overlay.Record) { s.Append(records) })
}

var sub = storetest.Subscription

// TestStore holds the store against what every store does.
func TestStore(t *testing.T) {
	var live func(s *Store) *storetest.Life
	live = func(s *Store) *storetest.Life {
		restored := s.Restored()
		return &storetest.Life{
			Store: s, Records: restored.Records, Lost: restored.Lost,
			Crash: func(t storetest.TB) *storetest.Life {
				dir := s.cfg.Dir + "+"
				copyDir(t, s.cfg.Dir, dir)
				s.Close()
				again := open(t, dir)
				checkIndex(t, again)
				return live(again)
			},
			Rest: func(t storetest.TB) {
				if err := s.commit(); err != nil {
					t.Fatalf("%v", err)
				}
			},
			Close: func() { s.Close() },
		}
	}
	top := t.TempDir()
	storetest.Test(t, func(t storetest.TB) *storetest.Life {
		dir, err := os.MkdirTemp(top, "")
		if err != nil {
			t.Fatalf("%v", err)
		}
		return live(open(t, filepath.Join(dir, "0")))
	})
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
	if _, err := Open(Config{Dir: dir, Broker: "b1"}); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("version %d, and this program reads versions %d to %d; start the program that wrote it", formatVersion+1, oldestVersion, formatVersion)) {
		t.Fatal(err)
	}
}

// TestOlderVersion: a store of the oldest version that is read is one of this
// version from then on.
func TestOlderVersion(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	s.Append([]overlay.Record{&overlay.StampRecord{Stamp: 7}, &overlay.ClaimRecord{Robot: "r0", Since: 5}})
	s.Close()
	db, err := bbolt.Open(filepath.Join(dir, "spool.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *bbolt.Tx) error {
		return errors.Join(tx.DeleteBucket(bucketClaims), tx.DeleteBucket(bucketTasks), tx.DeleteBucket(bucketHeld), tx.DeleteBucket(bucketAnswers), put(tx, bucketMeta, keyVersion, number(oldestVersion)))
	}); err != nil {
		t.Fatal(err)
	}
	db.Close()
	f, err := os.OpenFile(filepath.Join(dir, "marker"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := (marker{Version: oldestVersion, Boot: "boot", Clean: true}).write(f, false); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s = open(t, dir)
	if got := s.Restored(); got.Lost || len(got.Records) != 1 {
		t.Fatalf("restored %+v, expected the stamp alone", got)
	}
	claim := &overlay.ClaimRecord{Robot: "r1", Since: 6}
	s.Append([]overlay.Record{claim})
	s.Close()
	s = open(t, dir)
	defer s.Close()
	if diff := cmp.Diff([]overlay.Record{&overlay.StampRecord{Stamp: 7}, claim}, s.Restored().Records); diff != "" {
		t.Error(diff)
	}
}

// TestClaims: a claim stands until it is forgotten, in tails and in the database. So
// does one that has ended.
func TestClaims(t *testing.T) {
	dir := t.TempDir()
	claims := func(s *Store) (all []overlay.Record) {
		for _, r := range s.Restored().Records {
			if _, is := r.(*overlay.ClaimRecord); is {
				all = append(all, r)
			}
		}
		return all
	}
	s := open(t, dir)
	first, second := &overlay.ClaimRecord{Robot: "r0", Since: 5}, &overlay.ClaimRecord{Robot: "r1", Since: 6}
	s.Append([]overlay.Record{first, second})
	s.Close()
	s = open(t, dir)
	if diff := cmp.Diff([]overlay.Record{first, second}, claims(s)); diff != "" {
		t.Error(diff)
	}
	ended := &overlay.ClaimRecord{Robot: "r1", Since: -7}
	s.Append([]overlay.Record{&overlay.ClaimRecord{Robot: "r0"}, ended})
	s.Close()
	s = open(t, dir)
	defer s.Close()
	if diff := cmp.Diff([]overlay.Record{ended}, claims(s)); diff != "" {
		t.Error(diff)
	}
}

// TestLost: when records may be missing, Restored says so, until the broker
// has begun anew.
func TestLost(t *testing.T) {
	fill := func(t *testing.T, s *Store) {
		r := begin(t, s)
		r.Step(&overlay.Hello{Conn: 1, Client: "x", Subscriptions: []*overlay.Subscription{sub("a", "")}})
		for n := range 5 {
			r.Publish(n, "a")
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
			begin(t, s)
			if err := s.commit(); err != nil {
				t.Fatal(err)
			}
			want := storetest.Finds(t, now, s.mustRecords(t), false)
			s.closeFiles()
			s = reopen()
			defer s.Close()
			if restored := s.Restored(); restored.Lost {
				t.Fatalf("lost once more: %s", restored.Why)
			} else if diff := cmp.Diff(want, storetest.Finds(t, now, restored.Records, false)); diff != "" {
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
