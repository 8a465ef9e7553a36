package lexer

import (
	"strconv"
	"strings"
)

// Float reads the front part of s as C's atof does, 0 if it is no number; whole
// reports whether nothing is left over. What is too large is infinite.
func Float(s string) (v float64, whole bool) {
	s = strings.TrimLeft(s, " \t")
	front := Sign(s)
	end := front + digits(s[front:])
	found := end - front
	if strings.HasPrefix(s[end:], ".") {
		n := digits(s[end+1:])
		end, found = end+1+n, found+n
	}
	if found == 0 {
		return 0, false
	}
	if strings.HasPrefix(s[end:], "e") || strings.HasPrefix(s[end:], "E") {
		e := end + 1 + Sign(s[end+1:])
		if n := digits(s[e:]); n > 0 {
			end = e + n
		}
	}
	v, _ = strconv.ParseFloat(s[:end], 64)
	return v, end == len(s)
}

// Sign returns the length of a sign at the front.
func Sign(s string) int {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return 1
	}
	return 0
}

// digits counts those at the front.
func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
