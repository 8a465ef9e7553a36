package multicasttest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutant is a machine with one rule switched off or bent. survives says why nothing
// can tell it from the original; "" means that it is to be caught.
type mutant struct {
	rule     string
	in       string // the function or constant that it changes: "Sender.pump"
	from, to string // what there becomes what
	survives string
}

var mutants = []mutant{
	{rule: "X1: not beyond a member's window", in: "Sender.mayGo", from: " && s.next < s.bound", to: ""},
	{rule: "X1: repairs go first", in: "Sender.pump", from: "case repair && (!data || s.share <= 0):", to: "case repair && !data:"},
	{rule: "limits: no more than half of the tokens for repairs", in: "Sender.pump", from: "(!data || s.share <= 0)", to: "(!data || s.share > -1<<60)"},
	{rule: "X2: heartbeats", in: "Sender.finish", from: "if s.now >= s.beatAt && s.heard() {", to: "if s.now >= s.beatAt && s.next == 0 {"},
	{rule: "X2: soon after the last datagram", in: "firstBeat", from: "2 * time.Millisecond", to: "50 * time.Millisecond"},
	{rule: "X2: a datagram begins them anew", in: "Sender.sendData", from: "	s.beatWait, s.beatAt = firstBeat, s.now+firstBeat\n", to: ""},
	{rule: "X3: nothing below low", in: "Sender.nacked", from: "number := max(r.from, s.low)", to: "number := max(r.from, 1)",
		survives: "what is below low is taken from the repairs before it goes; only the member's losses would count more"},
	{rule: "X3: the hold-off", in: "Sender.asked", from: "slot.again && s.now-slot.resent < holdOff", to: "slot.again && s.now-slot.resent < 0"},
	{rule: "X3: not for ever", in: "Sender.asked", from: "slot.again && s.now-slot.resent < holdOff", to: "slot.again"},
	{rule: "X3: once while it waits", in: "Sender.asked", from: "	case slot.waits:\n", to: ""},
	{rule: "X4: duplicates widen turns", in: "Sender.asked", from: "min(max(minWidth, 1.5*s.width), maxWidth)", to: "s.width"},
	{rule: "X4: turns narrow again", in: "Sender.judge", from: "if s.width *= 0.97; s.width < 1 {", to: "if s.width < 1 {"},
	{rule: "X4: turns have a limit", in: "Sender.asked", from: "min(max(minWidth, 1.5*s.width), maxWidth)", to: "min(max(minWidth, 1.5*s.width), 250)"},
	{rule: "X5: low is the least want", in: "Sender.rebound", from: "s.low, s.bound = min(s.low, p.want)", to: "s.low, s.bound = max(s.low, p.want)"},
	{rule: "X5: an old status changes nothing", in: "Sender.status", from: "	case st.want < p.want: // overtaken, or of before it was started\n		return nil\n", to: ""},
	{rule: "X5: asks are answered", in: "Sender.told", from: "if err := s.fill(p, m.From, m.To); err != nil {", to: "if err := error(nil); err != nil {"},
	{rule: "X5: members are told their places", in: "Sender.start", from: "	s.place(p)\n", to: ""},
	{rule: "X5: ranks are never given again", in: "Sender.join", from: "	s.rank++\n", to: "	s.rank = uint16(slot + 1)\n"},
	{rule: "X6 (a): who holds the window closed", in: "Sender.watchWindow", from: "closes && s.awake-p.closed >= maxClosed", to: "closes && s.awake-p.closed >= 100*maxClosed"},
	{rule: "X6 (b): who is not heard", in: "Sender.passTick", from: "s.awake-p.heard >= silence", to: "s.awake-p.heard >= 1000*silence"},
	{rule: "X6 (c): who lacks over 20 %", in: "Sender.judgeLosses", from: "(loss > maxLoss || ", to: "("},
	{rule: "X6 (c): who lacks much more than the others", in: "Sender.judgeLosses", from: " || loss > maxLossAlone && n > timesMedian*median)", to: " || n < 0*median)"},
	{rule: "X6 (c): not who lacks as much as the others", in: "Sender.judgeLosses", from: " && n > timesMedian*median)", to: " && n > 0*median)"},
	{rule: "X6: fill of all that it lacks", in: "Sender.off", from: "number := p.want;", to: "number := p.want + 1;"},
	{rule: "X6: and of what waited", in: "Sender.sendData", from: "	for _, p := range s.leaving {\n		s.fillOne(p, slot.number)\n	}\n", to: ""},
	{rule: "X6: off comes behind what waited", in: "Sender.leave", from: "if s.done < p.until {", to: "if s.done > p.until {"},
	{rule: "X6: after 10 s", in: "firstWait", from: "10 * time.Second", to: "1 * time.Second"},
	{rule: "X6: then twice as long", in: "Sender.keepOut", from: "min(2*p.wait, longestWait)", to: "p.wait"},
	{rule: "X6: after a long membership not so long", in: "Sender.keepOut", from: "p.wait == 0 || s.now-p.since > 2*p.wait", to: "p.wait == 0"},
	{rule: "X7: what an ended session held back is freed", in: "Sender.drop", from: "		s.rebound()\n", to: ""},
	{rule: "X8: the rate falls when sockets overflow", in: "Sender.adjustRate", from: "if s.dropped || worst", to: "if worst"},
	{rule: "X8: and rises again", in: "Sender.adjustRate", from: "min(s.pace+rateUp*full, full)", to: "min(s.pace, full)"},
	{rule: "X8: tokens", in: "Sender.begin", from: "min(burst, s.tokens+s.pace*passed.Seconds())", to: "burst"},
	{rule: "time awake: a sender that stood still", in: "Sender.begin", from: "s.awake += min(passed, tick)", to: "s.awake += passed"},
	{rule: "Y1: no packet number twice", in: "Member.received", from: "if seen != nil && !seen.new(h.Packet) {", to: "if seen != nil && h.Packet == 0 {",
		survives: "what is sent again is a datagram that is there, or a NACK that was asked: it changes times only"},
	{rule: "Y2: not beyond the window", in: "Member.arrive", from: "case number >= m.want+uint64(len(m.ring)):", to: "case number >= m.want+1<<40:"},
	{rule: "Y2: once", in: "Member.arrive", from: "	case s.there:\n		m.late(by)\n		return\n", to: "	case s.there:\n"},
	{rule: "Y2: heartbeats show what is lost", in: "Member.hear", from: "			m.tell(min(b.number, m.want+uint64(len(m.ring))))\n", to: ""},
	{rule: "Y3: turns", in: "Member.tell", from: "m.now + m.reorder + m.turn(n)", to: "m.now + m.reorder"},
	{rule: "Y4: asked again after the retry time", in: "Member.ask", from: "m.now, true, m.now+m.retry(s.rounds)", to: "m.now, true, m.now+1000*m.retry(s.rounds)"},
	{rule: "Y5: what others ask for", in: "Member.received", from: "		m.overhear(content)\n", to: ""},
	{rule: "Y5: a short while ago changes nothing", in: "Member.overhear", from: "s.rounds > 0 && m.now-s.last", to: "s.rounds > 1000 && m.now-s.last",
		survives: "the NACKs of one turn are not apart for long enough to move what is due by much"},
	{rule: "Y6: the least retry time", in: "leastRetry", from: "time.Millisecond", to: "100 * time.Microsecond"},
	{rule: "Y6: until a round trip is known", in: "Member.ask", from: "m.backoff = min(2*m.backoff, mostBackoff) // Y6", to: "m.backoff = 1"},
	{rule: "Y7: over the link", in: "Member.askLink", from: "		asked.To = n\n	}\n	if asked.To > 0 {", to: "		asked.To = n\n	}\n	if asked.To > 1<<60 {"},
	{rule: "Y7: a gap that stays ends the session", in: "Member.askLink", from: "if m.awake-s.linked >= fillWithin*m.cfg.Heartbeat {", to: "if m.awake-s.linked >= 1000*fillWithin*m.cfg.Heartbeat {"},
	{rule: "Y8: reordering", in: "Member.close", from: "case by == viaGroup && s.rounds > 0: // Y8", to: "case by == viaGroup && s.rounds > 1000:"},
	{rule: "Y9: after some datagrams", in: "Member.finish", from: "edge >= m.edge+statusEvery || ", to: ""},
	{rule: "Y9: on a heartbeat", in: "Member.hear", from: "			if m.phase == phaseStarted {\n				m.status()\n			}\n", to: ""},
	{rule: "Y9: room shrinks while nothing is taken", in: "Member.room", from: "if m.untaken == 0 {", to: "if m.untaken < 1<<60 {"},
	{rule: "Y10: in the order of pair numbers", in: "Merge.Add", from: "case ahead == 0:", to: "case ahead < 1<<31:"},
	{rule: "Y10: what waits follows", in: "Merge.Add", from: "		m.hand(hand)\n", to: ""},
	{rule: "Y11: silence", in: "Member.finish", from: "m.awake-m.heard >= silence", to: "m.awake-m.heard >= 1000*silence"},
	{rule: "Y11: joins what it hears", in: "provedBy", from: "2 ", to: "0 "},
	{rule: "Y11: started when a status has come", in: "Sender.join", from: "	s.out.tell(p.session, &Start{Stream: s.cfg.Stream.ID, Rank: p.rank, Place: Place{0, 1}})\n", to: "	s.out.tell(p.session, &Start{Stream: s.cfg.Stream.ID, Rank: p.rank, Place: Place{0, 1}})\n	p.heard = s.awake\n	s.start(p)\n"},
	{rule: "a stream ends before its numbers are too many", in: "Sender.sendData", from: "s.next > s.cfg.Limit ||", to: "s.next > 1<<60 ||"},
}

