package standby

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/bridge/overlay"
)

// TestModel has sides do what those of an executable model of the same rules have
// done, input by input: testdata/model*.txt.gz are schedules of it, with many
// faults, with a witness and without. Times are in T/64.
//
//	A 16 mi beat 1 2 …	side A at 16: a message over the inner line (mo: outer, w: witness)
//	A 24 t			a turn (d: the other's process is dead, o: the outer line lives, a: append, s, S: switch)
//	> i acked 3 17 3 in	it does that (i, o, w: a message; save, begin, stop)
//	= 3 in 5 …		and stands so
func TestModel(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("testdata", "model*.txt.gz"))
	if extra := os.Getenv("CALLBOARD_STANDBY_TRACES"); extra != "" {
		names = append(names, extra)
	}
	if err != nil || len(names) == 0 {
		t.Fatalf("no traces: %v", err)
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		text, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		schedules, events := replay(t, text)
		t.Logf("%s: %d schedules, %d inputs", name, schedules, events)
	}
}

// modelled is a schedule of the model, as it is done again.
type modelled struct {
	cfg     Config
	name    string
	sides   map[string]*Machine
	witness *Witness
	said    []string          // by the witness
	ids     map[Position]Term // of the batches before those
	in      string            // what came last
	past    []string          // the last lines
}

