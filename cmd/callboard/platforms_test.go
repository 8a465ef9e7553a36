package main

import (
	"os"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestPlatforms checks the types of all packages and their tests for the platforms
// that there are binaries for: linux/arm stands for arm64, too. Compiling them takes
// minutes; make binaries does.
func TestPlatforms(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	for _, platform := range [][2]string{{"linux", "arm"}, {"windows", "amd64"}, {"darwin", "arm64"}} {
		t.Run(platform[0]+"/"+platform[1], func(t *testing.T) {
			all, err := packages.Load(&packages.Config{
				Mode:  packages.LoadAllSyntax,
				Env:   append(os.Environ(), "GOOS="+platform[0], "GOARCH="+platform[1], "CGO_ENABLED=0"),
				Dir:   "../..",
				Tests: true,
			}, "./...")
			if err != nil {
				t.Fatal(err)
			}
			packages.Visit(all, nil, func(p *packages.Package) {
				for _, e := range p.Errors {
					t.Error(e)
				}
			})
		})
	}
}
