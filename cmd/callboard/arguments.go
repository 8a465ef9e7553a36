package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagTable has the flags of one command: by name, whether it takes a value.
type flagTable map[string]bool

// tableOf lists a command's flags.
func tableOf(flags []cli.Flag) flagTable {
	table := flagTable{"help": false, "h": false}
	for _, f := range flags {
		takes := true
		if d, ok := f.(cli.DocGenerationFlag); ok {
			takes = d.TakesValue()
		}
		for _, name := range f.Names() {
			table[name] = takes
		}
	}
	return table
}

// names lists the flags' long names in order, for suggestions.
func (t flagTable) names() []string {
	var names []string
	for name := range t {
		if len(name) > 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// token is one argument, as far as the flag table knows it.
type token struct {
	positional bool
	known      bool
	name       string // of a flag
	value      string
	hasValue   bool // it was written --name=value
}

// read returns what an argument is. A number, and an argument with blanks or
// operators in it, is never a flag unless it is --name=… of a known one.
func (t flagTable) read(argument string) token {
	if len(argument) < 2 || argument[0] != '-' || argument == "--" || !letter(strings.TrimPrefix(argument[1:], "-")) {
		return token{positional: true}
	}
	name, value, has := strings.Cut(strings.TrimPrefix(argument[1:], "-"), "=")
	if _, known := t[name]; known {
		return token{known: true, name: name, value: value, hasValue: has}
	}
	if !plain(name) || (has && strings.HasPrefix(value, "=")) {
		return token{positional: true}
	}
	return token{name: name, value: value, hasValue: has}
}

// letter reports whether s begins with one.
func letter(s string) bool {
	return s != "" && (s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z')
}

// plain reports whether a name has nothing in it that an expression would have
// between its operands.
func plain(name string) bool {
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
		default:
			return false
		}
	}
	return true
}

// arrange sorts the arguments of one command: flags, as --name=value, before
// "--", what is positional behind it. Thus flags may stand anywhere.
func (t flagTable) arrange(arguments []string) (arranged, positional []string, err error) {
	for i := 0; i < len(arguments); i++ {
		argument := arguments[i]
		if argument == "--" {
			return arranged, append(positional, arguments[i+1:]...), nil
		}
		k := t.read(argument)
		switch {
		case k.positional:
			positional = append(positional, argument)
		case !k.known:
			return nil, nil, usagef("unknown flag --%s%s", k.name, suggest("--", k.name, t.names()))
		case !t[k.name]: // a switch
			if k.hasValue {
				argument = "--" + k.name + "=" + k.value
			} else {
				argument = "--" + k.name
			}
			arranged = append(arranged, argument)
		case k.hasValue:
			arranged = append(arranged, "--"+k.name+"="+k.value)
		default:
			value, err := t.value(k.name, arguments[i+1:])
			if err != nil {
				return nil, nil, err
			}
			arranged = append(arranged, "--"+k.name+"="+value)
			i++
		}
	}
	return arranged, positional, nil
}

// value returns the argument behind a flag that takes one.
func (t flagTable) value(name string, rest []string) (string, error) {
	if len(rest) == 0 || rest[0] == "--" {
		return "", usagef("flag --%s needs a value", name)
	}
	if !t.read(rest[0]).positional {
		return "", usagef("flag --%s needs a value, but %s follows; if that is the value, write --%s=%s", name, rest[0], name, rest[0])
	}
	return rest[0], nil
}

// arrangeAll finds the command among the arguments (without the program's
// name) and returns them in the order that urfave/cli expects.
func arrangeAll(app *cli.App, arguments []string) ([]string, error) {
	at, err := commandAt(app.Flags, app.Commands, arguments)
	if err != nil {
		return nil, err
	}
	if at < 0 {
		arranged, _, err := tableOf(app.Flags).arrange(arguments)
		return arranged, err
	}
	name := arguments[at]
	command := app.Command(name)
	if command == nil {
		return nil, usagef("unknown command %q%s", name, suggest("", name, commandNames(app)))
	}
	rest := append(slices.Clone(arguments[:at]), arguments[at+1:]...)
	arranged, err := arrangeCommand(command, rest)
	if err != nil {
		return nil, inCommand(name, err)
	}
	return append([]string{name}, arranged...), nil
}

// arrangeCommand returns the arguments of a command, its name left out.
func arrangeCommand(command *cli.Command, arguments []string) ([]string, error) {
	if len(command.Subcommands) > 0 {
		at, err := commandAt(command.Flags, command.Subcommands, arguments)
		if err != nil {
			return nil, err
		}
		if at >= 0 {
			if sub := command.Command(arguments[at]); sub != nil {
				rest := append(slices.Clone(arguments[:at]), arguments[at+1:]...)
				arranged, err := arrangeCommand(sub, rest)
				return append([]string{sub.Name}, arranged...), err
			}
			return []string{"--", arguments[at]}, nil // the command says that there is none
		}
	}
	flags, positional, err := tableOf(command.Flags).arrange(arguments)
	if err == nil && (slices.Contains(flags, "--help") || slices.Contains(flags, "--h")) {
		return []string{"--help"}, nil // whatever else is asked for
	}
	return append(append(flags, "--"), positional...), err
}

// commandAt finds a command's name: the first argument that is neither a flag
// nor a flag's value; -1 if there is none. Which command's flags they are is
// not known yet, so all commands' count.
func commandAt(flags []cli.Flag, commands []*cli.Command, arguments []string) (int, error) {
	all := tableOf(flags)
	addFlags(all, commands)
	for i := 0; i < len(arguments); i++ {
		if arguments[i] == "--" {
			if i+1 < len(arguments) {
				return i + 1, nil
			}
			return -1, nil
		}
		k := all.read(arguments[i])
		switch {
		case k.positional:
			return i, nil
		case !k.known:
			return -1, usagef("unknown flag --%s%s", k.name, suggest("--", k.name, all.names()))
		case all[k.name] && !k.hasValue:
			i++
		}
	}
	return -1, nil
}

// addFlags adds the flags of commands and their subcommands.
func addFlags(table flagTable, commands []*cli.Command) {
	for _, c := range commands {
		for name, takes := range tableOf(c.Flags) {
			table[name] = takes
		}
		addFlags(table, c.Subcommands)
	}
}

// commandNames lists the commands, for suggestions.
func commandNames(app *cli.App) []string {
	var names []string
	for _, c := range app.Commands {
		names = append(names, c.Name)
	}
	return names
}

// suggest returns "; did you mean …?" if one of the names is near.
func suggest(prefix, name string, names []string) string {
	if near := nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %s%s?", prefix, near)
	}
	return ""
}
