package xdr_test

import (
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"callboard/player/xdr"
)

type scalars struct {
	U8  uint8
	U16 uint16
	U32 uint32
	I8  int8
	I16 int16
	I32 int32
	I64 int64
	B   bool
	F32 float32
	F64 float64
}

type point struct{ X, Y float64 }

type tile struct { // Player's map_data: a count apart from its array
	Width uint32
	Range int8
	Data  []int8 `xdr:"count-before=Range"`
}

type texts struct {
	Name string
	Key  []uint8 `xdr:"max=3"`
}

type fixed struct {
	Raw [5]byte
	Cov [2]float64
	At  [2]point
}

type arrays struct {
	F []float32
	D []float64
	U []uint32
	S []uint16
	L []int64
}

type nested struct {
	Inner  tile
	Points []point
	Deep   []texts
	End    uint32
}

func plan(t testing.TB, of any) *xdr.Plan {
	t.Helper()
	p, err := xdr.NewPlan(reflect.TypeOf(of).Elem())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// values with their bytes; each is encoded and decoded.
var golden = []struct {
	name  string
	value any
	wire  string
}{
	{"scalars", &scalars{1, 2, 3, -1, -2, -3, -4, true, 1.5, -0.25},
		"00000001 00000002 00000003 ffffffff fffffffe fffffffd fffffffffffffffc 00000001 3fc00000 bfd0000000000000"},
	{"count twice", &texts{"ab\x00", []uint8{7, 8}},
		"00000003 00000003 61620000 00000002 00000002 07080000"},
	{"empty", &texts{}, "00000000 00000000 00000000 00000000"},
	{"count apart", &tile{4, 1, []int8{-1, 0, 1, 2, 3}},
		"00000004 00000005 00000001 00000005 ff000102 03000000"},
	{"fixed", &fixed{[5]byte{1, 2, 3, 4, 5}, [2]float64{1, 2}, [2]point{{3, 4}, {5, 6}}},
		`01020304 05000000 3ff0000000000000 4000000000000000
		 4008000000000000 4010000000000000 4014000000000000 4018000000000000`},
	{"arrays", &arrays{[]float32{1}, []float64{2}, []uint32{3}, []uint16{4, 5}, []int64{-1}},
		`00000001 00000001 3f800000 00000001 00000001 4000000000000000 00000001 00000001 00000003
		 00000002 00000002 00000004 00000005 00000001 00000001 ffffffffffffffff`},
	{"nested", &nested{tile{1, 2, []int8{3}}, []point{{1, 2}}, []texts{{"x", nil}, {"", []uint8{9}}}, 6},
		`00000001 00000001 00000002 00000001 03000000
		 00000001 00000001 3ff0000000000000 4000000000000000
		 00000002 00000002
		   00000001 00000001 78000000 00000000 00000000
		   00000000 00000000 00000001 00000001 09000000
		 00000006`},
}

func TestGolden(t *testing.T) {
	for _, g := range golden {
		t.Run(g.name, func(t *testing.T) {
			p, want := plan(t, g.value), unhex(t, g.wire)
			dirty := []byte{0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa, 0xaa}
			for len(dirty) < len(want) {
				dirty = append(dirty, dirty...)
			}
			got, err := p.Append(append(dirty[:0:len(dirty)], 0xfe), g.value)
			if err != nil || got[0] != 0xfe {
				t.Fatalf("Append: %v, %x", err, got[0])
			}
			if diff := cmp.Diff(hex.EncodeToString(want), hex.EncodeToString(got[1:])); diff != "" {
				t.Errorf("bytes (-want +got):\n%s", diff)
			}
			if n, err := p.Size(g.value); err != nil || n != len(want) {
				t.Errorf("Size is %d, %v, expected %d", n, err, len(want))
			}
			into := reflect.New(p.Type()).Interface()
			if err := p.Decode(append(want, 1, 2, 3), into); err != nil { // trailing bytes are ignored
				t.Fatal(err)
			}
			if diff := cmp.Diff(g.value, into); diff != "" {
				t.Errorf("decoded (-want +got):\n%s", diff)
			}
			// Any cut is an error that names a field, at a place within the bytes.
			for n := range want {
				var e *xdr.Error
				if err := p.Decode(want[:n], into); !errors.As(err, &e) || e.Field == "" || e.Offset > n {
					t.Errorf("first %d bytes: %v, expected an error with field and place", n, err)
				}
			}
		})
	}
}

func TestDecodeRules(t *testing.T) {
	for _, test := range []struct {
		name, wire string
		into, want any
		err        string
	}{
		{name: "second count smaller wins", into: &texts{},
			wire: "00000005 00000002 61620000 00000000 00000000", want: &texts{Name: "ab"}},
		{name: "second count larger", into: &texts{},
			wire: "00000002 00000003 61620000 00000000 00000000", err: "texts.Name at byte 4: second count 3 is above the first, 2"},
		{name: "limit", into: &texts{},
			wire: "00000000 00000000 00000004 00000004 01020304", err: "texts.Key at byte 12: 4 elements, at most 3 are allowed"},
		{name: "first count above the limit, second not", into: &texts{},
			wire: "00000000 00000000 00000004 00000001 01000000", want: &texts{Key: []uint8{1}}},
		{name: "announces more than there is", into: &arrays{},
			wire: "7fffffff 7fffffff 00000000", err: "arrays.F at byte 4: announces 2147483647 elements of at least 4 bytes, 4 bytes are left"},
		{name: "no padding", into: &texts{},
			wire: "00000001 00000001 61", err: "texts.Name at byte 4: announces 1 elements of at least 1 bytes, 1 bytes are left"},
		{name: "in an element", into: &nested{},
			wire: `00000001 00000000 00000002 00000000  00000000 00000000
			       00000002 00000002  00000000 00000000 00000000 00000000  00000000 00000001 61000000 00000000`,
			err: "nested.Deep[1].Name at byte 52: second count 1 is above the first, 0"},
		{name: "high bits of small integers", into: &scalars{},
			wire: "00000101 00010002 00000003 000001ff 0001fffe fffffffd fffffffffffffffc 00000100 3fc00000 bfd0000000000000",
			want: &scalars{1, 2, 3, -1, -2, -3, -4, true, 1.5, -0.25}},
		{name: "scalar cut", into: &point{}, wire: "3ff0000000000000 40000000", err: "point.Y at byte 8: 4 bytes left, expected at least 8"},
		{name: "wrong type", into: point{}, wire: "", err: "expected *xdr_test.point that is not nil"},
	} {
		t.Run(test.name, func(t *testing.T) {
			typ := reflect.TypeOf(test.into)
			if typ.Kind() == reflect.Pointer {
				typ = typ.Elem()
			}
			p, err := xdr.NewPlan(typ)
			if err != nil {
				t.Fatal(err)
			}
			err = p.Decode(unhex(t, test.wire), test.into)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, expected %q in it", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, test.into); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAppendRefuses(t *testing.T) {
	p := plan(t, &texts{})
	dst := []byte{1}
	got, err := p.Append(dst, &texts{Key: make([]uint8, 4)})
	if want := "texts.Key: 4 elements, at most 3"; err == nil || !strings.Contains(err.Error(), want) || len(got) != 1 {
		t.Errorf("error %v with %d bytes, expected %q and the 1 byte from before", err, len(got), want)
	}
	q := plan(t, &nested{})
	if _, err := q.Append(nil, &nested{Deep: []texts{{}, {Key: make([]uint8, 4)}}}); err == nil || !strings.Contains(err.Error(), "nested.Deep[1].Key") {
		t.Errorf("error %v, expected nested.Deep[1].Key in it", err)
	}
	for _, v := range []any{nil, texts{}, (*texts)(nil), &point{}} {
		if _, err := p.Append(nil, v); err == nil {
			t.Errorf("Append took a %T", v)
		}
		if _, err := p.Size(v); err == nil {
			t.Errorf("Size took a %T", v)
		}
	}
}

type selfish struct{ More []selfish }

func TestNewPlanRefuses(t *testing.T) {
	for _, test := range []struct {
		of   any
		want string
	}{
		{0, "int is not a struct"},
		{struct{ X uint64 }{}, "type uint64 does not occur"}, // Player's generator would squeeze it
		{struct{ X int }{}, "type int does not occur"},
		{struct{ X map[string]int }{}, "X: type map"},
		{struct{ X []struct{} }{}, "take no bytes"},
		{struct{ x uint8 }{}, "x is not exported"},
		{struct {
			X uint8 `xdr:"max=3"`
		}{}, "on a uint8, expected a slice"},
		{struct {
			X []uint8 `xdr:"max=0"`
		}{}, "expected a number from 1"},
		{struct {
			X []uint8 `xdr:"least=0"`
		}{}, "unknown tag"},
		{struct {
			X []uint8 `xdr:"count-before=Y"`
			Y uint8
		}{}, "which does not come before it"},
		{selfish{}, "contains itself"},
		{struct{ A, B, C, D, E, F, G, H, I string }{}, "more than 8 counted arrays"},
	} {
		if _, err := xdr.NewPlan(reflect.TypeOf(test.of)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%T: error %v, expected %q in it", test.of, err, test.want)
		}
	}
	if _, err := xdr.NewPlan(nil); err == nil {
		t.Error("a nil type has a plan")
	}
}

// Decoding into a reused struct, and appending to a buffer with room, does not
// allocate, whether arrays shrink or grow within what they had.
func TestNoAllocation(t *testing.T) {
	for _, g := range golden {
		p, wire := plan(t, g.value), unhex(t, g.wire)
		empty, err := p.Append(nil, reflect.New(p.Type()).Interface())
		if err != nil {
			t.Fatal(err)
		}
		into := reflect.New(p.Type()).Interface()
		buf := make([]byte, 0, 4096)
		if n := testing.AllocsPerRun(100, func() {
			if p.Decode(wire, into) != nil || (g.name != "nested" && g.name != "count twice" && p.Decode(empty, into) != nil) {
				t.Fatal("does not decode")
			}
			if _, err := p.Append(buf, g.value); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", g.name, n)
		}
	}
}

// When an array grows, what its elements own is still reused.
func TestGrowKeepsInnerArrays(t *testing.T) {
	p := plan(t, &nested{})
	encode := func(n int) []byte {
		v := &nested{}
		for range n {
			v.Deep = append(v.Deep, texts{Name: "n", Key: []uint8{1, 2, 3}})
		}
		b, err := p.Append(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	two, three := encode(2), encode(3)
	into := &nested{}
	if err := p.Decode(two, into); err != nil {
		t.Fatal(err)
	}
	inner := &into.Deep[1].Key[0]
	if err := p.Decode(three, into); err != nil {
		t.Fatal(err)
	}
	if &into.Deep[1].Key[0] != inner {
		t.Error("the inner array was allocated anew")
	}
}

// A struct that was used before is decoded into as a fresh one is: nothing of
// the old value shows through.
func TestDecodeIntoUsed(t *testing.T) {
	p := plan(t, &nested{})
	gen := rapid.Make[nested]()
	rapid.Check(t, func(t *rapid.T) {
		used := &nested{}
		for range 4 {
			want := gen.Draw(t, "value")
			for i := range want.Deep {
				want.Deep[i].Key = want.Deep[i].Key[:min(3, len(want.Deep[i].Key))]
			}
			body, err := p.Append(nil, &want)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Decode(body, used); err != nil {
				t.Fatal(err)
			}
			again, err := p.Append(nil, used)
			if err != nil || string(again) != string(body) {
				t.Fatalf("%v: decoded %+v from %x, which encodes as %x", err, used, body, again)
			}
		}
	})
}
