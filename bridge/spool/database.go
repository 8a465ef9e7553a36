package spool

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// The database's buckets.
var (
	bucketMeta     = []byte("meta")
	bucketSessions = []byte("sessions")      // client → session
	bucketSubs     = []byte("subscriptions") // client, NUL, id → subscription
	bucketTold     = []byte("told")          // client, NUL, name → what it was told of robots
	bucketClaims   = []byte("claims")        // robot → since when it is advertised
	bucketTasks    = []byte("tasks")         // number → task
	bucketHeld     = []byte("tasks_held")    // number → whose hands it is in, and how often it has come back
	bucketAnswers  = []byte("task_answers")  // number → how it has ended
	bucketStates   = []byte("states")        // handle, id, NUL, robot → state of a subscription to changes that is true
	bucketMembers  = []byte("members")       // handle, id → subscription of an entry's own set
	bucketEntries  = []byte("entries")       // handle → entry, and what has become of its numbers
	bucketReadings = []byte("readings")      // id → reading with all keys that it was given to
)

var (
	keyVersion = []byte("version")
	keyBroker  = []byte("broker")
	keyApplied = []byte("applied") // number of the last batch that is in
	keyStamp   = []byte("stamp")
	keyTerms   = []byte("terms") // of a pair, that it leads through
)

// openDatabase opens the database and reads it. One that is damaged is moved
// aside: it could only be wrong.
func (s *Store) openDatabase() error {
	path := s.path("spool.db")
	damage := s.readDatabase(path)
	var d *damagedError
	if !errors.As(damage, &d) {
		return damage
	}
	aside := fmt.Sprintf("%s.damaged-%d", path, time.Now().Unix())
	if err := os.Rename(path, aside); err != nil {
		return errors.Join(damage, err)
	}
	s.cfg.Logger.Error("the store was damaged; a new one begins", "moved", aside, "error", damage)
	s.index, s.batch, s.terms, s.restored = newIndex(), 0, nil, Restored{}
	if err := s.readDatabase(path); err != nil {
		return err
	}
	s.lose("it was damaged: " + damage.Error())
	return nil
}

// damagedError says that the database's bytes make no sense.
type damagedError struct{ err error }

func (d *damagedError) Error() string { return d.err.Error() }

func (s *Store) readDatabase(path string) (err error) {
	found, half, err := checkPages(path)
	if err != nil {
		return err
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // the file is mapped into memory
	defer func() {
		if p := recover(); p != nil { // bbolt panics on pages that make no sense
			err = &damagedError{fmt.Errorf("%v", p)}
		}
		if err != nil && s.db != nil {
			err = errors.Join(err, s.db.Close())
			s.db = nil
		}
	}()
	s.db, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second, FreelistType: bbolt.FreelistMapType, NoSync: s.cfg.noSync})
	var pathErr *fs.PathError
	var errno syscall.Errno
	switch {
	case errors.Is(err, berrors.ErrTimeout):
		return errors.New("another process has the database open")
	case errors.As(err, &pathErr), errors.As(err, &errno):
		return err
	case err != nil: // what bbolt says of bytes that are no database
		return &damagedError{err}
	}
	if err := s.db.View(s.check); errors.Is(err, errNew) || errors.Is(err, errOlder) {
		found = found && errors.Is(err, errOlder)
		if err := s.db.Update(s.prepare); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	s.found = found
	if half {
		s.lose("a meta page of spool.db is damaged")
	}
	return s.db.View(s.load)
}

var buckets = [][]byte{bucketMeta, bucketSessions, bucketSubs, bucketTold, bucketClaims, bucketStates, bucketEntries, bucketMembers, bucketReadings, bucketTasks, bucketHeld, bucketAnswers}

// errNew says that a database has nothing in it yet, errOlder that it is of an
// earlier version, which only lacks buckets.
var (
	errNew   = errors.New("the database is new")
	errOlder = errors.New("the database is of an earlier version")
)

// check looks whose database it is and whether this program can read it.
func (s *Store) check(tx *bbolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return errNew
	}
	version := meta.Get(keyVersion)
	if v := readNumber(version); len(version) == 8 && v > 0 && v < 3 { // values were not sealed
		return versionError(int(v))
	}
	version, err := unseal(keyVersion, version)
	if err != nil {
		return &damagedError{err}
	}
	v := readNumber(version)
	if v < oldestVersion || v > formatVersion {
		return versionError(int(v))
	}
	broker, err := unseal(keyBroker, meta.Get(keyBroker))
	if err != nil {
		return &damagedError{err}
	}
	if overlay.BrokerID(broker) != s.cfg.Broker {
		return fmt.Errorf("it is the store of broker %q, and this is %q; give this broker a directory of its own, or its old id", broker, s.cfg.Broker)
	}
	if v < formatVersion {
		return errOlder
	}
	for _, name := range buckets {
		if tx.Bucket(name) == nil {
			return &damagedError{fmt.Errorf("it has no %s", name)}
		}
	}
	return nil
}

