package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"callboard/subscribe/condition"
)

// runProgram runs the program in this process.
func runProgram(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, log bytes.Buffer
	p := &program{name: "callboard", stdout: &out, stderr: &log, getenv: func(string) string { return "" }}
	code = p.run(ctx, args)
	return code, out.String(), log.String()
}

// Wrong use ends with 2 and says what is right; what fails ends with 1.
func TestWrongUse(t *testing.T) {
	for _, c := range []struct {
		code int
		args []string
		want string // in stderr
	}{
		{2, []string{}, "callboard: no command given; callboard --help lists them"},
		{2, []string{"wach", "x"}, `callboard: unknown command "wach"; did you mean watch?`},
		{2, []string{"recrod", "x"}, `callboard: unknown command "recrod"`},
		{2, []string{"watch"}, "callboard watch: CONDITION missing"},
		{2, []string{"watch", "a", "b"}, `argument "b" is left over`},
		{2, []string{"watch", "laser.min < 1", "--jsn"}, "unknown flag --jsn; did you mean --json?"},
		{2, []string{"watch", "true", "--count", "0"}, `invalid value "0" for --count: expected a whole number from 1`},
		{2, []string{"watch", "true", "--timeout", "5x"}, "for --timeout: expected seconds"},
		{2, []string{"watch", "true", "--trigger", "sometimes"}, `--trigger "sometimes", expected every, rising or change`},
		{2, []string{"watch", "true", "--keep", "none"}, `--keep "none", expected all or latest`},
		{2, []string{"watch", "true", "--robot", "["}, `"[" is no pattern`},
		{2, []string{"watch", "true", "--select", "x="}, "has no expression"},
		{2, []string{"watch", "true", "--select", "x=1", "--select", "x = 2"}, `--select "x" comes twice`},
		{2, []string{"watch", "true", "--broker", "ftp://x"}, `scheme "ftp", expected ws or wss`},
		{2, []string{"watch", "true", "--log-level", "loud"}, "expected debug, info, warn or error"},
		{2, []string{"watch", " "}, "the condition is empty"},
		{2, []string{"send", "r0"}, "ROBOT and COMMAND missing"},
		{2, []string{"send", "r0", "stop", "--index", "x"}, "expected a device index"},
		{2, []string{"serve", "x"}, `argument "x" is left over`},
		{2, []string{"serve", "--player"}, "flag --player needs a value"},
		{2, []string{"serve", "--player", "=x"}, "callboard serve: --player"},
		{2, []string{"serve", "--listen", "nowhere"}, "nowhere"},
		{2, []string{"sim"}, "FILE.world missing"},
		{2, []string{"sim", "x.world", "--robots", "3"}, "contradict"},
		{2, []string{"sim", "--robots", "3", "--speed", "-1"}, "for --speed: expected a multiple of real time above 0"},
		{2, []string{"sim", "--robots", "3", "--listen", "127.0.0.1:65535"}, "not enough ports"},
		{2, []string{"demo", "--robots", "2", "--world", "x.world"}, "contradict"},
		{2, []string{"bench"}, "NAME missing, expected one of"},
		{2, []string{"bench", "mtch"}, `unknown benchmark "mtch"; did you mean match?`},
		{2, []string{"help", "me"}, `no help on "me"`},
		{2, []string{"check"}, "FILE or --condition TEXT missing"},
		{1, []string{"sim", "absent.world"}, "absent.world: "},
		{1, []string{"watch", "true", "--broker", "ws://127.0.0.1:1/ws", "--timeout", "0.1"}, "no broker answered at ws://127.0.0.1:1/ws within 100ms"},
		{1, []string{"status", "--broker", "127.0.0.1:1"}, "no broker answers"},
		{1, []string{"watch", "true", "--token-file", "absent"}, "reading the token"},
	} {
		code, stdout, stderr := runProgram(t.Context(), c.args...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q ends with %d, expected %d with %q: %s%s", c.args, code, c.code, c.want, stdout, stderr)
		}
	}
}

// Help is a result: on stdout, whatever else stands there.
func TestHelpAsked(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--help"}, "Usage: callboard COMMAND"},
		{[]string{"help"}, "Usage: callboard COMMAND"},
		{[]string{"-h"}, "Usage: callboard COMMAND"},
		{[]string{"watch", "--help"}, "\nExamples:\n  callboard watch"},
		{[]string{"--json", "watch", "x", "-h"}, "\nExamples:\n  callboard watch"},
		{[]string{"help", "send"}, "velocity"},
		{[]string{"bench", "match", "--help"}, "callboard bench match - "},
		{[]string{"bench", "--help"}, "\n  match "},
		{[]string{"help", "conditions"}, "sector("},
		{[]string{"--version"}, "callboard "},
	} {
		code, stdout, stderr := runProgram(t.Context(), c.args...)
		if code != exitOK || stderr != "" || !strings.Contains(stdout, c.want) {
			t.Errorf("%q ends with %d, expected %q: %s%s", c.args, code, c.want, stdout, stderr)
		}
	}
}

// The examples of the help of conditions are right.
func TestConditionExamples(t *testing.T) {
	for _, e := range condition.Examples() {
		code, stdout, stderr := runProgram(t.Context(), "check", "--condition", e.Condition)
		if code != exitOK {
			t.Errorf("%s: %s%s", e.Condition, stdout, stderr)
		}
	}
}

// A question that was interrupted is not answered.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, stdout, stderr := runProgram(ctx, "status")
	if code != exitFailed || stdout != "" || stderr != "callboard status: interrupted\n" {
		t.Errorf("ends with %d: %s%s", code, stdout, stderr)
	}
}

func TestWrap(t *testing.T) {
	for text, want := range map[string]string{
		"":                     "",
		"one two three":        "one two/three",
		"one  two\nthree four": "one two/three/four",
		"a-long-word and more": "a-long-word/and more",
		"äää äää äää":          "äää äää/äää",
	} {
		if got := strings.Join(wrap(text, 8), "/"); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
