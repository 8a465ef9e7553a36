package playercfg

import (
	"fmt"
	"strings"

	"callboard/player/problem"
	"callboard/player/problem/lexer"
)

// Limits of what is read, for files from strangers.
const (
	maxFile     = 16 << 20 // bytes of one file
	maxTotal    = 32 << 20 // bytes of all files
	maxIncludes = 1000     // files
	maxDepth    = 32       // sections in sections, files in files
	maxItems    = 1 << 20  // fields, values and sections, macros expanded
	maxExpanded = 64 << 20 // bytes of macros' bodies, each time that they are used
	maxString   = 1023     // bytes of a word or of the text between quotes: more Player does not read
)

// Open returns the bytes of a file, by the name that it has in messages. Only
// Load calls it, while it runs.
type Open func(name string) ([]byte, error)

// macro is a definition: where the body of its section begins.
type macro struct {
	typ  string
	body lexer.Lexer
	pos  problem.Place
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
func (p *parser) include(name string, s *Section, pos problem.Place, depth int) {
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
		reason := problem.OfFile(err)
		if pos.Line > 0 { // another file names it
			reason = problem.OfNamedFile(name, err)
		}
		p.errorf(pos, "%s", reason)
		return
	}
	p.bytes += len(text)
	if len(text) > maxFile || p.bytes > maxTotal {
		p.errorf(pos, "%s has %d bytes, expected at most %d, and %d with all that is included", name, len(text), maxFile, maxTotal)
		p.full = true
		return
	}
	p.files = append(p.files, name)
	l := lexer.Player(name, string(text))
	p.body(&l, s, depth, true)
}

// spend counts an item against the limit.
func (p *parser) spend(pos problem.Place) bool {
	if p.items++; p.items > maxItems && !p.full {
		p.full = true
		p.errorf(pos, "more than %d options and sections, macros expanded", maxItems)
	}
	return !p.full
}

// body reads fields and sections up to the section's bracket, or at the top of
// a file to its end.
func (p *parser) body(l *lexer.Lexer, s *Section, depth int, top bool) {
	for !p.full {
		t := l.Next()
		switch t.Kind {
		case lexer.Space, lexer.Line, lexer.Comment:
		case lexer.End:
			if !top {
				p.errorf(t.Pos, "the %s section of line %d is not closed; expected \")\"", s.Type, s.Pos.Line)
			}
			return
		case lexer.Close:
			if !top {
				return
			}
			p.wrong(l, t, "closes no section of this file")
		case lexer.Word:
			p.item(l, s, t, depth)
		default:
			p.wrong(l, t, "cannot stand here; expected an option's name, a section or \")\"")
		}
	}
}

// wrong reports a token and goes to the end of its line.
func (p *parser) wrong(l *lexer.Lexer, t lexer.Token, what string) {
	if t.Unclosed() {
		p.errorf(t.Pos, "the string %s is not closed; expected \" on the same line", problem.Short(t.Text))
	} else {
		p.errorf(t.Pos, "%s %s", t, what)
	}
	l.SkipLine()
}

// item reads what begins with a word.
func (p *parser) item(l *lexer.Lexer, s *Section, word lexer.Token, depth int) {
	if word.Text == "include" {
		p.includeFile(l, s, depth)
		return
	}
	if s.Parent == nil {
		switch word.Text {
		case "define":
			p.define(l, word)
			return
		case "plugin":
			if t := l.Skip(lexer.Space); t.Kind == lexer.String {
				p.file.Plugins = append(p.file.Plugins, Value{t.Text, String, t.Pos})
			} else {
				p.wrong(l, t, "is no plug-in; expected its name in quotes")
			}
			return
		}
	}
	if len(word.Text) > maxString {
		p.errorf(word.Pos, "the word %q has %d bytes; expected at most %d", problem.Short(word.Text), len(word.Text), maxString)
	}
	if strings.HasSuffix(word.Text, "[") && l.Rest() != "" && !lexer.IsBlank(l.Rest()[0]) {
		p.errorf(word.Pos, "%q reads as one word; expected a blank before \"[\"", problem.Short(word.Text))
		l.SkipLine()
		return
	}
	if !p.spend(word.Pos) {
		return
	}
	back := *l
	t := l.Skip(lexer.Space)
	switch {
	case t.Kind == lexer.Number || t.Kind == lexer.String || t.Kind == lexer.Bool || t.Kind == lexer.Tuple:
		p.field(l, s, word, t)
		return
	case t.Kind == lexer.Line || t.Kind == lexer.Comment || t.Kind == lexer.Open:
		*l = back
		if t = l.Skip(lexer.Space, lexer.Line, lexer.Comment); t.Kind == lexer.Open {
			p.section(l, s, word, depth)
			return
		}
		*l = back
		t = l.Skip(lexer.Space)
	}
	*l = back
	p.noValue(l, word, t)
}

// noValue reports a word that is neither a field nor a section.
func (p *parser) noValue(l *lexer.Lexer, word, t lexer.Token) {
	switch {
	case t.Kind == lexer.Close: // it still closes the section
		p.errorf(t.Pos, "%s is no value for %q; expected one on the same line, or \"(\" of a section", t, problem.Short(word.Text))
		return
	case lexer.IsBool(t.Text) && t.Kind == lexer.Word:
		p.errorf(t.Pos, "%s at the very end of the file is not recognised; expected a line end behind it", t)
	case t.Kind == lexer.Word:
		p.errorf(t.Pos, "%s is no value for %q; expected a number, a string in quotes, yes, no, true, false or \"[\"", t, problem.Short(word.Text))
	case t.Kind == lexer.Line || t.Kind == lexer.Comment || t.Kind == lexer.End:
		p.errorf(word.Pos, "%q has no value; expected one on the same line, or \"(\" of a section", problem.Short(word.Text))
	default:
		p.wrong(l, t, fmt.Sprintf("is no value for %q; expected a number, a string in quotes, yes, no, true, false or \"[\"", problem.Short(word.Text)))
	}
	l.SkipLine()
}

