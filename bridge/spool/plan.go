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
	deletes  []change // of all buckets
	stamp    overlay.Stamp
	sessions []*overlay.SessionRecord
	subs     []*overlay.SubscriptionRecord
	told     []plannedTold
	entries  []plannedEntry
	members  []*overlay.EntrySubscription
	states   []plannedState
	readings []plannedReading
}

type plannedState struct {
	key    stateKey
	record *overlay.StateRecord
}

type plannedTold struct {
	name   string
	record *overlay.ToldRecord
}

type change struct{ bucket, key []byte }

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
	for k := range x.dirtyTold {
		if state := x.sessions[k.client]; state != nil && state.told[k.id] != nil {
			p.told = append(p.told, plannedTold{k.id, state.told[k.id]})
		} else {
			p.deletes = append(p.deletes, change{bucketTold, subKeyBytes(k.client, k.id)})
		}
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
		p.entries = append(p.entries, plannedEntry{e.record, e.since, e.segments()})
	}
	for _, r := range x.fresh {
		if r.refs > 0 {
			p.readings = append(p.readings, plannedReading{r.id, r.reading, r.hits})
			r.reading, r.hits, r.stored = nil, nil, true
		}
	}
	for k := range x.dirtyMembers {
		if e := x.entries[k.handle]; e != nil && e.members[k.id] != nil {
			p.members = append(p.members, e.members[k.id])
		} else {
			p.deletes = append(p.deletes, change{bucketMembers, memberKeyBytes(k.handle, k.id)})
		}
	}
	for k, r := range x.dirtyStates {
		if r != nil {
			p.states = append(p.states, plannedState{k, r})
		} else {
			p.deletes = append(p.deletes, change{bucketStates, k.bytes()})
		}
	}
	x.stampDirty, x.fresh, x.hits, x.deletedIDs = false, nil, nil, nil
	x.dirtyStates = map[stateKey]*overlay.StateRecord{}
	x.dirtySessions, x.dirtySubs, x.dirtyEntries = map[string]bool{}, map[subKey]bool{}, map[overlay.Handle]bool{}
	x.dirtyMembers, x.dirtyTold = map[memberKey]bool{}, map[subKey]bool{}
	s.plan = p
}

func memberKeyBytes(h overlay.Handle, id string) []byte {
	return append(number(uint64(h)), id...)
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
	return !x.stampDirty && len(x.dirtySessions)+len(x.dirtySubs)+len(x.dirtyTold)+len(x.dirtyEntries)+len(x.dirtyMembers)+len(x.dirtyStates)+len(x.fresh)+len(x.deletedIDs) == 0
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
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("spool.db is damaged: %v; what it still has is read when the broker starts again", p)
			s.unusable = err
		}
	}()
	return s.db.Update(p.apply)
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
	if err := put(tx, bucketMeta, keyApplied, number(p.batch)); err != nil {
		return err
	}
	if p.stamp != 0 {
		if err := put(tx, bucketMeta, keyStamp, number(uint64(p.stamp))); err != nil {
			return err
		}
	}
	for _, r := range p.sessions {
		value := appendSession(nil, r)
		if r.Unsure {
			value = append(value, kindUnsureSession)
		}
		if err := put(tx, bucketSessions, []byte(r.Client), value); err != nil {
			return err
		}
	}
	for _, r := range p.subs {
		value, err := appendSubscription(nil, r)
		if err != nil {
			continue // Append has told
		}
		if err := put(tx, bucketSubs, subKeyBytes(r.Client, r.Subscription.ID), value); err != nil {
			return err
		}
	}
	for _, st := range p.states {
		if err := put(tx, bucketStates, st.key.bytes(), appendState(nil, st.record)); err != nil {
			return err
		}
	}
	for _, t := range p.told {
		if err := put(tx, bucketTold, subKeyBytes(t.record.Client, t.name), appendTold(nil, t.record)); err != nil {
			return err
		}
	}
	for i := range p.entries {
		e := &p.entries[i]
		if err := put(tx, bucketEntries, number(uint64(e.record.Handle)), appendEntryState(nil, e)); err != nil {
			return err
		}
	}
	for _, r := range p.members {
		value, err := appendEntrySubscription(nil, r)
		if err != nil {
			continue // Append has told
		}
		if err := put(tx, bucketMembers, memberKeyBytes(r.Handle, r.Subscription.ID), value); err != nil {
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

// appendEntryState writes what the database has of an entry: its record, and
// what has become of its numbers.
func appendEntryState(b []byte, e *plannedEntry) []byte {
	b = binary.AppendUvarint(appendEntry(b, &e.record), e.since)
	if e.segments == nil {
		return append(b, 0)
	}
	return appendSegments(append(b, 1), e.record.Num, e.segments)
}
