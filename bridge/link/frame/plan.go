package frame

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
	"callboard/subscribe/protocol/cbor"
)

// plan says how values of a type are written: structs as arrays of their
// exported fields in order, what is nil as null, and in a way of their own
// those types that special lists. Plans are made once, by reflection, from the
// overlay's types, so that no field can be forgotten.
type plan struct {
	encode func(*Encoder, reflect.Value)
	decode func(*Decoder, reflect.Value)
	least  int    // bytes that a value takes at least
	shape  string // the format in words
}

// Message types and types of what a RoutedMessage carries: the position is
// what stands for the type in a frame.
var (
	messageTypes = []reflect.Type{
		reflect.TypeFor[overlay.SubscribeMessage](),
		reflect.TypeFor[overlay.RefreshMessage](),
		reflect.TypeFor[overlay.HeadMessage](),
		reflect.TypeFor[overlay.UnsubscribeMessage](),
		reflect.TypeFor[overlay.GoneMessage](),
		reflect.TypeFor[overlay.NotifyMessage](),
		reflect.TypeFor[overlay.FetchMessage](),
		reflect.TypeFor[overlay.ReplayMessage](),
		reflect.TypeFor[overlay.EventMessage](),
		reflect.TypeFor[overlay.BrokenMessage](),
		reflect.TypeFor[overlay.LinkState](),
		reflect.TypeFor[overlay.RoutedMessage](),
		reflect.TypeFor[overlay.BulletinMessage](),
		reflect.TypeFor[overlay.KnownMessage](),
		reflect.TypeFor[overlay.QueuesMessage](),
	}
	registryTypes = []reflect.Type{
		reflect.TypeFor[overlay.Register](),
		reflect.TypeFor[overlay.RegisterAgain](),
		reflect.TypeFor[overlay.Lookup](),
		reflect.TypeFor[overlay.Sources](),
		reflect.TypeFor[overlay.Refusals](),
		reflect.TypeFor[overlay.Call](),
		reflect.TypeFor[overlay.CallAnswer](),
		reflect.TypeFor[overlay.Watch](),
		reflect.TypeFor[overlay.Robots](),
		reflect.TypeFor[overlay.Told](),
		reflect.TypeFor[overlay.TaskRequest](),
		reflect.TypeFor[overlay.TaskRenew](),
		reflect.TypeFor[overlay.TaskAccepted](),
		reflect.TypeFor[overlay.TaskAnswer](),
		reflect.TypeFor[overlay.TaskPoll](),
		reflect.TypeFor[overlay.TaskPolled](),
		reflect.TypeFor[overlay.TaskCancel](),
		reflect.TypeFor[overlay.TaskAck](),
		reflect.TypeFor[overlay.TaskServing](),
		reflect.TypeFor[overlay.TaskGive](),
		reflect.TypeFor[overlay.TaskStop](),
		reflect.TypeFor[overlay.TaskDone](),
		reflect.TypeFor[overlay.TaskTaken](),
		reflect.TypeFor[overlay.TaskProgress](),
	}
)

// numbered are the fields of type string whose values get numbers.
var numbered = map[reflect.Type][]string{
	reflect.TypeFor[overlay.Reading]():       {"Robot", "Interface"},
	reflect.TypeFor[protocol.Matched]():      {"ID"},
	reflect.TypeFor[overlay.RobotCount]():    {"ID"},
	reflect.TypeFor[overlay.ClientLookup]():  {"Client"},
	reflect.TypeFor[overlay.ClientSources](): {"Client"},
	reflect.TypeFor[overlay.TaskRequest]():   {"Client", "Queue"},
	reflect.TypeFor[overlay.TaskRenew]():     {"Client"},
	reflect.TypeFor[overlay.TaskAccepted]():  {"Client"},
	reflect.TypeFor[overlay.TaskAnswer]():    {"Client"},
	reflect.TypeFor[overlay.TaskAck]():       {"Client"},
	reflect.TypeFor[overlay.TaskGive]():      {"Client", "Serve", "Queue", "From"},
	reflect.TypeFor[overlay.TaskDone]():      {"Client"},
	reflect.TypeFor[overlay.TaskTaken]():     {"Client"},
}

