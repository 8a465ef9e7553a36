package worldfile

import (
	"callboard/player/problem"
	"callboard/player/problem/lexer"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
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
func Parse(open Open, name string) (*File, problem.List) {
	p := &parser{open: open, top: name, macros: map[string]*macro{}, texts: map[string]string{}}
	f := &File{Name: name}
	text, err := open(name)
	if err != nil {
		return nil, problem.List{{Place: problem.Place{File: name}, Message: problem.OfFile(err)}}
	}
	p.bytes, p.files = len(text), []string{name}
	if !p.splice(name, string(text), &f.World) {
		return nil, p.List
	}
	for _, m := range p.faulty {
		p.Warnf(m.fault.Place, "%s; Stage does not see it, as nothing uses %q", m.fault.Message, problem.Short(m.name))
	}
	f.files = p.files
	return f, p.List
}

// parser holds what is common to the files of one load.
type parser struct {
	open     Open
	top      string // the world file: names are relative to its folder
	macros   map[string]*macro
	faulty   []*macro          // with errors in their bodies
	texts    map[string]string // of included files, by name as opened
	files    []string          // in the order in which they were opened
	stack    []string          // of files that are being read
	includes int
	bytes    int
	written  int // entities in the text
	entities int // after macros
	problem.List
	broken bool // the text cannot be cut into tokens, or a file is missing
}

// macro is what define gives a name to.
type macro struct {
	name, base string
	body       *raw
	pos, at    problem.Place    // of define, and of the name
	fault      *problem.Problem // the first error in the body, which counts once the macro is used
}

// raw is an entity as written, before macros.
type raw struct {
	word       string
	pos        problem.Place
	properties []Property
	children   []*raw
}

// fail adds a problem, which ends the parsing.
func (p *parser) fail(at problem.Place, format string, args ...any) bool {
	p.Errorf(at, format, args...)
	return false
}

// reader reads the tokens of one file.
type reader struct {
	*parser
	lex lexer.Lexer
}

// splice parses the top-level text of a file into the world.
func (p *parser) splice(name, text string, into *Entity) bool {
	p.stack = append(p.stack, name)
	defer func() { p.stack = p.stack[:len(p.stack)-1] }()
	r := &reader{parser: p, lex: lexer.Stage(name, text)}
	for {
		t, ok := r.read(blank...)
		if !ok {
			return false
		}
		switch {
		case t.Kind == lexer.End:
			return true
		case t.Kind == lexer.Word && t.Text == "include":
			file, text, ok := r.include(t)
			if !ok || !p.splice(file, text, into) {
				return false
			}
		case t.Kind == lexer.Word && t.Text == "define":
			if !r.define(t) {
				return false
			}
		case t.Kind == lexer.Word:
			if !r.topItem(t, into) {
				return false
			}
		case t.Kind == lexer.Close:
			return p.fail(t.Pos, "\")\" closes nothing; expected a type, a property, define or include")
		default:
			return p.fail(t.Pos, "%s cannot stand here; expected a type, a property, define or include", t)
		}
	}
}

// topItem parses an entity or property of the top level, macros applied.
func (r *reader) topItem(t lexer.Token, into *Entity) bool {
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

// blank is what counts for nothing between tokens.
var blank = []lexer.Kind{lexer.Space, lexer.Line, lexer.Comment}

// read returns the next token that is of none of some kinds.
func (r *reader) read(passing ...lexer.Kind) (lexer.Token, bool) {
	t := r.lex.Skip(passing...)
	switch {
	case t.Unclosed():
		r.broken = true
		return t, r.fail(t.Pos, "the string has no end; expected \" on the same line")
	case t.Kind == lexer.Wrong:
		r.broken = true
		return t, r.fail(t.Pos, "%s cannot stand here; expected a word, a number, a string, a bracket or a comment", character(t.Text))
	}
	return t, true
}

// character names the character that a text begins with.
func character(s string) string {
	r, _ := utf8.DecodeRuneInString(s)
	if r == 0xFEFF {
		return "a byte order mark"
	}
	return fmt.Sprintf("%q", r)
}

// item parses what follows a word: the value of a property or the body of an
// entity, into body.
func (r *reader) item(word lexer.Token, body *raw, depth int) bool {
	t, ok := r.read(lexer.Space)
	if !ok {
		return false
	}
	if t.Kind == lexer.Number || t.Kind == lexer.String || t.Kind == lexer.Tuple {
		values, ok := r.value(t)
		if ok {
			body.properties = append(body.properties, Property{Pos: word.Pos, Name: word.Text, Values: values})
		}
		return ok
	}
	direct := t.Kind
	if t.Kind == lexer.Line || t.Kind == lexer.Comment {
		if t, ok = r.read(blank...); !ok {
			return false
		}
	}
	switch t.Kind {
	case lexer.Open:
		return r.entity(word, t, body, depth)
	case lexer.Number, lexer.String, lexer.Tuple:
		if direct == lexer.Comment {
			return r.fail(word.Pos, "a comment stands between %q and its value; expected the value first", problem.Short(word.Text))
		}
		return r.fail(word.Pos, "the value of %q is on another line; expected it on the same line", problem.Short(word.Text))
	case lexer.Word:
		return r.fail(t.Pos, "%q is followed by the word %q; expected a number, a \"string\" or [ ] as its value, or ( for a model", problem.Short(word.Text), problem.Short(t.Text))
	case lexer.End:
		return r.fail(word.Pos, "%q is followed by nothing; expected a value or (", problem.Short(word.Text))
	}
	return r.fail(t.Pos, "%q is followed by %s; expected a value or (", problem.Short(word.Text), t)
}

// value parses a property's value.
func (r *reader) value(t lexer.Token) ([]string, bool) {
	if t.Kind != lexer.Tuple {
		return []string{t.Text}, true
	}
	values := []string{}
	for {
		v, ok := r.read(lexer.Space)
		if !ok {
			return nil, false
		}
		switch v.Kind {
		case lexer.Number, lexer.String:
			values = append(values, v.Text)
		case lexer.TupleEnd:
			return values, true
		case lexer.End:
			r.Warnf(t.Pos, "[ is not closed before the end of the file; expected ]")
			return values, true
		case lexer.Line:
			return nil, r.fail(t.Pos, "[ is not closed on its line; expected numbers, strings and ]")
		default:
			return nil, r.fail(v.Pos, "%s cannot stand within [ ]; expected numbers and strings, with blanks between them", v)
		}
	}
}

// entity parses the body that begins at opened.
func (r *reader) entity(word, opened lexer.Token, into *raw, depth int) bool {
	if depth > maxDepth {
		return r.fail(opened.Pos, "brackets nest deeper than %d", maxDepth)
	}
	e := &raw{word: word.Text, pos: word.Pos}
	r.written++
	if !r.body(e, opened, depth) {
		return false
	}
	into.children = append(into.children, e)
	return true
}

// body parses items up to the closing bracket.
func (r *reader) body(e *raw, opened lexer.Token, depth int) bool {
	for {
		t, ok := r.read(blank...)
		if !ok {
			return false
		}
		switch {
		case t.Kind == lexer.Close:
			return true
		case t.Kind == lexer.End:
			return r.fail(opened.Pos, "this ( of %q is never closed; expected )", problem.Short(e.word))
		case t.Kind == lexer.Word && t.Text == "include":
			if !r.includeInto(t, e, depth) {
				return false
			}
		case t.Kind == lexer.Word && t.Text == "define":
			return r.fail(t.Pos, "define cannot stand within a model; expected it at the top level")
		case t.Kind == lexer.Word:
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
func (r *reader) stray(t lexer.Token, e *raw) bool {
	if n := len(e.properties); n > 0 && t.Kind == lexer.Number {
		last := e.properties[n-1]
		if name, _, ok := strings.Cut(last.Name, "["); ok && !strings.Contains(last.Name, "]") {
			return r.fail(last.Pos, "%q is taken for one word; expected a blank after %q", problem.Short(last.Name), problem.Short(name))
		}
	}
	return r.fail(t.Pos, "%s cannot stand within %q; expected a property, a child or )", t, problem.Short(e.word))
}

// include reads the rest of an include's line and returns the file's text.
func (r *reader) include(word lexer.Token) (file, text string, ok bool) {
	defer func() { r.broken = r.broken || !ok }()
	t, ok := r.read()
	if !ok {
		return "", "", false
	}
	if t.Kind == lexer.String {
		return "", "", r.fail(t.Pos, "include is followed by %s at once; expected a blank between them", t)
	}
	if t.Kind == lexer.Space {
		if t, ok = r.read(); !ok {
			return "", "", false
		}
	}
	if t.Kind != lexer.String {
		return "", "", r.fail(t.Pos, "include is followed by %s; expected a file's name in \"…\" on the same line", t)
	}
	r.lex.SkipLine()
	r.includes++
	if r.includes > maxIncludes {
		return "", "", r.fail(word.Pos, "more than %d includes", maxIncludes)
	}
	if len(r.stack) > maxInclude {
		return "", "", r.fail(word.Pos, "includes nest deeper than %d", maxInclude)
	}
	file, text, err := r.find(t.Text)
	if err != nil {
		return "", "", r.fail(t.Pos, "cannot include %q: %v", t.Text, err)
	}
	for _, s := range r.stack {
		if s == file {
			return "", "", r.fail(t.Pos, "%q includes itself", t.Text)
		}
	}
	if r.bytes += len(text); r.bytes > maxText {
		return "", "", r.fail(t.Pos, "the included files come to more than %d MiB", maxText>>20)
	}
	if strings.IndexByte(r.lex.Rest(), '\n') < 0 {
		r.Warnf(word.Pos, "no line follows this include, for which real Stage waits for ever; expected a line end behind it")
	}
	return file, text, true
}

// within reads the file that an include names, token by token, up to its end.
func (r *reader) within(word lexer.Token, each func(inner *reader, t lexer.Token) bool) bool {
	file, text, ok := r.include(word)
	if !ok {
		return false
	}
	r.stack = append(r.stack, file)
	defer func() { r.stack = r.stack[:len(r.stack)-1] }()
	inner := &reader{parser: r.parser, lex: lexer.Stage(file, text)}
	for {
		switch t, ok := inner.read(blank...); {
		case !ok:
			return false
		case t.Kind == lexer.End:
			return true
		case !each(inner, t):
			return false
		}
	}
}

// includeInto splices a file's items into an entity.
func (r *reader) includeInto(word lexer.Token, e *raw, depth int) bool {
	return r.within(word, func(inner *reader, t lexer.Token) bool {
		switch {
		case t.Kind == lexer.Word && t.Text == "include":
			return inner.includeInto(t, e, depth)
		case t.Kind == lexer.Word && t.Text != "define":
			return inner.item(t, e, depth+1)
		}
		return r.fail(t.Pos, "%s cannot stand in a file that is included within %q; expected properties and children", t, problem.Short(e.word))
	})
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
			p.texts[try], p.files = string(data), append(p.files, try)
			return try, string(data), nil
		}
		if first == nil {
			first = err
		}
	}
	if text, ok := library(path.Base(strings.ReplaceAll(name, `\`, "/"))); ok {
		file = "(built in) " + path.Base(name)
		if p.texts[file] == "" {
			p.texts[file], p.files = text, append(p.files, file)
		}
		return file, text, nil
	}
	return "", "", first
}

// candidates returns the names under which a file that the world mentions may be
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
