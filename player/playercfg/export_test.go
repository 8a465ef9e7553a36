package playercfg

import "callboard/player/problem"

// ParseAddress reads a device address alone.
func ParseAddress(text string, port int) (Address, error) {
	a, _, err := parseAddress(text, port)
	return a, err
}

// Parse reads the configuration for its structure alone, and returns what could
// be read.
func Parse(c Config) (*File, problem.List) {
	f, r := parse(c)
	return f, r.sorted()
}
