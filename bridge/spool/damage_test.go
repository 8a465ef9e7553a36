package spool

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"callboard/bridge/overlay"
)

// busyStore fills a store in dir: a database of several levels of pages, and a
// tail that continues it. It returns what a broker restored from it finds.
func busyStore(t fataler, dir string) []string {
	t.Helper()
	s := open(t, dir)
	r := begin(t, s)
	for i, client := range []string{"x", "y", "z"} {
		r.Step(&overlay.Hello{Conn: overlay.Conn(i + 1), Client: client, Subscriptions: []*overlay.Subscription{sub("a", ""), sub("b", "latest")}})
	}
	entry := overlay.EntryRecord{Handle: 1000, Key: overlay.Key{Client: "absent", Session: overlay.Session{Attachment: 1, Edge: "b1"}, Source: "b1", Stamp: 1}, Own: true}
	s.Append([]overlay.Record{&entry})
	for seq := range uint64(300) { // what fills inner pages
		s.Append([]overlay.Record{&overlay.GivenRecord{
			Reading: &overlay.Reading{Robot: "r0", Interface: "laser", Time: float64(seq), JSON: make([]byte, 200)},
			Hits:    []overlay.GivenHit{{Handle: 1000, Seq: seq + 1}},
		}})
		if seq%100 == 99 {
			if err := s.commit(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for n := range 5 {
		r.Publish(n, "a", "b")
	}
	copyDir(t, dir, dir+".killed")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	found, lost := findsIn(t, dir+".killed")
	if lost != "" {
		t.Fatalf("lost: %s", lost)
	}
	return found
}

// findsIn opens a copy of the store in dir, and returns what a broker restored from
// it finds, and why something may be lost.
func findsIn(t fataler, dir string) (found []string, lost string) {
	t.Helper()
	check, err := os.MkdirTemp("", "spool")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(check)
	if err := os.CopyFS(check, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	s := open(t, check)
	defer s.closeFiles()
	restored := s.Restored()
	if restored.Lost {
		lost = restored.Why
	}
	var text []byte
	for _, r := range restored.Records {
		if text, err = AppendRecord(text[:0], r); err != nil {
			t.Fatal(err)
		}
		found = append(found, string(text))
	}
	return found, lost
}

// TestDamaged: a store that is cut or garbled at any place opens without a
// crash, and either all is there or Restored says that something may be lost.
func TestDamaged(t *testing.T) {
	top := t.TempDir()
	want := busyStore(t, filepath.Join(top, "store"))
	pristine := filepath.Join(top, "store.killed")
	files := map[string][]byte{}
	for _, name := range []string{"spool.db", "tail-0", "tail-1", "marker", "lock"} {
		b, err := os.ReadFile(filepath.Join(pristine, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = b
	}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"spool.db", "spool.db", "spool.db", "tail-0", "tail-1", "marker", "lock"}).Draw(t, "file")
		whole := files[name]
		b := append([]byte{}, whole...)
		place := func(label string) int { return rapid.IntRange(0, max(0, len(b)-1)).Draw(t, label) }
		may := "" // damage that leaves no trace: a tail's writer may have been killed there
		switch kind := rapid.SampledFrom([]string{"cut", "cut", "flip", "flip", "flip", "zero", "garbage", "swap", "longer", "gone"}).Draw(t, "damage"); {
		case len(b) == 0 || kind == "longer":
			b = append(b, rapid.SliceOfN(rapid.Byte(), 1, 5000).Draw(t, "more")...)
			may = "tail-0 tail-1"
		case kind == "cut":
			b, may = b[:place("length")], "tail-0 tail-1"
		case kind == "flip":
			for range rapid.IntRange(1, 4).Draw(t, "bits") {
				b[place("at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			}
		case kind == "zero":
			page := place("page") &^ 4095
			clear(b[page:min(len(b), page+4096)])
		case kind == "garbage":
			copy(b[place("at"):], rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "bytes"))
		case kind == "swap":
			from, to := place("from")&^4095, place("to")&^4095
			if n := min(len(b)-from, len(b)-to, 4096); n > 0 {
				page := append([]byte{}, b[to:to+n]...)
				copy(b[to:to+n], b[from:from+n])
				copy(b[from:from+n], page)
			}
		case kind == "gone":
			b = nil
		}
		dir, err := os.MkdirTemp(top, "damaged")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		if err := os.CopyFS(dir, os.DirFS(pristine)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if b == nil {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, lost := findsIn(t, dir)
		if lost == "" && (may == "" || name != "tail-0" && name != "tail-1") {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: nothing is said to be lost, but (-want +got):\n%.2000s", name, diff)
			}
		}
	})
}

// TestCutWhileOpen: a database whose file is cut while it is mapped into memory
// makes the store one that cannot write, not a dead process; what it then lacks
// is told by the next to open it.
func TestCutWhileOpen(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	busyStore(t, dir)
	s := open(t, dir)
	if err := os.Truncate(filepath.Join(dir, "spool.db"), 8192); err != nil {
		t.Fatal(err)
	}
	r := begin(t, s)
	if err := s.commit(); err == nil || s.Err() == nil {
		t.Fatal("nothing is wrong with it")
	}
	r.Publish(1, "a")
	if err := s.Close(); err == nil {
		t.Fatal("it could be closed as if nothing were wrong with it")
	}
	if _, lost := findsIn(t, dir); lost == "" {
		t.Fatal("nothing is said to be lost")
	}
	s = open(t, dir)
	begin(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, "spool.db.damaged-*")); len(aside) != 1 {
		t.Errorf("moved aside: %q", aside)
	}
	if _, lost := findsIn(t, dir); lost != "" {
		t.Fatalf("lost once more: %s", lost)
	}
}
