package main

import (
	"fmt"
	"os"
	"strings"

	"callboard/player/playercfg"
	"callboard/sim/worldfile"
)

// playerConfiguration checks a Player configuration, and that its world has
// the models that it names.
func (k *checker) playerConfiguration(name string) {
	f, problems := playercfg.Load(playercfg.Config{Open: openFile, Name: name})
	for _, problem := range problems {
		if problem.Severity == playercfg.Warning {
			k.warn(problem.Error())
		} else {
			k.wrong(problem.Error())
		}
	}
	if f == nil {
		return
	}
	before := k.errors
	k.models(f)
	if k.errors > before {
		return
	}
	fmt.Fprintf(k.p.stdout, "%s: %s, %s\n", name, plural(len(f.Drivers), "driver"), plural(len(f.Robots()), "robot"))
	for i, r := range f.Robots() {
		if i == summarised {
			fmt.Fprintf(k.p.stdout, "  and %s\n", plural(len(f.Robots())-i, "more robot"))
			break
		}
		devices := make([]string, len(r.Devices))
		for i, d := range r.Devices {
			devices[i] = d.String()
		}
		fmt.Fprintf(k.p.stdout, "  %s on port %d: %s\n", r.Name, r.Port, strings.Join(devices, " "))
	}
}

// summarised is the number of robots or devices that a summary lists.
const summarised = 20

// models checks the models that drivers name against the world.
func (k *checker) models(f *playercfg.File) {
	file, pos, ok := f.Worldfile()
	if !ok {
		return
	}
	if _, err := os.Stat(file); err != nil {
		k.wrong(fmt.Sprintf("%s: there is no worldfile %s; expected the name of a world, relative to the configuration", pos, file))
		return
	}
	w, problems := worldfile.Load(openFile, file)
	if w == nil {
		k.wrong(fmt.Sprintf("%s: the worldfile has errors, the first of them %v; expected a world that loads", pos, worldfile.FirstError(problems)))
		return
	}
	names := map[string]bool{}
	var all []string
	for _, m := range w.All() {
		names[m.Name] = true
		all = append(all, m.Name)
	}
	for _, d := range f.Drivers {
		model := d.Text("model", 0, "")
		if d.Name != "stage" || model == "" || names[model] {
			continue
		}
		expected := "the name of one of its models"
		if near := nearest(model, all); near != "" {
			expected = fmt.Sprintf("%q", near)
		}
		k.wrong(fmt.Sprintf("%s: %s has no model %q; expected %s", d.Field("model").Values[0].Pos, file, model, expected))
	}
}