// prepare makes a new database, or makes one of an earlier version one of this.
func (s *Store) prepare(tx *bbolt.Tx) error {
	for _, name := range buckets {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return cmp.Or(put(tx, bucketMeta, keyVersion, number(formatVersion)), put(tx, bucketMeta, keyBroker, []byte(s.cfg.Broker)))
}

// put writes a value, sealed by a checksum of it and its key: bbolt has none
// for what it stores.
func put(tx *bbolt.Tx, bucket, key, value []byte) error {
	return tx.Bucket(bucket).Put(key, binary.BigEndian.AppendUint32(value, sealOf(key, value)))
}

// unseal returns the value that put has sealed.
func unseal(key, sealed []byte) ([]byte, error) {
	n := len(sealed) - 4
	if n < 0 || binary.BigEndian.Uint32(sealed[n:]) != sealOf(key, sealed[:n]) {
		return nil, fmt.Errorf("the checksum of %x is wrong", key)
	}
	return sealed[:n:n], nil
}

// unsealNumber returns a number of the meta bucket, 0 if it is not there.
func unsealNumber(meta *bbolt.Bucket, key []byte) (uint64, error) {
	sealed := meta.Get(key)
	if sealed == nil {
		return 0, nil
	}
	v, err := unseal(key, sealed)
	if err != nil {
		return 0, &damagedError{err}
	}
	return readNumber(v), nil
}

func sealOf(key, value []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, value)
}

