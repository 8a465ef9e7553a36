// Package spool keeps what must outlive a crash: sessions, their sets of
// subscriptions, numbers given and what is retained. DESIGN.md says how.
package spool

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"callboard/bridge/overlay"
)

// Config says where a store is. Zero values are the defaults.
type Config struct {
	Dir      string           // the data directory; made if it is not there; required
	Broker   overlay.BrokerID // whose store it is; required
	Interval time.Duration    // between commits to the disk: what a power cut can lose; default 50 ms
	Logger   *slog.Logger     // default: none
	Stop     <-chan struct{}  // ends Open with ErrStopped, however much there is to read; nil: nothing does

	boot   func() string // names the machine's present boot; nil: what the system says
	noSync bool          // for tests that would only wait for the disk
}

// ErrStopped says that Open was stopped before it had read everything. The
// store is as it was.
var ErrStopped = errors.New("stopped while reading what an earlier life has left")

// stopped returns ErrStopped once the store's opening is to end.
func (s *Store) stopped() error {
	select {
	case <-s.cfg.Stop:
		return ErrStopped
	default:
		return nil
	}
}

// Restored is what an earlier life has left.
type Restored struct {
	Records []overlay.Record // to be replayed, in order
	Lost    bool             // records may be missing at the end
	Why     string           // of Lost, for the log
}

// Stats counts what the store has done.
type Stats struct {
	Batches, Records, Bytes uint64        // appended
	Commits, Failures       uint64        // to the disk
	Slowest                 time.Duration // commit
	Waiting                 int64         // bytes appended and not on the disk yet
}

// Store is an open data directory. Append and Err may be called from any
// goroutine; one goroutine calls Run.
type Store struct {
	cfg    Config
	lock   *os.File
	marker *os.File
	db     *bbolt.DB
	found  bool // the database was there
	boot   string

	mu         sync.Mutex
	index      *index
	batch      uint64 // number of the last
	tails      [2]*tail
	active     int    // of tails
	broken     bool   // writing to the active tail has failed: until the next plan nothing is written
	incomplete bool   // the files lack something: a crash now would lose it
	failures   uint64 // of writing to tails
	appended   bool   // since it was opened
	err        error
	buffer     []byte
	stats      Stats
	restored   Restored

	terms      []uint64 // that it leads through, if it is of a pair
	termsDirty bool
	replaced   bool   // what the database has is another store's, until the next plan
	planned    uint64 // batch of the last plan

	committing sync.Mutex // held by who commits; before mu

	plan     *plan // what is being brought to the disk; of the goroutine that commits
	unusable error // why the database cannot be used any more; of that goroutine, too
	wake     chan struct{}
}

