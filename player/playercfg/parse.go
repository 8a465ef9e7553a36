package playercfg

import (
	"fmt"
	"strings"
)

// Limits of what is read, for files from strangers.
const (
	maxFile     = 16 << 20 // bytes of one file
	maxTotal    = 32 << 20 // bytes of all files
	maxIncludes = 1000     // files
	maxDepth    = 32       // sections in sections, files in files
	maxItems    = 1 << 20  // fields, values and sections, macros expanded
	maxExpanded = 64 << 20 // bytes of macros' bodies, each time that they are used
)

// Open gives the bytes of a file, by the name that it has in messages. Only
// Load calls it, while it runs.
type Open func(name string) ([]byte, error)

// macro is a definition: where the body of its section begins.
type macro struct {
	typ  string
	body lexer
	pos  Pos
}

// parser turns files into sections.
type parser struct {
	reporter
	open   Open
	file   *File
	macros map[string]*macro
	bytes  int
	items  int
	spent  int  // bytes of macros' bodies
	inside int  // macros whose bodies are being read
	full   bool // a limit is reached: nothing more is read
}

// include reads a file into a section, mostly the global one.
func (p *parser) include(name string, s *Section, pos Pos, depth int) {
	switch {
	case depth > maxDepth:
		p.errorf(pos, "files include each other %d deep, expected at most %d", depth, maxDepth)
		return
	case len(p.files) >= maxIncludes:
		p.errorf(pos, "more than %d files are included", maxIncludes)
		return
	}
	text, err := p.open(name)
	if err != nil {
		p.errorf(pos, "cannot read it: %v", err)
		return
	}
	p.bytes += len(text)
	if len(text) > maxFile || p.bytes > maxTotal {
		p.errorf(pos, "%s has %d bytes, expected at most %d, and %d with all that is included", name, len(text), maxFile, maxTotal)
		p.full = true
		return
	}
	p.files = append(p.files, name)
	l := newLexer(name, string(text))
	p.body(&l, s, depth, true)
}

// spend counts an item against the limit.
func (p *parser) spend(pos Pos) bool {
	if p.items++; p.items > maxItems && !p.full {
		p.full = true
		p.errorf(pos, "more than %d options and sections, macros expanded", maxItems)
	}
	return !p.full
}

// body reads fields and sections up to the section's bracket, or at the top of
// a file to its end.
func (p *parser) body(l *lexer, s *Section, depth int, top bool) {
	for !p.full {
		t := l.next()
		switch t.kind {
		case tokenSpace, tokenLine, tokenComment:
		case tokenEnd:
			if !top {
				p.errorf(t.pos, "the %s section of line %d is not closed; expected \")\"", s.Type, s.Pos.Line)
			}
			return
		case tokenClose:
			if !top {
				return
			}
			p.wrong(l, t, "closes no section of this file")
		case tokenWord:
			p.item(l, s, t, depth)
		default:
			p.wrong(l, t, "cannot stand here; expected an option's name, a section or \")\"")
		}
	}
}

// wrong tells of a token and goes to the end of its line.
func (p *parser) wrong(l *lexer, t token, what string) {
	if t.kind == tokenWrong && strings.HasPrefix(t.text, `"`) {
		p.errorf(t.pos, "the string %s is not closed; expected \" on the same line", short(t.text))
	} else {
		p.errorf(t.pos, "%s %s", t.describe(), what)
	}
	l.skipLine()
}

