package js_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// TestNode runs what is written for node's own test runner.
func TestNode(t *testing.T) {
	if exec.Command("node", "-e", "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)").Run() != nil {
		t.Skip("there is no node 20 or later here: apt-get install nodejs")
	}
	files, err := filepath.Glob("testdata/*.test.js")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "node", append([]string{"--test"}, files...)...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestTypes: TypeScript takes the types, and programs by them that are right, and
// refuses those that are wrong.
func TestTypes(t *testing.T) {
	tsc := typescript(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	args := []string{tsc, "--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--moduleResolution", "nodenext", "--skipLibCheck", "false", "testdata/types.ts"}
	if out, err := exec.CommandContext(ctx, "node", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// typescript installs the compiler into a folder that stays from test to test.
func typescript(t *testing.T) string {
	t.Helper()
	const version = "typescript@5.9.3"
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not here: apt-get install nodejs npm", program)
		}
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	dir := filepath.Join(cache, "callboard-tests", version)
	tsc := filepath.Join(dir, "node_modules", "typescript", "bin", "tsc")
	complete := filepath.Join(dir, "complete")
	if _, err := os.Stat(complete); err == nil {
		return tsc
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "install", "--prefix", dir, "--no-audit", "--no-fund", "--ignore-scripts", version)
	if out, err := npm.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install %s: %v\n%s", version, err, out)
	}
	if err := os.WriteFile(complete, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	return tsc
}
