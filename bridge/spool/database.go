package spool

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"callboard/bridge/overlay"
)

// The database's buckets.
var (
	bucketMeta     = []byte("meta")
	bucketSessions = []byte("sessions")      // client → session
	bucketSubs     = []byte("subscriptions") // client, NUL, id → subscription
	bucketEntries  = []byte("entries")       // handle → entry
	bucketItems    = []byte("items")         // handle, number → notification or gap
	bucketReadings = []byte("readings")      // id → reading, once for all items that name it
)

var (
	keyVersion = []byte("version")
	keyBroker  = []byte("broker")
	keyApplied = []byte("applied") // number of the last batch that is in
	keyStamp   = []byte("stamp")
)

const (
	itemNotification = 1
	itemGap          = 2
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
	s.index, s.batch, s.restored = newIndex(), 0, Restored{}
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
	if err := s.db.View(s.check); errors.Is(err, errNew) {
		if err := s.db.Update(s.prepare); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	return s.db.View(s.load)
}

var buckets = [][]byte{bucketMeta, bucketSessions, bucketSubs, bucketEntries, bucketItems, bucketReadings}

// errNew says that a database has nothing in it yet.
var errNew = errors.New("the database is new")

// check looks whose database it is and whether this program can read it.
func (s *Store) check(tx *bbolt.Tx) error {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return errNew
	}
	if v := readNumber(meta.Get(keyVersion)); v != formatVersion {
		return versionError(int(v))
	}
	if broker := meta.Get(keyBroker); overlay.BrokerID(broker) != s.cfg.Broker {
		return fmt.Errorf("it is the store of broker %q, and this is %q; give this broker a directory of its own, or its old id", broker, s.cfg.Broker)
	}
	for _, name := range buckets {
		if tx.Bucket(name) == nil {
			return &damagedError{fmt.Errorf("it has no %s", name)}
		}
	}
	return nil
}

