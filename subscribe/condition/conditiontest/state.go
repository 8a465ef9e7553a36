package conditiontest

import (
	"reflect"
	"strings"

	"callboard/subscribe/view"

	"pgregory.net/rapid"
)

// Names are values of readings, as conditions write them, by their type.
type Names struct{ numbers, truths, texts, lists, textLists []string }

// NamesOf lists the values of some kinds of readings. Together they must have
// values of all types.
func NamesOf(kinds ...view.Kind) (all Names) {
	for _, k := range kinds {
		for _, f := range k.Fields() {
			name := k.String() + "." + f.Name
			switch {
			case f.Float != nil || f.Int != nil:
				all.numbers = append(all.numbers, name)
			case f.Bool != nil:
				all.truths = append(all.truths, name)
			case f.Text != nil:
				all.texts = append(all.texts, name)
			case f.Floats != nil:
				all.lists = append(all.lists, name)
			default:
				all.textLists = append(all.textLists, name)
			}
		}
	}
	return all
}

// allNames are those of the kinds that Condition does not name by itself.
var allNames = makeAllNames()

func makeAllNames() Names {
	var kinds []view.Kind
	for k := view.KindPosition + 1; k < view.NumKinds; k++ {
		kinds = append(kinds, k)
	}
	return NamesOf(kinds...)
}

// Full is a state with an empty view of each kind.
func Full() view.State {
	var s view.State
	v := reflect.ValueOf(&s).Elem()
	for i := range v.NumField() {
		v.Field(i).Set(reflect.New(v.Field(i).Type().Elem()))
	}
	return s
}

// Some is a state with some view of each kind, always the same.
func Some() view.State {
	s := Full()
	v := reflect.ValueOf(&s).Elem()
	n := 0
	for i := range v.NumField() {
		some(v.Field(i).Elem(), &n)
	}
	return s
}

func some(v reflect.Value, n *int) {
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanSet() {
			continue
		}
		if f.Kind() == reflect.Struct { // what views share
			some(f, n)
			continue
		}
		*n++
		switch f.Interface().(type) {
		case float64:
			f.SetFloat(float64(*n%20) / 4)
		case int:
			f.SetInt(int64(*n % 5))
		case bool:
			f.SetBool(*n%2 == 0)
		case string:
			f.SetString("word")
		case []float64:
			f.Set(reflect.ValueOf([]float64{float64(*n % 3), 1.5}))
		case []string:
			f.Set(reflect.ValueOf([]string{"e004", "lab"}))
		}
	}
}

// Fill draws what is in the views of s whose names are in a text, apart from
// those that are there.
func Fill(t *rapid.T, s *view.State, text string) {
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		switch name := v.Type().Field(i).Tag.Get("expr"); {
		case !v.Field(i).IsNil():
		case strings.Contains(text, name):
			v.Field(i).Set(reflect.New(v.Field(i).Type().Elem()))
			fill(t, v.Field(i).Elem())
		default:
			v.Field(i).Set(reflect.New(v.Field(i).Type().Elem()))
		}
	}
}

func fill(t *rapid.T, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Field(i)
		if !f.CanSet() {
			continue
		}
		switch f.Interface().(type) {
		case float64:
			f.SetFloat(Float(t))
		case int:
			f.SetInt(int64(rapid.IntRange(-1, 9).Draw(t, "int")))
		case bool:
			f.SetBool(rapid.Bool().Draw(t, "bool"))
		case string:
			f.SetString(Text(t))
		case []float64:
			f.Set(reflect.ValueOf(rapid.SliceOfN(rapid.Custom(Float), 0, 4).Draw(t, "list")))
		case []string:
			f.Set(reflect.ValueOf(rapid.SliceOfN(rapid.Custom(Text), 0, 3).Draw(t, "texts")))
		default: // what views share
			fill(t, f)
		}
	}
}

// Text draws a text.
func Text(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "r1", "r", "e0040100", "stop"}).Draw(t, "word")
}