// item reads what begins with a word.
func (p *parser) item(l *lexer, s *Section, word token, depth int) {
	if word.text == "include" {
		p.includeFile(l, s, depth)
		return
	}
	if s.Parent == nil {
		switch word.text {
		case "define":
			p.define(l, word)
			return
		case "plugin":
			if t := skip(l, tokenSpace); t.kind == tokenString {
				p.file.Plugins = append(p.file.Plugins, Value{t.text, String, t.pos})
			} else {
				p.wrong(l, t, "is no plug-in; expected its name in quotes")
			}
			return
		}
	}
	if len(word.text) > longestString {
		p.errorf(word.pos, "the word %q has %d bytes; expected at most %d", short(word.text), len(word.text), longestString)
	}
	if strings.HasSuffix(word.text, "[") && l.at < len(l.text) && !isBlank(l.text[l.at]) {
		p.errorf(word.pos, "%q reads as one word; expected a blank before \"[\"", short(word.text))
		l.skipLine()
		return
	}
	if !p.spend(word.pos) {
		return
	}
	back := *l
	t := skip(l, tokenSpace)
	switch {
	case t.value() || t.kind == tokenTuple:
		p.field(l, s, word, t)
		return
	case t.kind == tokenLine || t.kind == tokenComment || t.kind == tokenOpen:
		*l = back
		if t = skip(l, tokenSpace, tokenLine, tokenComment); t.kind == tokenOpen {
			p.section(l, s, word, depth)
			return
		}
		*l = back
		t = skip(l, tokenSpace)
	}
	*l = back
	p.noValue(l, word, t)
}

// skip gives the next token that is of none of some kinds.
func skip(l *lexer, kinds ...kind) token {
	for {
		t := l.next()
		passed := false
		for _, k := range kinds {
			passed = passed || t.kind == k
		}
		if !passed {
			return t
		}
	}
}

// noValue tells of a word that is neither a field nor a section.
func (p *parser) noValue(l *lexer, word, t token) {
	switch {
	case t.kind == tokenClose: // it still closes the section
		p.errorf(t.pos, "%s is no value for %q; expected one on the same line, or \"(\" of a section", t.describe(), short(word.text))
		return
	case isBool(t.text) && t.kind == tokenWord:
		p.errorf(t.pos, "%s at the very end of the file is not recognised; expected a line end behind it", t.describe())
	case t.kind == tokenWord:
		p.errorf(t.pos, "%s is no value for %q; expected a number, a string in quotes, yes, no, true, false or \"[\"", t.describe(), short(word.text))
	case t.kind == tokenLine || t.kind == tokenComment || t.kind == tokenEnd:
		p.errorf(word.pos, "%q has no value; expected one on the same line, or \"(\" of a section", short(word.text))
	default:
		p.wrong(l, t, fmt.Sprintf("is no value for %q; expected a number, a string in quotes, yes, no, true, false or \"[\"", short(word.text)))
	}
	l.skipLine()
}

// field reads the value of an option, whose first token has been read.
func (p *parser) field(l *lexer, s *Section, word, t token) {
	var values []Value
	if t.kind == tokenTuple {
		var ok bool
		if values, ok = p.tuple(l, t); !ok {
			return
		}
	} else {
		values = []Value{p.value(l, t)}
	}
	if !p.spend(t.pos) {
		return
	}
	if before := s.set(word.text, word.pos, values, p.inside > 0); before.Line > 0 {
		p.warnf(word.pos, "%q is also given in line %d; the later one counts", short(word.text), before.Line)
	}
}

// value makes a token a value.
func (p *parser) value(l *lexer, t token) Value {
	k := Number
	switch t.kind {
	case tokenString:
		k = String
		if len(t.text) > longestString {
			p.errorf(t.pos, "the string %q has %d bytes; expected at most %d", short(t.text), len(t.text), longestString)
		}
	case tokenBool:
		k = Bool
	case tokenNumber:
		p.number(l, t)
	}
	return Value{Text: t.text, Kind: k, Pos: t.pos}
}

