// Package web is the page that a broker serves at /: the world and its robots
// moving, a box for conditions, and the notifications as they come. Plain ES
// modules without a build step; nothing is loaded from elsewhere, and there is
// no inline script or style, so a strict Content-Security-Policy holds: default-src
// 'none' and 'self' for script, style, img and connect. static/callboard.js
// is a client library of its own. See DESIGN.md.
package web

import (
	"embed"
	"io/fs"
)

// Files holds the folder static.
//
//go:embed static
var Files embed.FS

// FS returns the page's files, rooted where index.html is.
func FS() fs.FS {
	root, err := fs.Sub(Files, "static")
	if err != nil {
		panic(err) // "static" is a valid path: fs.Sub fails for nothing else
	}
	return root
}
