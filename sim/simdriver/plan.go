package simdriver

import (
	"fmt"
	"slices"
	"strings"

	"callboard/player"
	"callboard/player/playercfg"
	"callboard/player/problem"
	"callboard/sim/worldfile"
)

// Plan is what a Player configuration serves of a world, in the order of the
// file.
type Plan struct{ Ports []PlannedPort }

// PlannedPort is a TCP port and its devices.
type PlannedPort struct {
	Port    int // 0: any that is free
	Devices []Device
}

// NewPlan finds the models that a configuration's devices show. As in Stage's
// plug-in each device of a section takes, in order, the first model of its type
// on the named one that no device has taken yet; old interfaces are served as
// older plug-ins did. What has no model is an Error; devices and drivers that
// are not served are Warnings.
func NewPlan(f *playercfg.File, w *worldfile.World) (*Plan, problem.List) {
	p := &planner{plan: &Plan{}, byName: map[string]*worldfile.Model{}, taken: map[*worldfile.Model]bool{}, shown: map[shown]*worldfile.Model{}}
	for _, m := range w.All() {
		p.byName[m.Auto] = m
	}
	for _, m := range w.All() {
		p.byName[m.Name] = m
		p.names = append(p.names, m.Name)
	}
	p.world = w.File
	for _, d := range f.Drivers {
		if d.Name == "stage" {
			p.stage(d)
		}
	}
	for _, d := range f.Drivers {
		if d.Name != "stage" {
			p.other(d)
		}
	}
	return p.plan, p.List
}

// planner makes a Plan.
type planner struct {
	plan   *Plan
	world  string
	byName map[string]*worldfile.Model
	names  []string
	taken  map[*worldfile.Model]bool
	shown  map[shown]*worldfile.Model // what stands behind a device
	problem.List
}

// shown is the address of a device that is served.
type shown struct {
	port   int
	interf player.Interface
	index  uint16
}

// add serves a device.
func (p *planner) add(a playercfg.Address, d Device) {
	i := slices.IndexFunc(p.plan.Ports, func(port PlannedPort) bool { return port.Port == a.Port })
	if i < 0 {
		i = len(p.plan.Ports)
		p.plan.Ports = append(p.plan.Ports, PlannedPort{Port: a.Port})
	}
	p.plan.Ports[i].Devices = append(p.plan.Ports[i].Devices, d)
	p.shown[shown{a.Port, d.Interf, d.Index}] = d.Model
}

// stage plans a section of the driver stage.
func (p *planner) stage(d *playercfg.Driver) {
	base, found := p.base(d)
	for _, a := range d.Provides {
		interf, known := a.Code()
		if !known {
			p.Warnf(a.Pos, "%s is not simulated and not served", a)
			continue
		}
		service, served := services[interf]
		switch {
		case interf == player.InterfaceCamera:
			p.Warnf(a.Pos, "%s is not simulated and not served: no pictures are drawn here", a)
		case !served:
			p.Warnf(a.Pos, "%s is not simulated and not served, nor is it by Stage 4", a)
		case interf == player.InterfaceSimulation:
			p.add(a, Device{Interf: interf, Index: a.Index})
		case !found:
			// Told with the section.
		case named(interf):
			if service.serves != nil && !service.serves(base) {
				p.Warnf(a.Pos, "%s is not served: %s has no power pack; expected joules in the world", a, base.Name)
				continue
			}
			p.add(a, Device{Interf: interf, Index: a.Index, Model: base})
		default:
			m := p.first(base, interf)
			if m == nil {
				p.Errorf(a.Pos, "%s: %s has no %s left; expected a model of that type on it that no device before has taken", a, base.Name, typeOf(interf))
				continue
			}
			p.taken[m] = true
			p.add(a, Device{Interf: interf, Index: a.Index, Model: m})
		}
	}
}

// base returns the model that a section names.
func (p *planner) base(d *playercfg.Driver) (*worldfile.Model, bool) {
	name := d.Text("model", 0, "")
	if name == "" {
		return nil, false
	}
	m := p.byName[name]
	if m == nil {
		expected := "the name of one of its models"
		if near := problem.Nearest(name, p.names); near != "" {
			expected = fmt.Sprintf("%q", near)
		}
		p.Errorf(d.Field("model").Values[0].Pos, "%s has no model %q; expected %s", p.world, problem.Short(name), expected)
	}
	return m, m != nil
}

// named reports whether an interface shows the named model itself, whatever its
// type.
func named(interf player.Interface) bool {
	switch interf {
	case player.InterfaceSpeech, player.InterfaceGraphics2D, player.InterfaceGraphics3D,
		player.InterfaceMap, player.InterfaceLocalize, player.InterfacePower:
		return true
	}
	return false
}

// typeOf names the type of model that an interface shows.
func typeOf(interf player.Interface) string {
	switch interf {
	case player.InterfacePosition2D:
		return "position"
	case player.InterfaceActarray:
		return "actuator"
	case player.InterfaceLaser:
		return "ranger with one sensor of many samples"
	case player.InterfaceSonar:
		return "ranger with sensors of one sample"
	}
	return interf.String()
}

// first returns the first model in base's tree that an interface can show and
// nobody has taken, depth first.
func (p *planner) first(base *worldfile.Model, interf player.Interface) *worldfile.Model {
	if !p.taken[base] && fits(interf, base) {
		return base
	}
	for _, c := range base.Children {
		if m := p.first(c, interf); m != nil {
			return m
		}
	}
	return nil
}

// fits reports whether an interface is dealt a model. Old configurations tell
// scanners from sonars, which are all rangers now.
func fits(interf player.Interface, m *worldfile.Model) bool {
	if !services[interf].serves(m) {
		return false
	}
	switch interf {
	case player.InterfaceLaser:
		return m.Type == "laser" || len(m.Ranger.Sensors) == 1 && m.Ranger.Sensors[0].Samples > 1
	case player.InterfaceSonar:
		return m.Type != "laser" && (len(m.Ranger.Sensors) != 1 || m.Ranger.Sensors[0].Samples <= 1)
	}
	return true
}

// other plans a section of another driver. Of those only the one that makes a
// laser of a ranger is served.
func (p *planner) other(d *playercfg.Driver) {
	if d.Name == "rangertolaser" && len(d.Provides) == 1 && len(d.Requires) == 1 && d.Requires[0].Local() {
		from, a := d.Requires[0], d.Provides[0]
		code, _ := a.Code()
		if m := p.shown[shown{from.Port, player.InterfaceRanger, from.Index}]; m != nil && code == player.InterfaceLaser {
			p.add(a, Device{Interf: player.InterfaceLaser, Index: a.Index, Model: m, Driver: d.Name})
			return
		}
	}
	if len(d.Provides) == 0 {
		p.Warnf(d.Pos, "driver %q does not run here", problem.Short(d.Name))
		return
	}
	what := make([]string, len(d.Provides))
	for i, a := range d.Provides {
		what[i] = a.String()
	}
	p.Warnf(d.Pos, "driver %q does not run here; not served: %s", problem.Short(d.Name), problem.Cut(strings.Join(what, " "), 60))
}

// cut keeps a text from the file short.
