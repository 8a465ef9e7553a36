package overlaytest

import (
	"testing"

	"callboard/subscribe/protocol"
)

// TestLivesAlike: a source whose store has gone back may give the next number as it
// gave it before. Up to there its lives are one.
func TestLivesAlike(t *testing.T) {
	state := func(id string, holds bool) []protocol.Matched { return []protocol.Matched{{ID: id, State: &holds}} }
	tr := &truth{}
	tr.give(1, given{reading: "1", names: state("b", true)})
	tr.give(2, given{reading: "1", names: state("b", false)})
	tr.give(3, given{reading: "19", names: state("b", true)})
	tr.goBack(1)
	tr.give(2, given{reading: "1", names: state("b", false)})
	if got := tr.common(0, 1); got != 2 {
		t.Errorf("both lives have given the same up to 2, they share %d", got)
	}
	tr.give(3, given{reading: "21", names: state("b", true)})
	tr.give(4, given{reading: "22", names: state("b", false)})
	if got := tr.common(0, 1); got != 2 {
		t.Errorf("they differ at 3, but share %d", got)
	}
	tr.goBack(1)
	tr.give(2, given{reading: "1", names: state("b", true)})
	if got := tr.common(0, 2); got != 1 {
		t.Errorf("the third life differs at 2, but shares %d with the first", got)
	}
}
