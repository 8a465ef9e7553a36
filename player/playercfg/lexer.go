package playercfg

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// kind of a token.
type kind uint8

const (
	tokenEnd kind = iota
	tokenWord
	tokenNumber
	tokenString
	tokenBool
	tokenSpace
	tokenLine
	tokenComment
	tokenOpen     // (
	tokenClose    // )
	tokenTuple    // [
	tokenTupleEnd // ]
	tokenWrong    // what begins no token
)

// longestString is the longest text between quotes that Player reads, bytes.
const longestString = 1023

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
	case tokenWord, tokenBool:
		return fmt.Sprintf("the word %q", short(t.text))
	}
	return fmt.Sprintf("%q", short(t.text))
}

// value tells whether the token is one.
func (t token) value() bool {
	return t.kind == tokenNumber || t.kind == tokenString || t.kind == tokenBool
}

// lexer cuts a file's text into tokens. A copy of it is a place to come back to.
type lexer struct {
	text         string
	at           int
	file         string
	line, column int
}

func newLexer(file, text string) lexer { return lexer{text: text, file: file, line: 1, column: 1} }

func isLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }
func isDigit(b byte) bool  { return b >= '0' && b <= '9' }
func isWord(b byte) bool   { return isLetter(b) || isDigit(b) || strings.IndexByte(".-_[]:", b) >= 0 }
func isNumber(b byte) bool { return isDigit(b) || b == '+' || b == '-' || b == '.' }
func isBlank(b byte) bool  { return b == ' ' || b == '\t' }

// next gives the next token; a tokenWrong stands for one character that may
// not stand there, or for a string without end.
func (l *lexer) next() token {
	t := token{pos: Pos{l.file, l.line, l.column}}
	if l.at >= len(l.text) {
		return t
	}
	start := l.at
	switch b := l.text[l.at]; {
	case b == '#':
		t.kind = tokenComment
		l.run(func(b byte) bool { return b != '\n' && b != '\r' })
	case isLetter(b):
		t.kind = tokenWord
		l.run(isWord)
	case isNumber(b):
		t.kind = tokenNumber
		l.run(isNumber)
	case b == '"':
		return l.quoted(t)
	case isBlank(b):
		t.kind = tokenSpace
		l.run(isBlank)
	case b == '\n' || b == '\r':
		t.kind = tokenLine
		l.at++
		if l.at < len(l.text) && l.text[l.at] != b && (l.text[l.at] == '\n' || l.text[l.at] == '\r') {
			l.at++
		}
		l.line++
		l.column = 1
	default:
		t.kind = punctuation(b)
		_, size := utf8.DecodeRuneInString(l.text[l.at:])
		l.at += size
		l.column++
	}
	t.text = l.text[start:l.at]
	if t.kind == tokenWord && isBool(t.text) && l.at < len(l.text) {
		t.kind = tokenBool // real Player does not see one at the end of the file
	}
	return t
}

func isBool(s string) bool { return s == "true" || s == "false" || s == "yes" || s == "no" }

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
	return tokenWrong
}

// run passes over bytes as long as in holds; columns count characters.
func (l *lexer) run(in func(byte) bool) {
	for l.at < len(l.text) && in(l.text[l.at]) {
		if utf8.RuneStart(l.text[l.at]) {
			l.column++
		}
		l.at++
	}
}

// quoted reads a string, without its quotes. One that the line's end cuts off
// is wrong.
func (l *lexer) quoted(t token) token {
	l.at++
	l.column++
	start := l.at
	l.run(func(b byte) bool { return b != '"' && b != '\n' && b != '\r' })
	t.text = l.text[start:l.at]
	if l.at == len(l.text) || l.text[l.at] != '"' {
		t.kind = tokenWrong
		t.text = `"` + t.text
		return t
	}
	l.at++
	l.column++
	t.kind = tokenString
	return t
}

// skipLine goes to the end of the line.
func (l *lexer) skipLine() {
	l.run(func(b byte) bool { return b != '\n' && b != '\r' })
}
