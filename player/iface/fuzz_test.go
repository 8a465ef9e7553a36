package iface_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"reflect"
	"runtime"
	"testing"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/xdr"
)

// seeds are the captures' messages, one of each kind and size. Long ones teach
// the fuzzer nothing more.
func seeds(f *testing.F) []player.Message {
	var out []player.Message
	seen := map[player.Header]bool{}
	for _, name := range captureNames(f) {
		c := loadCapture(f, name)
		for _, m := range append(c.C2S, c.S2C...) {
			kind := player.Header{Addr: player.Addr{Interf: m.Interf}, Type: m.Type, Subtype: m.Subtype, Size: m.Size}
			if !seen[kind] && len(m.Body) < 2000 {
				seen[kind] = true
				out = append(out, m)
			}
		}
	}
	return out
}

// FuzzHeader: any 40 bytes are a header or an error, and what is read is
// written again, apart from bits that do not count.
func FuzzHeader(f *testing.F) {
	for _, m := range seeds(f) {
		f.Add(m.Header.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := player.ParseHeader(b)
		if err != nil {
			if len(b) >= player.HeaderSize && h.Size <= player.MaxBody {
				t.Fatalf("%x: %v", b, err)
			}
			return
		}
		if h.Size > player.MaxBody {
			t.Fatalf("%x: a body of %d bytes was accepted", b, h.Size)
		}
		want := bytes.Clone(b[:player.HeaderSize])
		clear(want[8:10])
		clear(want[12:14])
		clear(want[16:19])
		clear(want[20:23])
		if got := h.Append(nil); !bytes.Equal(got, want) {
			t.Fatalf("%x is read as %+v and written as %x", b, h, got)
		}
	})
}

// FuzzBody: any bytes are a body or an *xdr.Error with field and place;
// nothing panics, memory stays within a small multiple of the bytes, and what
// decodes encodes to bytes that decode to the same.
func FuzzBody(f *testing.F) {
	for _, m := range seeds(f) {
		f.Add(uint16(m.Interf), uint8(m.Type), m.Subtype, m.Body)
	}
	f.Fuzz(func(t *testing.T, interf uint16, typ, subtype uint8, body []byte) {
		def, ok := iface.Lookup(player.Interface(interf), player.Type(typ), subtype)
		if !ok {
			return
		}
		payload := def.New()
		if err := def.Decode(body, payload); err != nil {
			var e *xdr.Error
			if !def.Empty() && (!errors.As(err, &e) || e.Field == "" || e.Struct == "" || e.Offset < 0 || e.Offset > len(body)) {
				t.Fatalf("%s: error without place: %v", def, err)
			}
			return
		}
		if def.Empty() {
			return
		}
		if held := memory(reflect.ValueOf(payload).Elem()); held > 8*len(body) {
			t.Fatalf("%s: %d bytes made %d", def, len(body), held)
		}
		once, err := def.Append(nil, payload)
		if err != nil {
			t.Fatalf("%s: decoded %+v, which does not encode: %v", def, payload, err)
		}
		again := def.New()
		if err := def.Decode(once, again); err != nil {
			t.Fatalf("%s: does not decode again: %v", def, err)
		}
		twice, err := def.Append(nil, again)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s: %x became %x (%v)", def, once, twice, err)
		}
	})
}

// memory is what a decoded value holds on the heap, in bytes.
func memory(v reflect.Value) int {
	n := 0
	switch v.Kind() {
	case reflect.String:
		n = v.Len()
	case reflect.Slice:
		n = v.Cap() * int(v.Type().Elem().Size())
		for i := range v.Len() {
			n += memory(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += memory(v.Field(i))
		}
	}
	return n
}

// A count that announces more than there is allocates nothing for it.
func TestHostileCountsAllocateLittle(t *testing.T) {
	var before, after runtime.MemStats
	for _, m := range iface.Messages() {
		if m.Empty() {
			continue
		}
		for _, count := range []uint32{0xffffffff, 0x7fffffff, 1 << 24} {
			body := make([]byte, 256)
			for at := 0; at < len(body); at += 4 {
				binary.BigEndian.PutUint32(body[at:], count)
			}
			into := m.New()
			runtime.ReadMemStats(&before)
			_ = m.Decode(body, into)
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 64<<10 {
				t.Errorf("%s: counts of %d in 256 bytes allocated %d bytes", m, count, got)
			}
		}
	}
}
