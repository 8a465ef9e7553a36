// Package lexer cuts the configuration files of Player and the world files of
// Stage, which have one syntax, into tokens.
package lexer

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"callboard/player/problem"
)

// Kind of a token.
type Kind uint8

// Kinds of tokens.
const (
	End Kind = iota // of the file
	Word
	Number
	String
	Bool // true, false, yes or no, in Player's files
	Space
	Line // its end
	Comment
	Open     // (
	Close    // )
	Tuple    // [
	TupleEnd // ]
	Wrong    // a character that begins no token, or a string that its line's end cuts off
)

// Token is a piece of the text; Text of a String is without its quotes, that of
// a Wrong one that is cut off has the first.
type Token struct {
	Kind Kind
	Text string
	Pos  problem.Place
}

// String describes a token in messages.
func (t Token) String() string {
	switch t.Kind {
	case End:
		return "the end of the file"
	case Line:
		return "the end of the line"
	case Comment:
		return "a comment"
	case Space:
		return "a blank"
	case String:
		return fmt.Sprintf("the string %q", problem.Short(t.Text))
	case Word, Bool:
		return fmt.Sprintf("the word %q", problem.Short(t.Text))
	}
	return fmt.Sprintf("%q", problem.Short(t.Text))
}

// Unclosed reports whether the token is a string that its line's end cuts off.
func (t Token) Unclosed() bool { return t.Kind == Wrong && strings.HasPrefix(t.Text, `"`) }

// Lexer cuts a file's text into tokens. A copy of it is a place to come back to.
type Lexer struct {
	text         string
	at           int
	player       bool
	file         string
	line, column int
}

// Player returns the Lexer of a Player configuration: it has Bools, and words may
// have colons.
func Player(file, text string) Lexer {
	return Lexer{text: text, player: true, file: file, line: 1, column: 1}
}

// Stage returns the Lexer of a world file.
func Stage(file, text string) Lexer { return Lexer{text: text, file: file, line: 1, column: 1} }

// Offset returns how many bytes have been read.
func (l *Lexer) Offset() int { return l.at }

// Rest returns what has not been read.
func (l *Lexer) Rest() string { return l.text[l.at:] }

// IsLetter reports whether a word can begin with b.
func IsLetter(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' }

// IsDigit reports whether b is a decimal digit.
func IsDigit(b byte) bool { return b >= '0' && b <= '9' }

// IsBlank reports whether b is a blank or a tab.
func IsBlank(b byte) bool { return b == ' ' || b == '\t' }

func isNumber(b byte) bool  { return IsDigit(b) || strings.IndexByte("+-.", b) >= 0 }
func isLineEnd(b byte) bool { return b == '\n' || b == '\r' }
func inLine(b byte) bool    { return !isLineEnd(b) }

func (l *Lexer) isWord(b byte) bool {
	return IsLetter(b) || IsDigit(b) || strings.IndexByte(".-_[]", b) >= 0 || l.player && b == ':'
}

// Next returns the next token.
func (l *Lexer) Next() Token {
	t := Token{Pos: problem.Place{File: l.file, Line: l.line, Column: l.column}}
	if l.at >= len(l.text) {
		return t
	}
	start := l.at
	switch b := l.text[l.at]; {
	case b == '#':
		t.Kind = Comment
		l.SkipLine()
	case IsLetter(b):
		t.Kind = Word
		l.SkipWord()
	case isNumber(b):
		t.Kind = Number
		l.run(isNumber)
	case b == '"':
		return l.quoted(t)
	case IsBlank(b):
		t.Kind = Space
		l.run(IsBlank)
	case isLineEnd(b):
		t.Kind = Line
		l.at++
		if l.at < len(l.text) && l.text[l.at] != b && isLineEnd(l.text[l.at]) {
			l.at++
		}
		l.line++
		l.column = 1
	default:
		t.Kind = punctuation(b)
		_, size := utf8.DecodeRuneInString(l.text[l.at:])
		l.at += size
		l.column++
	}
	t.Text = l.text[start:l.at]
	if t.Kind == Word && l.player && IsBool(t.Text) && l.at < len(l.text) {
		t.Kind = Bool // real Player does not see one at the end of the file
	}
	return t
}

// Skip returns the next token that is of none of some kinds.
func (l *Lexer) Skip(kinds ...Kind) Token {
	for {
		t := l.Next()
		passed := false
		for _, k := range kinds {
			passed = passed || t.Kind == k
		}
		if !passed {
			return t
		}
	}
}

// IsBool reports whether a word stands for true or false.
func IsBool(s string) bool { return s == "true" || s == "false" || s == "yes" || s == "no" }

func punctuation(b byte) Kind {
	switch b {
	case '(':
		return Open
	case ')':
		return Close
	case '[':
		return Tuple
	case ']':
		return TupleEnd
	}
	return Wrong
}

// run passes over bytes as long as in holds; columns count characters.
func (l *Lexer) run(in func(byte) bool) {
	for l.at < len(l.text) && in(l.text[l.at]) {
		if utf8.RuneStart(l.text[l.at]) {
			l.column++
		}
		l.at++
	}
}

// quoted reads a string, which ends on its own line.
func (l *Lexer) quoted(t Token) Token {
	l.at++
	l.column++
	start := l.at
	l.run(func(b byte) bool { return b != '"' && inLine(b) })
	if l.at == len(l.text) || l.text[l.at] != '"' {
		t.Kind, t.Text = Wrong, l.text[start-1:l.at]
		return t
	}
	t.Kind, t.Text = String, l.text[start:l.at]
	l.at++
	l.column++
	return t
}

// SkipWord passes over what can stand in a word.
func (l *Lexer) SkipWord() { l.run(l.isWord) }

// SkipLine goes to the end of the line.
func (l *Lexer) SkipLine() { l.run(inLine) }