// Open takes the data directory and reads what is in it. An error says who
// has it, or what to do.
func Open(cfg Config) (*Store, error) {
	if cfg.Dir == "" || cfg.Broker == "" {
		return nil, errors.New("spool: a store needs a directory and the id of its broker")
	}
	if cfg.Interval <= 0 {
		cfg.Interval = 50 * time.Millisecond
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.boot == nil {
		cfg.boot = bootID
	}
	s := &Store{cfg: cfg, boot: cfg.boot(), index: newIndex(), wake: make(chan struct{}, 1)}
	if err := s.open(); err != nil {
		s.closeFiles()
		return nil, fmt.Errorf("data directory %s: %w", cfg.Dir, err)
	}
	return s, nil
}

func (s *Store) path(name string) string { return filepath.Join(s.cfg.Dir, name) }

func (s *Store) open() (err error) {
	if err := os.MkdirAll(s.cfg.Dir, 0o700); err != nil {
		return err
	}
	if s.lock, err = lockDir(s.path("lock"), s.cfg.Broker); err != nil {
		return err
	}
	left, known, err := s.openMarker()
	if err != nil {
		return err
	}
	if err := s.openDatabase(); err != nil {
		return err
	}
	switch {
	case known && left.Incomplete:
		s.lose("what was last stored could not be written")
	case known && !left.Clean && (left.Boot != s.boot || s.boot == ""):
		s.lose("the machine stopped without closing it")
	case known && !s.found:
		s.lose("spool.db is missing")
	}
	used := s.batch > 0
	for _, name := range tailNames {
		info, err := os.Stat(s.path(name))
		used = used || err == nil && info.Size() > 0
		if known && !left.Clean && errors.Is(err, fs.ErrNotExist) {
			s.lose(name + " is missing")
		}
	}
	if used && !known {
		s.lose("its marker is missing or damaged")
	}
	if err := s.openTails(); err != nil {
		return err
	}
	s.incomplete = s.restored.Lost // until the broker has said how it goes on
	return marker{Version: formatVersion, Boot: s.boot, Incomplete: s.incomplete}.write(s.marker, !s.cfg.noSync)
}

func (s *Store) lose(why string) {
	if !s.restored.Lost {
		s.restored.Lost, s.restored.Why = true, why
		s.cfg.Logger.Warn("the store may have lost its end: sequences begin anew", "directory", s.cfg.Dir, "why", why)
	}
}

// openMarker opens the marker file and returns how the store was left.
func (s *Store) openMarker() (left marker, known bool, err error) {
	text, err := readStart(s.path("marker"), markerSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return marker{}, false, err
	}
	if left, known = parseMarker(text); known && (left.Version < oldestVersion || left.Version > formatVersion) {
		return marker{}, false, versionError(left.Version)
	}
	s.marker, err = os.OpenFile(s.path("marker"), os.O_RDWR|os.O_CREATE, 0o600)
	return left, known, err
}

func versionError(version int) error {
	return fmt.Errorf("its format is version %d, and this program reads versions %d to %d; start the program that wrote it, or move the directory away (what waits in it for absent clients is then lost)",
		version, oldestVersion, formatVersion)
}

// openTails reads what was appended and did not come into the database.
func (s *Store) openTails() error {
	var batches []batch
	for i, name := range tailNames {
		read, damage := readTail(s.path(name))
		if damage != nil {
			s.lose(name + ": " + damage.Error())
		}
		batches = append(batches, read...)
		t, err := openTail(s.path(name))
		if err != nil {
			return err
		}
		s.tails[i] = t
	}
	slices.SortFunc(batches, func(a, b batch) int { return cmp.Compare(a.number, b.number) })
	for _, b := range batches {
		if b.number <= s.batch {
			continue
		}
		if b.number != s.batch+1 {
			s.lose(fmt.Sprintf("batch %d follows batch %d", b.number, s.batch))
			break
		}
		s.batch++
		if b.begins {
			s.begins(b.term)
		}
		if err := s.stopped(); err != nil {
			return err
		}
		for _, r := range b.records {
			encoded, err := AppendRecord(nil, r)
			if err != nil {
				return err
			}
			s.index.apply(r, encoded)
			s.restored.Records = append(s.restored.Records, r)
		}
	}
	return s.settleTails()
}

// settleTails brings what the tails held into the database and empties them.
// On a full disk they stay, until it can be done.
func (s *Store) settleTails() error {
	s.makePlan()
	if s.bringToDisk() != nil {
		return nil
	}
	for _, t := range s.tails {
		if err := t.clear(); err != nil {
			return err
		}
	}
	return nil
}

// Restored hands over what an earlier life has left, once.
func (s *Store) Restored() Restored {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.restored
	s.restored.Records = nil
	return r
}

// Append takes the records of one or more steps of the broker as a batch, and
// returns its number. When it returns, a killed process does not lose them any
// more; a power cut may, until the next commit. It waits for no disk. If it cannot
// write, Err returns the error, and the records are brought to the disk once that
// is possible.
func (s *Store) Append(records []overlay.Record) (batch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(records) == 0 {
		return s.batch
	}
	return s.append(0, records)
}

// AppendIn is Append for one side of a pair: the batch is of a term, which is not
// before that of the last one, and it is one of its own also without records.
func (s *Store) AppendIn(term uint64, records []overlay.Record) (batch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.append(term, records)
}

func (s *Store) append(term uint64, records []overlay.Record) (batch uint64) {
	s.appended = true
	s.batch++
	b := append(s.buffer[:0], make([]byte, batchHeader)...)
	if term != s.term() {
		s.begins(term)
		b = binary.AppendUvarint(append(b, kindTerm), term)
	}
	for _, r := range records {
		more, err := AppendRecord(b, r)
		if err != nil {
			s.cfg.Logger.Error("a record cannot be stored", "error", err)
			continue
		}
		s.index.apply(r, more[len(b):])
		b = more
	}
	sealBatch(b, s.batch)
	if cap(b) <= 4<<20 {
		s.buffer = b
	}
	s.stats.Batches++
	s.stats.Records += uint64(len(records))
	s.stats.Bytes += uint64(len(b))
	s.stats.Waiting += int64(len(b))
	if !s.broken {
		if err := s.tails[s.active].write(b); err != nil {
			s.broken = true
			s.lack(fmt.Errorf("spool: %w", err))
		}
	}
	s.wakeUp()
	return s.batch
}

// Kept returns the number of the last batch: Append keeps what it takes. It never
// refuses any, also where the disk does: delivery goes on.
func (s *Store) Kept() (batch uint64, refused error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.batch, nil
}

// Changed returns nil: nobody has to wait for what Kept says.
func (s *Store) Changed() <-chan struct{} { return nil }

// fail says that the disk does not take what it should.
func (s *Store) fail(err error) {
	if s.err == nil {
		s.cfg.Logger.Error("the store cannot write; delivery goes on", "directory", s.cfg.Dir, "error", err)
	}
	s.err = err
}

// lack says that the files lack something: after a crash now the sequences
// would have to begin anew.
func (s *Store) lack(err error) {
	s.failures++
	s.fail(err)
	if s.incomplete {
		return
	}
	s.incomplete = true
	if err := (marker{Version: formatVersion, Boot: s.boot, Incomplete: true}).write(s.marker, false); err != nil {
		s.err = errors.Join(s.err, err)
	}
}

// Err returns why what was appended is not safe, nil if it is.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// Stats returns the counts as they are now.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Run brings what is appended to the disk, one commit an interval, until ctx
// ends; then once more. It returns nil, or why the last could not be done.
func (s *Store) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	for {
		select {
		case <-ctx.Done():
			return s.commit()
		case <-s.wake:
		}
		pause := s.cfg.Interval
		if s.commit() != nil {
			pause *= 10
			s.wakeUp()
		}
		timer.Reset(pause)
		select {
		case <-ctx.Done():
			return s.commit()
		case <-timer.C:
		}
	}
}

func (s *Store) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Close brings the rest to the disk and gives the directory back. Run must
// have returned, and nobody may append any more.
func (s *Store) Close() error {
	err := s.commit()
	if err == nil && !s.incomplete {
		err = marker{Version: formatVersion, Boot: s.boot, Clean: true}.write(s.marker, !s.cfg.noSync)
	}
	return errors.Join(err, s.closeFiles())
}

func (s *Store) closeFiles() error {
	var errs []error
	if s.db != nil && s.unusable == nil { // else its locks are held for good
		errs = append(errs, s.db.Close())
	}
	for _, t := range s.tails {
		if t != nil {
			errs = append(errs, t.file.Close())
		}
	}
	for _, f := range []*os.File{s.marker, s.lock} {
		if f != nil {
			errs = append(errs, f.Close())
		}
	}
	return errors.Join(errs...)
}
