package condition

import (
	"slices"

	"callboard/subscribe/protocol"
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
	if best := protocol.Nearest(name, known); best != "" {
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
