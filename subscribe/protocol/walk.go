package protocol

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// The functions of this file walk over JSON that Valid has accepted, in
// place, and so may take its grammar for granted.

// members calls found for each member of an object, in order. It reports
// whether the text is an object.
func members(text []byte, found func(name string, value []byte)) bool {
	i := skipBlanks(text, 0)
	if i >= len(text) || text[i] != '{' {
		return false
	}
	for i = skipBlanks(text, i+1); i < len(text) && text[i] != '}'; {
		end := skipValue(text, i)
		name := unquote(text[i:end])
		i = skipBlanks(text, skipBlanks(text, end)+1) // the colon
		end = skipValue(text, i)
		found(name, text[i:end])
		if i = skipBlanks(text, end); i < len(text) && text[i] == ',' {
			i = skipBlanks(text, i+1)
		}
	}
	return true
}

// elements calls found for each element of an array, in order. It reports
// whether the text is an array.
func elements(text []byte, found func(value []byte)) bool {
	i := skipBlanks(text, 0)
	if i >= len(text) || text[i] != '[' {
		return false
	}
	for i = skipBlanks(text, i+1); i < len(text) && text[i] != ']'; {
		end := skipValue(text, i)
		found(text[i:end])
		if i = skipBlanks(text, end); i < len(text) && text[i] == ',' {
			i = skipBlanks(text, i+1)
		}
	}
	return true
}

func skipBlanks(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r') {
		i++
	}
	return i
}

// skipValue returns the end of the value that begins at i.
func skipValue(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			for i = skipPlain(text, i+1); i < len(text) && text[i] != '"'; i = skipPlain(text, i) {
				i += 2 // a backslash and what it is before
			}
			i++
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
			continue
		default:
			for i < len(text) && strings.IndexByte(" \t\n\r,:]}", text[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			break
		}
	}
	return min(i, len(text))
}

// unquote returns what a JSON string says.
func unquote(text []byte) string {
	if len(text) >= 2 && bytes.IndexByte(text, '\\') < 0 {
		text = text[1 : len(text)-1]
		if word, often := words[string(text)]; often {
			return word
		}
		return string(text)
	}
	var s string
	_ = json.Unmarshal(text, &s) // it is valid
	return s
}

// words are those that come so often that they are not made each time.
var words = func() map[string]string {
	all := map[string]string{}
	for _, w := range slices.Concat(clientOps, []string{
		"op", "id", "queue", "body", "ttl", "key", "task", "source", "num", "left", "from", "again", "ahead", "result", "ok", "error",
		OpAccepted, OpTask, OpCancelled, OpProgress, OpReply,
	}) {
		all[w] = w
	}
	return all
}()