// TestMutantsFit: each mutant changes one place of the machines as they are now.
func TestMutantsFit(t *testing.T) {
	places := declarations(t)
	for _, m := range mutants {
		p, found := places[m.in]
		if !found {
			t.Errorf("%s: there is no %s", m.rule, m.in)
		} else if n := strings.Count(p.text, m.from); n != 1 {
			t.Errorf("%s: %q is in %s %d times, expected once", m.rule, m.from, m.in, n)
		}
	}
}

// declaration is where something is declared: in a file, from a byte of it on.
type declaration struct {
	file string
	at   int
	text string
}

// declarations finds the functions, by receiver and name, and constants.
func declarations(t *testing.T) map[string]declaration {
	all := map[string]declaration{}
	names, err := filepath.Glob(filepath.Join("..", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		at := func(n ast.Node) declaration {
			from, to := files.Position(n.Pos()).Offset, files.Position(n.End()).Offset
			return declaration{file: name, at: from, text: string(text[from:to])}
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				all[nameOf(d)] = at(d)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						p := at(v)
						line := string(text[p.at:])
						p.text = line[:strings.IndexByte(line, '\n')]
						all[v.Names[0].Name] = p
					}
				}
			}
		}
	}
	return all
}

// nameOf returns a function's name behind that of its receiver's type.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if index, ok := of.(*ast.IndexExpr); ok {
		of = index.X
	}
	return of.(*ast.Ident).Name + "." + f.Name.Name
}

