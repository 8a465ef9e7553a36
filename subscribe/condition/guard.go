package condition

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"callboard/player/problem"
	"callboard/subscribe/protocol"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
)

type node = ast.Node

// placer makes errors with places in a text.
type placer struct{ text string }

// error makes an error at a character of the text, counted from 0.
func (p placer) error(char int, code protocol.Code, format string, args ...any) *Error {
	line, column, n := 1, 1, 0
	for _, r := range p.text {
		if n == char {
			break
		}
		n++
		if r == '\n' {
			line, column = line+1, 1
		} else {
			column++
		}
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Line: line, Column: column}
}

// guard refuses what must not reach the parser: texts that are no text, too
// long, or too deep. It returns the place of the last bracket that is not
// closed, -1 if all are.
func (c *Compiler) guard(text string) (open int, problem *Error) {
	place := placer{text}
	if len(text) > c.length && utf8.RuneCountInString(text) > c.length {
		return 0, &Error{Code: protocol.TooCostly, Line: 1, Column: c.length + 1,
			Message: fmt.Sprintf("the text has %d characters, the limit is %d", utf8.RuneCountInString(text), c.length)}
	}
	if !utf8.ValidString(text) {
		return 0, &Error{Code: protocol.BadCondition, Line: 1, Column: 1, Message: "the text is not UTF-8"}
	}
	if strings.TrimSpace(text) == "" {
		return 0, place.error(0, protocol.BadCondition, "the text is empty; expected an expression such as `laser.min < 1`")
	}
	var stack [MaxDepth]int
	depth, char, before := 0, 0, signs{}
	quote, escaped := rune(0), false
	for i, r := range text {
		if quote == 0 {
			// Each sign before a value is a step down for the parser, as a
			// bracket is.
			if before.take(r, text[i:]); before.count > MaxDepth {
				return 0, place.error(char, protocol.TooCostly, "more than %d signs before a value", MaxDepth)
			}
		}
		switch {
		case escaped:
			escaped = false
		case quote != 0:
			escaped = r == '\\' && quote != '`'
			if r == quote {
				quote = 0
			}
		case r == '"' || r == '\'' || r == '`':
			quote = r
		case r == '(' || r == '[' || r == '{':
			if depth == MaxDepth {
				return 0, place.error(char, protocol.TooCostly, "brackets more than %d deep", MaxDepth)
			}
			stack[depth] = char
			depth++
		case (r == ')' || r == ']' || r == '}') && depth > 0:
			depth--
		}
		char++
	}
	if depth > 0 {
		return stack[depth-1], nil
	}
	return -1, nil
}

// signs counts the signs before a value.
type signs struct{ count, rest int }

// take takes the next character, at the beginning of a text.
func (s *signs) take(r rune, text string) {
	switch {
	case s.rest > 0: // of not
		s.rest--
	case strings.HasPrefix(text, "not"):
		s.count, s.rest = s.count+1, len("ot")
	case r == '!' || r == '-' || r == '+':
		s.count++
	case r != ' ' && r != '\t' && r != '\n' && r != '\r' && r != '(':
		s.count = 0
	}
}

// parse parses a text that passed the guard.
func parse(text string, open int, config *conf.Config) (*parser.Tree, *Error) {
	tree, err := parser.ParseWithConfig(text, config)
	if err == nil {
		return tree, nil
	}
	place := placer{text}
	var e *file.Error
	if !errors.As(err, &e) {
		return nil, place.error(0, protocol.BadCondition, "this cannot be read")
	}
	at := min(e.From, utf8.RuneCountInString(text))
	switch message := e.Message; {
	case strings.Contains(message, "maximum allowed nodes"):
		return nil, place.error(at, protocol.TooCostly, "more than %d names, constants, operators and calls", MaxNodes)
	case strings.Contains(message, "EOF") && open >= 0:
		return nil, place.error(open, protocol.BadCondition, "this bracket is never closed")
	case strings.Contains(message, "EOF"), message == "unexpected end of expression":
		return nil, place.error(at, protocol.BadCondition, "the text ends too early: an expression is missing here")
	default:
		return nil, place.error(at, protocol.BadCondition, "%s", wordParse(message))
	}
}

// wordParse words a parser's message for people.
func wordParse(message string) string {
	if rest, ok := strings.CutPrefix(message, "unexpected token "); ok {
		_, value, _ := strings.Cut(rest, "(")
		value = strings.Trim(strings.TrimSuffix(value, ")"), `"`)
		switch {
		case value == "=":
			return "unexpected `=`: to compare, write `==`"
		case value == "&":
			return "unexpected `&`: for both, write `&&`"
		case value == "":
			return "something unexpected here"
		}
		return "unexpected " + quoted(value) + " here"
	}
	if rest, ok := strings.CutPrefix(message, "unrecognized character: "); ok {
		_, char, _ := strings.Cut(rest, " ")
		char = strings.Trim(char, "'")
		if char == "&" {
			return "unexpected character `&`: for both, write `&&`"
		}
		return "unexpected character " + quoted(char)
	}
	if rest, ok := strings.CutPrefix(message, "bad number syntax: "); ok {
		return quoted(strings.Trim(rest, `"`)) + " is no number"
	}
	if strings.HasPrefix(message, "expected at least") {
		return "an argument is missing here"
	}
	for _, w := range parseWords {
		if strings.Contains(message, w.has) {
			return w.say
		}
	}
	return "this cannot be read"
}

var parseWords = []struct{ has, say string }{
	{"literal not terminated", "this text has no closing quote"},
	{"unclosed comment", "this comment is never closed"},
	{"invalid char escape", "unknown escape in this text"},
	{"expected name", "expected a name after the dot"},
	{"coalesce", "`??` is not available: nothing is ever missing in a condition that is tested"},
	{"literal is too large", "this number is too large"},
	{"integer literal", "this number is too large"},
	{"hex literal", "this number is too large"},
	{"binary literal", "this number is too large"},
	{"octal literal", "this number is too large"},
	{"float literal", "this number is too large"},
	{"map key", "expected the key of a map; but maps are not available"},
	{"wrap predicate", "expected the end of `{ … }` here"},
}

// quoted returns a name as messages show it.
func quoted(name string) string { return "`" + problem.Short(name) + "`" }

// checkPattern refuses regular expressions that are wrong, or that would
// compile to something large.
func checkPattern(pattern string) string {
	const maxLength, maxSize = 200, 1000
	if utf8.RuneCountInString(pattern) > maxLength {
		return fmt.Sprintf("the pattern has more than %d characters", maxLength)
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		var e *syntax.Error
		if errors.As(err, &e) {
			return "the pattern is wrong: " + e.Code.String()
		}
		return "the pattern is wrong"
	}
	if patternSize(re) > maxSize {
		return "the pattern repeats too much"
	}
	return ""
}

// patternSize is about the number of states that a pattern compiles to.
func patternSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		size = min(size+patternSize(sub), 1<<20)
	}
	if re.Op == syntax.OpRepeat {
		size = min(size*max(1, re.Min, re.Max), 1<<20)
	}
	return size
}
