package worldfile

import (
	"fmt"
	"path"
	"strings"
)

// Limits that keep what a file can ask for in bounds.
const (
	maxDepth    = 1000      // entities within entities, after macros
	maxEntities = 1 << 21   // after macros
	freeCopies  = 200000    // entities that macros may make in any case
	copies      = 100       // entities that macros may make for each one written
	maxIncludes = 10000     // files spliced in, counted each time
	maxInclude  = 64        // includes within includes
	maxText     = 256 << 20 // bytes of all text spliced in
)

// Parse reads a world file's syntax: it splices in what is included and applies
// the macros. The File is nil if there is an error; parsing ends at the first.
func Parse(open Open, name string) (*File, []Problem) {
	p := &parser{open: open, top: name, macros: map[string]*macro{}, texts: map[string]string{}}
	f := &File{Name: name}
	text, err := open(name)
	if err != nil {
		return nil, []Problem{{Pos: Pos{File: name}, Message: fmt.Sprintf("cannot be read: %v", err)}}
	}
	p.bytes = len(text)
	if !p.splice(name, string(text), &f.World) {
		return nil, p.problems
	}
	for _, m := range p.faulty {
		p.warn(m.fault.Pos, "%s; Stage does not see it, as nothing uses %q", m.fault.Message, short(m.name))
	}
	return f, p.problems
}

// parser holds what is common to the files of one load.
type parser struct {
	open     Open
	top      string // the world file: names are relative to its folder
	macros   map[string]*macro
	faulty   []*macro          // with errors in their bodies
	texts    map[string]string // of included files, by name as opened
	stack    []string          // of files that are being read
	includes int
	bytes    int
	written  int // entities in the text
	entities int // after macros
	problems []Problem
	broken   bool // the text cannot be cut into tokens, or a file is missing
}

// macro is what define gives a name to.
type macro struct {
	name, base string
	body       *raw
	pos, at    Pos      // of define, and of the name
	fault      *Problem // the first error in the body, which counts once the macro is used
}

// raw is an entity as written, before macros.
type raw struct {
	word       string
	pos        Pos
	properties []Property
	children   []*raw
}

func (p *parser) fail(pos Pos, format string, args ...any) bool {
	p.problems = append(p.problems, Problem{Pos: pos, Message: fmt.Sprintf(format, args...)})
	return false
}

func (p *parser) warn(pos Pos, format string, args ...any) {
	p.problems = append(p.problems, Problem{Pos: pos, Severity: Warning, Message: fmt.Sprintf(format, args...)})
}

// reader reads the tokens of one file.
type reader struct {
	*parser
	lex *lexer
}

// splice parses the top-level text of a file into the world.
func (p *parser) splice(name, text string, into *Entity) bool {
	p.stack = append(p.stack, name)
	defer func() { p.stack = p.stack[:len(p.stack)-1] }()
	r := &reader{parser: p, lex: newLexer(name, text)}
	for {
		t, ok := r.skip()
		if !ok {
			return false
		}
		switch {
		case t.kind == tokenEnd:
			return true
		case t.kind == tokenWord && t.text == "include":
			file, text, ok := r.include(t)
			if !ok || !p.splice(file, text, into) {
				return false
			}
		case t.kind == tokenWord && t.text == "define":
			if !r.define(t) {
				return false
			}
		case t.kind == tokenWord:
			if !r.topItem(t, into) {
				return false
			}
		case t.kind == tokenClose:
			return p.fail(t.pos, "\")\" closes nothing; expected a type, a property, define or include")
		default:
			return p.fail(t.pos, "%s cannot stand here; expected a type, a property, define or include", t.describe())
		}
	}
}

// topItem parses an entity or property of the top level, macros applied.
func (r *reader) topItem(t token, into *Entity) bool {
	body := &raw{}
	if !r.item(t, body, 1) {
		return false
	}
	for i := range body.properties {
		into.Properties = append(into.Properties, &body.properties[i])
	}
	for _, c := range body.children {
		e, ok := r.expand(c, 1)
		if !ok {
			return false
		}
		into.Children = append(into.Children, e)
	}
	return true
}

