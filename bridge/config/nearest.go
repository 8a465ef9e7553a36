package config

import "strings"

// nearest gives the name that a misspelt one most likely means, "" if none is
// near: one letter in three may be wrong.
func nearest(misspelt string, names []string) string {
	best, bestDistance := "", len(misspelt)/3+1
	for _, name := range names {
		if d := distance(strings.ToLower(misspelt), name); d < bestDistance || d == bestDistance && best == "" {
			best, bestDistance = name, d
		}
	}
	return best
}

// distance counts the letters to insert, delete, change or swap with their
// neighbour to make a into b (optimal string alignment).
func distance(a, b string) int {
	if len(a) > 64 || len(b) > 64 {
		return 64
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// listed joins words for a message: a, b or c.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
