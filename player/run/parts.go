package run

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// A recording that is cut by size or time is in several files: lab.mcap,
// lab-2.mcap, lab-3.mcap, … Each can be read by itself.

// PartName is the name of the n-th file, from 1, of a recording into name.
func PartName(name string, n int) string {
	if n <= 1 {
		return name
	}
	ending := filepath.Ext(name)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, ending), n, ending)
}

var numbered = regexp.MustCompile(`^(.*)-[0-9]+(\.[^./]*(?:\.gz)?)$`)

// unnumbered is the name of the first file of the recording that name may be a
// part of.
func unnumbered(name string) string { return numbered.ReplaceAllString(name, "$1$2") }