// read gives the next token of any kind.
func (r *reader) read() (token, bool) {
	t, problem := r.lex.next()
	if problem != nil {
		r.problems = append(r.problems, *problem)
		r.broken = true
		return t, false
	}
	return t, true
}

// skip gives the next token that is not blank, comment or line end.
func (r *reader) skip() (token, bool) {
	for {
		t, ok := r.read()
		if !ok || t.kind != tokenSpace && t.kind != tokenLine && t.kind != tokenComment {
			return t, ok
		}
	}
}

// skipSpace gives the next token that is no blank.
func (r *reader) skipSpace() (token, bool) {
	for {
		t, ok := r.read()
		if !ok || t.kind != tokenSpace {
			return t, ok
		}
	}
}

// item parses what follows a word: the value of a property or the body of an
// entity, into body.
func (r *reader) item(word token, body *raw, depth int) bool {
	t, ok := r.skipSpace()
	if !ok {
		return false
	}
	if t.kind == tokenNumber || t.kind == tokenString || t.kind == tokenTuple {
		values, ok := r.value(t)
		if ok {
			body.properties = append(body.properties, Property{Pos: word.pos, Name: word.text, Values: values})
		}
		return ok
	}
	direct := t.kind
	if t.kind == tokenLine || t.kind == tokenComment {
		if t, ok = r.skip(); !ok {
			return false
		}
	}
	switch t.kind {
	case tokenOpen:
		return r.entity(word, t, body, depth)
	case tokenNumber, tokenString, tokenTuple:
		if direct == tokenComment {
			return r.fail(word.pos, "a comment stands between %q and its value; expected the value first", short(word.text))
		}
		return r.fail(word.pos, "the value of %q is on another line; expected it on the same line", short(word.text))
	case tokenWord:
		return r.fail(t.pos, "%q is followed by the word %q; expected a number, a \"string\" or [ ] as its value, or ( for a model", short(word.text), short(t.text))
	case tokenEnd:
		return r.fail(word.pos, "%q is followed by nothing; expected a value or (", short(word.text))
	}
	return r.fail(t.pos, "%q is followed by %s; expected a value or (", short(word.text), t.describe())
}

// value parses a property's value.
func (r *reader) value(t token) ([]string, bool) {
	if t.kind != tokenTuple {
		return []string{t.text}, true
	}
	values := []string{}
	for {
		v, ok := r.skipSpace()
		if !ok {
			return nil, false
		}
		switch v.kind {
		case tokenNumber, tokenString:
			values = append(values, v.text)
		case tokenTupleEnd:
			return values, true
		case tokenEnd:
			r.warn(t.pos, "[ is not closed before the end of the file; expected ]")
			return values, true
		case tokenLine:
			return nil, r.fail(t.pos, "[ is not closed on its line; expected numbers, strings and ]")
		default:
			return nil, r.fail(v.pos, "%s cannot stand within [ ]; expected numbers and strings, with blanks between them", v.describe())
		}
	}
}

// entity parses the body that begins at opened.
func (r *reader) entity(word, opened token, into *raw, depth int) bool {
	if depth > maxDepth {
		return r.fail(opened.pos, "brackets nest deeper than %d", maxDepth)
	}
	e := &raw{word: word.text, pos: word.pos}
	r.written++
	if !r.body(e, opened, depth) {
		return false
	}
	into.children = append(into.children, e)
	return true
}

// body parses items up to the closing bracket.
func (r *reader) body(e *raw, opened token, depth int) bool {
	for {
		t, ok := r.skip()
		if !ok {
			return false
		}
		switch {
		case t.kind == tokenClose:
			return true
		case t.kind == tokenEnd:
			return r.fail(opened.pos, "this ( of %q is never closed; expected )", short(e.word))
		case t.kind == tokenWord && t.text == "include":
			if !r.includeInto(t, e, depth) {
				return false
			}
		case t.kind == tokenWord && t.text == "define":
			return r.fail(t.pos, "define cannot stand within a model; expected it at the top level")
		case t.kind == tokenWord:
			if !r.item(t, e, depth+1) {
				return false
			}
		default:
			return r.stray(t, e)
		}
	}
}

