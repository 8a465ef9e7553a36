package multicasttest

import (
	"testing"

	"callboard/bridge/mutanttest"
)

// mutants are machines with one rule switched off or bent.
var mutants = []mutanttest.Mutant{
	{Rule: "X1: not beyond a member's window", In: "Sender.mayGo", From: " && s.next < s.bound", To: ""},
	{Rule: "X1: repairs go first", In: "Sender.pump", From: "case repair && (!data || s.share <= 0):", To: "case repair && !data:"},
	{Rule: "limits: no more than half of the tokens for repairs", In: "Sender.pump", From: "(!data || s.share <= 0)", To: "(!data || s.share > -1<<60)"},
	{Rule: "X2: heartbeats", In: "Sender.finish", From: "if s.now >= s.beatAt && s.heard() {", To: "if s.now >= s.beatAt && s.next == 0 {"},
	{Rule: "X2: soon after the last datagram", In: "firstBeat", From: "2 * time.Millisecond", To: "50 * time.Millisecond"},
	{Rule: "X2: a datagram begins them anew", In: "Sender.sendData", From: "	s.beatWait, s.beatAt = firstBeat, s.now+firstBeat\n", To: ""},
	{Rule: "X3: nothing below low", In: "Sender.nacked", From: "number := max(r.from, s.low)", To: "number := max(r.from, 1)",
		Survives: "what is below low is taken from the repairs before it goes; only the member's losses would count more"},
	{Rule: "X3: the hold-off", In: "Sender.asked", From: "slot.again && s.now-slot.resent < holdOff", To: "slot.again && s.now-slot.resent < 0"},
	{Rule: "X3: not for ever", In: "Sender.asked", From: "slot.again && s.now-slot.resent < holdOff", To: "slot.again"},
	{Rule: "X3: once while it waits", In: "Sender.asked", From: "	case slot.waits:\n", To: ""},
	{Rule: "X4: duplicates widen turns", In: "Sender.asked", From: "min(max(minWidth, 1.5*s.width), maxWidth)", To: "s.width"},
	{Rule: "X4: turns narrow again", In: "Sender.judge", From: "if s.width *= 0.97; s.width < 1 {", To: "if s.width < 1 {"},
	{Rule: "X4: turns have a limit", In: "Sender.asked", From: "min(max(minWidth, 1.5*s.width), maxWidth)", To: "min(max(minWidth, 1.5*s.width), 250)"},
	{Rule: "X5: low is the least want", In: "Sender.rebound", From: "s.low, s.bound = min(s.low, p.want)", To: "s.low, s.bound = max(s.low, p.want)"},
	{Rule: "X5: an old status changes nothing", In: "Sender.status", From: "	case st.want < p.want: // overtaken, or of before it was started\n		return nil\n", To: ""},
	{Rule: "X5: asks are answered", In: "Sender.told", From: "if err := s.fill(p, m.From, m.To); err != nil {", To: "if err := error(nil); err != nil {"},
	{Rule: "X5: members are told their places", In: "Sender.start", From: "	s.place(p)\n", To: ""},
	{Rule: "X5: ranks are never given again", In: "Sender.join", From: "	s.rank++\n", To: "	s.rank = uint16(slot + 1)\n"},
	{Rule: "X6 (a): who holds the window closed", In: "Sender.watchWindow", From: "closes && s.awake-p.closed >= maxClosed", To: "closes && s.awake-p.closed >= 100*maxClosed"},
	{Rule: "X6 (b): who is not heard", In: "Sender.passTick", From: "s.awake-p.heard >= silence", To: "s.awake-p.heard >= 1000*silence"},
	{Rule: "X6 (c): who lacks over 20 %", In: "Sender.judgeLosses", From: "(loss > maxLoss || ", To: "("},
	{Rule: "X6 (c): who lacks much more than the others", In: "Sender.judgeLosses", From: " || loss > maxLossAlone && n > timesMedian*median)", To: " || n < 0*median)"},
	{Rule: "X6 (c): not who lacks as much as the others", In: "Sender.judgeLosses", From: " && n > timesMedian*median)", To: " && n > 0*median)"},
	{Rule: "X6: fill of all that it lacks", In: "Sender.off", From: "number := p.want;", To: "number := p.want + 1;"},
	{Rule: "X6: and of what waited", In: "Sender.sendData", From: "	for _, p := range s.leaving {\n		s.fillOne(p, slot.number)\n	}\n", To: ""},
	{Rule: "X6: off comes behind what waited", In: "Sender.leave", From: "if s.done < p.until {", To: "if s.done > p.until {"},
	{Rule: "X6: after 10 s", In: "firstWait", From: "10 * time.Second", To: "1 * time.Second"},
	{Rule: "X6: then twice as long", In: "Sender.keepOut", From: "min(2*p.wait, longestWait)", To: "p.wait"},
	{Rule: "X6: after a long membership not so long", In: "Sender.keepOut", From: "p.wait == 0 || s.now-p.since > 2*p.wait", To: "p.wait == 0"},
	{Rule: "X7: what an ended session held back is freed", In: "Sender.drop", From: "		s.rebound()\n", To: ""},
	{Rule: "X8: the rate falls when sockets overflow", In: "Sender.adjustRate", From: "if s.dropped || worst", To: "if worst"},
	{Rule: "X8: and rises again", In: "Sender.adjustRate", From: "min(s.pace+rateUp*full, full)", To: "min(s.pace, full)"},
	{Rule: "X8: tokens", In: "Sender.begin", From: "min(burst, s.tokens+s.pace*passed.Seconds())", To: "burst"},
	{Rule: "time awake: a sender that stood still", In: "Sender.begin", From: "s.awake += min(passed, tick)", To: "s.awake += passed"},
	{Rule: "Y1: no packet number twice", In: "Member.received", From: "if seen != nil && !seen.new(h.Packet) {", To: "if seen != nil && h.Packet == 0 {",
		Survives: "what is sent again is a datagram that is there, or a NACK that was asked: it changes times only"},
	{Rule: "Y2: not beyond the window", In: "Member.arrive", From: "case number >= m.want+uint64(len(m.ring)):", To: "case number >= m.want+1<<40:"},
	{Rule: "Y2: once", In: "Member.arrive", From: "	case s.there:\n		m.late(by)\n		return\n", To: "	case s.there:\n"},
	{Rule: "Y2: heartbeats show what is lost", In: "Member.hear", From: "			m.tell(min(b.number, m.want+uint64(len(m.ring))))\n", To: ""},
	{Rule: "Y3: turns", In: "Member.tell", From: "m.now + m.reorder + m.turn(n)", To: "m.now + m.reorder"},
	{Rule: "Y4: asked again after the retry time", In: "Member.ask", From: "m.now, true, m.now+m.retry(s.rounds)", To: "m.now, true, m.now+1000*m.retry(s.rounds)"},
	{Rule: "Y5: what others ask for", In: "Member.received", From: "		m.overhear(content)\n", To: ""},
	{Rule: "Y5: a short while ago changes nothing", In: "Member.overhear", From: "s.rounds > 0 && m.now-s.last", To: "s.rounds > 1000 && m.now-s.last",
		Survives: "the NACKs of one turn are not apart for long enough to move what is due by much"},
	{Rule: "Y6: the least retry time", In: "leastRetry", From: "time.Millisecond", To: "100 * time.Microsecond"},
	{Rule: "Y6: until a round trip is known", In: "Member.ask", From: "m.backoff = min(2*m.backoff, mostBackoff) // Y6", To: "m.backoff = 1"},
	{Rule: "Y7: over the link", In: "Member.askLink", From: "		asked.To = n\n	}\n	if asked.To > 0 {", To: "		asked.To = n\n	}\n	if asked.To > 1<<60 {"},
	{Rule: "Y7: a gap that stays ends the session", In: "Member.askLink", From: "if m.awake-s.linked >= fillWithin*m.cfg.Heartbeat {", To: "if m.awake-s.linked >= 1000*fillWithin*m.cfg.Heartbeat {"},
	{Rule: "Y8: reordering", In: "Member.close", From: "case by == viaGroup && s.rounds > 0: // Y8", To: "case by == viaGroup && s.rounds > 1000:"},
	{Rule: "Y9: after some datagrams", In: "Member.finish", From: "edge >= m.edge+statusEvery || ", To: ""},
	{Rule: "Y9: on a heartbeat", In: "Member.hear", From: "			if m.phase == phaseStarted {\n				m.status()\n			}\n", To: ""},
	{Rule: "Y9: room shrinks while nothing is taken", In: "Member.room", From: "if m.untaken == 0 {", To: "if m.untaken < 1<<60 {"},
	{Rule: "Y10: in the order of pair numbers", In: "Merge.Add", From: "case ahead == 0:", To: "case ahead < 1<<31:"},
	{Rule: "Y10: what waits follows", In: "Merge.Add", From: "		m.hand(hand)\n", To: ""},
	{Rule: "Y11: silence", In: "Member.finish", From: "m.awake-m.heard >= silence", To: "m.awake-m.heard >= 1000*silence"},
	{Rule: "Y11: joins what it hears", In: "provedBy", From: "2", To: "0"},
	{Rule: "Y11: started when a status has come", In: "Sender.join", From: "	s.out.tell(p.session, &Start{Stream: s.cfg.Stream.ID, Rank: p.rank, Place: Place{0, 1}})\n", To: "	s.out.tell(p.session, &Start{Stream: s.cfg.Stream.ID, Rank: p.rank, Place: Place{0, 1}})\n	p.heard = s.awake\n	s.start(p)\n"},
	{Rule: "a stream ends before its numbers are too many", In: "Sender.sendData", From: "s.next > s.cfg.Limit ||", To: "s.next > 1<<60 ||"},
}

// TestMutantsFit: each mutant changes one place of the machines as they are now.
func TestMutantsFit(t *testing.T) { mutanttest.Fit(t, "..", mutants) }

// TestMutants sees that tests catch each mutant.
func TestMutants(t *testing.T) {
	const slow = "TestSchedules|TestNothingIsLost|TestAskedOnce|TestDelays|TestLastOneLost"
	mutanttest.Hunt(t, "..", mutants,
		mutanttest.Tests{Package: ".."}, mutanttest.Tests{Skip: slow}, mutanttest.Tests{Run: slow})
}
