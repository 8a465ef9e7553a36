// Package witness is a broker's part as the witness of pairs of other brokers: it
// gives its voice, by the rules of bridge/standby, and keeps to whom in a small
// file for each pair, on the disk before anybody is told.
package witness

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"callboard/bridge/clock"
	"callboard/bridge/link"
	"callboard/bridge/overlay"
	"callboard/bridge/standby"
	"callboard/bridge/standby/format"
)

// Config says where the votes are kept.
type Config struct {
	Dir    string       // required
	Clock  clock.Clock  // default: one that begins now
	Logger *slog.Logger // default: discard
}

// Votes is the witness of all pairs that ask.
type Votes struct {
	cfg Config

	mu    sync.Mutex
	pairs map[overlay.BrokerID]*voter
}

// voter is the witness of one pair.
type voter struct {
	mu      sync.Mutex
	file    *os.File
	witness *standby.Witness
	after   time.Duration
	stored  standby.Vote
}

// New makes a witness that has voted as its files say.
func New(c Config) (*Votes, error) {
	if c.Dir == "" {
		return nil, errors.New("witness: no directory given")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if !c.Clock.Started() {
		c.Clock = clock.New()
	}
	return &Votes{cfg: c, pairs: map[overlay.BrokerID]*voter{}}, nil
}

func (v *Votes) now() overlay.Instant { return overlay.Instant(v.cfg.Clock.Micro()) }

// Serve answers one side of a pair until its connection ends (link.Votes).
func (v *Votes) Serve(pair overlay.BrokerID, side string, takeOverAfter time.Duration, m *link.Vote) {
	log := v.cfg.Logger.With("pair", string(pair), "side", side)
	err := v.serve(pair, side, takeOverAfter, m)
	log.Info("a side of a pair has gone from its witness", "error", err)
}

func (v *Votes) serve(pair overlay.BrokerID, side string, takeOverAfter time.Duration, m *link.Vote) error {
	from := standby.A
	switch side {
	case standby.A.String():
	case standby.B.String():
		from = standby.B
	default:
		return fmt.Errorf("side %.16q; expected A or B", side)
	}
	w, err := v.of(pair, takeOverAfter)
	if err != nil {
		v.cfg.Logger.Error("no voice for a pair", "pair", string(pair), "error", err)
		return err
	}
	for {
		b, err := m.Read()
		if err != nil {
			return err
		}
		asked, err := format.Parse(b)
		if err != nil {
			return err
		}
		answer, err := w.answer(v.now(), from, asked)
		if err != nil {
			v.cfg.Logger.Error("a voice for a pair cannot be stored, and is not given", "pair", string(pair), "error", err)
			return err
		}
		if answer == nil {
			continue
		}
		if b, err = format.Append(nil, answer); err != nil {
			return err
		}
		if err := m.Write(b); err != nil {
			return err
		}
	}
}

// of returns the witness of a pair.
func (v *Votes) of(pair overlay.BrokerID, after time.Duration) (*voter, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := v.pairs[pair]
	if w == nil {
		var err error
		if w, err = open(filepath.Join(v.cfg.Dir, fmt.Sprintf("witness-%x", sha256.Sum256([]byte(pair))))); err != nil {
			return nil, err
		}
		v.pairs[pair] = w
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.witness == nil || after > w.after { // the longer one counts, from now
		w.after = max(after, w.after)
		w.witness = standby.NewWitness(w.stored, overlay.Duration(w.after.Microseconds()), v.now())
	}
	return w, nil
}

func open(path string) (*voter, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	w := &voter{file: f}
	b := make([]byte, format.Sector)
	switch n, err := f.ReadAt(b, 0); {
	case n == 0: // new
		return w, nil
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if w.stored, err = format.ParseVote(b); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w; delete it while both sides of the pair are in step", path, err)
	}
	return w, nil
}

// answer answers a message, once what it leads to is on the disk.
func (w *voter) answer(now overlay.Instant, from standby.Side, m standby.Message) (standby.Message, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	answer := w.witness.Receive(now, from, m)
	if vote := w.witness.Vote(); vote != w.stored {
		if _, err := w.file.WriteAt(format.Vote(vote), 0); err != nil {
			return nil, err
		}
		if err := w.file.Sync(); err != nil {
			return nil, err
		}
		w.stored = vote
	}
	return answer, nil
}

// Close gives the files back, when nobody asks any more.
func (v *Votes) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var errs []error
	for _, w := range v.pairs {
		errs = append(errs, w.file.Close())
	}
	v.pairs = map[overlay.BrokerID]*voter{}
	return errors.Join(errs...)
}
