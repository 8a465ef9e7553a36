package spool

import (
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"

	"callboard/bridge/overlay"
)

// plan is a change that goes to the disk as one transaction.
type plan struct {
	batch    uint64
	failures uint64 // of writing to tails, when it was made
	old      *tail  // which it makes empty
	waiting  int64
	replaced bool   // all that the database has goes
	terms    []byte // nil: as they were
	stamp    overlay.Stamp
	changes  []change
	entries  []plannedEntry
	readings []plannedReading
}

// change puts a record in the place of what the database has by a key, or (nil)
// takes that out.
type change struct {
	bucket, key []byte
	record      overlay.Record
}

type plannedEntry struct {
	record   overlay.EntryRecord
	since    uint64
	segments []segment
}

type plannedReading struct {
	id      uint64
	reading *overlay.Reading
	hits    []byte
}

// makePlan takes what the database lacks, and lets the other tail take what
// comes after. It is quick: bytes are not encoded here.
func (s *Store) makePlan() {
	x := s.index
	p := &plan{batch: s.batch, failures: s.failures, old: s.tails[s.active], waiting: s.stats.Waiting}
	s.active, s.broken, s.planned = 1-s.active, false, s.batch
	p.replaced, s.replaced = s.replaced, false
	if s.termsDirty {
		p.terms, s.termsDirty = appendTerms([]byte{}, s.terms), false
	}
	if x.stampDirty {
		p.stamp = x.stamp
	}
	for at, r := range x.dirty { // keys differ: the order decides nothing
		p.changes = append(p.changes, change{[]byte(at.bucket), []byte(at.key), r})
	}
	for _, id := range x.deletedIDs {
		p.changes = append(p.changes, change{bucketReadings, number(id), nil})
	}
	for h := range x.dirtyEntries {
		if e := x.entries[h]; e != nil {
			p.entries = append(p.entries, plannedEntry{e.record, e.since, e.segments()})
		} else {
			p.changes = append(p.changes, change{bucketEntries, number(uint64(h)), nil})
		}
	}
	for _, r := range x.fresh {
		if r.refs > 0 {
			p.readings = append(p.readings, plannedReading{r.id, r.reading, r.hits})
			r.reading, r.hits, r.stored = nil, nil, true
		}
	}
	x.plans++
	x.stampDirty, x.fresh, x.hits, x.deletedIDs = false, nil, nil, nil
	x.dirty, x.dirtyEntries = map[place]overlay.Record{}, map[overlay.Handle]bool{}
	s.plan = p
}

func memberKey(h overlay.Handle, id string) []byte {
	return append(number(uint64(h)), id...)
}

func subKey(client, id string) []byte {
	return append(append([]byte(client), 0), id...)
}

// commit brings to the disk what has been appended.
func (s *Store) commit() error {
	s.committing.Lock()
	defer s.committing.Unlock()
	return s.commitLocked()
}

func (s *Store) commitLocked() error {
	if s.plan == nil {
		s.mu.Lock()
		if s.index.clean() && s.planned == s.batch && !s.incomplete {
			s.mu.Unlock()
			return nil
		}
		s.makePlan()
		s.mu.Unlock()
	}
	return s.bringToDisk()
}

func (x *index) clean() bool {
	return !x.stampDirty && len(x.dirty)+len(x.dirtyEntries)+len(x.fresh)+len(x.deletedIDs) == 0
}

// bringToDisk carries the plan out. If that fails the plan stays for the next try.
func (s *Store) bringToDisk() error {
	begun := time.Now()
	p := s.plan
	err := s.update(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.stats.Failures++
		err = fmt.Errorf("spool: commit: %w", err)
		if s.unusable != nil {
			s.lack(err)
		} else {
			s.fail(err)
		}
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

// update carries the plan out in the database. Its file is mapped into memory:
// where somebody cuts it, or the disk does not give it back, reading is a
// fault. Then the database is not touched again.
func (s *Store) update(p *plan) (err error) {
	if s.unusable != nil {
		return s.unusable
	}
	return s.guarded(func() error { return s.db.Update(p.apply) })
}

// guarded does something with the database, whose pages may be no more.
func (s *Store) guarded(do func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("spool.db is damaged: %v; what it still has is read when the broker starts again", p)
			s.unusable = err
		}
	}()
	return do()
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

// apply writes the plan.
func (p *plan) apply(tx *bbolt.Tx) error {
	if p.replaced {
		if err := empty(tx); err != nil {
			return err
		}
	}
	if p.terms != nil {
		if err := put(tx, bucketMeta, keyTerms, p.terms); err != nil {
			return err
		}
	}
	if err := put(tx, bucketMeta, keyApplied, number(p.batch)); err != nil {
		return err
	}
	if p.stamp != 0 {
		if err := put(tx, bucketMeta, keyStamp, number(uint64(p.stamp))); err != nil {
			return err
		}
	}
	for _, c := range p.changes {
		if err := c.apply(tx); err != nil {
			return err
		}
	}
	for i := range p.entries {
		e := &p.entries[i]
		value, err := e.value()
		if err != nil {
			return err
		}
		if err := put(tx, bucketEntries, number(uint64(e.record.Handle)), value); err != nil {
			return err
		}
	}
	for _, r := range p.readings { // by their keys, which bbolt likes best
		if err := put(tx, bucketReadings, number(r.id), append(appendReading([]byte{kindGiven}, r.reading), r.hits...)); err != nil {
			return err
		}
	}
	return nil
}

func (c *change) apply(tx *bbolt.Tx) error {
	if c.record == nil {
		return tx.Bucket(c.bucket).Delete(c.key)
	}
	value, err := appendFields(nil, c.record)
	if err != nil {
		return nil // Append has told
	}
	if s, ok := c.record.(*overlay.SessionRecord); ok && s.Unsure {
		value = append(value, kindUnsureSession)
	}
	return put(tx, c.bucket, c.key, value)
}

// value is what the database has of an entry: its record, and what has become of
// its numbers.
func (e *plannedEntry) value() ([]byte, error) {
	b, err := appendFields(nil, &e.record)
	if err != nil {
		return nil, err
	}
	b = binary.AppendUvarint(b, e.since)
	if e.segments == nil {
		return append(b, 0), nil
	}
	return appendSegments(append(b, 1), e.record.Num, e.segments), nil
}
