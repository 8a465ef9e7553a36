package main

import (
	"callboard/sim/worldfile"
	"callboard/worlds"
)

// maxRobots is how many robots a bundled world may be asked for.
const maxRobots = 20000

// bundledWorld is the world of the demo, or with n > 0 one with n robots.
func (p *program) bundledWorld(n int) (*worldfile.World, error) {
	if n == 0 {
		return p.loadWorld(worlds.Open, worlds.Default)
	}
	if err := checkRobots(n); err != nil {
		return nil, err
	}
	return p.loadWorld(worlds.Robots(n))
}

// swarm is a bundled world with n robots side by side.
func (p *program) swarm(n int) (*worldfile.World, error) {
	if err := checkRobots(n); err != nil {
		return nil, err
	}
	return p.loadWorld(worlds.Swarm(n))
}

func checkRobots(n int) error {
	if n > maxRobots {
		return usagef("--robots %d: a simulation serves %d at most", n, maxRobots)
	}
	return nil
}
