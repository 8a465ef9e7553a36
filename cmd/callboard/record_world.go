package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"callboard/player/playercfg"
	"callboard/player/run"
	"callboard/sim/worldfile"
	"callboard/worlds"
)

// collected are the files that loading a world has read.
type collected struct {
	names []string          // absolute where there is a disk, in the order of reading
	data  map[string][]byte // by name
}

// open reads a file and keeps it. What is not there may be bundled.
func (c *collected) open(name string) ([]byte, error) {
	data, err := openFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		if bundled, missing := worlds.Open(name); missing == nil {
			data, err = bundled, nil
		}
	}
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	if _, had := c.data[absolute]; !had {
		c.names = append(c.names, absolute)
		c.data[absolute] = data
	}
	return data, nil
}

// collectWorld reads a world file, or those of Player configurations, with all
// that belongs to them.
func collectWorld(file string, cfgs []string) (*run.World, error) {
	c := &collected{data: map[string][]byte{}}
	var first []string // the world file, then the configurations
	for _, name := range cfgs {
		cfg, _ := playercfg.Load(playercfg.Config{Name: name, Open: c.open})
		if cfg == nil {
			return nil, fmt.Errorf("%s cannot be read; callboard check %s tells why", name, name)
		}
		first = append(first, name)
		if world, _, ok := cfg.Worldfile(); ok && file == "" {
			file = world
		}
	}
	if file != "" {
		_, problems := worldfile.Load(c.open, file)
		if err := problems.First(); err != nil {
			return nil, err
		}
		first = slices.Insert(first, 0, file)
	}
	return c.world(first)
}

// world names the files relative to the folder that has all of them.
func (c *collected) world(first []string) (*run.World, error) {
	if len(c.names) == 0 {
		return nil, nil
	}
	root := filepath.Dir(c.names[0])
	for _, name := range c.names {
		for !strings.HasPrefix(name, strings.TrimSuffix(root, string(filepath.Separator))+string(filepath.Separator)) {
			root = filepath.Dir(root)
		}
	}
	order := []string{}
	for _, name := range first {
		absolute, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		order = append(order, absolute)
	}
	for _, name := range c.names {
		if !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	w := &run.World{}
	for _, name := range order {
		data, ok := c.data[name]
		relative, err := filepath.Rel(root, name)
		if err != nil || !ok {
			continue
		}
		w.Files = append(w.Files, run.WorldFile{Name: filepath.ToSlash(relative), Data: data})
	}
	return w, nil
}
