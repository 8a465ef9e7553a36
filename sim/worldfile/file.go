package worldfile

import "callboard/player/problem"

// File is a world file as parsed: includes spliced in, macros applied.
type File struct {
	Name string
	// World holds the properties and the entities of the top level.
	World Entity

	files []string // in the order in which they were opened
}

// Entity is an entity of a File: what stands before the bracket and in it.
type Entity struct {
	Pos        problem.Place
	Word       string // as written: a type's name or a macro's
	Type       string // the built-in type
	Properties []*Property
	Children   []*Entity
}

// Property is a name and its values, all kept as text.
type Property struct {
	Pos    problem.Place
	Name   string
	Values []string
	Used   bool // something has read it
}

// Get returns the property of that name, the last one if there are several, or
// nil; it counts as read.
func (e *Entity) Get(name string) *Property {
	for i := len(e.Properties) - 1; i >= 0; i-- {
		if p := e.Properties[i]; p.Name == name {
			p.Used = true
			return p
		}
	}
	return nil
}
