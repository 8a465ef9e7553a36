package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

func (k *checks) players() {
	robots := map[string]string{}
	for i, p := range k.c.Players {
		key := element("player", i)
		k.player(key, p)
		for _, name := range p.Names() {
			at := key + ".robot"
			if p.Robots != nil {
				at = join(key+".robots", name)
			}
			if other, twice := robots[name]; twice {
				k.say(at, fmt.Sprintf("robot %q is there twice; expected a name of its own (the other is %s)", name, k.named(other)))
				continue
			}
			robots[name] = at
		}
	}
}

// named returns a key with its line, if known.
func (k *checks) named(key string) string {
	if at := k.c.source.at(key); at.Line > 0 {
		return fmt.Sprintf("%s in line %d", key, at.Line)
	}
	return key
}

// Names returns the robots' names in order, numbers in them by value (r2 before
// r10); those of a CFG are not known here.
func (p Player) Names() []string {
	if p.Robots != nil {
		return slices.SortedFunc(maps.Keys(p.Robots), byNumber)
	}
	if p.Robot != "" {
		return []string{p.Robot}
	}
	return nil
}

func (k *checks) player(key string, p Player) {
	if p.CFG != "" {
		k.say(key+".cfg", exists(p.CFG))
		for _, other := range []struct {
			name  string
			given bool
		}{{"address", p.Address != ""}, {"robot", p.Robot != ""}, {"robots", p.Robots != nil}, {"devices", p.Devices != nil}} {
			if other.given {
				k.say(key+"."+other.name, "contradicts cfg, which says it for all its robots; expected either")
			}
		}
		return
	}
	if p.Address == "" {
		k.say(key, "has neither address nor cfg; expected one of them")
	} else {
		k.say(key+".address", addressProblem(p.Address, false))
	}
	if p.Robots == nil {
		if p.Address != "" || p.Robot != "" {
			k.say(key+".robot", nameProblem(p.Robot))
		}
		k.each(key+".devices", p.Devices, deviceProblem)
		return
	}
	if p.Robot != "" {
		k.say(key+".robot", "contradicts robots; expected either")
	}
	if p.Devices != nil {
		k.say(key+".devices", "contradicts robots, which says it for each; expected either")
	}
	k.robots(key+".robots", p.Robots)
}

func (k *checks) robots(key string, robots map[string][]string) {
	if len(robots) == 0 {
		k.say(key, `is empty; expected names and devices, such as { r1 = ["laser:0"] }`)
	}
	owner := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(robots)) {
		at := join(key, name)
		k.say(at, nameProblem(name))
		k.each(at, robots[name], deviceProblem)
		for i, d := range robots[name] {
			if strings.ContainsAny(d, `*?[\`) {
				continue
			}
			if other, twice := owner[d]; twice {
				k.say(element(at, i), fmt.Sprintf("device %q belongs to %s already; expected one robot for each", d, other))
			}
			owner[d] = name
		}
	}
}

// byNumber compares names piece by piece, runs of digits by their value.
func byNumber(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m == 0 || n == 0 {
			if c := cmp.Compare(x[0], y[0]); c != 0 {
				return c
			}
			x, y = x[1:], y[1:]
			continue
		}
		v, w := strings.TrimLeft(x[:m], "0"), strings.TrimLeft(y[:n], "0")
		if c := cmp.Or(cmp.Compare(len(v), len(w)), cmp.Compare(v, w)); c != 0 {
			return c
		}
		x, y = x[m:], y[n:]
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(a, b)) // the one that ends is first
}

// digits counts the digits that a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
