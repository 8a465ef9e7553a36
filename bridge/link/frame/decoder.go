package frame

import (
	"fmt"
	"reflect"
	"unicode/utf8"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol/cbor"
)

// Memory that a frame's messages may take: so many bytes for each of the
// frame's, and so many in any case. Messages of the overlay take up to 30
// times their bytes when they are tiny, and less than 4 when they are large.
const (
	memoryFactor = 16
	memoryBase   = 8 << 20
)

// Decoder is the receiving end. It belongs to one goroutine.
type Decoder struct {
	texts  names[string]
	epochs names[overlay.Epoch]
	keys   names[overlay.Key]

	// of the present frame
	input
	budget   int      // bytes of memory that may still be taken
	shared   [][]byte // readings beside the frame: the first of readings, once they are referred to
	readings []*overlay.Reading
	paths    [][]overlay.BrokerID
}

// NewDecoder begins a session.
func NewDecoder() *Decoder {
	return &Decoder{
		texts: names[string]{limit: MaxNames}, epochs: names[overlay.Epoch]{limit: MaxNames}, keys: names[overlay.Key]{limit: MaxNames},
	}
}

// Decode reads a frame, which may refer to the shared readings beside it. The
// messages do not refer to data. After an error the session cannot go on.
func (d *Decoder) Decode(data []byte, shared ...[]byte) ([]overlay.Message, error) {
	d.input = input{data: data}
	d.budget = memoryBase + memoryFactor*len(data)
	clear(d.readings)
	d.readings, d.shared = d.readings[:0], shared
	for _, r := range shared {
		d.budget += memoryFactor * len(r)
		d.readings = append(d.readings, nil)
	}
	clear(d.paths)
	d.paths = d.paths[:0]
	all := make([]overlay.Message, d.length(messages.least, 16))
	v := reflect.ValueOf(all)
	for i := range all {
		messages.decode(d, v.Index(i))
		if d.err == nil {
			d.check(all[i])
		}
		if d.err != nil {
			err := fmt.Errorf("frame of %d bytes: message %d: %w", len(data), i, d.err)
			d.data, d.shared = nil, nil
			return nil, err
		}
	}
	if d.err == nil && d.rest() > 0 {
		d.fail("%d bytes behind the last message", d.rest())
	}
	d.data, d.shared = nil, nil
	if d.err != nil {
		return nil, fmt.Errorf("frame of %d bytes: %w", len(data), d.err)
	}
	return all, nil
}

// charge counts memory that is about to be taken.
func (d *Decoder) charge(bytes int) {
	if d.budget -= bytes; d.budget < 0 {
		d.fail("its messages take more memory than %d for each byte", memoryFactor)
	}
}

// length takes the head of an array whose items take at least so many bytes
// in the frame, and size in memory. It is 0 after an error.
func (d *Decoder) length(least, size int) int {
	n := d.head(cbor.Array, "an array")
	if n > uint64(d.rest()/least) {
		d.fail("an array of %d items where %d bytes are left", n, d.rest())
		return 0
	}
	d.charge(int(n) * size)
	if d.err != nil {
		return 0
	}
	return int(n)
}

func (d *Decoder) text() string {
	raw := d.raw(cbor.Text, "text")
	if !utf8.Valid(raw) {
		d.fail("the text before is not UTF-8")
		return ""
	}
	d.charge(len(raw))
	return string(raw)
}

func (d *Decoder) bytes() []byte {
	if d.null() {
		return nil
	}
	raw := d.raw(cbor.Bytes, "bytes")
	d.charge(len(raw))
	if d.err != nil {
		return nil
	}
	return append(make([]byte, 0, len(raw)), raw...)
}

func (d *Decoder) name() string {
	switch d.peek() & 0xe0 {
	case cbor.Uint:
		n := d.head(cbor.Uint, "the number of a name")
		name, ok := d.texts.get(n)
		if !ok {
			d.fail("name number %d was not told", n)
		}
		return name
	case cbor.Array:
		d.array(2, "a name")
		n := d.head(cbor.Uint, "the number of a name")
		name := d.text()
		if len(name) > maxName {
			d.fail("a name of %d bytes; expected up to %d", len(name), maxName)
		}
		if d.err == nil && !d.texts.put(n, name) {
			d.fail("a name gets the number %d; expected up to %d", n, min(len(d.texts.known), d.texts.limit-1))
		}
		return name
	}
	return d.text()
}

