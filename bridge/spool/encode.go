package spool

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// Kinds of records, as written. They are part of the store's format: a change
// of one, or of the fields of what it stands for, is another formatVersion.
const (
	kindStamp = iota + 1
	kindSession
	kindSessionEnded
	kindSubscription
	kindSubscriptionEnded
	kindEntry
	kindEntryEnded
	kindGiven
	kindAcked
	kindGap
	kindPassed
	kindEntrySubscription
	kindEntrySubscriptionEnded
	kindUnsureSession
	kindTold
	kindState
	kindStatesEnded
	kindClaim
	kindTerm // no record: the term of a pair that a batch begins
	kindTask
	kindTaskHeld
	kindTaskAnswered
	kindTaskEnded
)

// records are the types of records, by kind. A session that is unsure has a kind
// of its own.
var records = [...]reflect.Type{
	kindStamp:                  reflect.TypeFor[overlay.StampRecord](),
	kindSession:                reflect.TypeFor[overlay.SessionRecord](),
	kindSessionEnded:           reflect.TypeFor[overlay.SessionEnded](),
	kindSubscription:           reflect.TypeFor[overlay.SubscriptionRecord](),
	kindSubscriptionEnded:      reflect.TypeFor[overlay.SubscriptionEnded](),
	kindEntry:                  reflect.TypeFor[overlay.EntryRecord](),
	kindEntryEnded:             reflect.TypeFor[overlay.EntryEnded](),
	kindGiven:                  reflect.TypeFor[overlay.GivenRecord](),
	kindAcked:                  reflect.TypeFor[overlay.AckedRecord](),
	kindGap:                    reflect.TypeFor[overlay.GapRecord](),
	kindPassed:                 reflect.TypeFor[overlay.PassedRecord](),
	kindEntrySubscription:      reflect.TypeFor[overlay.EntrySubscription](),
	kindEntrySubscriptionEnded: reflect.TypeFor[overlay.EntrySubscriptionEnded](),
	kindUnsureSession:          reflect.TypeFor[overlay.SessionRecord](),
	kindTold:                   reflect.TypeFor[overlay.ToldRecord](),
	kindState:                  reflect.TypeFor[overlay.StateRecord](),
	kindStatesEnded:            reflect.TypeFor[overlay.StatesEnded](),
	kindClaim:                  reflect.TypeFor[overlay.ClaimRecord](),
	kindTask:                   reflect.TypeFor[overlay.TaskRecord](),
	kindTaskHeld:               reflect.TypeFor[overlay.TaskHeldRecord](),
	kindTaskAnswered:           reflect.TypeFor[overlay.TaskAnsweredRecord](),
	kindTaskEnded:              reflect.TypeFor[overlay.TaskEndedRecord](),
}

// AppendRecord appends a record: its kind, then its fields.
func AppendRecord(b []byte, r overlay.Record) ([]byte, error) {
	switch r := r.(type) {
	case *overlay.GivenRecord:
		b = appendReading(append(b, kindGiven), r.Reading)
		b = binary.AppendVarint(b, int64(r.At))
		return appendHits(b, r.Hits), nil
	case *overlay.AckedRecord: // as appendFields does it, which takes longer: there are as many as hits
		b = binary.AppendUvarint(append(b, kindAcked), uint64(r.Handle))
		return binary.AppendUvarint(b, r.Num), nil
	case *overlay.SessionRecord:
		if r.Unsure {
			return appendFields(append(b, kindUnsureSession), r)
		}
	}
	kind := slices.Index(records[:], reflect.TypeOf(r).Elem())
	if kind < 0 {
		return nil, fmt.Errorf("spool: no format for a %T", r)
	}
	return appendFields(append(b, byte(kind)), r)
}

// appendFields appends the fields of a record in their order: whole numbers as
// varints, texts and bytes behind their lengths, a subscription as its JSON. Those
// that are true or false come last, as the bits of a byte.
func appendFields(b []byte, record overlay.Record) ([]byte, error) {
	b, err := appendStruct(b, reflect.ValueOf(record).Elem())
	if err != nil {
		return nil, fmt.Errorf("spool: a %T cannot be stored: %w", record, err)
	}
	return b, nil
}

