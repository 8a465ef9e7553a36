package spool

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// errShort says that bytes end in the middle of a record, or make no record.
var errShort = errors.New("it ends in the middle")

// decoder reads what the append functions wrote. After its first error it
// returns zero values. What it returns does not refer to the bytes read.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
	d.b = nil
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail(errShort)
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail(errShort)
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail(errShort)
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

func (d *decoder) float() float64 {
	if len(d.b) < 8 {
		d.fail(errShort)
		return 0
	}
	v := math.Float64frombits(binary.BigEndian.Uint64(d.b))
	d.b = d.b[8:]
	return v
}

// raw returns the next length-prefixed bytes, in place.
func (d *decoder) raw() []byte {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail(errShort)
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) text() string { return string(d.raw()) }

func (d *decoder) bytes() []byte { return append([]byte{}, d.raw()...) }

// count reads how many things follow, each of at least one byte.
func (d *decoder) count() int {
	n := d.uvarint()
	if n > uint64(len(d.b)) {
		d.fail(errShort)
		return 0
	}
	return int(n)
}

// fields reads what appendFields wrote.
func (d *decoder) fields(record overlay.Record) { d.structure(reflect.ValueOf(record).Elem()) }

func (d *decoder) structure(v reflect.Value) {
	var bools []reflect.Value
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Bool:
			bools = append(bools, f)
		case reflect.Uint8:
			f.SetUint(uint64(d.byte()))
		case reflect.Uint64:
			f.SetUint(d.uvarint())
		case reflect.Int64:
			f.SetInt(int64(d.uvarint()))
		case reflect.String:
			f.SetString(d.text())
		case reflect.Slice:
			if b := d.bytes(); len(b) > 0 {
				f.SetBytes(b)
			}
		case reflect.Struct:
			d.structure(f)
		case reflect.Pointer:
			d.pointer(f)
		}
	}
	if len(bools) == 0 || v.Type() == unsure {
		return
	}
	flags := d.byte()
	for i, f := range bools {
		f.SetBool(flags>>i&1 != 0)
	}
}

func (d *decoder) pointer(f reflect.Value) {
	if f.Type() == reflect.TypeFor[*overlay.Reading]() {
		f.Set(reflect.ValueOf(d.reading()))
		return
	}
	f.Set(reflect.New(f.Type().Elem()))
	if text := d.raw(); d.err == nil {
		if err := json.Unmarshal(text, f.Interface()); err != nil {
			d.fail(err)
		}
	}
}

func (d *decoder) reading() *overlay.Reading {
	r := &overlay.Reading{Robot: d.text(), Interface: d.text(), Index: int(d.uvarint()), Time: d.float(), JSON: d.bytes()}
	if len(r.JSON) > 0 && r.JSON[0] == withMessages {
		both := &decoder{b: r.JSON[1:]}
		r.JSON, r.Messages = both.raw(), both.b
		if both.err != nil {
			d.fail(both.err)
		}
	}
	return r
}

func (d *decoder) names() []protocol.Matched {
	n := d.count()
	if n == 0 {
		return nil
	}
	names := make([]protocol.Matched, 0, min(n, 64))
	for range n {
		m := protocol.Matched{ID: d.text()}
		if state := d.byte(); state != 0 {
			yes := state == 2
			m.State = &yes
		}
		if d.byte() != 0 {
			m.Values = d.bytes()
		}
		if d.err != nil {
			return nil
		}
		names = append(names, m)
	}
	return names
}

func (d *decoder) given() *overlay.GivenRecord {
	r := &overlay.GivenRecord{Reading: d.reading(), At: overlay.Instant(d.varint())}
	before := overlay.GivenHit{}
	for range d.count() {
		h := overlay.GivenHit{Handle: before.Handle + overlay.Handle(d.varint()), Seq: d.uvarint(), Revision: before.Revision + uint64(d.varint()), Names: before.Names}
		if d.byte() != 0 {
			h.Names = d.names()
		}
		if d.err != nil {
			break
		}
		r.Hits = append(r.Hits, h)
		before = h
	}
	return r
}

// record reads the next record.
func (d *decoder) record() overlay.Record {
	kind := d.byte()
	switch {
	case d.err != nil:
		return nil
	case int(kind) >= len(records) || records[kind] == nil:
		d.fail(fmt.Errorf("no record is of kind %d", kind))
		return nil
	case kind == kindGiven:
		return d.given()
	}
	r := reflect.New(records[kind]).Interface().(overlay.Record)
	d.fields(r)
	if s, ok := r.(*overlay.SessionRecord); ok {
		s.Unsure = kind == kindUnsureSession
	}
	return r
}

// DecodeRecords reads records up to the end of b.
func DecodeRecords(b []byte) (records []overlay.Record, err error) {
	for d := (&decoder{b: b}); len(d.b) > 0; {
		r := d.record()
		if d.err != nil {
			return nil, d.err
		}
		records = append(records, r)
	}
	return records, nil
}
