package main

import (
	"strings"

	"callboard/player/problem"
)

// nearest returns the name that word was perhaps meant to be, "" if none is
// near and word is not the beginning of one.
func nearest(word string, names []string) string {
	if near := problem.Nearest(word, names); near != "" || len(word) < 2 {
		return near
	}
	for _, name := range names {
		if strings.HasPrefix(name, word) {
			return name
		}
	}
	return ""
}