// stray refuses a token that begins nothing. A blank left out before [ makes a
// word of name and first value, which only shows now.
func (r *reader) stray(t token, e *raw) bool {
	if n := len(e.properties); n > 0 && t.kind == tokenNumber {
		last := e.properties[n-1]
		if name, _, ok := strings.Cut(last.Name, "["); ok && !strings.Contains(last.Name, "]") {
			return r.fail(last.Pos, "%q is taken for one word; expected a blank after %q", short(last.Name), short(name))
		}
	}
	return r.fail(t.pos, "%s cannot stand within %q; expected a property, a child or )", t.describe(), short(e.word))
}

// include reads the rest of an include's line and gives the file's text.
func (r *reader) include(word token) (file, text string, ok bool) {
	defer func() { r.broken = r.broken || !ok }()
	t, ok := r.read()
	if !ok {
		return "", "", false
	}
	if t.kind == tokenString {
		return "", "", r.fail(t.pos, "include is followed by %s at once; expected a blank between them", t.describe())
	}
	if t.kind == tokenSpace {
		if t, ok = r.read(); !ok {
			return "", "", false
		}
	}
	if t.kind != tokenString {
		return "", "", r.fail(t.pos, "include is followed by %s; expected a file's name in \"…\" on the same line", t.describe())
	}
	r.lex.skipLine()
	r.includes++
	if r.includes > maxIncludes {
		return "", "", r.fail(word.pos, "more than %d includes", maxIncludes)
	}
	if len(r.stack) > maxInclude {
		return "", "", r.fail(word.pos, "includes nest deeper than %d", maxInclude)
	}
	file, text, err := r.find(t.text)
	if err != nil {
		return "", "", r.fail(t.pos, "cannot include %q: %v", t.text, err)
	}
	for _, s := range r.stack {
		if s == file {
			return "", "", r.fail(t.pos, "%q includes itself", t.text)
		}
	}
	if r.bytes += len(text); r.bytes > maxText {
		return "", "", r.fail(t.pos, "the included files come to more than %d MiB", maxText>>20)
	}
	if strings.IndexByte(r.lex.text[r.lex.at:], '\n') < 0 {
		r.warn(word.pos, "no line follows this include, for which real Stage waits for ever; expected a line end behind it")
	}
	return file, text, true
}

// includeInto splices a file's items into an entity.
func (r *reader) includeInto(word token, e *raw, depth int) bool {
	file, text, ok := r.include(word)
	if !ok {
		return false
	}
	r.stack = append(r.stack, file)
	defer func() { r.stack = r.stack[:len(r.stack)-1] }()
	inner := &reader{parser: r.parser, lex: newLexer(file, text)}
	for {
		t, ok := inner.skip()
		if !ok {
			return false
		}
		switch {
		case t.kind == tokenEnd:
			return true
		case t.kind == tokenWord && t.text == "include":
			if !inner.includeInto(t, e, depth) {
				return false
			}
		case t.kind == tokenWord && t.text != "define":
			if !inner.item(t, e, depth+1) {
				return false
			}
		default:
			return r.fail(t.pos, "%s cannot stand in a file that is included within %q; expected properties and children", t.describe(), short(e.word))
		}
	}
}

// find reads an included file: as named, relative to the world file's folder,
// by its base name there, or from the built-in library.
func (p *parser) find(name string) (file, text string, err error) {
	var first error
	for _, try := range candidates(p.top, name) {
		if text, ok := p.texts[try]; ok {
			return try, text, nil
		}
		data, err := p.open(try)
		if err == nil {
			p.texts[try] = string(data)
			return try, string(data), nil
		}
		if first == nil {
			first = err
		}
	}
	if text, ok := library(path.Base(strings.ReplaceAll(name, `\`, "/"))); ok {
		return "(built in) " + path.Base(name), text, nil
	}
	return "", "", first
}

// candidates gives the names under which a file that the world mentions may be
// found, best first.
func candidates(top, name string) []string {
	folder := path.Dir(top)
	if path.IsAbs(name) {
		return []string{name, path.Join(folder, path.Base(name))}
	}
	list := []string{path.Join(folder, name)}
	if base := path.Join(folder, path.Base(name)); base != list[0] {
		list = append(list, base)
	}
	return list
}
