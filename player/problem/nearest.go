package problem

import "strings"

// Nearest returns the known name that is nearest to a misspelt one, the first of
// equals, whatever the case of letters; "" if none is near: more than a third of it
// would have to change.
func Nearest(name string, known []string) string {
	best, least := "", 0
	for _, k := range known {
		limit := max(1, len([]rune(k))/3)
		if d := editDistance(strings.ToLower(name), strings.ToLower(k), limit); d <= limit && (best == "" || d < least) {
			best, least = k, d
		}
	}
	return best
}

// editDistance is how many characters must be inserted, left out, changed or
// swapped with their neighbour, up to limit+1.
func editDistance(a, b string, limit int) int {
	if len(a) > 4*(len(b)+limit) {
		return limit + 1
	}
	s, t := []rune(a), []rune(b)
	if len(s) > len(t)+limit || len(t) > len(s)+limit {
		return limit + 1
	}
	before, last, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		for j := 1; j <= len(t); j++ {
			change := 1
			if s[i-1] == t[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(t)]
}
