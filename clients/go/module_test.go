package callboard_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestUsedByAnotherModule does what the README shows: another module uses the client
// by replace. Of other modules it downloads what the client imports, and no other.
func TestUsedByAnotherModule(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	goes := func(dir string, env []string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env, cmd.Stderr = dir, append(os.Environ(), env...), t.Output()
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go %s: %v", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	here, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Fields(goes(here, nil, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}@{{.Version}}{{end}}{{end}}", "./clients/go"))
	slices.Sort(want)
	want = slices.Compact(want)

	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var steps [][]string // as the README has them
	for _, m := range regexp.MustCompile(`(?m)^go (mod .*|get .*)$`).FindAllStringSubmatch(string(text), -1) {
		steps = append(steps, strings.Fields(strings.ReplaceAll(m[1], "../callboard", here)))
	}
	if len(steps) == 0 {
		t.Fatal("the README does not say how another module uses the client")
	}

	dir, cache := t.TempDir(), t.TempDir()
	env := []string{
		"GOMODCACHE=" + cache, "GOPROXY=file://" + filepath.ToSlash(goes(here, nil, "env", "GOMODCACHE")) + "/cache/download",
		"GOSUMDB=off", "GOFLAGS=-modcacherw", "GOWORK=off",
	}
	program := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(text)
	if program == nil {
		t.Fatal("the README shows no program")
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), program[1], 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range append(steps, []string{"vet", "."}) {
		goes(dir, env, step...)
	}
	var got []string
	downloads := filepath.Join(cache, "cache", "download")
	err = filepath.WalkDir(downloads, func(name string, _ fs.DirEntry, err error) error {
		if module, found := strings.CutSuffix(name, ".zip"); found {
			module, _ = filepath.Rel(downloads, module)
			got = append(got, strings.Replace(filepath.ToSlash(module), "/@v/", "@", 1))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	t.Logf("downloaded: %q", got)
	if !slices.Equal(got, want) {
		t.Errorf("downloaded %q, expected %q", got, want)
	}
}