// messages is the plan of all that a frame can carry, readingPlan that of a reading
// in it.
var (
	messages    = newPlans().union("message", messageTypes)
	readingPlan = newPlans().structure(reflect.TypeFor[overlay.Reading]())
)

// Format is a number for what messages are made of and how they are written.
// Two ends compare it before they talk: it differs between releases whose
// messages do.
func Format() uint64 {
	h := fnv.New64a()
	h.Write([]byte(messages.shape))
	return h.Sum64()
}

type plans struct{ made map[reflect.Type]*plan }

func newPlans() *plans {
	p := &plans{made: map[reflect.Type]*plan{}}
	p.made[reflect.TypeFor[overlay.BrokerID]()] = &plan{
		encode: func(e *Encoder, v reflect.Value) { e.name(v.String()) },
		decode: func(d *Decoder, v reflect.Value) { v.SetString(d.name()) },
		least:  1, shape: "name",
	}
	p.made[reflect.TypeFor[overlay.Epoch]()] = &plan{
		encode: func(e *Encoder, v reflect.Value) { e.epoch(epochOf(v)) },
		decode: func(d *Decoder, v reflect.Value) { setEpoch(v, d.epoch()) },
		least:  1, shape: "epoch",
	}
	p.made[reflect.TypeFor[overlay.Session]()] = p.made[reflect.TypeFor[overlay.Epoch]()]
	p.made[reflect.TypeFor[overlay.Key]()] = special((*Encoder).key, (*Decoder).key, "key")
	p.made[reflect.TypeFor[[]overlay.BrokerID]()] = special((*Encoder).path, (*Decoder).path, "path")
	inner := p.structure(reflect.TypeFor[overlay.Reading]())
	p.made[reflect.TypeFor[*overlay.Reading]()] = &plan{
		encode: func(e *Encoder, v reflect.Value) { e.reading(v, inner) },
		decode: func(d *Decoder, v reflect.Value) { d.reading(v, inner) },
		least:  1, shape: "shared " + inner.shape,
	}
	p.made[reflect.TypeFor[overlay.RegistryMessage]()] = p.union("registry", registryTypes)
	return p
}

// special is the plan of a type with methods of its own in Encoder and Decoder.
func special[T any](encode func(*Encoder, *T), decode func(*Decoder, *T), shape string) *plan {
	return &plan{
		encode: func(e *Encoder, v reflect.Value) { encode(e, v.Addr().Interface().(*T)) },
		decode: func(d *Decoder, v reflect.Value) { decode(d, v.Addr().Interface().(*T)) },
		least:  1, shape: shape,
	}
}

// of returns the plan of a type. The overlay's types do not contain themselves.
func (p *plans) of(t reflect.Type) *plan {
	if made := p.made[t]; made != nil {
		return made
	}
	made := p.make(t)
	p.made[t] = made
	return made
}

func (p *plans) make(t reflect.Type) *plan {
	switch t.Kind() {
	case reflect.Bool:
		return &plan{
			encode: func(e *Encoder, v reflect.Value) { e.b = appendBool(e.b, v.Bool()) },
			decode: func(d *Decoder, v reflect.Value) { v.SetBool(d.bool()) },
			least:  1, shape: "bool",
		}
	case reflect.Uint64, reflect.Uint8:
		limit := ^uint64(0) >> (64 - t.Bits())
		return &plan{
			encode: func(e *Encoder, v reflect.Value) { e.b = cbor.AppendHead(e.b, cbor.Uint, v.Uint()) },
			decode: func(d *Decoder, v reflect.Value) { v.SetUint(d.uint(limit)) },
			least:  1, shape: t.Kind().String(),
		}
	case reflect.Int, reflect.Int64:
		return &plan{
			encode: func(e *Encoder, v reflect.Value) { e.b = appendInt(e.b, v.Int()) },
			decode: func(d *Decoder, v reflect.Value) { v.SetInt(d.int(t.Bits())) },
			least:  1, shape: "int64",
		}
	case reflect.Float64:
		return &plan{
			encode: func(e *Encoder, v reflect.Value) { e.b = appendFloat(e.b, v.Float()) },
			decode: func(d *Decoder, v reflect.Value) { v.SetFloat(d.float()) },
			least:  5, shape: "float64",
		}
	case reflect.String:
		return &plan{
			encode: func(e *Encoder, v reflect.Value) { e.b = cbor.AppendText(e.b, v.String()) },
			decode: func(d *Decoder, v reflect.Value) { v.SetString(d.text()) },
			least:  1, shape: "text",
		}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &plan{
				encode: func(e *Encoder, v reflect.Value) { e.bytes(v.Bytes()) },
				decode: func(d *Decoder, v reflect.Value) { v.SetBytes(d.bytes()) },
				least:  1, shape: "bytes",
			}
		}
		return p.slice(t)
	case reflect.Map:
		return p.textMap(t)
	case reflect.Pointer:
		return p.pointer(t)
	case reflect.Struct:
		return p.structure(t)
	}
	panic(fmt.Sprintf("frame: no format for a %v", t)) // a type that the overlay does not have
}

