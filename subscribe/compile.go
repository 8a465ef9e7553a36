package subscribe

import (
	"maps"
	"slices"

	"callboard/subscribe/condition"
	"callboard/subscribe/protocol"
)

// Compile checks and compiles a subscription: condition, selected expressions
// and options. Texts that are installed, or were compiled of late, are not
// compiled again. Safe for concurrent use.
func (m *Matcher) Compile(s protocol.Subscription) (*Subscription, *Problem) {
	if f := s.Validate(); f != nil {
		return nil, &Problem{Code: f.Code, Message: f.Error()}
	}
	p, problem := m.compile(s.Condition, true)
	if problem != nil {
		return nil, problem
	}
	sub := &Subscription{Spec: s, program: p}
	sub.Spec.Condition = p.Text() // one copy for all
	for _, name := range slices.Sorted(maps.Keys(s.Select)) {
		p, problem := m.compile(s.Select[name], false)
		if problem != nil {
			problem.Message = "select " + name + ": " + problem.Message
			return nil, problem
		}
		sub.selected = append(sub.selected, selection{name, p})
	}
	return sub, nil
}

// compile gives the program of a text.
func (m *Matcher) compile(text string, truth bool) (*condition.Program, *Problem) {
	if p := m.snapshot.Load().findText(text, truth); p != nil {
		return p.program, nil
	}
	if p := m.recent.Load().find(hash(m.seed, text), text, truth); p != nil {
		return p, nil
	}
	compile := m.compiler.Expression
	if truth {
		compile = m.compiler.Condition
	}
	p, err := compile(text)
	if err != nil {
		return nil, &Problem{Code: err.Code, Message: err.Message, Position: &protocol.Position{Line: err.Line, Column: err.Column}}
	}
	for {
		old := m.recent.Load()
		if m.recent.CompareAndSwap(old, old.with(hash(m.seed, text), p, truth)) {
			return p, nil
		}
	}
}

// recent is an immutable set of programs that were compiled of late, so that
// a client's thousand subscriptions with one text share one program also
// before they are installed.
type recent struct{ texts trie[compiled] }

type compiled struct {
	program *condition.Program
	truth   bool
}

const mostRecent = 1024

func (r *recent) find(number uint64, text string, truth bool) *condition.Program {
	c, ok := r.texts.get(number)
	if ok && c.truth == truth && c.program.Text() == text {
		return c.program
	}
	return nil
}

// with gives the set with a program; a full set begins anew.
func (r *recent) with(number uint64, p *condition.Program, truth bool) *recent {
	texts := r.texts
	if texts.size >= mostRecent {
		texts = trie[compiled]{}
	}
	return &recent{texts.with(number, compiled{p, truth})}
}