func (d *Decoder) key(k *overlay.Key) {
	if d.peek()&0xe0 == cbor.Uint {
		n := d.head(cbor.Uint, "the number of a key")
		known, ok := d.keys.get(n)
		if !ok {
			d.fail("key number %d was not told", n)
		}
		*k = known
		return
	}
	d.array(5, "a key")
	n := d.head(cbor.Uint, "the number of a key")
	k.Client = d.name()
	k.Session = overlay.Session(d.epoch())
	k.Source = overlay.BrokerID(d.name())
	k.Stamp = overlay.Stamp(d.int(64))
	if d.err == nil && !d.keys.put(n, *k) {
		d.fail("a key gets the number %d; expected up to %d", n, min(len(d.keys.known), d.keys.limit-1))
	}
}

func (d *Decoder) epoch() overlay.Epoch {
	if d.peek()&0xe0 == cbor.Uint {
		n := d.head(cbor.Uint, "the number of an epoch")
		known, ok := d.epochs.get(n)
		if !ok {
			d.fail("epoch number %d was not told", n)
		}
		return known
	}
	d.array(4, "an epoch")
	n := d.head(cbor.Uint, "the number of an epoch")
	epoch := overlay.Epoch{Attachment: d.head(cbor.Uint, "an attachment")}
	epoch.Edge = overlay.BrokerID(d.name())
	epoch.Revision = d.head(cbor.Uint, "a revision")
	if d.err == nil && !d.epochs.put(n, epoch) {
		d.fail("an epoch gets the number %d; expected up to %d", n, min(len(d.epochs.known), d.epochs.limit-1))
	}
	return epoch
}

func (d *Decoder) path(p *[]overlay.BrokerID) {
	if d.null() {
		return
	}
	if d.peek()&0xe0 == cbor.Uint {
		n := d.head(cbor.Uint, "the number of a path")
		if n >= uint64(len(d.paths)) {
			d.fail("path number %d of the frame was not told", n)
			return
		}
		known := d.paths[n]
		d.charge(len(known) * 16)
		if d.err == nil {
			*p = append(make([]overlay.BrokerID, 0, len(known)), known...) // each message's own
		}
		return
	}
	path := make([]overlay.BrokerID, d.length(1, 16))
	for i := range path {
		path[i] = overlay.BrokerID(d.name())
	}
	if d.err == nil {
		d.paths = append(d.paths, path)
		*p = path
	}
}

func (d *Decoder) reading(v reflect.Value, inner *plan) {
	if d.null() {
		return
	}
	if d.peek()&0xe0 == cbor.Uint {
		n := d.head(cbor.Uint, "the number of a reading")
		if n >= uint64(len(d.readings)) {
			d.fail("reading number %d of the frame was not told", n)
			return
		}
		if d.readings[n] == nil {
			d.readings[n] = d.sharedReading(d.shared[n], inner)
		}
		v.Set(reflect.ValueOf(d.readings[n]))
		return
	}
	d.charge(int(v.Type().Elem().Size()))
	r := new(overlay.Reading)
	inner.decode(d, reflect.ValueOf(r).Elem())
	if d.err == nil {
		d.readings = append(d.readings, r)
		v.Set(reflect.ValueOf(r))
	}
}

// sharedReading reads a reading from beside the frame; nil after an error.
func (d *Decoder) sharedReading(data []byte, inner *plan) *overlay.Reading {
	frame := d.input
	d.input = input{data: data}
	d.charge(int(reflect.TypeFor[overlay.Reading]().Size()))
	r := new(overlay.Reading)
	inner.decode(d, reflect.ValueOf(r).Elem())
	if d.err == nil && d.rest() > 0 {
		d.fail("%d bytes behind a shared reading", d.rest())
	}
	err := d.err
	d.input = frame
	if err != nil {
		d.err = fmt.Errorf("a shared reading: %w", err)
		d.at = len(d.data)
		return nil
	}
	return r
}

func (d *Decoder) textMap() map[string]string {
	if d.null() {
		return nil
	}
	n := d.length(1, 64)
	if n%2 != 0 {
		d.fail("a map of %d names and values", n)
		return nil
	}
	m := map[string]string{}
	last := ""
	for i := 0; i < n && d.err == nil; i += 2 {
		name := d.text()
		if i > 0 && name <= last {
			d.fail("a map's name %q stands behind %q", name, last)
		}
		m[name] = d.text()
		last = name
	}
	return m
}