// prepare makes a new database.
func (s *Store) prepare(tx *bbolt.Tx) error {
	for _, name := range buckets {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	meta := tx.Bucket(bucketMeta)
	return cmp.Or(meta.Put(keyVersion, number(formatVersion)), meta.Put(keyBroker, []byte(s.cfg.Broker)))
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
	s.batch = readNumber(meta.Get(keyApplied))
	if x.stamp = overlay.Stamp(readNumber(meta.Get(keyStamp))); x.stamp != 0 {
		s.restore(&overlay.StampRecord{Stamp: x.stamp})
	}
	each := func(bucket []byte, what string, f func(k []byte, d *decoder) error) error {
		return tx.Bucket(bucket).ForEach(func(k, v []byte) error {
			d := &decoder{b: v}
			err := f(k, d)
			if err = cmp.Or(err, d.err); err == nil && len(d.b) > 0 {
				err = fmt.Errorf("%d bytes too many", len(d.b))
			}
			if err != nil {
				return &damagedError{fmt.Errorf("%s %x: %w", what, k, err)}
			}
			return nil
		})
	}
	readings := map[uint64]*readingState{}
	return cmp.Or(
		each(bucketSessions, "session", func(_ []byte, d *decoder) error { s.restore(d.session()); return d.err }),
		each(bucketSubs, "subscription", func(_ []byte, d *decoder) error { s.restore(d.subscription()); return d.err }),
		each(bucketEntries, "entry", func(_ []byte, d *decoder) error { s.restore(d.entry()); return d.err }),
		each(bucketReadings, "reading", func(k []byte, d *decoder) error {
			r := &readingState{id: readNumber(k), bytes: d.reading(), stored: true}
			readings[r.id], x.lastID = r, max(x.lastID, r.id)
			return d.err
		}),
		each(bucketItems, "item", func(k []byte, d *decoder) error { return s.loadItem(k, d, readings) }),
		s.loaded(readings),
	)
}

func (s *Store) restore(r overlay.Record) {
	s.index.apply(r)
	s.restored.Records = append(s.restored.Records, r)
}

func (s *Store) loadItem(k []byte, d *decoder, readings map[uint64]*readingState) error {
	if len(k) != 16 {
		return errors.New("its key is not of 16 bytes")
	}
	handle, from := overlay.Handle(readNumber(k[:8])), readNumber(k[8:])
	e := s.index.entries[handle]
	if e == nil {
		return fmt.Errorf("it belongs to entry %d, which is not there", handle)
	}
	i := itemState{from: from, to: from, stored: true}
	switch d.byte() {
	case itemGap:
		i.to, i.why = d.uvarint(), overlay.Why(d.byte())
		s.restored.Records = append(s.restored.Records, &overlay.GapRecord{Handle: handle, From: i.from, To: i.to, New: i.from, Why: i.why})
	case itemNotification:
		id := d.uvarint()
		if i.reading = readings[id]; i.reading == nil {
			return fmt.Errorf("its reading %d is not there", id)
		}
		i.reading.refs++
		i.at, i.revision, i.names = overlay.Instant(d.varint()), d.uvarint(), d.names()
		s.restored.Records = append(s.restored.Records, &overlay.GivenRecord{
			Reading: i.reading.bytes, At: i.at, Hits: []overlay.GivenHit{{Handle: handle, Seq: from, Revision: i.revision, Names: i.names}},
		})
	default:
		return errors.New("it is neither a notification nor a gap")
	}
	e.items = append(e.items, i)
	return nil
}

// loaded marks all that was read as stored.
func (s *Store) loaded(readings map[uint64]*readingState) error {
	x := s.index
	x.stampDirty = false
	clear(x.dirtySessions)
	clear(x.dirtySubs)
	clear(x.dirtyEntries)
	for _, id := range slices.Sorted(maps.Keys(readings)) {
		if readings[id].refs == 0 {
			x.deletedIDs = append(x.deletedIDs, id)
		}
	}
	return nil
}

// plan is a change that goes to the disk as one transaction.
type plan struct {
	batch    uint64
	failures uint64 // of writing to tails, when it was made
	old      *tail  // which it makes empty
	waiting  int64
	deletes  []change // of all buckets
	stamp    overlay.Stamp
	sessions []*overlay.SessionRecord
	subs     []*overlay.SubscriptionRecord
	entries  []overlay.EntryRecord
	readings []*readingState
	items    []plannedItem
}

type change struct{ bucket, key []byte }

type plannedItem struct {
	handle overlay.Handle
	itemState
}

// makePlan takes what the database lacks, and lets the other tail take what
// comes after. It is quick: bytes are not encoded here.
func (s *Store) makePlan() {
	x := s.index
	p := &plan{batch: s.batch, failures: s.failures, old: s.tails[s.active], waiting: s.stats.Waiting}
	s.active, s.broken = 1-s.active, false
	if x.stampDirty {
		p.stamp = x.stamp
	}
	for client := range x.dirtySessions { // keys differ: the order decides nothing
		if state := x.sessions[client]; state != nil {
			p.sessions = append(p.sessions, state.record)
		} else {
			p.deletes = append(p.deletes, change{bucketSessions, []byte(client)})
		}
	}
	for k := range x.dirtySubs {
		if state := x.sessions[k.client]; state != nil && state.subs[k.id] != nil {
			p.subs = append(p.subs, state.subs[k.id])
		} else {
			p.deletes = append(p.deletes, change{bucketSubs, subKeyBytes(k.client, k.id)})
		}
	}
	for _, k := range x.deletes {
		p.deletes = append(p.deletes, change{bucketItems, k})
	}
	for _, id := range x.deletedIDs {
		p.deletes = append(p.deletes, change{bucketReadings, number(id)})
	}
	for h := range x.dirtyEntries {
		e := x.entries[h]
		if e == nil {
			p.deletes = append(p.deletes, change{bucketEntries, number(uint64(h))})
			continue
		}
		p.entries = append(p.entries, e.record)
		p.takeItems(h, e)
	}
	x.stampDirty, x.deletes, x.deletedIDs = false, nil, nil
	x.dirtySessions, x.dirtySubs, x.dirtyEntries = map[string]bool{}, map[subKey]bool{}, map[overlay.Handle]bool{}
	s.plan = p
}

func (p *plan) takeItems(h overlay.Handle, e *entryState) {
	from := len(e.items) - e.fresh
	if e.gapDirty {
		from = e.head
	}
	for i := from; i < len(e.items); i++ {
		it := &e.items[i]
		if it.stored {
			continue
		}
		it.stored = true
		if r := it.reading; r != nil && !r.stored {
			r.stored = true
			p.readings = append(p.readings, r)
		}
		p.items = append(p.items, plannedItem{h, *it})
	}
	e.fresh, e.gapDirty = 0, false
}

func subKeyBytes(client, id string) []byte {
	return append(append([]byte(client), 0), id...)
}

// commit brings to the disk what has been appended. It is called from one
// goroutine.
func (s *Store) commit() error {
	if s.plan == nil {
		s.mu.Lock()
		if s.index.clean() && !s.incomplete {
			s.mu.Unlock()
			return nil
		}
		s.makePlan()
		s.mu.Unlock()
	}
	return s.bringToDisk()
}

func (x *index) clean() bool {
	return !x.stampDirty && len(x.dirtySessions)+len(x.dirtySubs)+len(x.dirtyEntries)+len(x.deletes)+len(x.deletedIDs) == 0
}

// bringToDisk carries the plan out. If that fails the plan stays for the next try.
func (s *Store) bringToDisk() error {
	begun := time.Now()
	p := s.plan
	err := s.db.Update(p.apply)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.stats.Failures++
		err = fmt.Errorf("spool: commit: %w", err)
		s.fail(err)
		return err
	}
	s.plan = nil
	s.stats.Commits++
	s.stats.Slowest = max(s.stats.Slowest, time.Since(begun))
	s.stats.Waiting -= p.waiting
	if p.old == nil {
		return nil // while opening
	}
	if err := p.old.clear(); err != nil {
		s.fail(fmt.Errorf("spool: %w", err))
		return err
	}
	return s.complete(p)
}

