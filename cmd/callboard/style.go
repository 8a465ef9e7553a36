package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// style colours text, on a terminal only.
type style struct{ on bool }

func (s style) wrap(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (s style) bold(text string) string   { return s.wrap("1", text) }
func (s style) dim(text string) string    { return s.wrap("2", text) }
func (s style) green(text string) string  { return s.wrap("32", text) }
func (s style) yellow(text string) string { return s.wrap("33", text) }

// truth words a state.
func (s style) truth(v bool) string {
	if v {
		return s.green("true")
	}
	return s.yellow("false")
}

// pad fills a text up to a width in characters.
func pad(text string, width int) string {
	if n := width - utf8.RuneCountInString(text); n > 0 {
		return text + strings.Repeat(" ", n)
	}
	return text
}

// table is rows of cells under headings.
type table struct {
	headings []string
	right    map[int]bool // columns of numbers
	rows     [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// sort sorts the rows by their cells.
func (t *table) sort() { slices.SortFunc(t.rows, slices.Compare[[]string]) }

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

// print prints the rows under their headings: in columns as wide as they need
// if they are to be aligned, else separated by tabs.
func (t *table) print(w io.Writer, s style, aligned bool) {
	if !aligned {
		for _, row := range append([][]string{t.headings}, t.rows...) {
			fmt.Fprintln(w, strings.Join(row, "\t"))
		}
		return
	}
	widths := make([]int, len(t.headings))
	for _, row := range append([][]string{t.headings}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	line := func(row []string, decorate func(string) string) {
		var b strings.Builder
		for i, cell := range row {
			if i > 0 {
				b.WriteString("  ")
			}
			if t.right[i] {
				b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + cell)
			} else {
				b.WriteString(pad(cell, widths[i]))
			}
		}
		fmt.Fprintln(w, decorate(strings.TrimRight(b.String(), " ")))
	}
	line(t.headings, s.bold)
	for _, row := range t.rows {
		line(row, func(text string) string { return text })
	}
}
