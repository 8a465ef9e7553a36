package condition

import (
	"strings"
	"testing"
)

// TestVocabulary: all that is offered can be named in a condition, and the help has
// it too.
func TestVocabulary(t *testing.T) {
	words, help, c := Vocabulary(), Help(), newCompiler(t)
	compiles := func(t *testing.T, name string) {
		t.Helper()
		if _, err := c.Expression(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, v := range words.Variables {
		compiles(t, v.Name)
	}
	for _, k := range words.Kinds {
		if len(k.Interfaces) == 0 {
			t.Errorf("%s is of no interface", k.Name)
		}
		for _, f := range k.Fields {
			name := k.Name + "." + f.Name
			compiles(t, name)
			if !strings.Contains(help, "  "+name+" ") {
				t.Errorf("the help does not have %s", name)
			}
		}
	}
	for _, f := range words.Functions {
		if !strings.Contains(help, "  "+f.Name+"("+f.Args+")") {
			t.Errorf("the help does not have %s(%s)", f.Name, f.Args)
		}
	}
}