// complete ends the time of an incomplete store, once all that was appended
// is in the database or in a tail.
func (s *Store) complete(p *plan) error {
	switch {
	case s.incomplete && s.failures != p.failures:
		s.wakeUp() // writing failed since: once more
		return nil
	case s.incomplete && s.appended:
		if err := (marker{Version: formatVersion, Boot: s.boot}).write(s.marker, !s.cfg.noSync); err != nil {
			return err
		}
		s.incomplete = false
	}
	if s.err != nil && !s.incomplete {
		s.cfg.Logger.Info("the store can write again", "directory", s.cfg.Dir)
		s.err = nil
	}
	return nil
}

// apply writes the plan. What is deleted may be written anew.
func (p *plan) apply(tx *bbolt.Tx) error {
	for _, c := range p.deletes {
		if err := tx.Bucket(c.bucket).Delete(c.key); err != nil {
			return err
		}
	}
	meta := tx.Bucket(bucketMeta)
	if err := meta.Put(keyApplied, number(p.batch)); err != nil {
		return err
	}
	if p.stamp != 0 {
		if err := meta.Put(keyStamp, number(uint64(p.stamp))); err != nil {
			return err
		}
	}
	for _, r := range p.sessions {
		if err := tx.Bucket(bucketSessions).Put([]byte(r.Client), appendSession(nil, r)); err != nil {
			return err
		}
	}
	for _, r := range p.subs {
		value, err := appendSubscription(nil, r)
		if err != nil {
			continue // Append has told
		}
		if err := tx.Bucket(bucketSubs).Put(subKeyBytes(r.Client, r.Subscription.ID), value); err != nil {
			return err
		}
	}
	for i := range p.entries {
		r := &p.entries[i]
		if err := tx.Bucket(bucketEntries).Put(number(uint64(r.Handle)), appendEntry(nil, r)); err != nil {
			return err
		}
	}
	return p.applyItems(tx)
}

// applyItems writes readings and items by their keys, which bbolt likes best.
func (p *plan) applyItems(tx *bbolt.Tx) error {
	slices.SortFunc(p.readings, func(a, b *readingState) int { return cmp.Compare(a.id, b.id) })
	for _, r := range p.readings {
		if err := tx.Bucket(bucketReadings).Put(number(r.id), appendReading(nil, r.bytes)); err != nil {
			return err
		}
	}
	type put struct{ key, value []byte }
	puts := make([]put, 0, len(p.items))
	for i := range p.items {
		it := &p.items[i]
		var value []byte
		if it.reading == nil {
			value = append(binary.AppendUvarint([]byte{itemGap}, it.to), byte(it.why))
		} else {
			value = binary.AppendUvarint([]byte{itemNotification}, it.reading.id)
			value = binary.AppendVarint(value, int64(it.at))
			value = binary.AppendUvarint(value, it.revision)
			value = appendNames(value, it.names)
		}
		puts = append(puts, put{itemKey(it.handle, it.from), value})
	}
	slices.SortFunc(puts, func(a, b put) int { return bytes.Compare(a.key, b.key) })
	for _, put := range puts {
		if err := tx.Bucket(bucketItems).Put(put.key, put.value); err != nil {
			return err
		}
	}
	return nil
}
