package worldfile

import (
	"callboard/player/problem"
	"callboard/player/problem/lexer"
	"fmt"
)

// define parses a macro; the first of a name is kept. As in Stage its body ends
// where the brackets close, whatever stands in it, and an error in it is none as
// long as nothing uses the macro.
func (r *reader) define(word lexer.Token) bool {
	m, opened, ok := r.defined(word)
	if !ok {
		return false
	}
	begin, included, bytes := r.lex, r.includes, r.bytes
	known := len(r.List)
	if !r.pass(opened, m.base) {
		return false
	}
	end := r.lex
	r.lex, r.includes, r.bytes, r.List = begin, included, bytes, r.List[:known]
	if !r.body(m.body, opened, 1) {
		if r.broken {
			return false
		}
		if m.fault == nil {
			m.fault = &problem.Problem{Place: r.List[known].Place, Message: r.List[known].Message}
		}
		r.List = r.List[:known]
		r.lex = end
	}
	if m.fault != nil {
		r.faulty = append(r.faulty, m)
	}
	if first, taken := r.macros[m.name]; taken {
		r.Warnf(m.at, "%q is defined already at %s; the first definition counts", problem.Short(m.name), first.pos)
		return true
	}
	r.macros[m.name] = m
	return true
}

// defined reads what stands between define and its body: the macro's name and
// the type that it is made from. What is no word is passed over; behind the type
// it makes the macro useless.
func (r *reader) defined(word lexer.Token) (m *macro, opened lexer.Token, ok bool) {
	m = &macro{pos: word.Pos}
	for {
		t, ok := r.read(blank...)
		switch {
		case !ok:
			return nil, t, false
		case t.Kind == lexer.Word && m.name == "":
			m.name, m.at = t.Text, t.Pos
		case t.Kind == lexer.Word && m.base == "":
			m.base, m.body = t.Text, &raw{word: t.Text, pos: t.Pos}
		case t.Kind == lexer.Open && m.base != "":
			return m, t, true
		case t.Kind == lexer.Word, t.Kind == lexer.Open, t.Kind == lexer.Close, t.Kind == lexer.End:
			return nil, t, r.fail(t.Pos, "define %sis followed by %s; expected define NAME TYPE (", m.begun(), t)
		case m.base != "":
			if m.fault == nil {
				m.fault = &problem.Problem{Place: t.Pos, Message: fmt.Sprintf("define %sis followed by %s; expected define NAME TYPE (", m.begun(), t)}
			}
		default:
			r.Warnf(t.Pos, "%s has no effect in define; expected define NAME TYPE (", t)
		}
	}
}

// begun is what is known of a macro, for messages.
func (m *macro) begun() string {
	switch {
	case m.name == "":
		return ""
	case m.base == "":
		return problem.Short(m.name) + " "
	}
	return problem.Short(m.name) + " " + problem.Short(m.base) + " "
}

// pass reads up to the bracket that closes what was opened in a macro, through
// the files that are included.
func (r *reader) pass(opened lexer.Token, base string) bool {
	for depth := 1; depth > 0; {
		t, ok := r.read()
		if !ok {
			return false
		}
		switch {
		case t.Kind == lexer.Open:
			depth++
		case t.Kind == lexer.Close:
			depth--
		case t.Kind == lexer.End:
			r.broken = true
			return r.fail(opened.Pos, "this ( of %q is never closed; expected )", problem.Short(base))
		case t.Kind == lexer.Word && t.Text == "include":
			if !r.passIncluded(t, base) {
				return false
			}
		}
	}
	return true
}

// passIncluded reads an included file, whose brackets have to match.
func (r *reader) passIncluded(word lexer.Token, base string) bool {
	return r.within(word, func(inner *reader, t lexer.Token) bool {
		switch {
		case t.Kind == lexer.Open:
			return inner.pass(t, base)
		case t.Kind == lexer.Close:
			r.broken = true
			return r.fail(t.Pos, "\")\" closes nothing in this file; expected brackets that match")
		case t.Kind == lexer.Word && t.Text == "include":
			return inner.passIncluded(t, base)
		}
		return true
	})
}

// expand applies macros to an entity and all below it. Macros are looked up as
// they are known now, so a body may use one that was defined after it.
func (p *parser) expand(r *raw, depth int) (*Entity, bool) {
	if depth > maxDepth {
		return nil, p.fail(r.pos, "%q nests deeper than %d; a macro that contains itself never ends", problem.Short(r.word), maxDepth)
	}
	if most := min(maxEntities, max(freeCopies, copies*p.written)); p.entities >= most {
		return nil, p.fail(r.pos, "more than %d entities, counting those that macros make", most)
	}
	p.entities++
	e := &Entity{Pos: r.pos, Word: r.word}
	chain, ok := p.chain(r)
	if !ok {
		return nil, false
	}
	e.Type = r.word
	if len(chain) > 0 {
		e.Type = chain[len(chain)-1].base
	}
	for i := len(chain) - 1; i >= 0; i-- {
		if !p.fill(e, chain[i].body, depth) {
			return nil, false
		}
	}
	return e, p.fill(e, r, depth)
}

// fill adds the properties and children of a body to an entity.
func (p *parser) fill(e *Entity, r *raw, depth int) bool {
	for i := range r.properties {
		e.Properties = append(e.Properties, &r.properties[i])
	}
	for _, c := range r.children {
		child, ok := p.expand(c, depth+1)
		if !ok {
			return false
		}
		e.Children = append(e.Children, child)
	}
	return true
}

// chain returns the macros that a word stands for, its own first.
func (p *parser) chain(r *raw) ([]*macro, bool) {
	var chain []*macro
	word := r.word
	for {
		m := p.macros[word]
		switch {
		case m == nil:
			return chain, true
		case m.fault != nil:
			p.List = append(p.List, *m.fault)
			return nil, false
		}
		for _, seen := range chain {
			if seen == m {
				return nil, p.fail(m.pos, "%q is defined from itself; expected a type or another macro", problem.Short(word))
			}
		}
		chain = append(chain, m)
		word = m.base
	}
}
