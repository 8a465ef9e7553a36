package config

import (
	"fmt"
	"net"
	"path"
	"strconv"
	"strings"
	"unicode"

	"callboard/player"
	"callboard/player/problem"
)

// maxName bounds the names of robots, brokers and tokens, in bytes.
const maxName = 128

// ParsePlayer reads a --player flag: [NAME=]HOST:PORT.
func ParsePlayer(text string) (Player, error) {
	p := Player{Address: text}
	if name, address, ok := strings.Cut(text, "="); ok {
		p.Robot, p.Address = name, address
		if what := nameProblem(name); what != "" {
			return Player{}, fmt.Errorf("player %q: the robot's name %s", text, what)
		}
	}
	if what := addressProblem(p.Address, false); what != "" {
		return Player{}, fmt.Errorf("player %q: %s, as in r0=localhost:6665", text, what)
	}
	p.complete()
	return p, nil
}

// addressProblem returns what is wrong with HOST:PORT, "" if nothing. An address
// to listen on may lack the host and have port 0, which takes a free one.
func addressProblem(address string, listen bool) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Sprintf("%q is no address; expected HOST:PORT", address)
	}
	lowest := 1
	if listen {
		lowest = 0
	}
	if n, err := strconv.Atoi(port); err != nil || n < lowest || n > 65535 || strings.HasPrefix(port, "+") {
		return fmt.Sprintf("%q has no port number; expected %d to 65535", address, lowest)
	}
	if host == "" && !listen {
		return fmt.Sprintf("%q has no host; expected HOST:PORT", address)
	}
	if strings.ContainsFunc(host, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("/\\@=?#*,;\"'", r)
	}) {
		return fmt.Sprintf("%q is no address; expected HOST:PORT", address)
	}
	return ""
}

// nameProblem returns what is wrong with a robot's name, "" if nothing. Names
// are printed blank-separated and matched by path.Match.
func nameProblem(name string) string {
	switch {
	case name == "":
		return "is empty; expected a name"
	case len(name) > maxName:
		return fmt.Sprintf("has %d bytes; expected at most %d", len(name), maxName)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) }):
		return fmt.Sprintf("%q has blanks or control characters; expected a name without", name)
	case strings.ContainsAny(name, `*?[\/`):
		return fmt.Sprintf(`%q has a character that means something in patterns; expected a name without * ? [ \ /`, name)
	}
	return ""
}

// idProblem returns what is wrong with a broker's id, which also names a
// directory.
func idProblem(id string) string {
	switch {
	case id == "":
		return "is missing; expected a broker's id"
	case len(id) > maxName:
		return fmt.Sprintf("has %d bytes; expected at most %d", len(id), maxName)
	case strings.HasPrefix(id, ".") || strings.ContainsFunc(id, func(r rune) bool { return !isBare(r) && r != '.' }):
		return fmt.Sprintf("%q is no id; expected letters, digits, dashes, underscores, dots inside", id)
	}
	return ""
}

// patternProblem returns what is wrong with a pattern for robots' names.
func patternProblem(pattern string) string {
	if pattern == "" {
		return "is empty; expected a robot's name or a pattern such as r*"
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return fmt.Sprintf("%q is no pattern; expected one of path.Match, such as r* or r[0-9]", pattern)
	}
	return ""
}

// deviceProblem returns what is wrong with a device: interface:index, an
// interface alone, or a pattern over either.
func deviceProblem(device string) string {
	if _, err := path.Match(device, ""); err != nil {
		return fmt.Sprintf("%q is no pattern; expected one of path.Match, such as * or ranger:*", device)
	}
	if strings.ContainsAny(device, `*?[\`) {
		return ""
	}
	interf, index, hasIndex := strings.Cut(device, ":")
	if _, ok := player.ParseInterface(interf); !ok {
		if near := problem.Nearest(interf, interfaceNames()); near != "" {
			return fmt.Sprintf("%q is no device: Player has no interface %q; expected perhaps %s", device, interf, near)
		}
		return fmt.Sprintf("%q is no device; expected interface:index, such as laser:0", device)
	}
	if _, err := strconv.ParseUint(index, 10, 16); hasIndex && err != nil {
		return fmt.Sprintf("%q has no index; expected interface:index, such as %s:0", device, interf)
	}
	return ""
}

// interfaceNames returns Player's interfaces that have a name.
func interfaceNames() []string {
	var names []string
	for i := player.Interface(1); i < 128; i++ {
		if name := i.String(); name != "" {
			if back, ok := player.ParseInterface(name); ok && back == i {
				names = append(names, name)
			}
		}
	}
	return names
}