// TestMutants sees that tests catch each mutant, or those whose rule begins as
// CALLBOARD_MUTANTS says ("X6", or "all").
func TestMutants(t *testing.T) {
	only := os.Getenv("CALLBOARD_MUTANTS")
	if only == "" {
		t.Skip("CALLBOARD_MUTANTS is not set")
	}
	for i, m := range mutants {
		if only != "all" && !strings.HasPrefix(m.rule, only) {
			continue
		}
		t.Run(m.rule, func(t *testing.T) {
			by, says := hunt(t, i, m)
			switch {
			case by == "" && m.survives == "":
				t.Error("nothing catches it")
			case by != "" && m.survives != "":
				t.Errorf("%s catches it, but it is said to survive: %s", by, m.survives)
			}
			t.Logf("caught by %q: %s", by, says)
		})
	}
}

// hunt builds a mutant and runs the tests against it. It returns which one failed
// first, and how.
func hunt(t *testing.T, i int, m mutant) (by, says string) {
	dir := t.TempDir()
	place := declarations(t)[m.in]
	original, err := filepath.Abs(place.file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	end := place.at + len(place.text)
	text = slices.Concat(text[:place.at], []byte(strings.Replace(place.text, m.from, m.to, 1)), text[end:])
	mutated := filepath.Join(dir, filepath.Base(original))
	if err := os.WriteFile(mutated, text, 0o600); err != nil {
		t.Fatal(err)
	}
	replace, _ := json.Marshal(map[string]any{"Replace": map[string]string{original: mutated}})
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, replace, 0o600); err != nil {
		t.Fatal(err)
	}
	const slow = "TestSchedules|TestNothingIsLost|TestAskedOnce|TestDelays|TestLastOneLost"
	for _, run := range [][]string{{"..", "-test.run", "."}, {".", "-test.skip", slow + "|Mutants"}, {".", "-test.run", slow}} { // the quick ones first
		binary := filepath.Join(dir, fmt.Sprintf("mutant%d.test", i))
		if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", list, "-o", binary, run[0]).CombinedOutput(); err != nil {
			t.Fatalf("it does not compile: %v\n%s", err, out)
		}
		c := exec.Command(binary, append(run[1:], "-test.failfast", "-test.timeout", "10m")...)
		c.Dir = run[0]
		out, err := c.CombinedOutput()
		if err == nil {
			continue
		}
		for _, line := range strings.Split(string(out), "\n") {
			if name, failed := strings.CutPrefix(line, "--- FAIL: "); failed {
				by, _, _ = strings.Cut(name, " ")
			}
			if says == "" && (strings.Contains(line, "_test.go") || strings.Contains(line, "panic:")) {
				says = strings.TrimSpace(line)
			}
		}
		return by + " ", says
	}
	return "", ""
}
