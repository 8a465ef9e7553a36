package config

import (
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"callboard/player/playercfg"
	"callboard/player/problem"
	"callboard/player/regular"
	"callboard/subscribe"
)

// expand puts the robots of Player configurations in the place of the
// [[player]] tables that name one.
func (c *Config) expand() problem.List {
	var all []Player
	var problems problem.List
	taken := map[string]bool{}
	for _, p := range c.Players {
		for _, name := range p.Names() {
			taken[name] = true
		}
	}
	for i, p := range c.Players {
		if p.CFG == "" {
			all = append(all, p)
			continue
		}
		key := element("player", i) + ".cfg"
		players, wrong := readCFG(p)
		problems = append(problems, wrong...)
		for _, one := range players {
			for _, name := range one.Names() {
				if taken[name] {
					problems = append(problems, c.source.problem(key, "robot "+strconv.Quote(name)+" of "+p.CFG+" is there twice; expected a name of its own"))
				}
				taken[name] = true
			}
		}
		if len(players) == 0 && len(wrong) == 0 {
			problems = append(problems, c.source.problem(key, p.CFG+" has no robot; expected a driver that provides one, such as position2d or laser"))
		}
		all = append(all, players...)
	}
	c.Players = all
	return problems
}

// localhost is where a configuration's Player servers are.
const localhost = "localhost"

// readCFG returns a Player for each port of a Player configuration.
func readCFG(p Player) ([]Player, problem.List) {
	file, problems := playercfg.Load(playercfg.Config{Name: p.CFG, Open: func(name string) ([]byte, error) {
		return regular.Read(name, maxFile)
	}})
	if file == nil {
		return nil, problems
	}
	worldFile, _, _ := file.Worldfile()
	world := p.World
	if worldFile != "" && world == "" {
		world = strings.TrimSuffix(filepath.Base(worldFile), filepath.Ext(worldFile))
	}
	var simulation *Simulation
	if a, ok := file.Simulation(); ok {
		simulation = &Simulation{net.JoinHostPort(localhost, strconv.Itoa(a.Port)), a.Index}
	}
	known := subscribe.Interfaces()
	var players []Player
	byPort := map[int]int{} // index in players
	for _, r := range file.Robots() {
		var devices []string
		for _, d := range r.Devices {
			if slices.Contains(known, d.Interface) {
				devices = append(devices, d.String())
			}
		}
		if len(devices) == 0 {
			continue
		}
		at, ok := byPort[r.Port]
		if !ok {
			at = len(players)
			byPort[r.Port] = at
			players = append(players, Player{Address: r.Address(localhost), World: world, WorldFile: worldFile, Robots: map[string][]string{}, Simulation: simulation})
		}
		players[at].Robots[r.Name] = devices
	}
	return players, problems
}
