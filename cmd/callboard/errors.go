package main

import (
	"errors"
	"fmt"
	"regexp"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// usageError is a wrong use of the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, values ...any) error {
	return &usageError{fmt.Sprintf(format, values...)}
}

// commandError says in which command an error came up.
type commandError struct {
	command string
	err     error
}

func (e *commandError) Error() string { return e.command + ": " + e.err.Error() }
func (e *commandError) Unwrap() error { return e.err }

func inCommand(command string, err error) error {
	if err == nil {
		return nil
	}
	return &commandError{command, err}
}

// problemsError is a list of problems, a line each, that name their places
// themselves.
type problemsError struct {
	lines []string
	usage bool // what is wrong came from flags
}

func (e *problemsError) Error() string {
	if len(e.lines) == 1 {
		return e.lines[0]
	}
	return fmt.Sprintf("%d problems", len(e.lines))
}

// errLeftOut is how a quick build refuses what only the whole one has.
var errLeftOut = errors.New("not in the quick build of make demo; make build makes the whole one")

// errQuiet ends a command with 1 when all has been said.
var errQuiet = errors.New("failed")

// exitCode returns the code for what a command returned.
func exitCode(err error) int {
	var usage *usageError
	var problems *problemsError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &problems) && problems.usage:
		return exitUsage
	}
	return exitFailed
}

// parseError rewords the flag package's errors: flags have two dashes here.
func parseError(err error) error {
	text := flagInError.ReplaceAllString(err.Error(), "for --$1: ")
	return usagef("%s", text)
}

var flagInError = regexp.MustCompile(`for flag -+([A-Za-z0-9-]+): `)
