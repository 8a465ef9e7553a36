// Package nodetest lets tests run programs on node with packages of npm.
package nodetest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// installTime is how long an installation may take.
const installTime = 3 * time.Minute

// Install installs packages of npm into a folder that stays from test to test, and
// returns it: modules are in its node_modules. The name is of what it holds, the
// version included. Without node, or npm's registry, the test is skipped.
func Install(t testing.TB, name string, packages ...string) string {
	t.Helper()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not here: apt-get install nodejs npm", program)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "callboard-tests", name)
	if _, err := os.Stat(filepath.Join(dir, "complete")); err == nil {
		return dir
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		t.Fatal(err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), "new-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(fresh)
	ctx, cancel := context.WithTimeout(t.Context(), installTime)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", append([]string{"install", "--prefix", fresh, "--no-audit", "--no-fund", "--ignore-scripts"}, packages...)...)
	if out, err := npm.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install %v: %v\n%s", packages, err, out)
	}
	if err := os.WriteFile(filepath.Join(fresh, "complete"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	os.RemoveAll(dir)
	if err := os.Rename(fresh, dir); err != nil { // another test may have been quicker
		if _, there := os.Stat(filepath.Join(dir, "complete")); there != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Run runs a script and returns what it prints.
func Run(t testing.TB, script string, arguments ...string) []byte {
	t.Helper()
	node := exec.CommandContext(t.Context(), "node", append([]string{script}, arguments...)...)
	var wrong bytes.Buffer
	node.Stderr = &wrong
	out, err := node.Output()
	if err != nil {
		t.Fatalf("node %s: %v\n%s%s", script, err, out, wrong.Bytes())
	}
	return out
}