func number(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func readNumber(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}

// load reads the database into the index and into restored.
func (s *Store) load(tx *bbolt.Tx) error {
	meta, x := tx.Bucket(bucketMeta), s.index
	applied, err := unsealNumber(meta, keyApplied)
	if err != nil {
		return err
	}
	stamp, err := unsealNumber(meta, keyStamp)
	if err != nil {
		return err
	}
	if s.terms, err = loadTerms(meta); err != nil {
		return err
	}
	s.batch, s.planned, x.stamp = applied, applied, overlay.Stamp(stamp)
	if x.stamp != 0 {
		s.restore(&overlay.StampRecord{Stamp: x.stamp})
	}
	each := func(bucket []byte, what string, f func(k []byte, d *decoder) error) error {
		return tx.Bucket(bucket).ForEach(func(k, v []byte) error {
			if err := s.stopped(); err != nil {
				return err
			}
			v, err := unseal(k, v)
			if err == nil {
				d := &decoder{b: v}
				err = f(k, d)
				if err = cmp.Or(err, d.err); err == nil && len(d.b) > 0 {
					err = fmt.Errorf("%d bytes too many", len(d.b))
				}
			}
			if err != nil {
				return &damagedError{fmt.Errorf("%s %x: %w", what, k, err)}
			}
			return nil
		})
	}
	records := func(bucket []byte, what string, record func() overlay.Record) error {
		return each(bucket, what, func(_ []byte, d *decoder) error {
			r := record()
			if d.fields(r); d.err == nil {
				s.restore(r)
			}
			return d.err
		})
	}
	left := map[overlay.Handle]*loading{}
	return cmp.Or(
		each(bucketSessions, "session", func(_ []byte, d *decoder) error {
			r := &overlay.SessionRecord{}
			d.fields(r)
			r.Unsure = len(d.b) > 0 && d.byte() == kindUnsureSession
			s.restore(r)
			return d.err
		}),
		records(bucketSubs, "subscription", func() overlay.Record { return &overlay.SubscriptionRecord{} }),
		records(bucketClaims, "claim", func() overlay.Record { return &overlay.ClaimRecord{} }),
		records(bucketTasks, "task", func() overlay.Record { return &overlay.TaskRecord{} }),
		records(bucketHeld, "task in hand", func() overlay.Record { return &overlay.TaskHeldRecord{} }),
		records(bucketAnswers, "answer", func() overlay.Record { return &overlay.TaskAnsweredRecord{} }),
		records(bucketTold, "what was told", func() overlay.Record { return &overlay.ToldRecord{} }),
		each(bucketEntries, "entry", func(_ []byte, d *decoder) error { return s.loadEntry(d, left) }),
		records(bucketMembers, "member", func() overlay.Record { return &overlay.EntrySubscription{} }),
		each(bucketReadings, "reading", func(k []byte, d *decoder) error { return s.loadReading(readNumber(k), d, left) }),
		s.loadEnd(left),
		records(bucketStates, "state", func() overlay.Record { return &overlay.StateRecord{} }),
		s.loaded(),
	)
}

func loadTerms(meta *bbolt.Bucket) ([]uint64, error) {
	sealed := meta.Get(keyTerms)
	if sealed == nil {
		return nil, nil
	}
	v, err := unseal(keyTerms, sealed)
	if err != nil {
		return nil, &damagedError{err}
	}
	all, err := parseTerms(v)
	if err != nil {
		return nil, &damagedError{fmt.Errorf("terms: %w", err)}
	}
	return all, nil
}

// empty takes out all that a database has but whose it is.
func empty(tx *bbolt.Tx) error {
	for _, name := range buckets {
		if bytes.Equal(name, bucketMeta) {
			continue
		}
		if err := tx.DeleteBucket(name); err != nil {
			return err
		}
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	return tx.Bucket(bucketMeta).Delete(keyStamp)
}

func (s *Store) restore(r overlay.Record) {
	s.index.apply(r, nil)
	s.restored.Records = append(s.restored.Records, r)
}

// loading is an entry while its readings are read.
type loading struct {
	*entryState
	next     uint64    // numbers from here on are notifications
	segments []segment // what those before are
	missing  uint64    // how many of those are notifications that have not been read yet
	states   bool      // notifications say something of states
}

func (s *Store) loadEntry(d *decoder, left map[overlay.Handle]*loading) error {
	r := &overlay.EntryRecord{}
	d.fields(r)
	l := &loading{next: r.Next}
	since, uneven := d.uvarint(), uint64(0)
	if d.byte() != 0 {
		l.segments, uneven = d.segments(r.Num), r.Next-1
	} else if r.Next > r.Num+1 {
		l.segments = []segment{{r.Num + 1, r.Next - 1, 0}}
	}
	if d.err != nil {
		return d.err
	}
	s.restore(r)
	l.entryState = s.index.entries[r.Handle]
	l.since, l.uneven = since, uneven
	for _, seg := range l.segments {
		if seg.why == 0 {
			l.missing += seg.to - seg.from + 1
		}
	}
	left[r.Handle] = l
	s.index.lastID = max(s.index.lastID, since)
	return nil
}

// loadReading brings a reading back to the keys that still retain it. Gaps
// before it come first: a key's numbers are restored in order.
func (s *Store) loadReading(id uint64, d *decoder, left map[overlay.Handle]*loading) error {
	r, ok := d.record().(*overlay.GivenRecord)
	if d.err != nil || !ok {
		return cmp.Or(d.err, errShort)
	}
	x, reading := s.index, &heldState{id: id, stored: true}
	x.lastID = max(x.lastID, id)
	hits := r.Hits[:0]
	for _, h := range r.Hits {
		l := left[h.Handle]
		if l == nil || id <= l.since || h.Seq <= l.record.Num {
			continue
		}
		s.loadGaps(l, h.Seq)
		if h.Seq < l.next {
			if len(l.segments) == 0 || l.segments[0].from > h.Seq || l.segments[0].why != 0 {
				continue // passed over, or part of a gap
			}
			l.missing--
		}
		l.states = l.states || slices.ContainsFunc(h.Names, func(n protocol.Matched) bool { return n.State != nil })
		hits = append(hits, h)
		x.hit(h.Handle, h.Seq, reading)
	}
	if r.Hits = hits; len(hits) == 0 {
		x.deletedIDs = append(x.deletedIDs, id)
		return nil
	}
	s.restored.Records = append(s.restored.Records, r)
	return nil
}

// loadGaps restores an entry's gaps that end before a number.
func (s *Store) loadGaps(l *loading, before uint64) {
	for ; len(l.segments) > 0 && l.segments[0].to < before; l.segments = l.segments[1:] {
		if g := l.segments[0]; g.why != 0 {
			s.restored.Records = append(s.restored.Records, &overlay.GapRecord{Handle: l.record.Handle, From: g.from, To: g.to, New: g.from, Why: g.why})
			s.index.gap(&overlay.GapRecord{Handle: l.record.Handle, From: g.from, To: g.to, Why: g.why})
		}
	}
}

// loadEnd restores the gaps that nothing follows, and sees that nothing is
// missing. What the notifications that are left say of states is not all that
// was said of them, so it does not count.
func (s *Store) loadEnd(left map[overlay.Handle]*loading) error {
	for _, h := range slices.Sorted(maps.Keys(left)) {
		l := left[h]
		s.loadGaps(l, math.MaxUint64)
		if l.missing != 0 {
			return &damagedError{fmt.Errorf("entry %d lacks %d notifications", h, l.missing)}
		}
		if l.states {
			s.restored.Records = append(s.restored.Records, &overlay.StatesEnded{Handle: h})
		}
	}
	return nil
}

// loaded marks all that was read as stored.
func (s *Store) loaded() error {
	x := s.index
	x.stampDirty, x.fresh = false, nil
	clear(x.dirty)
	clear(x.dirtyEntries)
	return nil
}
