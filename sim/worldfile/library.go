package worldfile

import (
	"embed"
	"strings"
)

// libraryFS holds our own versions of the includes that world files expect to
// find installed with Stage.
//
//go:embed library/*.inc
var libraryFS embed.FS

// library returns the text of a built-in include.
func library(base string) (string, bool) {
	b, err := libraryFS.ReadFile("library/" + strings.ToLower(base))
	return string(b), err == nil
}