// field is what a struct's array has in one place.
type field struct {
	*plan
	index int // -1: several fields, which the plan finds in the struct
}

func (f *field) of(v reflect.Value) reflect.Value {
	if f.index < 0 {
		return v
	}
	return v.Field(f.index)
}

func (p *plans) structure(t reflect.Type) *plan {
	var fields []field
	var shape strings.Builder
	least := 1
	fmt.Fprintf(&shape, "%s[", t.Name())
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue
		}
		if isEpoch(t, i) {
			inner := epochFields(i)
			fields = append(fields, field{inner, -1})
			least += inner.least
			fmt.Fprintf(&shape, "%s,", inner.shape)
			continue
		}
		if i > 0 && isEpoch(t, i-1) || i > 1 && isEpoch(t, i-2) {
			continue // written with the first of them
		}
		inner := p.of(f.Type)
		if f.Type.Kind() == reflect.String && isNumbered(t, f.Name) {
			inner = p.of(reflect.TypeFor[overlay.BrokerID]())
		}
		fields = append(fields, field{inner, i})
		least += inner.least
		fmt.Fprintf(&shape, "%s %s,", f.Name, inner.shape)
	}
	shape.WriteString("]")
	return &plan{
		encode: func(e *Encoder, v reflect.Value) {
			e.b = cbor.AppendHead(e.b, cbor.Array, uint64(len(fields)))
			for i := range fields {
				fields[i].encode(e, fields[i].of(v))
			}
		},
		decode: func(d *Decoder, v reflect.Value) {
			d.array(len(fields), t.Name())
			for i := range fields {
				if d.err != nil {
					return
				}
				fields[i].decode(d, fields[i].of(v))
			}
		},
		least: least, shape: shape.String(),
	}
}

// isEpoch reports whether an epoch's three fields begin at a struct's field.
func isEpoch(t reflect.Type, at int) bool {
	epoch := reflect.TypeFor[overlay.Epoch]()
	if at+epoch.NumField() > t.NumField() {
		return false
	}
	for i := range epoch.NumField() {
		if a, b := t.Field(at+i), epoch.Field(i); a.Name != b.Name || a.Type != b.Type {
			return false
		}
	}
	return true
}

// epochFields is the plan of a struct's fields that make an epoch.
func epochFields(at int) *plan {
	return &plan{
		encode: func(e *Encoder, v reflect.Value) {
			e.epoch(overlay.Epoch{
				Attachment: v.Field(at).Uint(), Edge: overlay.BrokerID(v.Field(at + 1).String()), Revision: v.Field(at + 2).Uint(),
			})
		},
		decode: func(d *Decoder, v reflect.Value) {
			epoch := d.epoch()
			v.Field(at).SetUint(epoch.Attachment)
			v.Field(at + 1).SetString(string(epoch.Edge))
			v.Field(at + 2).SetUint(epoch.Revision)
		},
		least: 1, shape: "epoch",
	}
}

func isNumbered(t reflect.Type, field string) bool {
	for _, name := range numbered[t] {
		if name == field {
			return true
		}
	}
	return false
}