// number tells of numbers that Player reads as something else.
func (p *parser) number(l *lexer, t token) {
	if l.at < len(l.text) && isLetter(l.text[l.at]) {
		p.errorf(t.pos, "%q goes on with a letter; expected digits only: no exponents, no hexadecimal numbers, strings in quotes", short(t.text))
		l.run(isWord)
		return
	}
	rest := strings.TrimLeft(t.text[sign(t.text):], "0123456789")
	rest = strings.TrimLeft(strings.TrimPrefix(rest, "."), "0123456789")
	if rest != "" || !strings.ContainsAny(t.text, "0123456789") {
		p.warnf(t.pos, "%q is no number; Player reads it as %v", short(t.text), prefixNumber(t.text))
	}
}

// tuple reads values up to "]".
func (p *parser) tuple(l *lexer, open token) ([]Value, bool) {
	values := []Value{}
	for {
		t := skip(l, tokenSpace, tokenLine)
		switch t.kind {
		case tokenTupleEnd:
			return values, true
		case tokenNumber, tokenString:
			if !p.spend(t.pos) {
				return nil, false
			}
			values = append(values, p.value(l, t))
			continue
		case tokenEnd:
			p.errorf(t.pos, "the tuple of line %d is not closed; expected \"]\"", open.pos.Line)
			return nil, false
		case tokenComment:
			p.errorf(t.pos, "a comment cannot stand in a tuple; expected numbers, strings and \"]\"")
			continue
		case tokenWord, tokenBool:
			p.errorf(t.pos, "%s cannot stand in a tuple; expected numbers, strings in quotes and \"]\"", t.describe())
			if strings.HasSuffix(t.text, "]") {
				return nil, false
			}
			continue
		}
		p.wrong(l, t, "cannot stand in a tuple; expected numbers, strings and \"]\"")
		return nil, false
	}
}

// section reads a section, whose "(" has been read, or a use of a macro.
func (p *parser) section(l *lexer, parent *Section, word token, depth int) {
	if depth >= maxDepth {
		p.errorf(word.pos, "sections are nested more than %d deep", maxDepth)
		p.full = true
		return
	}
	s := p.file.newSection(word.text, word.pos, parent)
	if m := p.macros[word.text]; m != nil {
		s.Type = m.typ
		p.expand(m, s, word.pos, depth)
	}
	parent.Sections = append(parent.Sections, s)
	p.body(l, s, depth+1, false)
}

// expand reads a macro's body into the section that it is used as.
func (p *parser) expand(m *macro, s *Section, pos Pos, depth int) {
	body := m.body
	p.inside++
	p.body(&body, s, depth+1, false)
	p.inside--
	if p.spent += body.at - m.body.at; p.spent > maxExpanded && !p.full {
		p.full = true
		p.errorf(pos, "macros expand to more than %d bytes", maxExpanded)
	}
}

// includeFile reads the rest of an include, and the file.
func (p *parser) includeFile(l *lexer, s *Section, depth int) {
	t := skip(l, tokenSpace)
	if t.kind != tokenString {
		p.wrong(l, t, "is no file; expected its name in quotes, on the same line")
		return
	}
	p.include(beside(p.file.Name, t.text), s, t.pos, depth+1)
}

// define reads a macro and passes over its body.
func (p *parser) define(l *lexer, word token) {
	name := skip(l, tokenSpace, tokenLine, tokenComment)
	if name.kind != tokenWord {
		p.wrong(l, name, "is no name of a macro; expected define NAME SECTION (")
		return
	}
	typ := skip(l, tokenSpace, tokenLine, tokenComment)
	if typ.kind != tokenWord {
		p.wrong(l, typ, "is no type of a section; expected define NAME SECTION (")
		return
	}
	if open := skip(l, tokenSpace, tokenLine, tokenComment); open.kind != tokenOpen {
		p.wrong(l, open, "begins no section; expected \"(\"")
		return
	}
	p.macros[name.text] = &macro{typ: typ.text, body: *l, pos: name.pos}
	// Read once for its problems, into a section that nobody keeps.
	scratch := p.file.newSection(typ.text, word.pos, p.file.Global)
	p.body(l, scratch, 1, false)
}