// unsure is the type whose bool is in its kind.
var unsure = reflect.TypeFor[overlay.SessionRecord]()

func appendStruct(b []byte, v reflect.Value) (_ []byte, err error) {
	var flags, flag byte = 0, 1
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Bool:
			if f.Bool() {
				flags |= flag
			}
			flag <<= 1
		case reflect.Uint8:
			b = append(b, byte(f.Uint()))
		case reflect.Uint64:
			b = binary.AppendUvarint(b, f.Uint())
		case reflect.Int64:
			b = binary.AppendUvarint(b, uint64(f.Int()))
		case reflect.String:
			b = appendText(b, f.String())
		case reflect.Slice:
			b = appendBytes(b, f.Bytes())
		case reflect.Struct:
			b, err = appendStruct(b, f)
		case reflect.Pointer:
			b, err = appendPointer(b, f.Interface())
		default:
			err = fmt.Errorf("no format for a %s", f.Type())
		}
		if err != nil {
			return nil, err
		}
	}
	if flag > 1 && v.Type() != unsure {
		b = append(b, flags)
	}
	return b, nil
}

func appendPointer(b []byte, p any) ([]byte, error) {
	if r, ok := p.(*overlay.Reading); ok {
		return appendReading(b, r), nil
	}
	text, err := json.Marshal(p)
	return appendBytes(b, text), err
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendBytes(b, value []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(value))), value...)
}

func appendReading(b []byte, r *overlay.Reading) []byte {
	b = appendText(b, r.Robot)
	b = appendText(b, r.Interface)
	b = binary.AppendUvarint(b, uint64(r.Index))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(r.Time))
	if r.Messages == nil {
		return appendBytes(b, r.JSON)
	}
	head := binary.AppendUvarint([]byte{withMessages}, uint64(len(r.JSON)))
	b = binary.AppendUvarint(b, uint64(len(head)+len(r.JSON)+len(r.Messages)))
	return append(append(append(b, head...), r.JSON...), r.Messages...)
}

// withMessages stands before the object of a reading, with its length, if its
// messages follow it. An object begins with a brace.
const withMessages = 0

// appendHits writes hits as differences, each from the one before: names of
// subscriptions, which are often the same, only where they are others.
func appendHits(b []byte, hits []overlay.GivenHit) []byte {
	b = binary.AppendUvarint(b, uint64(len(hits)))
	before := overlay.GivenHit{}
	for i := range hits {
		h := &hits[i]
		b = binary.AppendVarint(b, int64(h.Handle-before.Handle))
		b = binary.AppendUvarint(b, h.Seq)
		b = binary.AppendVarint(b, int64(h.Revision-before.Revision))
		if sameNames(h.Names, before.Names) {
			b = append(b, 0)
		} else {
			b = appendNames(append(b, 1), h.Names)
		}
		before = *h
	}
	return b
}

// sameNames reports whether two notifications name the same subscriptions,
// without values of their own.
func sameNames(names, others []protocol.Matched) bool {
	return slices.EqualFunc(names, others, func(n, o protocol.Matched) bool {
		return n.ID == o.ID && n.Values == nil && o.Values == nil && (n.State == nil) == (o.State == nil) && (n.State == nil || *n.State == *o.State)
	})
}

// afterReading returns what follows the reading in an encoded GivenRecord.
func afterReading(encoded []byte) []byte {
	if len(encoded) == 0 {
		return nil
	}
	d := &decoder{b: encoded[1:]}
	d.raw()
	d.raw()
	d.uvarint()
	d.float()
	d.raw()
	return d.b
}

func appendNames(b []byte, names []protocol.Matched) []byte {
	b = binary.AppendUvarint(b, uint64(len(names)))
	for i := range names {
		n := &names[i]
		b = appendText(b, n.ID)
		switch {
		case n.State == nil:
			b = append(b, 0)
		case *n.State:
			b = append(b, 2)
		default:
			b = append(b, 1)
		}
		if n.Values == nil {
			b = append(b, 0)
		} else {
			b = appendBytes(append(b, 1), n.Values)
		}
	}
	return b
}
