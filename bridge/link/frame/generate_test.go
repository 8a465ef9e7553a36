package frame

import (
	"math"
	"reflect"

	"pgregory.net/rapid"

	"callboard/bridge/overlay"
)

func sameFloat(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// generator makes messages by reflection: every field of every type gets
// values, so that one that the format forgets shows.
type generator struct {
	t        *rapid.T
	texts    []string
	keys     []overlay.Key
	readings []*overlay.Reading
}

func newGenerator(t *rapid.T) *generator {
	g := &generator{t: t, texts: []string{"", "b1", "b2", "r0", "laser", "ä", "x\x00y", string(make([]byte, 256)), string(make([]byte, 257))}}
	for range 4 {
		var k overlay.Key
		g.structure(reflect.ValueOf(&k).Elem())
		g.keys = append(g.keys, k)
	}
	return g
}

func (g *generator) pick(n int, what string) int { return rapid.IntRange(0, n-1).Draw(g.t, what) }

func (g *generator) message() overlay.Message {
	v := reflect.New(messageTypes[g.pick(len(messageTypes), "type")])
	g.structure(v.Elem())
	m := v.Interface().(overlay.Message)
	g.mend(m)
	return m
}

// mend puts in what check asks for.
func (g *generator) mend(m overlay.Message) {
	reading := func(r **overlay.Reading) {
		if *r == nil {
			*r = new(overlay.Reading)
		}
	}
	switch m := m.(type) {
	case *overlay.NotifyMessage:
		reading(&m.Reading)
	case *overlay.ReplayMessage:
		for i := range m.Items {
			item := &m.Items[i]
			item.Kind = overlay.ItemKind(1 + g.pick(3, "kind"))
			item.To = max(item.From, item.To)
			if item.Kind == overlay.ItemNotification {
				item.To = item.From
				reading(&item.Reading)
			}
		}
	}
}

func (g *generator) structure(v reflect.Value) {
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			g.value(v.Field(i))
		}
	}
}

func (g *generator) value(v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[overlay.Key]():
		v.Set(reflect.ValueOf(g.keys[g.pick(len(g.keys), "key")]))
		return
	case reflect.TypeFor[overlay.RegistryMessage]():
		body := reflect.New(registryTypes[g.pick(len(registryTypes), "body")])
		g.structure(body.Elem())
		v.Set(body)
		return
	case reflect.TypeFor[*overlay.Reading]():
		if n := g.pick(len(g.readings)+1, "reading"); n < len(g.readings) {
			v.Set(reflect.ValueOf(g.readings[n])) // once more
			return
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(g.t, "bool"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(g.t, "uint64"))
	case reflect.Uint8:
		v.SetUint(uint64(rapid.Uint8().Draw(g.t, "uint8")))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(g.t, "int64"))
	case reflect.Float64:
		v.SetFloat(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 0.5, math.NaN(), math.Inf(1)})).Draw(g.t, "float64"))
	case reflect.String:
		v.SetString(rapid.SampledFrom(g.texts).Draw(g.t, "text"))
	case reflect.Slice:
		n := g.pick(5, "length") - 1
		if n < 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			g.value(v.Index(i))
		}
	case reflect.Map:
		if n := g.pick(4, "entries") - 1; n >= 0 {
			m := map[string]string{}
			for range n {
				m[rapid.String().Draw(g.t, "name")] = rapid.String().Draw(g.t, "value")
			}
			v.Set(reflect.ValueOf(m))
		}
	case reflect.Pointer:
		if v.Type() != reflect.TypeFor[*overlay.Subscription]() && g.pick(3, "pointer") == 0 {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		if v.Type().Elem().Kind() == reflect.Struct {
			g.structure(v.Elem())
		} else {
			g.value(v.Elem())
		}
		if r, ok := v.Interface().(*overlay.Reading); ok {
			g.readings = append(g.readings, r)
		}
	case reflect.Struct:
		g.structure(v)
	default:
		g.t.Fatalf("no values for a %v", v.Type())
	}
}
