package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"callboard/player"
	"callboard/player/playercfg"
	"callboard/player/server"
	"callboard/sim/simdriver"
	"callboard/sim/worldfile"
)

// playerPlan is what a Player configuration serves of a simulated world.
type playerPlan struct {
	*simdriver.Plan
	robots []playercfg.Robot
}

// loadPlayerPlan reads a Player configuration and its world; listen returns the
// port of devices without one. Warnings are told, errors are the error.
func (p *program) loadPlayerPlan(name, listen string) (*worldfile.World, *playerPlan, error) {
	port := 0
	if _, text, err := net.SplitHostPort(listen); err == nil {
		port, _ = strconv.Atoi(text) // what is wrong with it listenNext tells
	}
	f, problems := playercfg.Load(playercfg.Config{Open: openFile, Name: name, Port: port})
	if err := p.problems(problems); err != nil {
		return nil, nil, err
	}
	file, pos, ok := f.Worldfile()
	if !ok {
		return nil, nil, fmt.Errorf("%s simulates nothing; expected a driver \"stage\" with a worldfile", name)
	}
	if _, err := os.Stat(file); err != nil {
		return nil, nil, fmt.Errorf("%s: there is no worldfile %s; expected the name of a world, relative to the configuration", pos, file)
	}
	world, err := p.loadWorld(openFile, file)
	if err != nil {
		return nil, nil, err
	}
	plan, problems := simdriver.NewPlan(f, world)
	if err := p.problems(problems); err != nil {
		return nil, nil, err
	}
	if len(plan.Ports) == 0 {
		return nil, nil, fmt.Errorf("%s: nothing of the simulated world is served; expected a driver \"stage\" that provides a device", name)
	}
	return world, &playerPlan{plan, f.Robots()}, nil
}

// listenPlanned listens on the ports of a Player configuration, or where
// --listen asks for free ones on as many of those.
func (s *simulation) listenPlanned(c simulationConfig) error {
	host, text, err := net.SplitHostPort(c.listen)
	if err != nil {
		return usagef("--listen %q: expected HOST:PORT", c.listen)
	}
	for _, port := range c.player.Ports {
		at := net.JoinHostPort(host, strconv.Itoa(port.Port))
		if text == "0" {
			at = net.JoinHostPort(host, "0")
		}
		listener, err := listenNext(at, 0, c.other)
		if err != nil {
			return err
		}
		driver, err := s.driver.Serve(port.Devices)
		if err == nil {
			err = s.serve(c, listener, []server.Driver{driver}, c.player.onPort(port))
		}
		if err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	return nil
}

// onPort returns the robots of a port with those of their devices that are
// served.
func (p *playerPlan) onPort(port simdriver.PlannedPort) robotPort {
	served := map[string]bool{}
	for _, d := range port.Devices {
		served[player.Addr{Interf: d.Interf, Index: d.Index}.String()] = true
	}
	out := robotPort{devices: map[string][]string{}}
	for _, r := range p.robots {
		if r.Port != port.Port {
			continue
		}
		var devices []string
		for _, d := range r.Devices {
			if served[d.String()] {
				devices = append(devices, d.String())
			}
		}
		if len(devices) > 0 { // nobody drives a floor plan
			out.robots = append(out.robots, r.Name)
			out.devices[r.Name] = devices
		}
	}
	return out
}
