package config

import (
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

// named gives a key with its line, if known.
func (k *checks) named(key string) string {
	if _, at := k.c.source.at(key); at.line > 0 {
		return fmt.Sprintf("%s in line %d", key, at.line)
	}
	return key
}

// Names gives the robots' names in order; those of a CFG are not known here.
func (p Player) Names() []string {
	if p.Robots != nil {
		return slices.Sorted(maps.Keys(p.Robots))
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

// Unserved lists what is configured rightly but is not served by this broker,
// each with its place: a broker that would go on without it would mislead.
func (c *Config) Unserved() Problems {
	k := &checks{c: c}
	const text = "is not served by this version of callboard; expected to be left out"
	if c.Gateway.Listen != "" {
		k.say("gateway.listen", text)
	}
	return k.problems
}
