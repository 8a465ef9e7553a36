package python_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// python returns a Python that has what the library needs.
func python(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(program, "-c", "import sys, websockets; sys.exit(sys.version_info < (3, 11))").Run() == nil {
			return program
		}
	}
	t.Skip("there is no Python 3.11 here that has websockets: apt-get install python3-websockets")
	return ""
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	return string(out)
}

// TestTypes: the type hints hold, of the library and of the programs beside it.
func TestTypes(t *testing.T) {
	mypy, err := exec.LookPath("mypy")
	if err != nil {
		t.Skip("there is no mypy here: apt-get install mypy")
	}
	examples, err := filepath.Glob("examples/*.py")
	if err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	run(t, mypy, append([]string{"--strict", "--python-executable", python(t), "--cache-dir", filepath.Join(cache, "callboard-tests", "mypy"), "callboard", "testdata/driver.py", "testdata/library_test.py"}, examples...)...)
}

// TestPython runs what is written for Python's own test runner.
func TestPython(t *testing.T) {
	if out := run(t, python(t), "-W", "error::ResourceWarning", "testdata/library_test.py"); strings.Contains(out, "destroyed") || strings.Contains(out, "unclosed") {
		t.Errorf("something is left behind: %s", out)
	}
}

// TestInstalls: pip takes the folder as it is.
func TestInstalls(t *testing.T) {
	program := python(t)
	if exec.Command(program, "-c", "import setuptools, wheel, pip").Run() != nil {
		t.Skip("this Python has no pip, setuptools and wheel: apt-get install python3-pip python3-wheel")
	}
	source, target := filepath.Join(t.TempDir(), "source"), t.TempDir()
	for _, part := range []string{"callboard", "pyproject.toml"} { // pip builds where it is told to install from
		to := filepath.Join(source, part)
		if err := os.MkdirAll(source, 0o777); err != nil {
			t.Fatal(err)
		}
		run(t, "cp", "-r", part, to)
	}
	run(t, program, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", target, source)
	if out := run(t, program, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import callboard, callboard.blocking; print(callboard.__file__)", target); !strings.HasPrefix(out, target) {
		t.Errorf("%s is imported", out)
	}
	if _, err := os.Stat(filepath.Join(target, "callboard", "py.typed")); err != nil {
		t.Error(err)
	}
}
