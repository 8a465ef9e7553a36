package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// table is rows of cells under headings.
type table struct {
	headings []string
	right    map[int]bool // columns of numbers
	spare    []int        // columns that give way where there is no room, in that order
	rows     [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// sort sorts the rows by their cells, r2 before r10.
func (t *table) sort() {
	slices.SortStableFunc(t.rows, func(a, b []string) int { return slices.CompareFunc(a, b, natural) })
}

// natural compares texts as people count: by their words, and numbers in them by
// their value.
func natural(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		m, n := digits(a[i:]), digits(b[j:])
		if m > 0 && n > 0 {
			x, y := strings.TrimLeft(a[i:i+m], "0"), strings.TrimLeft(b[j:j+n], "0")
			if order := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); order != 0 {
				return order
			}
			i, j = i+m, j+n
			continue
		}
		if a[i] != b[j] {
			return cmp.Compare(a[i], b[j])
		}
		i, j = i+1, j+1
	}
	return cmp.Or(cmp.Compare(len(a)-i, len(b)-j), cmp.Compare(a, b))
}

// digits is how many of them a text begins with.
func digits(text string) (n int) {
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	return n
}

// lines prints a line for each row, for programs: a word for what it is, the
// first cell, and the others as heading=cell.
func (t *table) lines(w io.Writer, kind string) {
	for _, row := range t.rows {
		fields := []string{kind, row[0]}
		for i, cell := range row[1:] {
			if strings.ContainsAny(cell, " \t\n\"") {
				cell = strconv.Quote(cell)
			}
			fields = append(fields, strings.ToLower(t.headings[i+1])+"="+cell)
		}
		fmt.Fprintln(w, strings.Join(fields, " "))
	}
}

// printTabs prints the headings and rows separated by tabs.
func (t *table) printTabs(w io.Writer) {
	for _, row := range append([][]string{t.headings}, t.rows...) {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
}

// print prints the rows under their headings, in columns as wide as they need.
// Where that is wider than width (0: as wide as it is), spare columns are left
// out, then the widest texts are cut, and at last the lines. It returns the headings
// left out.
func (t *table) print(w io.Writer, s style, width int) (left []string) {
	widths := make([]int, len(t.headings))
	for _, row := range append([][]string{t.headings}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	columns, left := t.fit(widths, width)
	line := func(row []string, decorate func(string) string) {
		var b strings.Builder
		for n, i := range columns {
			if n > 0 {
				b.WriteString("  ")
			}
			cell := cut(row[i], widths[i])
			if t.right[i] {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + cell)
			} else {
				b.WriteString(pad(cell, widths[i]))
			}
		}
		text := strings.TrimRight(b.String(), " ")
		if width > 0 {
			text = cut(text, width)
		}
		fmt.Fprintln(w, decorate(text))
	}
	line(t.headings, s.bold)
	for _, row := range t.rows {
		line(row, func(text string) string { return text })
	}
	return left
}

// narrowest is to how few characters a column of texts is cut: a device's name has
// room, and that there are more.
const narrowest = 14

// fit returns the columns that have room in so many characters, and the headings
// of the others. It makes the widest columns of texts narrower where needed.
func (t *table) fit(widths []int, width int) (columns []int, left []string) {
	for i := range widths {
		columns = append(columns, i)
	}
	total := func() int {
		sum := 2 * (len(columns) - 1)
		for _, i := range columns {
			sum += widths[i]
		}
		return sum
	}
	if width <= 0 {
		return columns, nil
	}
	for _, gone := range t.emptyFirst() {
		if total() <= width {
			break
		}
		columns = slices.DeleteFunc(columns, func(i int) bool { return i == gone })
		left = append(left, t.headings[gone])
	}
	for total() > width {
		widest := -1
		for _, i := range columns {
			if !t.right[i] && widths[i] > narrowest && (widest < 0 || widths[i] > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return columns, left
}

// emptyFirst returns the spare columns in the order in which they are left out:
// those in which no row has anything come first.
func (t *table) emptyFirst() []int {
	empty := func(i int) bool {
		return !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != "-" })
	}
	order := slices.Clone(t.spare)
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case empty(i) == empty(j):
			return 0
		case empty(i):
			return -1
		}
		return 1
	})
	return order
}

// cut shortens a text to so many characters, and shows that it did: where that leaves
// half of them, between words.
func cut(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	kept := []rune(text)[:max(width-1, 0)]
	for i := len(kept); i > width/2 && i > 0; i-- {
		if kept[i-1] == ' ' {
			return string(kept[:i]) + "…"
		}
	}
	return string(kept) + "…"
}
