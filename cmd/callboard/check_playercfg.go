package main

import (
	"fmt"
	"os"
	"strings"

	"callboard/player/playercfg"
	"callboard/player/problem"
	"callboard/sim/simdriver"
	"callboard/sim/worldfile"
)

// playerConfiguration checks a Player configuration, and that its world has
// the models that it names.
func (k *checker) playerConfiguration(name string) {
	f, problems := playercfg.Load(playercfg.Config{Open: openFile, Name: name})
	k.tell(problems...)
	if f == nil {
		return
	}
	before := k.errors
	k.models(f)
	if k.errors > before {
		return
	}
	k.note(name, "%s, %s", plural(len(f.Drivers), "driver"), plural(len(f.Robots()), "robot"))
	for i, r := range f.Robots() {
		if i == summarised {
			k.more(name, "and %s", plural(len(f.Robots())-i, "more robot"))
			break
		}
		devices := make([]string, len(r.Devices))
		for i, d := range r.Devices {
			devices[i] = d.String()
		}
		k.more(name, "%s on port %d: %s", r.Name, r.Port, strings.Join(devices, " "))
	}
}

// summarised is the number of robots or devices that a summary lists.
const summarised = 20

// models checks what drivers are to show of the world: the models that they name
// and what those have.
func (k *checker) models(f *playercfg.File) {
	file, pos, ok := f.Worldfile()
	if !ok {
		return
	}
	if _, err := os.Stat(file); err != nil {
		k.tell(problem.Problem{Place: pos, Message: fmt.Sprintf("there is no worldfile %s; expected the name of a world, relative to the configuration", file)})
		return
	}
	w, problems := worldfile.Load(openFile, file)
	if w == nil {
		k.tell(problem.Problem{Place: pos, Message: fmt.Sprintf("the worldfile has errors, the first of them %v; expected a world that loads", problems.First())})
		return
	}
	_, planned := simdriver.NewPlan(f, w)
	k.tell(planned...)
}
