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
func (m *Matcher) Compile(s protocol.Subscription) (*Subscription, *protocol.Problem) {
	if f := s.Validate(); f != nil {
		return nil, &protocol.Problem{Code: f.Code, Message: f.Error()}
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

// compile returns the program of a text.
func (m *Matcher) compile(text string, truth bool) (*condition.Program, *protocol.Problem) {
	if p := m.snapshot.Load().findText(text, truth); p != nil {
		return p.program, nil
	}
	recent := &m.recent[hash(m.seed, text)%maxRecent]
	if c := recent.Load(); c != nil && c.truth == truth && c.program.Text() == text {
		return c.program, nil
	}
	compile := m.compiler.Expression
	if truth {
		compile = m.compiler.Condition
	}
	p, err := compile(text)
	if err != nil {
		return nil, &protocol.Problem{Code: err.Code, Message: err.Message, Position: &protocol.Position{Line: err.Line, Column: err.Column}}
	}
	recent.Store(&compiled{p, truth})
	return p, nil
}

// compiled is a program that was compiled of late: so a client's thousand
// subscriptions with one text share one program also before they are installed.
type compiled struct {
	program *condition.Program
	truth   bool
}

// maxRecent is how many are kept, each at the place of its text's hash.
const maxRecent = 1024
