package view

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// maxText, in bytes, is how much of a text conditions see.
const maxText = 1024

// setText sets a text to the bytes up to the first NUL. It allocates only if
// that changes it.
func setText(dst *string, b []byte) {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	if *dst != string(b) {
		*dst = string(b)
	}
}

// shortened returns a text up to the first NUL, not longer than maxText.
func shortened(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	if len(s) <= maxText {
		return s
	}
	end := maxText
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return strings.Clone(s[:end])
}
