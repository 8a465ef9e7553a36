package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
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

// noFile returns what is wrong with a file whose name the message has already, and
// which one was perhaps meant.
func noFile(name string, err error) string {
	text := problem.OfFile(err)
	if errors.Is(err, fs.ErrNotExist) {
		text += meantFile(name)
	}
	return text
}

// meantFile returns "; did you mean …?" if there is such a file.
func meantFile(name string) string {
	if near := nearFile(name); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// nearFile returns the file in the same folder that a name was perhaps meant to be:
// one of nearly that name, or with an ending that it lacks; "" if there is none.
func nearFile(name string) string {
	folder, base := filepath.Split(name)
	entries, err := os.ReadDir(cmp.Or(folder, "."))
	if err != nil || base == "" {
		return ""
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() {
			files = append(files, e.Name())
		}
	}
	if near := problem.Nearest(base, files); near != "" {
		return folder + near
	}
	for _, file := range files {
		if ending, found := strings.CutPrefix(file, base+"."); found && ending != "" {
			return folder + file
		}
	}
	return ""
}