func (p *plans) slice(t reflect.Type) *plan {
	inner := p.of(t.Elem())
	size := int(t.Elem().Size())
	return &plan{
		encode: func(e *Encoder, v reflect.Value) {
			if v.IsNil() {
				e.b = append(e.b, cbor.Null)
				return
			}
			n := v.Len()
			e.b = cbor.AppendHead(e.b, cbor.Array, uint64(n))
			for i := range n {
				inner.encode(e, v.Index(i))
			}
		},
		decode: func(d *Decoder, v reflect.Value) {
			if d.null() {
				return
			}
			n := d.length(inner.least, size)
			v.Set(reflect.MakeSlice(t, n, n))
			for i := 0; i < n && d.err == nil; i++ {
				inner.decode(d, v.Index(i))
			}
		},
		least: 1, shape: "[]" + inner.shape,
	}
}

// pointer is the plan of what may be missing; subscriptions never are.
func (p *plans) pointer(t reflect.Type) *plan {
	inner := p.of(t.Elem())
	required := t == reflect.TypeFor[*overlay.Subscription]()
	return &plan{
		encode: func(e *Encoder, v reflect.Value) {
			if v.IsNil() {
				e.b = append(e.b, cbor.Null)
				return
			}
			inner.encode(e, v.Elem())
		},
		decode: func(d *Decoder, v reflect.Value) {
			if d.null() {
				if required {
					d.fail("a %s is missing", t.Elem().Name())
				}
				return
			}
			d.charge(int(t.Elem().Size()))
			v.Set(reflect.New(t.Elem()))
			inner.decode(d, v.Elem())
		},
		least: 1, shape: "*" + inner.shape,
	}
}

// textMap is the plan of a map from text to text: an array of names and values
// in turn, by name.
func (p *plans) textMap(t reflect.Type) *plan {
	if t != reflect.TypeFor[map[string]string]() {
		panic(fmt.Sprintf("frame: no format for a %v", t))
	}
	return &plan{
		encode: func(e *Encoder, v reflect.Value) { e.textMap(v.Interface().(map[string]string)) },
		decode: func(d *Decoder, v reflect.Value) { v.Set(reflect.ValueOf(d.textMap())) },
		least:  1, shape: "map",
	}
}

// union is the plan of an interface whose values are pointers to the types:
// the type's number, then its fields.
func (p *plans) union(name string, types []reflect.Type) *plan {
	numbers := map[reflect.Type]int{}
	inner := make([]*plan, len(types))
	var shape strings.Builder
	for i, t := range types {
		numbers[reflect.PointerTo(t)] = i
		inner[i] = p.of(t)
		fmt.Fprintf(&shape, "%s %d %s;", name, i, inner[i].shape)
	}
	return &plan{
		encode: func(e *Encoder, v reflect.Value) {
			v = v.Elem()
			if !v.IsValid() || v.IsNil() {
				e.fail("%s: there is none", name)
				return
			}
			n, ok := numbers[v.Type()]
			if !ok {
				e.fail("%s: no format for a %v", name, v.Type())
				return
			}
			e.b = cbor.AppendHead(append(e.b, cbor.Array|2), cbor.Uint, uint64(n))
			inner[n].encode(e, v.Elem())
		},
		decode: func(d *Decoder, v reflect.Value) {
			d.array(2, name)
			n := d.uint(uint64(len(types)) - 1)
			if d.err != nil {
				return
			}
			d.charge(int(types[n].Size()))
			value := reflect.New(types[n])
			inner[n].decode(d, value.Elem())
			v.Set(value)
		},
		least: 2 + 1, shape: shape.String(),
	}
}

// An overlay.Session is named by an epoch, and written as one.
func epochOf(v reflect.Value) overlay.Epoch {
	if epoch, ok := v.Addr().Interface().(*overlay.Epoch); ok {
		return *epoch
	}
	return overlay.Epoch(*v.Addr().Interface().(*overlay.Session))
}

func setEpoch(v reflect.Value, epoch overlay.Epoch) {
	switch at := v.Addr().Interface().(type) {
	case *overlay.Epoch:
		*at = epoch
	case *overlay.Session:
		*at = overlay.Session(epoch)
	}
}
