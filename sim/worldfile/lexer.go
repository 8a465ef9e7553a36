package worldfile

import "fmt"

// kind of a token.
type kind uint8

const (
	tokenEnd kind = iota
	tokenWord
	tokenNumber
	tokenString
	tokenSpace
	tokenLine
	tokenComment
	tokenOpen  // (
	tokenClose // )
	tokenTuple // [
	tokenTupleEnd
)

// token is a piece of the text; text of a string is without its quotes.
type token struct {
	kind kind
	text string
	pos  Pos
}

// describe says what a token is, for messages.
func (t token) describe() string {
	switch t.kind {
	case tokenEnd:
		return "the end of the file"
	case tokenLine:
		return "the end of the line"
	case tokenComment:
		return "a comment"
	case tokenSpace:
		return "a blank"
	case tokenString:
		return fmt.Sprintf("the string %q", short(t.text))
	case tokenWord:
		return fmt.Sprintf("the word %q", short(t.text))
	}
	return fmt.Sprintf("%q", short(t.text))
}

// short cuts what goes into a message.
func short(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

// lexer cuts a file's text into tokens.
type lexer struct {
	text   string
	at     int
	file   string
	line   int
	column int
}

func newLexer(file, text string) *lexer { return &lexer{text: text, file: file, line: 1, column: 1} }

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
func isDigit(b byte) bool  { return b >= '0' && b <= '9' }

func isWord(b byte) bool {
	return isLetter(b) || isDigit(b) || b == '.' || b == '-' || b == '_' || b == '[' || b == ']'
}

func isNumber(b byte) bool { return isDigit(b) || b == '+' || b == '-' || b == '.' }

// next gives the next token, or a Problem for a byte that begins none.
func (l *lexer) next() (token, *Problem) {
	t := token{pos: Pos{l.file, l.line, l.column}}
	if l.at >= len(l.text) {
		return t, nil
	}
	start := l.at
	switch b := l.text[l.at]; {
	case b == '#':
		l.run(func(b byte) bool { return b != '\n' && b != '\r' })
		t.kind = tokenComment
	case isLetter(b):
		l.run(isWord)
		t.kind = tokenWord
	case isNumber(b):
		l.run(isNumber)
		t.kind = tokenNumber
	case b == '"':
		return l.quoted(t)
	case b == ' ' || b == '\t':
		l.run(func(b byte) bool { return b == ' ' || b == '\t' })
		t.kind = tokenSpace
	case b == '\n' || b == '\r':
		l.at++
		if l.at < len(l.text) && l.text[l.at] != b && (l.text[l.at] == '\n' || l.text[l.at] == '\r') {
			l.at++
		}
		l.line++
		l.column = 1
		t.kind = tokenLine
	default:
		t.kind = punctuation(b)
		if t.kind == tokenEnd {
			return t, &Problem{Pos: t.pos, Message: fmt.Sprintf("%s cannot stand here; expected a word, a number, a string, a bracket or a comment", character(l.text[l.at:]))}
		}
		l.at++
		l.column++
	}
	t.text = l.text[start:l.at]
	return t, nil
}

func punctuation(b byte) kind {
	switch b {
	case '(':
		return tokenOpen
	case ')':
		return tokenClose
	case '[':
		return tokenTuple
	case ']':
		return tokenTupleEnd
	}
	return tokenEnd
}

// character names the first character of s.
func character(s string) string {
	for _, r := range s {
		if r == 0xFEFF {
			return "a byte order mark"
		}
		return fmt.Sprintf("%q", r)
	}
	return "nothing"
}

// quoted reads a string, which ends on its own line.
func (l *lexer) quoted(t token) (token, *Problem) {
	l.at++
	l.column++
	start := l.at
	l.run(func(b byte) bool { return b != '"' && b != '\n' && b != '\r' })
	if l.at >= len(l.text) || l.text[l.at] != '"' {
		return t, &Problem{Pos: t.pos, Message: "the string has no end; expected \" on the same line"}
	}
	t.kind, t.text = tokenString, l.text[start:l.at]
	l.at++
	l.column++
	return t, nil
}

// run passes the bytes that ok takes, none of which ends a line.
func (l *lexer) run(ok func(byte) bool) {
	for l.at < len(l.text) && ok(l.text[l.at]) {
		if l.text[l.at]&0xC0 != 0x80 {
			l.column++
		}
		l.at++
	}
}

// skipLine passes everything up to the end of the line.
func (l *lexer) skipLine() {
	l.run(func(b byte) bool { return b != '\n' && b != '\r' })
}
