package condition

import (
	"slices"
	"strings"

	"callboard/player"
	"callboard/player/problem"
	"callboard/subscribe/view"
)

// names are all names that may stand alone here.
func (c *checker) names() []string {
	var all []string
	for _, l := range c.locals {
		all = append(all, l.name)
	}
	for _, v := range variables {
		all = append(all, v.Name)
	}
	all = append(all, interfaceNames()...)
	all = append(all, "prev", "true", "false")
	return append(all, functionNames()...)
}

func interfaceNames() []string {
	var all []string
	for i := range interfaces {
		all = append(all, interfaces[i].Name())
	}
	return all
}

func attributeNames(i *Interface) []string {
	var all []string
	for _, a := range i.Attributes {
		all = append(all, a.Name)
	}
	return all
}

func functionNames() []string {
	var all []string
	for _, f := range functionTable() {
		all = append(all, f.Name)
	}
	return all
}

// didYouMean ends a message with the nearest right name, if one is near: a
// known one, or a value of an interface that was written without it.
func didYouMean(name string, known []string) string {
	if hint := attributeHint(name); hint != "" && !slices.Contains(known, name) {
		return hint
	}
	if hint := interfaceHint(name); hint != "" && slices.Contains(known, view.KindLaser.String()) {
		return hint
	}
	if best := problem.Nearest(name, known); best != "" {
		return ": did you mean `" + best + "`?"
	}
	return ""
}

// attributeHint ends a message with the interface's value of that name.
func attributeHint(name string) string {
	for i := range interfaces {
		if interfaces[i].attribute(name) != nil {
			return ": did you mean `" + interfaces[i].Name() + "." + name + "`?"
		}
	}
	return ""
}

// interfaceHint ends a message about one of Player's interfaces that has
// another name here, or none.
func interfaceHint(name string) string {
	interf, ok := player.ParseInterface(name)
	if !ok {
		return ""
	}
	var kinds []string
	for k := range view.Kind(view.NumKinds) {
		if slices.Contains(k.Interfaces(), interf) {
			kinds = append(kinds, quoted(k.String()))
		}
	}
	if len(kinds) == 0 {
		return ": conditions do not see what devices of this interface send"
	}
	return ": did you mean " + strings.Join(kinds, " or ") + "?"
}