func replay(t *testing.T, text io.Reader) (schedules, events int) {
	var r *modelled
	var at *Machine
	var want []string
	lines := bufio.NewScanner(text)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		f := strings.Fields(line)
		switch f[0] {
		case "schedule":
			schedules++
			r = &modelled{witness: NewWitness(Vote{Newest: 1, Base: 1}, overlay.Duration(number(f[6])), 0), name: line, sides: map[string]*Machine{}, ids: map[Position]Term{}, cfg: Config{Heartbeat: 64, Burst: 40, Witness: f[4] == "1", TakeOverAfter: overlay.Duration(number(f[6]))}}
			continue
		case ">":
			want = append(want, line[2:])
			continue
		case "=":
			events++
			want = append(want, line)
			if r.said == nil {
				r.said = did(at, r.in)
			}
			if diff := cmp.Diff(want, r.said); diff != "" {
				t.Fatalf("%s, line %d: (-the model, +this)\n%s\nbehind\n%s", r.name, n, diff, strings.Join(r.past[max(0, len(r.past)-30):], "\n"))
			}
			want, r.said = nil, nil
			continue
		}
		r.past = append(r.past, line)
		now := overlay.Instant(number(f[1]))
		switch {
		case f[0] == "W" && f[2] == "boot":
			r.witness = NewWitness(r.witness.Vote(), r.cfg.TakeOverAfter, now)
			continue
		case f[0] == "W":
			answer := r.witness.Receive(now, Side(f[2][0]-'A'), parse(f[3:]))
			r.said = []string{describe(answer)[0], fmt.Sprintf("= %d %d", r.witness.Vote().Newest, r.witness.Vote().Base)}
			continue
		case f[2] == "boot":
			r.sides[f[0]] = r.boot(t, f, now)
			continue
		}
		at = r.sides[f[0]]
		r.in = f[2]
		before := at.Last()
		at.Step(now, input(f[2], f[3:]))
		for _, o := range at.out {
			switch o := o.(type) {
			case *Write:
				for _, b := range o.Batches {
					r.ids[Position{before.Index + 1, b.ID}] = before.ID
					before = Position{before.Index + 1, b.ID}
				}
			case *Replace:
				r.remember(at)
			}
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return schedules, events
}

func (r *modelled) boot(t *testing.T, f []string, now overlay.Instant) *Machine {
	cfg := r.cfg
	cfg.Side, cfg.Life = Side(f[0][0]-'A'), number(f[3])
	m, err := New(cfg, Left{
		State: State{Term: term(f[4]), Stands: stands(f[5]), Floor: term(f[6]), Given: f[7] == "1", Shown: term(f[8])},
		Lost:  f[9] == "1", Last: position(f[10], f[11]), Terms: termsOf(f[12]),
	}, now)
	if err != nil {
		t.Fatal(err)
	}
	m.Outputs()
	r.remember(m)
	return m
}

// remember has a side have all batches that its store leads through at hand, as
// the model has them.
func (r *modelled) remember(m *Machine) {
	w := &m.window
	for w.before.Index > 0 {
		w.batches = append(w.batches, Batch{ID: w.before.ID})
		w.before = Position{w.before.Index - 1, r.ids[w.before]}
	}
	slices.Reverse(w.batches)
}

func input(kind string, f []string) Input {
	switch kind {
	case "t":
		return &Tick{}
	case "a":
		return &Append{}
	case "d":
		return &Dead{}
	case "o":
		return &OuterLives{}
	case "s", "S":
		return &Switch{Cancel: kind == "S"}
	case "mi", "mo":
		line := Inner
		if kind == "mo" {
			line = Outer
		}
		return &FromOther{line, parse(f)}
	case "w":
		return &FromWitness{parse(f)}
	}
	panic("what is " + kind)
}

func parse(f []string) Message {
	kind, f := f[0], f[1:]
	switch kind {
	case "beat":
		return &Beat{Life: number(f[0]), Number: number(f[1]), Echo: Echo{number(f[2]), number(f[3])}, Status: Status{
			Term: term(f[4]), Stands: stands(f[5]), Active: f[6] == "1", Lost: f[7] == "1", Last: position(f[8], f[9]),
			Floor: term(f[10]), Warm: f[11] == "1", Outer: f[12] == "1",
		}}
	case "ask":
		return &Ask{number(f[0])}
	case "batch":
		return &Batches{Term: term(f[0]), Before: position(f[1], f[2]), Batches: batches(f[3])}
	case "acked":
		return &Acked{Term: term(f[0]), Last: position(f[1], f[2]), Stands: stands(f[3])}
	case "snapshot":
		return &Snapshot{Term: term(f[0]), Last: position(f[1], f[2]), Terms: termsOf(f[3])}
	case "join":
		return &Join{Term: term(f[0]), Before: position(f[1], f[2]), Batches: batches(f[3])}
	case "claim":
		return &Claim{Number: term(f[0]), Kind: kindOf(f[1]), Base: term(f[2]), History: termsOf(f[3]), Asked: overlay.Instant(number(f[4])), Shown: term(f[5])}
	case "voice":
		return &Voice{Number: term(f[0]), Given: f[1] == "1", Newest: term(f[2]), Asked: overlay.Instant(number(f[3]))}
	case "renew":
		return &Renew{Term: term(f[0]), Stands: stands(f[1]), Active: f[2] == "1", History: termsOf(f[3]), Shown: term(f[4]), Sent: overlay.Instant(number(f[5]))}
	case "lease":
		return &Lease{Sent: overlay.Instant(number(f[0])), Newest: term(f[1])}
	}
	panic("what is " + kind)
}

// did writes what a side has done at an input, as the model does.
func did(m *Machine, in string) (all []string) {
	for _, o := range m.Outputs() {
		switch o := o.(type) {
		case *Save:
			s := o.State
			if in == "a" { // that a lost start is over: the model has that in the batch with which its term begins
				continue
			}
			all = append(all, fmt.Sprintf("save %d %s %d %d %d", s.Term, s.Stands, s.Floor, bit(s.Given), s.Shown))
		case *Begin:
			all = append(all, fmt.Sprintf("begin %d %d", o.Term, bit(o.StoreLost)))
		case *Stop:
			all = append(all, "stop")
		case *ToWitness:
			all = append(all, "w "+describe(o.Message)[0])
		case *ToOther:
			for _, text := range describe(o.Message) {
				all = append(all, string("io"[o.Line])+" "+text)
			}
		}
	}
	return append(all, fmt.Sprintf("= %d %s %d %d %d %d %d %d %d %d %d", m.Term, m.Stands, m.Floor, bit(m.Given), m.Shown, bit(m.Active()), bit(m.Lost && !m.Active()), m.Last().Index, m.Last().ID, bit(m.warm), m.Released()))
}

func describe(x Message) []string {
	switch x := x.(type) {
	case *Beat:
		return []string{fmt.Sprintf("beat %d %d %d %d %d %s %d %d %d %d %d %d %d", x.Life, x.Number, x.Echo.Life, x.Echo.Number, x.Term, x.Stands, bit(x.Active), bit(x.Lost), x.Last.Index, x.Last.ID, x.Floor, bit(x.Warm), bit(x.Outer))}
	case *Ask:
		return []string{fmt.Sprintf("ask %d", x.Life)}
	case *Batches:
		var all []string
		before := x.Before
		for _, b := range x.Batches {
			all = append(all, fmt.Sprintf("batch %d %d %d %d", x.Term, before.Index, before.ID, b.ID))
			before = Position{before.Index + 1, b.ID}
		}
		return all
	case *Acked:
		return []string{fmt.Sprintf("acked %d %d %d %s", x.Term, x.Last.Index, x.Last.ID, x.Stands)}
	case *Snapshot:
		return []string{fmt.Sprintf("snapshot %d %d %d %s", x.Term, x.Last.Index, x.Last.ID, joined(x.Terms))}
	case *Join:
		var ids []Term
		for _, b := range x.Batches {
			ids = append(ids, b.ID)
		}
		return []string{fmt.Sprintf("join %d %d %d %s", x.Term, x.Before.Index, x.Before.ID, joined(ids))}
	case *Claim:
		return []string{fmt.Sprintf("claim %d %s %d %s %d %d", x.Number, x.Kind, x.Base, joined(x.History), x.Asked, x.Shown)}
	case *Voice:
		return []string{fmt.Sprintf("voice %d %d %d %d", x.Number, bit(x.Given), x.Newest, x.Asked)}
	case *Lease:
		return []string{fmt.Sprintf("lease %d %d", x.Sent, x.Newest)}
	case *Renew:
		return []string{fmt.Sprintf("renew %d %s %d %s %d %d", x.Term, x.Stands, bit(x.Active), joined(x.History), x.Shown, x.Sent)}
	}
	panic(fmt.Sprintf("what is %T", x))
}

func joined(terms []Term) string {
	if len(terms) == 0 {
		return "-"
	}
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(terms), " ", ","), "[]")
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func term(text string) Term { return Term(number(text)) }

func position(index, id string) Position { return Position{number(index), term(id)} }

func termsOf(text string) (all []Term) {
	if text == "-" {
		return nil
	}
	for one := range strings.SplitSeq(text, ",") {
		all = append(all, term(one))
	}
	return all
}

func batches(ids string) (all []Batch) {
	for _, id := range termsOf(ids) {
		all = append(all, Batch{ID: id})
	}
	return all
}

func stands(text string) Stands {
	return Stands(slices.IndexFunc([]Stands{Out, Both, Alone, In}, func(s Stands) bool { return s.String() == text }))
}

func kindOf(text string) Kind {
	return TakeOver + Kind(slices.IndexFunc([]Kind{TakeOver, GoOn, LostStart}, func(k Kind) bool { return k.String() == text }))
}
