// Package web is the page that a broker serves at /: the world and its robots
// moving, a box for conditions, and the notifications as they come. Plain ES
// modules without a build step; nothing is loaded from elsewhere, and there is
// no inline script or style, so a strict Content-Security-Policy holds: default-src
// 'none' and 'self' for script, style, img and connect. It stands on the client
// library of package js. See DESIGN.md.
package web

import (
	"embed"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"callboard/clients/js"
)

// Files holds the folder static.
//
//go:embed static
var Files embed.FS

// FS returns the page's files, rooted where index.html is, and among them those of
// the client library.
func FS() fs.FS {
	root, err := fs.Sub(Files, "static")
	if err != nil {
		panic(err) // "static" is a valid path: fs.Sub fails for nothing else
	}
	return both{root, js.Files}
}

// both is two file systems in one. Of a name that both have, the first one's counts.
type both [2]fs.FS

// Open implements fs.FS.
func (b both) Open(name string) (fs.File, error) {
	f, err := b[0].Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return b[1].Open(name)
	}
	return f, err
}

// ReadDir implements fs.ReadDirFS.
func (b both) ReadDir(name string) ([]fs.DirEntry, error) {
	var all []fs.DirEntry
	var errs []error
	for _, one := range b {
		entries, err := fs.ReadDir(one, name)
		all, errs = append(all, entries...), append(errs, err)
	}
	if len(all) == 0 {
		return nil, errors.Join(errs...)
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}
