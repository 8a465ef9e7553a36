package frame

import (
	"runtime"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"callboard/bridge/overlay"
)

// FuzzDecode takes two frames of one session from the network: nothing
// panics, memory is bounded by what came, and what is accepted is CBOR and
// says the same when written again.
func FuzzDecode(f *testing.F) {
	short := notify(2, 5)
	short.Reading.JSON = []byte("{}")
	for _, all := range [][]overlay.Message{{short}, move(2)} {
		e := NewEncoder()
		first, _ := e.Append(nil, all)
		second, _ := e.Append(nil, all)
		f.Add(first, second)
	}
	for seed := range 10 {
		all := rapid.Custom(func(t *rapid.T) []overlay.Message {
			g := newGenerator(t)
			return []overlay.Message{g.message(), g.message(), g.message()}
		}).Example(seed)
		e := NewEncoder()
		first, _ := e.Append(nil, all)
		second, _ := e.Append(nil, all)
		f.Add(first, second)
	}
	strict, err := cbor.DecOptions{
		IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden, MaxNestedLevels: 32, MaxArrayElements: 1 << 20,
	}.DecMode()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		d, again, e := NewDecoder(), NewDecoder(), NewEncoder()
		for _, data := range [][]byte{first, second} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			all, err := d.Decode(data)
			runtime.ReadMemStats(&after)
			if took, limit := after.TotalAlloc-before.TotalAlloc, uint64(memoryBase+2*memoryFactor*len(data)); took > limit {
				t.Fatalf("%d bytes took %d of memory; expected up to %d", len(data), took, limit)
			}
			if err != nil {
				return
			}
			if err := strict.Wellformed(data); err != nil {
				t.Fatalf("accepted, but not CBOR: %v", err)
			}
			written, err := e.Append(nil, all)
			if err != nil {
				t.Fatal(err)
			}
			same, err := again.Decode(written)
			if err != nil {
				t.Fatalf("%v in % x", err, written)
			}
			if diff := cmp.Diff(all, same, exact); diff != "" {
				t.Fatalf("read (-) and read again (+): %s", diff)
			}
		}
	})
}

// FuzzSharedReading takes a frame and a shared reading beside it: nothing panics,
// and memory is bounded by what came.
func FuzzSharedReading(f *testing.F) {
	n := notify(1, 5)
	e := NewEncoder()
	beside := e.AppendReading(nil, n.Reading)
	data, _ := e.Append(nil, []overlay.Message{n}, n.Reading)
	f.Add(data, beside)
	f.Add(data, beside[:len(beside)/2])
	f.Fuzz(func(t *testing.T, data, beside []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := NewDecoder().Decode(data, beside)
		runtime.ReadMemStats(&after)
		if took, limit := after.TotalAlloc-before.TotalAlloc, uint64(memoryBase+2*memoryFactor*(len(data)+len(beside))+1<<16); took > limit {
			t.Fatalf("%d bytes took %d of memory; expected up to %d (%v)", len(data), took, limit, err)
		}
	})
}
