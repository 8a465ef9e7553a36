package witness

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"callboard/bridge/overlay"
	"callboard/bridge/standby"
)

// inStep is what a side renews with while the pair is.
func inStep(term standby.Term, side standby.Side) standby.Message {
	if side == standby.A {
		return &standby.Renew{Term: term, Stands: standby.Both, Active: true, History: []standby.Term{term}}
	}
	return &standby.Renew{Term: term, Stands: standby.In, History: []standby.Term{term}}
}

func answerOf(t *testing.T, v *Votes, pair string, from standby.Side, m standby.Message) standby.Message {
	t.Helper()
	w, err := v.of(overlay.BrokerID(pair), 0)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.answer(v.now(), from, m)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func given(m standby.Message) bool {
	x, is := m.(*standby.Voice)
	return is && x.Given
}

// TestVotes: a witness has its voice on the disk before it gives it, and no later life
// of it gives the other side one for what was begun without it. Of other pairs it
// knows nothing.
func TestVotes(t *testing.T) {
	dir := t.TempDir()
	v, err := New(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	take := &standby.Claim{Number: 4, Kind: standby.TakeOver, Base: 3, History: []standby.Term{3}, Asked: 1}
	if given(answerOf(t, v, "p", standby.B, take)) {
		t.Error("a voice for a pair of which nothing is known")
	}
	for _, side := range []standby.Side{standby.A, standby.B} {
		answerOf(t, v, "p", side, inStep(3, side))
	}
	if !given(answerOf(t, v, "p", standby.B, take)) {
		t.Error("no voice for a standby in step")
	}
	if given(answerOf(t, v, "q", standby.B, take)) {
		t.Error("what it knows of one pair counts for another")
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if v, err = New(Config{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	alone := &standby.Claim{Number: 5, Kind: standby.GoOn, Base: 3, History: []standby.Term{3}, Asked: 1}
	if given(answerOf(t, v, "p", standby.A, alone)) {
		t.Error("after it was started again, a voice for a side whose store has not what the other has begun")
	}
	if !given(answerOf(t, v, "p", standby.B, take)) {
		t.Error("it does not give the same voice again")
	}
}

// TestDamagedVote: a witness that cannot know to whom it has given its voice says so,
// and gives none.
func TestDamagedVote(t *testing.T) {
	dir := t.TempDir()
	v, err := New(Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []standby.Side{standby.A, standby.B} {
		answerOf(t, v, "p", side, inStep(3, side))
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "witness-*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	text[3] ^= 1
	if err := os.WriteFile(files[0], text, 0o600); err != nil {
		t.Fatal(err)
	}
	if v, err = New(Config{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if _, err := v.of("p", time.Second); err == nil || !strings.Contains(err.Error(), files[0]) {
		t.Errorf("a damaged file: %v", err)
	}
}
