package condition

// Words are all that a condition may name, for editors that complete it.
type Words struct {
	Variables []Word         `json:"variables"` // of the arriving reading
	Kinds     []KindWords    `json:"kinds"`
	Functions []FunctionWord `json:"functions"`
}

// Word is a name with what it stands for.
type Word struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Unit string `json:"unit,omitempty"`
	Doc  string `json:"doc"`
}

// KindWords are the names of a kind of reading, as laser.
type KindWords struct {
	Name       string   `json:"name"`
	Doc        string   `json:"doc"`
	Interfaces []string `json:"interfaces"` // Player's, whose readings it is of
	Fields     []Word   `json:"fields"`
}

// FunctionWord is a function with its arguments.
type FunctionWord struct {
	Name string `json:"name"`
	Args string `json:"args"`
	Doc  string `json:"doc"`
}

// Vocabulary returns the words of conditions, in the order of Help.
func Vocabulary() Words {
	var w Words
	for _, v := range variables {
		w.Variables = append(w.Variables, Word{v.Name, v.Type.Name(), v.Unit, v.Doc})
	}
	for i := range interfaces {
		in := &interfaces[i]
		k := KindWords{Name: in.Name(), Doc: in.Kind.Doc()}
		for _, p := range in.Kind.Interfaces() {
			k.Interfaces = append(k.Interfaces, p.String())
		}
		for _, a := range in.Attributes {
			k.Fields = append(k.Fields, Word{a.Name, a.Type.Name(), a.Unit, a.Doc})
		}
		w.Kinds = append(w.Kinds, k)
	}
	for _, f := range functionTable() {
		w.Functions = append(w.Functions, FunctionWord{f.Name, f.Args, f.Doc})
	}
	return w
}