// field reads the value of an option, whose first token has been read.
func (p *parser) field(l *lexer.Lexer, s *Section, word, t lexer.Token) {
	var values []Value
	if t.Kind == lexer.Tuple {
		var ok bool
		if values, ok = p.tuple(l, t); !ok {
			return
		}
	} else {
		values = []Value{p.value(l, t)}
	}
	if !p.spend(t.Pos) {
		return
	}
	if before := s.set(word.Text, word.Pos, values, p.inside > 0); before.Line > 0 {
		p.warnf(word.Pos, "%q is also given in line %d; the later one counts", problem.Short(word.Text), before.Line)
	}
}

// value makes a token a value.
func (p *parser) value(l *lexer.Lexer, t lexer.Token) Value {
	k := Number
	switch t.Kind {
	case lexer.String:
		k = String
		if len(t.Text) > maxString {
			p.errorf(t.Pos, "the string %q has %d bytes; expected at most %d", problem.Short(t.Text), len(t.Text), maxString)
		}
	case lexer.Bool:
		k = Bool
	case lexer.Number:
		p.number(l, t)
	}
	return Value{Text: t.Text, Kind: k, Pos: t.Pos}
}

// number warns of numbers that Player reads as something else.
func (p *parser) number(l *lexer.Lexer, t lexer.Token) {
	if l.Rest() != "" && lexer.IsLetter(l.Rest()[0]) {
		p.errorf(t.Pos, "%q goes on with a letter; expected digits only: no exponents, no hexadecimal numbers, strings in quotes", problem.Short(t.Text))
		l.SkipWord()
		return
	}
	if v, whole := lexer.Float(t.Text); !whole {
		p.warnf(t.Pos, "%q is no number; Player reads it as %v", problem.Short(t.Text), v)
	}
}

// tuple reads values up to "]".
func (p *parser) tuple(l *lexer.Lexer, open lexer.Token) ([]Value, bool) {
	values := []Value{}
	for {
		t := l.Skip(lexer.Space, lexer.Line)
		switch t.Kind {
		case lexer.TupleEnd:
			return values, true
		case lexer.Number, lexer.String:
			if !p.spend(t.Pos) {
				return nil, false
			}
			values = append(values, p.value(l, t))
			continue
		case lexer.End:
			p.errorf(t.Pos, "the tuple of line %d is not closed; expected \"]\"", open.Pos.Line)
			return nil, false
		case lexer.Comment:
			p.errorf(t.Pos, "a comment cannot stand in a tuple; expected numbers, strings and \"]\"")
			continue
		case lexer.Word, lexer.Bool:
			p.errorf(t.Pos, "%s cannot stand in a tuple; expected numbers, strings in quotes and \"]\"", t)
			if strings.HasSuffix(t.Text, "]") {
				return nil, false
			}
			continue
		}
		p.wrong(l, t, "cannot stand in a tuple; expected numbers, strings and \"]\"")
		return nil, false
	}
}

// section reads a section, whose "(" has been read, or a use of a macro.
func (p *parser) section(l *lexer.Lexer, parent *Section, word lexer.Token, depth int) {
	if depth >= maxDepth {
		p.errorf(word.Pos, "sections are nested more than %d deep", maxDepth)
		p.full = true
		return
	}
	s := p.file.newSection(word.Text, word.Pos, parent)
	if m := p.macros[word.Text]; m != nil {
		s.Type = m.typ
		p.expand(m, s, word.Pos, depth)
	}
	parent.Sections = append(parent.Sections, s)
	p.body(l, s, depth+1, false)
}

// expand reads a macro's body into the section that it is used as.
func (p *parser) expand(m *macro, s *Section, pos problem.Place, depth int) {
	body := m.body
	p.inside++
	p.body(&body, s, depth+1, false)
	p.inside--
	if p.spent += body.Offset() - m.body.Offset(); p.spent > maxExpanded && !p.full {
		p.full = true
		p.errorf(pos, "macros expand to more than %d bytes", maxExpanded)
	}
}

// includeFile reads the rest of an include, and the file.
func (p *parser) includeFile(l *lexer.Lexer, s *Section, depth int) {
	t := l.Skip(lexer.Space)
	if t.Kind != lexer.String {
		p.wrong(l, t, "is no file; expected its name in quotes, on the same line")
		return
	}
	p.include(beside(p.file.Name, t.Text), s, t.Pos, depth+1)
}

// define reads a macro and passes over its body.
func (p *parser) define(l *lexer.Lexer, word lexer.Token) {
	name := l.Skip(lexer.Space, lexer.Line, lexer.Comment)
	if name.Kind != lexer.Word {
		p.wrong(l, name, "is no name of a macro; expected define NAME SECTION (")
		return
	}
	typ := l.Skip(lexer.Space, lexer.Line, lexer.Comment)
	if typ.Kind != lexer.Word {
		p.wrong(l, typ, "is no type of a section; expected define NAME SECTION (")
		return
	}
	if open := l.Skip(lexer.Space, lexer.Line, lexer.Comment); open.Kind != lexer.Open {
		p.wrong(l, open, "begins no section; expected \"(\"")
		return
	}
	p.macros[name.Text] = &macro{typ: typ.Text, body: *l, pos: name.Pos}
	// Read once for its problems, into a section that nobody keeps.
	scratch := p.file.newSection(typ.Text, word.Pos, p.file.Global)
	p.body(l, scratch, 1, false)
}
