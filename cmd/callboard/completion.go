package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// completions are the scripts that have a shell ask callboard itself what may
// stand for a word: so they fit every version of it. What may be a file the shell
// completes.
var completions = map[string]string{
	"bash": `# bash completion of callboard
_callboard() {
	local IFS=$'\n' command=${COMP_WORDS[0]/#\~/$HOME} found
	found=($("$command" completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
	COMPREPLY=()
	if [[ ${found[0]} == :files ]]; then
		compopt -o default
		return
	fi
	local word
	for word in "${found[@]}"; do
		COMPREPLY+=("${word%%$'\t'*}")
	done
}
complete -F _callboard callboard
`,
	"zsh": `#compdef callboard
_callboard() {
	local -a found
	found=("${(@f)$("${~words[1]}" completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ $found[1] == :files ]]; then
		[[ $PREFIX == --*=* ]] && compset -P '*='
		_files
	elif [[ -n $found[1] ]]; then
		found=("${(@)found//:/\\:}")
		found=("${(@)found/$'\t'/:}")
		_describe callboard found
	fi
}
if [[ $funcstack[1] == _callboard ]]; then
	_callboard "$@"
else
	compdef _callboard callboard
fi
`,
	"fish": `# fish completion of callboard
function __callboard_complete
	set -l before (commandline -opc)
	set -l word (commandline -ct)
	set -l found ($before[1] completion fish -- $before[2..-1] "$word" 2>/dev/null)
	if test "$found[1]" = :files
		__fish_complete_path "$word"
	else
		string join \n -- $found
	end
end
complete -c callboard -f -a '(__callboard_complete)'
`,
}

func (p *program) completion() command {
	shells := slices.Sorted(maps.Keys(completions))
	return command{
		name: "completion", summary: "print a script that completes commands in bash, zsh or fish", args: "bash|zsh|fish",
		about: `Prints a script for a shell, which then completes commands, flags, some flags'
values, and files. Install it where your shell looks for such scripts, or have
it read by the shell as it starts:
  bash  source <(callboard completion bash)       in ~/.bashrc
  zsh   source <(callboard completion zsh)        in ~/.zshrc, behind compinit
  fish  callboard completion fish | source        in ~/.config/fish/config.fish
The script asks callboard what may stand for the last of some words, which
are given behind --.`,
		examples: []string{
			"callboard completion bash > ~/.local/share/bash-completion/completions/callboard",
			"callboard completion fish > ~/.config/fish/completions/callboard.fish",
			"callboard completion zsh -- watch --tr",
		},
		words: func(before []string) []string {
			if len(before) == 0 {
				return shells
			}
			return nil
		},
		run: func(ctx context.Context, c *cli.Context) error {
			args, err := arguments(c, 1, -1, "SHELL")
			if err != nil {
				return err
			}
			text, known := completions[args[0]]
			if !known {
				return usagef("no completion for %q, expected one of %s", args[0], strings.Join(shells, ", "))
			}
			if len(args) > 1 {
				text = p.complete(args[1:])
			}
			_, err = fmt.Fprint(p.stdout, text)
			return err
		},
	}
}

// filesFollow is what complete answers where a file may stand.
const filesFollow = ":files\n"

// complete returns what may stand for the last of some words: a line each, a tab
// and what it is for; or filesFollow.
func (p *program) complete(words []string) string {
	app := p.app()
	at := command{subcommands: p.commands(), flags: app.Flags}
	table := tableOf(app.Flags)
	addFlags(table, app.Commands) // flags may stand before their command
	var before []string           // the command's arguments
	value, ended := "", false     // the flag whose value follows; behind --
	last := len(words) - 1
	for _, word := range words[:last] {
		switch k := table.read(word); {
		case word == "=": // bash cuts --name=value at it
		case value != "":
			value = ""
		case ended:
			before = append(before, word)
		case word == "--":
			ended = true
		case k.known && table[k.name] && !k.hasValue:
			value = k.name
		case k.positional:
			if sub, rest := at.find([]string{word}); len(rest) == 0 {
				at, table = sub, tableOf(sub.flags)
			} else {
				before = append(before, word)
			}
		}
	}
	prefix, word := "", words[last]
	if k := table.read(word); !ended && value == "" && k.known && k.hasValue {
		value, word = k.name, k.value
		prefix = dashed(k.name) + "="
	} else if value != "" && word == "=" {
		word = ""
	}
	switch {
	case value != "":
		return completeValue(at.flags, value, prefix, word)
	case !ended && strings.HasPrefix(word, "-"):
		return completeFlag(at.flags, word)
	}
	var b strings.Builder
	for _, sub := range at.subcommands {
		offer(&b, sub.name, word, sub.summary)
	}
	if at.words != nil {
		for _, name := range at.words(before) {
			offer(&b, name, word, "")
		}
	}
	if b.Len() == 0 && strings.Contains(at.args, "FILE") {
		return filesFollow
	}
	return b.String()
}

// completeFlag offers flags' names.
func completeFlag(flags []cli.Flag, word string) string {
	var b strings.Builder
	for _, f := range flags {
		_, usage := usageOf(f)
		offer(&b, dashed(f.Names()[0]), word, usage)
	}
	offer(&b, "--help", word, "show what the command does")
	return b.String()
}

// choices are the values of flags that take one of a few words.
var choices = map[string][]string{
	"log-format": {"text", "json"},
	"log-level":  {"debug", "info", "warn", "error"},
	"trigger":    {"every", "rising", "change"},
	"keep":       {"all", "latest"},
	"speed":      {"1", "max"},
}

// completeValue offers what may be a flag's value.
func completeValue(flags []cli.Flag, name, prefix, word string) string {
	var b strings.Builder
	for _, choice := range choices[name] {
		offer(&b, prefix+choice, prefix+word, "")
	}
	for _, f := range flags {
		if value, _ := usageOf(f); slices.Contains(f.Names(), name) && (strings.Contains(value, "FILE") || value == "DIR") {
			return filesFollow
		}
	}
	return b.String()
}

// offer writes a line if a word begins like it.
func offer(b *strings.Builder, text, word, about string) {
	if !strings.HasPrefix(text, word) {
		return
	}
	if about = strings.Join(strings.Fields(about), " "); about != "" {
		about = "\t" + about
	}
	b.WriteString(text + about + "\n")
}
