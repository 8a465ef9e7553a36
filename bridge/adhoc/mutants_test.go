package adhoc

import (
	"testing"

	"callboard/bridge/mutanttest"
)

// mutants are finders with one rule switched off or bent.
var mutants = []mutanttest.Mutant{
	{Rule: "H1: a fifth of a period", In: "New", From: "cfg.Heartbeat / beatsInPeriod}", To: "cfg.Heartbeat}"},
	{Rule: "H1: heard in both directions", In: "Finder.judge", From: "		case f.gone(o, now) || o.there == 0:\n", To: "		case f.gone(o, now):\n"},
	{Rule: "H1: who hears no more is no neighbour", In: "Finder.judge", From: "(f.gone(o, now) || o.there == 0)", To: "f.gone(o, now)"},
	{Rule: "H1: a beacon lists whom its sender has heard", In: "Finder.Tick", From: ", Heard: f.list(now)}", To: "}"},
	{Rule: "H1: lately", In: "Finder.list", From: " && !f.gone(o, now) && len(all)", To: " && len(all)"},
	{Rule: "H1: neighbours first", In: "Finder.list", From: "[]bool{true, false}", To: "[]bool{false, true}"},
	{Rule: "H1: as many as fit", In: "Finder.list", From: " && len(all) < maxListed {", To: " {"},
	{Rule: "H1: only by one of the last numbers", In: "Finder.share", From: " && h.Number+recent >= f.number", To: ""},
	{Rule: "H1: and none that has not been", In: "Finder.share", From: "h.Number <= f.number && ", To: "",
		Survives: "only a member, who has the key, could name it, and it may say that it hears"},
	{Rule: "H1: no number twice", In: "Finder.hear", From: "case known && number <= o.last:", To: "case known && number+1<<40 <= o.last:"},
	{Rule: "H1: no other of the own id", In: "Finder.hear", From: "case c.brokerID() == f.cfg.Self:", To: "case c.brokerID() == f.cfg.Self && number == 0:"},
	{Rule: "H1: of two of one id the first", In: "Finder.hear", From: "other.id == c.brokerID() && other.boot != boot", To: "other.id == c.brokerID() && other.boot == 0"},
	{Rule: "H1: until it is silent", In: "Finder.hear", From: "other.boot != boot && !f.gone(other, now)", To: "other.boot != boot"},
	{Rule: "H1: not its own", In: "Finder.hear", From: "if boot == f.cfg.Boot {", To: "if boot == 0 {"},
	{Rule: "H1: another network's", In: "seal.head", From: "case string(data[2:2+tagBytes]) != string(s.tag[:]):", To: "case len(data) == 0:"},
	{Rule: "H1: each life has a key of its own", In: "seal.of", From: "binary.BigEndian.AppendUint64(nil, boot)", To: "binary.BigEndian.AppendUint64(nil, boot&0)"},
	{Rule: "H1: brokers that are kept in mind have a limit", In: "Finder.hear", From: "len(f.others) >= maxHeard", To: "len(f.others) >= 1<<30"},
	{Rule: "H1: and go", In: "Finder.Tick", From: "return f.missed(o, now) > recent }", To: "return f.missed(o, now) > 1<<30 }"},
	{Rule: "H1: neighbours have a limit", In: "Finder.judge", From: "linked < maxNeighbours:", To: "linked < 1<<30:"},
	{Rule: "H1: an address without a host is where the beacon comes from", In: "other.take", From: "withHost(c.Address, host)", To: "c.Address"},
	{Rule: "H1: brokers that begin together do not beat together", In: "New", From: "now + overlay.Instant(cfg.Boot%uint64(f.beat))", To: "now"},
	{Rule: "H2: there and back", In: "Finder.costOf", From: "int(o.there) * int(f.back(o, now))", To: "recent * int(f.back(o, now))"},
	{Rule: "H2: and back", In: "Finder.costOf", From: "int(o.there) * int(f.back(o, now))", To: "int(o.there) * recent"},
	{Rule: "H2: of those that should have come since, too", In: "Finder.back", From: "missed := max(0, f.missed(o, now)-1)", To: "missed := 0"},
	{Rule: "H2: of a broker that is new only since then", In: "Finder.back", From: "int(min(o.last-o.first, recent))+1+missed", To: "recent"},
	{Rule: "H2: for two beats", In: "Finder.weigh", From: "o.differs < steady {", To: "o.differs < 1 {"},
	{Rule: "H2: in a row", In: "Finder.weigh", From: "		o.differs = 0\n		return\n", To: "		return\n"},
	{Rule: "H2: at most", In: "Finder.costOf", From: ", overlay.MaxCost)", To: ", 1<<30)",
		Survives: "shares are tenths from one up: a link never costs more"},
	{Rule: "H3: 5 beacons in a row", In: "silent", From: "5", To: "4"},
	{Rule: "H3: not more", In: "silent", From: "5", To: "6"},
}

// TestMutantsFit: each mutant changes one place of the finder as it is now.
func TestMutantsFit(t *testing.T) { mutanttest.Fit(t, ".", mutants) }

// TestMutants sees that tests catch each mutant.
func TestMutants(t *testing.T) {
	mutanttest.Hunt(t, ".", mutants, mutanttest.Tests{Skip: "TestMutants"})
}
