package storetest

import (
	"sync"

	"callboard/bridge/overlay"
)

// Memory is a store that keeps batches in memory, and none before it is told to:
// as a standby or a stream does, whose word comes later.
type Memory struct {
	mu      sync.Mutex
	batches [][]overlay.Record
	kept    uint64
	refused error
	changed chan struct{}
}

// NewMemory returns a store that has kept some batches.
func NewMemory(batches [][]overlay.Record) *Memory {
	return &Memory{batches: batches, kept: uint64(len(batches)), changed: make(chan struct{}, 1)}
}

// Append takes a batch, an empty one too: the outputs of its step wait for those
// before.
func (m *Memory) Append(records []overlay.Record) (batch uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.batches = append(m.batches, Clone(records))
	return uint64(len(m.batches))
}

// Kept returns the last batch that is kept.
func (m *Memory) Kept() (batch uint64, refused error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept, m.refused
}

// Changed has a token when Kept says something else.
func (m *Memory) Changed() <-chan struct{} { return m.changed }

// Keep keeps so many batches more, or all that there are.
func (m *Memory) Keep(batches int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.refused == nil {
		m.kept = min(m.kept+uint64(batches), uint64(len(m.batches)))
		m.tell()
	}
}

// Refuse refuses all that is not kept.
func (m *Memory) Refuse(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = why
	m.tell()
}

func (m *Memory) tell() {
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// Survive returns the batches that are kept, and some of those behind them, of
// which nobody has been told.
func (m *Memory) Survive(more int) [][]overlay.Record {
	m.mu.Lock()
	defer m.mu.Unlock()
	end := m.kept
	if m.refused == nil {
		end = min(end+uint64(more), uint64(len(m.batches)))
	}
	return m.batches[:end:end]
}
