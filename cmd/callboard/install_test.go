//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// says runs a command at the top of the checkout and returns what it prints.
func says(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestInstall builds the program by make, twice, and by go install; and a Debian
// package, which it installs and runs where the machine lets it.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "callboard")
	says(t, nil, "make", "build", "BIN="+program)
	built, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}

	t.Run("version", func(t *testing.T) {
		got := says(t, nil, program, "--version")
		want := "callboard .* " + regexp.QuoteMeta(runtime.Version()) + "\n"
		if info, err := os.Stat("../../.git"); err == nil && info.IsDir() { // go reads the commit only there
			commit := says(t, nil, "git", "rev-parse", "--short=12", "HEAD")
			want = "callboard .*-" + strings.TrimSpace(commit) + `(\+dirty)? ` + regexp.QuoteMeta(runtime.Version()) + "\n"
		}
		if !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("--version prints %q, expected %s", got, want)
		}
	})
	t.Run("again", func(t *testing.T) {
		again := filepath.Join(dir, "again")
		says(t, nil, "make", "build", "BIN="+again)
		sameBytes(t, again, built)
	})
	t.Run("go install", func(t *testing.T) {
		bin := filepath.Join(dir, "bin")
		says(t, []string{"GOBIN=" + bin, "GOFLAGS=-trimpath", "CGO_ENABLED=0"}, "go", "install", "-buildvcs=auto", "./cmd/callboard")
		sameBytes(t, filepath.Join(bin, "callboard"), built)
	})
	t.Run("static", func(t *testing.T) { testScratch(t, dir, program) })
	t.Run("deb", func(t *testing.T) { testDebian(t, dir, program) })
}

func sameBytes(t *testing.T, name string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is another program than make build has made before", name)
	}
}

// healthy is a shell function: healthy ROOT USER COMMAND…: a broker whose root
// directory is ROOT comes up, is well, and ends well.
const healthy = `set -euo pipefail
ip link set lo up
healthy() {
	local root=$1 user=$2 said
	shift 2
	coproc broker { exec chroot --userspec="$user" "$root" "$@"; }
	local pid=$broker_PID
	read -r -t 60 said <&"${broker[0]}"
	echo "$said"
	[ "$said" = http://127.0.0.1:8800 ]
	"$PROGRAM" status
	kill "$pid"
	wait "$pid"
}
`

// apartScript runs a script of bash, as root, with a network and mounts of its own.
func apartScript(t *testing.T, program, script string) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may change the root directory")
	}
	if out, err := exec.Command("unshare", "--net", "--mount", "ip", "link", "set", "lo", "up").CombinedOutput(); err != nil {
		t.Skipf("this machine has no namespace for us: %v %s", err, out)
	}
	return says(t, []string{"PROGRAM=" + program}, "unshare", "--net", "--mount", "bash", "-c", healthy+script)
}

// testScratch runs the program with nothing around it, as the Dockerfile has it.
func testScratch(t *testing.T, dir, program string) {
	t.Log(apartScript(t, program, fmt.Sprintf(`
root=%s/scratch
mkdir -p $root/data $root/tmp
chown 65532:65532 $root/data $root/tmp
cp "$PROGRAM" $root/callboard
export XDG_STATE_HOME=/data
healthy $root 65532:65532 /callboard serve
[ -n "$(ls $root/data/callboard)" ]
`, dir)))
}

// testDebian installs the package in what looks like this machine, and runs the
// service's command as its user.
func testDebian(t *testing.T, dir, program string) {
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("this is no Debian")
	}
	says(t, nil, "make", "deb", "BIN="+program, "DEB="+filepath.Join(dir, "callboard.deb"))
	try := exec.Command("unshare", "--mount", "sh", "-c", overRoot)
	try.Env = append(os.Environ(), "PROGRAM="+program)
	if out, err := try.CombinedOutput(); err != nil {
		t.Skipf("this machine has no overlay for us: %v %s", err, out)
	}
	t.Log(apartScript(t, program, fmt.Sprintf("DEB=%s/callboard.deb\n", dir)+overRoot+`
cp "$DEB" $at/callboard.deb
mount --bind /dev $at/dev
inside() { chroot $at "$@"; }
export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
inside dpkg --no-triggers -i /callboard.deb
inside callboard check /etc/callboard/callboard.toml
inside test -s /usr/share/man/man1/callboard.1.gz -a -s /usr/share/bash-completion/completions/callboard
unit=$at/usr/lib/systemd/system/callboard.service
if inside test -x /usr/bin/systemd-analyze; then
	inside systemd-analyze verify --man=no /usr/lib/systemd/system/callboard.service
	inside systemd-analyze security --offline=true --threshold=20 /usr/lib/systemd/system/callboard.service >/dev/null
fi
user=$(sed -n 's/^User=//p' $unit)
inside install -d -o "$user" -g "$user" -m 700 /var/lib/"$(sed -n 's/^StateDirectory=//p' $unit)"
healthy $at "$user:$user" $(sed -n 's/^ExecStart=//p' $unit)
echo '# mine' >> $at/etc/callboard/callboard.toml
inside dpkg --no-triggers -r callboard
[ ! -e $at/usr/bin/callboard ]
grep -q mine $at/etc/callboard/callboard.toml # until it is purged
inside dpkg --no-triggers -P callboard
[ ! -e $at/etc/callboard ] && [ ! -e $at/var/lib/callboard ]
! inside getent passwd callboard
`))
}

// overRoot makes $at a root directory with all that this machine has; what is
// written there is gone with the mounts.
const overRoot = `set -e
at=${PROGRAM%/*}/over
mkdir -p $at
mount -t tmpfs tmpfs $at
mkdir $at/up $at/work $at/root
mount -t overlay overlay -o lowerdir=/,upperdir=$at/up,workdir=$at/work $at/root
at=$at/root
`
