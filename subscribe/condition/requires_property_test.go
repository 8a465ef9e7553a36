package condition

import (
	"slices"
	"testing"

	"callboard/subscribe/condition/conditiontest"

	"pgregory.net/rapid"
)

// Where a condition holds, all that it requires does.
func TestRequiresIsNeverFalse(t *testing.T) {
	c := newCompiler(t)
	told, held := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		text := conditiontest.Condition(t, 3)
		p, problem := c.Condition(text)
		if problem != nil {
			return
		}
		requirements := p.Requires()
		if len(requirements) > 0 {
			told++
		}
		e := drawEnv(t, text)
		if holds, _ := p.Test(&Machine{}, e, nil); !holds {
			return
		}
		for _, q := range requirements {
			held++
			if q.Texts != nil {
				if v := findVariable(q.Name).text(e); !slices.Contains(q.Texts, v) {
					t.Fatalf("%s holds where %s is %q, required %q", text, q.Name, v, q.Texts)
				}
			} else if v := SchemaValue(schemaNumbers[q.Name]).Read(e); !(q.Lo <= v && v <= q.Hi) {
				t.Fatalf("%s holds where %s is %v, required %v to %v", text, q.Name, v, q.Lo, q.Hi)
			}
		}
	})
	if !testing.Short() && (told == 0 || held == 0) { // short runs draw too few
		t.Errorf("%d conditions required something, %d were seen to hold: the test sees nothing", told, held)
	}
}
