// Package frame writes what one broker says to another in a step, as one CBOR
// array, and reads it back. Encoder and Decoder are the two ends of one
// direction of one session: what was named once goes by number from then on.
package frame

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol/cbor"
)

// Encoder is the sending end. It belongs to one goroutine.
type Encoder struct {
	texts  *numbers[string]
	epochs *numbers[overlay.Epoch]
	keys   *numbers[overlay.Key]

	// of the present frame
	b        []byte
	err      error
	plain    bool // names are written out
	readings map[*overlay.Reading]int
	paths    [][]overlay.BrokerID
}

// NewEncoder begins a session.
func NewEncoder() *Encoder {
	return &Encoder{
		texts:    newNumbers[string](MaxNames),
		keys:     newNumbers[overlay.Key](MaxNames),
		epochs:   newNumbers[overlay.Epoch](MaxNames),
		readings: map[*overlay.Reading]int{},
	}
}

// Append appends the frame of the messages to b. After an error, which only a
// message that the overlay has no type for can cause, the session cannot go on.
// The receiver has the shared readings already: they go by their position.
func (e *Encoder) Append(b []byte, all []overlay.Message, shared ...*overlay.Reading) ([]byte, error) {
	e.b, e.err = b, nil
	clear(e.readings)
	for i, r := range shared {
		e.readings[r] = i
	}
	clear(e.paths)
	e.paths = e.paths[:0]
	e.b = cbor.AppendHead(e.b, cbor.Array, uint64(len(all)))
	v := reflect.ValueOf(all)
	for i := range all {
		messages.encode(e, v.Index(i))
	}
	b, e.b = e.b, nil
	if e.err != nil {
		return b, fmt.Errorf("frame: %w", e.err)
	}
	return b, nil
}

// AppendReading appends a reading that several receivers share: without any
// session's numbers.
func (e *Encoder) AppendReading(b []byte, r *overlay.Reading) []byte {
	e.b, e.plain = b, true
	readingPlan.encode(e, reflect.ValueOf(r).Elem())
	b, e.b, e.plain = e.b, nil, false
	return b
}

func (e *Encoder) fail(format string, args ...any) {
	if e.err == nil {
		e.err = fmt.Errorf(format, args...)
	}
}

// name writes a text: its number if the receiver knows it, else number and
// text, or the text alone if it is too long to be remembered.
func (e *Encoder) name(s string) {
	if len(s) > maxName || s == "" || e.plain {
		e.b = cbor.AppendText(e.b, s)
		return
	}
	n, known := e.texts.number(s)
	if known {
		e.b = cbor.AppendHead(e.b, cbor.Uint, uint64(n))
		return
	}
	e.b = cbor.AppendHead(append(e.b, cbor.Array|2), cbor.Uint, uint64(n))
	e.b = cbor.AppendText(e.b, s)
}

// key writes a key's number, or number and key.
func (e *Encoder) key(k *overlay.Key) {
	n, known := e.keys.number(*k)
	if known {
		e.b = cbor.AppendHead(e.b, cbor.Uint, uint64(n))
		return
	}
	e.b = cbor.AppendHead(append(e.b, cbor.Array|5), cbor.Uint, uint64(n))
	e.name(k.Client)
	e.epoch(overlay.Epoch(k.Session))
	e.name(string(k.Source))
	e.b = appendInt(e.b, int64(k.Stamp))
}

// epoch writes an epoch's number, or number and epoch.
func (e *Encoder) epoch(epoch overlay.Epoch) {
	n, known := e.epochs.number(epoch)
	if known {
		e.b = cbor.AppendHead(e.b, cbor.Uint, uint64(n))
		return
	}
	e.b = cbor.AppendHead(append(e.b, cbor.Array|4), cbor.Uint, uint64(n))
	e.b = cbor.AppendHead(e.b, cbor.Uint, epoch.Attachment)
	e.name(string(epoch.Edge))
	e.b = cbor.AppendHead(e.b, cbor.Uint, epoch.Revision)
}

// pathsCompared is how many of the frame's paths a path is compared with.
const pathsCompared = 32

// path writes a path once a frame.
func (e *Encoder) path(p *[]overlay.BrokerID) {
	path := *p
	if path == nil {
		e.b = append(e.b, cbor.Null)
		return
	}
	for i := len(e.paths) - 1; i >= max(0, len(e.paths)-pathsCompared); i-- {
		if slices.Equal(e.paths[i], path) {
			e.b = cbor.AppendHead(e.b, cbor.Uint, uint64(i))
			return
		}
	}
	e.paths = append(e.paths, path)
	e.b = cbor.AppendHead(e.b, cbor.Array, uint64(len(path)))
	for _, id := range path {
		e.name(string(id))
	}
}

// reading writes a reading once a frame.
func (e *Encoder) reading(v reflect.Value, inner *plan) {
	if v.IsNil() {
		e.b = append(e.b, cbor.Null)
		return
	}
	r := v.Interface().(*overlay.Reading)
	if n, ok := e.readings[r]; ok {
		e.b = cbor.AppendHead(e.b, cbor.Uint, uint64(n))
		return
	}
	e.readings[r] = len(e.readings)
	inner.encode(e, v.Elem())
}

func (e *Encoder) bytes(value []byte) {
	if value == nil {
		e.b = append(e.b, cbor.Null)
		return
	}
	e.b = cbor.AppendBytes(e.b, value)
}

func (e *Encoder) textMap(m map[string]string) {
	if m == nil {
		e.b = append(e.b, cbor.Null)
		return
	}
	e.b = cbor.AppendHead(e.b, cbor.Array, uint64(2*len(m)))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		e.b = cbor.AppendText(e.b, name)
		e.b = cbor.AppendText(e.b, m[name])
	}
}
