package standby

import (
	"testing"

	"callboard/bridge/mutanttest"
)

// mutants are a ring with one rule switched off; those of a pair are in standbytest.
var mutants = []mutanttest.Mutant{
	{Rule: "R5: a time that runs back is counted", In: "Ring.Put",
		From: "		r.run++\n", To: ""},
	{Rule: "R5: by the active, too", In: "Marker.Test",
		From: "		m.mark.Run++\n", To: "",
		Survives: "where both sessions bring the reading, the counts are made one anew"},
	{Rule: "R5: readings of one time are told apart by their hashes", In: "Ring.follow",
		From: "case r.ofMark(k) && at >= 0:\n			left = slices.Delete(left, at, at+1)\n", To: "case r.ofMark(k):\n			_ = at\n"},
	{Rule: "R5: each is counted once", In: "Ring.follow",
		From: "				left = slices.Delete(left, at, at+1)\n			}\n		}\n	} else", To: "				_ = at\n			}\n		}\n	} else"},
	{Rule: "R6: the counts are made one", In: "Ring.shift",
		From: "	r.run += by\n", To: "	by = 0\n"},
	{Rule: "R6: by marks of after the session began only", In: "Ring.follow",
		From: "!r.marked || !r.aligned && !r.mark.Fresh", To: "!r.marked"},
	{Rule: "R7: a mark of a run that this side has not seen", In: "Ring.Rest",
		From: "r.aligned && r.mark.Run <= r.run", To: "r.aligned"},
	{Rule: "R10: whoever would need more is not aligned", In: "Ring.Put",
		From: "slices.Delete(r.kept, 0, 1), false", To: "slices.Delete(r.kept, 0, 1), r.aligned"},
}

// TestMutantsFit: each mutant changes one place of a ring as it is now.
func TestMutantsFit(t *testing.T) { mutanttest.Fit(t, ".", mutants) }

// TestMutants sees that tests catch each mutant.
func TestMutants(t *testing.T) {
	mutanttest.Hunt(t, ".", mutants, mutanttest.Tests{Run: "^TestRing"})
}
