package config

import (
	"callboard/player/problem"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The TOML parser recurses into arrays and inline tables, and takes memory by
// the square of a dotted key's names; so what it reads is bounded before, far
// above what the schema needs.
const (
	maxDepth = 32    // how deep tables, dotted keys, arrays and inline tables may nest
	maxPath  = 1_000 // bytes in a key together with the tables around it
)

// placesPerByte bounds the bytes of all paths whose places are kept, for each
// byte of the text; a key beyond has the place of the nearest one around it.
const placesPerByte = 16

// place is a line and a column, from 1, columns in characters.
type place struct{ line, column int }

// source says where the keys of one TOML text stand. The TOML library returns
// positions for syntax errors only.
type source struct {
	name   string
	places map[string]place
}

// at returns the place of a key, or of the nearest table around it. What is not
// in the text, or was overridden by a flag, has neither file nor line.
func (s *source) at(key string) problem.Place {
	for s != nil {
		if p, ok := s.places[key]; ok {
			if p == (place{}) {
				break
			}
			return s.place(p)
		}
		cut := strings.LastIndexAny(key, ".[")
		if cut < 0 || key[cut] == '[' {
			break
		}
		key = key[:cut]
	}
	return problem.Place{}
}

func (s *source) place(p place) problem.Place {
	return problem.Place{File: s.name, Line: p.line, Column: p.column}
}

// drop makes a key one that is not in the text.
func (s *source) drop(key string) {
	if s != nil {
		s.places[key] = place{}
	}
}

// scanner walks over TOML text that need not be right: it stops at what it
// does not understand, which the TOML parser then reports.
type scanner struct {
	text   string
	pos    int
	line   int
	start  int // where column counting goes on: the line's start, or later
	before int // characters of the line before start
	places map[string]place
	room   int            // bytes for further paths in places
	arrays map[string]int // tables of an array of tables so far, by its key
	excess *excess
}

// excess is what is not handed to the parser.
type excess struct {
	at   place
	text string
}

// scan returns the places of all keys of the text, as paths such as
// player[1].robots.r1 or zones.dock[2], and what of it is too much for the
// parser, if anything.
func scan(name, text string) (*source, *excess) {
	s := &scanner{text: text, line: 1, places: map[string]place{}, arrays: map[string]int{}, room: 64<<10 + placesPerByte*len(text)}
	if strings.HasPrefix(text, "\ufeff") {
		s.pos, s.start = 3, 3
	}
	table, depth := "", 0
	for ok := true; ok; {
		s.blanks(true)
		switch {
		case s.pos >= len(s.text):
			ok = false
		case s.peek() == '[':
			table, depth, ok = s.header()
		default:
			ok = s.pair(table, depth)
		}
	}
	return &source{name: name, places: s.places}, s.excess
}

// tooDeep notes that the text nests too deep at a place.
func (s *scanner) tooDeep(at place) {
	s.excess = &excess{at, fmt.Sprintf("nested too deep; expected at most %d levels", maxDepth)}
}

func (s *scanner) peek() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// here returns the place of pos. It counts each character once, however long
// the line.
func (s *scanner) here() place {
	s.before += utf8.RuneCountInString(s.text[s.start:s.pos])
	s.start = s.pos
	return place{s.line, s.before + 1}
}

// mark remembers where a key stands; the first time counts.
func (s *scanner) mark(key string, p place) {
	if _, ok := s.places[key]; !ok && len(key) <= s.room {
		s.places[key] = p
		s.room -= len(key)
	}
}

// newline passes the line break at pos.
func (s *scanner) newline() {
	s.pos++
	s.line++
	s.start, s.before = s.pos, 0
}

// blanks passes blanks and, if lines, line breaks and comments.
func (s *scanner) blanks(lines bool) {
	for s.pos < len(s.text) {
		switch c := s.text[s.pos]; {
		case c == ' ' || c == '\t' || c == '\r':
			s.pos++
		case lines && c == '\n':
			s.newline()
		case lines && c == '#':
			for s.pos < len(s.text) && s.text[s.pos] != '\n' {
				s.pos++
			}
		default:
			return
		}
	}
}

// join appends a key to a path, unless that becomes too long.
func (s *scanner) join(path, key string, at place) (string, bool) {
	path = join(path, key)
	if len(path) > maxPath {
		s.excess = &excess{at, fmt.Sprintf("a key that is too long; expected at most %d bytes together with the tables around it", maxPath)}
	}
	return path, len(path) <= maxPath
}

// header reads [a.b] or [[a.b]] and returns the path of the table and how deep
// it is.
func (s *scanner) header() (path string, depth int, ok bool) {
	at := s.here()
	s.pos++
	array := s.peek() == '['
	if array {
		s.pos++
	}
	names, ok := s.keys(at, 0)
	if !ok {
		return "", 0, false
	}
	for i, name := range names {
		if path, ok = s.join(path, name, at); !ok {
			return "", 0, false
		}
		n := s.arrays[path]
		if array && i == len(names)-1 {
			s.arrays[path]++
			s.mark(path, at)
			path += "[" + strconv.Itoa(n) + "]"
		} else if n > 0 {
			path += "[" + strconv.Itoa(n-1) + "]"
		}
		s.mark(path, at)
	}
	for range 2 {
		if s.peek() == ']' {
			s.pos++
		}
	}
	return path, len(names), true
}

// keys reads a dotted key at a place, inside depth levels.
func (s *scanner) keys(at place, depth int) (names []string, ok bool) {
	for {
		if depth+len(names) == maxDepth {
			s.tooDeep(at)
			return nil, false
		}
		s.blanks(false)
		name := ""
		if c := s.peek(); c == '"' || c == '\'' {
			if name, ok = s.oneLine(c); !ok {
				return nil, false
			}
		} else {
			from := s.pos
			for s.pos < len(s.text) && isBare(rune(s.text[s.pos])) {
				s.pos++
			}
			if name = s.text[from:s.pos]; name == "" {
				return nil, false
			}
		}
		names = append(names, name)
		s.blanks(false)
		if s.peek() != '.' {
			return names, true
		}
		s.pos++
	}
}

// pair reads key = value inside the table.
func (s *scanner) pair(table string, depth int) bool {
	at := s.here()
	names, ok := s.keys(at, depth)
	if !ok || s.peek() != '=' {
		return false
	}
	s.pos++
	path := table
	for _, name := range names {
		if path, ok = s.join(path, name, at); !ok {
			return false
		}
		s.mark(path, at)
	}
	return s.value(path, depth+len(names))
}

// value reads any value.
func (s *scanner) value(path string, depth int) bool {
	s.blanks(false)
	if depth > maxDepth {
		s.tooDeep(s.here())
		return false
	}
	switch c := s.peek(); c {
	case '"', '\'':
		if strings.HasPrefix(s.text[s.pos:], strings.Repeat(string(c), 3)) {
			return s.long(c)
		}
		_, ok := s.oneLine(c)
		return ok
	case '[':
		return s.array(path, depth)
	case '{':
		return s.inline(path, depth)
	}
	from := s.pos
	for s.pos < len(s.text) && !strings.ContainsRune(",]}#\n", rune(s.text[s.pos])) {
		s.pos++
	}
	return s.pos > from
}

func (s *scanner) array(path string, depth int) bool {
	s.pos++
	for i := 0; ; i++ {
		s.blanks(true)
		if s.peek() == ']' {
			s.pos++
			return true
		}
		element := path
		if s.room > len(path) {
			element += "[" + strconv.Itoa(i) + "]"
			s.mark(element, s.here())
		}
		if !s.value(element, depth+1) {
			return false
		}
		if s.blanks(true); s.peek() == ',' {
			s.pos++
		} else if s.peek() != ']' {
			return false
		}
	}
}

func (s *scanner) inline(path string, depth int) bool {
	s.pos++
	for {
		s.blanks(true)
		if s.peek() == '}' {
			s.pos++
			return true
		}
		if !s.pair(path, depth) {
			return false
		}
		if s.blanks(true); s.peek() == ',' {
			s.pos++
		} else if s.peek() != '}' {
			return false
		}
	}
}

// goEscapes writes TOML's escapes as Go does; it differs in one.
var goEscapes = strings.NewReplacer(`\\`, `\\`, `\e`, `\x1b`)

// oneLine reads a string of one line and returns what it says, escapes undone as
// far as keys need them.
func (s *scanner) oneLine(quote byte) (string, bool) {
	from := s.pos
	for s.pos++; s.pos < len(s.text) && s.text[s.pos] != '\n'; s.pos++ {
		switch s.text[s.pos] {
		case '\\':
			if quote == '"' {
				s.pos++
			}
		case quote:
			s.pos++
			raw := s.text[from:s.pos]
			if quote == '"' {
				if said, err := strconv.Unquote(goEscapes.Replace(raw)); err == nil {
					return said, true
				}
			}
			return raw[1 : len(raw)-1], true
		}
	}
	return "", false
}

// long passes a string of several lines.
func (s *scanner) long(quote byte) bool {
	end := strings.Repeat(string(quote), 3)
	for s.pos += 3; s.pos < len(s.text); {
		switch rest := s.text[s.pos:]; {
		case rest[0] == '\\' && quote == '"' && len(rest) > 1 && rest[1] != '\n':
			s.pos += 2
		case rest[0] == '\n':
			s.newline()
		case strings.HasPrefix(rest, end):
			s.pos += 3
			// Up to two quotes may stand before the end.
			for range 2 {
				if s.peek() == quote {
					s.pos++
				}
			}
			return true
		default:
			s.pos++
		}
	}
	return false
}

func isBare(r rune) bool {
	return r == '-' || r == '_' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// join appends a key to a path, quoted if it could be misread.
func join(path, key string) string {
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return !isBare(r) }) {
		key = strconv.Quote(key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
