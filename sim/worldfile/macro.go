package worldfile

// expand applies macros to an entity and all below it. Macros are looked up as
// they are known now, so a body may use one that was defined after it.
func (p *parser) expand(r *raw, depth int) (*Entity, bool) {
	if depth > maxDepth {
		return nil, p.fail(r.pos, "%q nests deeper than %d; a macro that contains itself never ends", short(r.word), maxDepth)
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

// chain gives the macros that a word stands for, its own first.
func (p *parser) chain(r *raw) ([]*macro, bool) {
	var chain []*macro
	word := r.word
	for {
		m := p.macros[word]
		if m == nil {
			return chain, true
		}
		for _, seen := range chain {
			if seen == m {
				return nil, p.fail(m.pos, "%q is defined from itself; expected a type or another macro", short(word))
			}
		}
		chain = append(chain, m)
		word = m.base
	}
}
