package spool

import (
	"fmt"
	"slices"

	"callboard/bridge/overlay"
)

// Snapshot is what a store has, as few records as lead to it.
type Snapshot struct {
	At      Position
	Terms   []uint64 // that it leads through
	Records []overlay.Record
}

// Snapshot brings what has been appended to the disk and returns what is there.
// Append goes on meanwhile: what it takes is behind At.
func (s *Store) Snapshot() (*Snapshot, error) {
	s.committing.Lock()
	err := s.commitAll()
	if err != nil {
		s.committing.Unlock()
		return nil, err
	}
	tx, err := s.db.Begin(false)
	s.committing.Unlock()
	if err != nil {
		return nil, fmt.Errorf("spool: snapshot: %w", err)
	}
	defer tx.Rollback() // of a transaction that only reads: it cannot fail
	read := &Store{cfg: s.cfg, index: newIndex()}
	if err := read.guarded(func() error { return read.load(tx) }); err != nil {
		return nil, fmt.Errorf("spool: snapshot: %w", err)
	}
	return &Snapshot{Position{read.batch, read.term()}, read.terms, read.restored.Records}, nil
}

// commitAll commits until the database has what was appended when it was called.
func (s *Store) commitAll() error {
	if s.plan != nil { // of a commit that failed
		if err := s.bringToDisk(); err != nil {
			return err
		}
	}
	return s.commitLocked()
}

// Replace puts a snapshot of another store in the place of all that is here, on the
// disk before it returns.
func (s *Store) Replace(with *Snapshot) error {
	s.committing.Lock()
	defer s.committing.Unlock()
	if err := s.exchange(with); err != nil {
		return err
	}
	return s.bringToDisk()
}

// exchange does so in memory, and plans it for the disk. The tails go first:
// what the database has without them is a beginning of what was here, but what
// they have does not follow the snapshot.
func (s *Store) exchange(with *Snapshot) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tails {
		if err := t.clear(); err != nil {
			return fmt.Errorf("spool: %w", err)
		}
	}
	s.index, s.plan, s.replaced = newIndex(), nil, true
	s.batch, s.terms, s.termsDirty = with.At.Number, slices.Clone(with.Terms), true
	s.appended = true // it has its end
	for _, r := range with.Records {
		encoded, err := AppendRecord(nil, r)
		if err != nil {
			return err
		}
		s.index.apply(r, encoded)
	}
	s.makePlan()
	return nil
}

// maxBytes of records make a piece of a snapshot, which can be sent by itself.
const maxBytes = 1 << 20

// Pieces cuts a snapshot's records as encoded into pieces that DecodeRecords reads,
// each of some size.
func (s *Snapshot) Pieces() (all [][]byte, err error) {
	var piece []byte
	for _, r := range s.Records {
		if piece, err = AppendRecord(piece, r); err != nil {
			return nil, err
		}
		if len(piece) >= maxBytes {
			all, piece = append(all, piece), nil
		}
	}
	if len(piece) > 0 {
		all = append(all, piece)
	}
	return all, nil
}
