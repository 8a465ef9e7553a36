package spool

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// Kinds of records, as written. They are part of the store's format: a change
// of one, or of what follows it, is another formatVersion.
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
)

// Flags of an entry.
const (
	entryIsEnded = 1 << iota
	entryHasOwnSet
)

// appendRecord appends a record: its kind, then its fields in a fixed order.
func appendRecord(b []byte, r overlay.Record) ([]byte, error) {
	switch r := r.(type) {
	case *overlay.StampRecord:
		return binary.AppendUvarint(append(b, kindStamp), uint64(r.Stamp)), nil
	case *overlay.SessionRecord:
		kind := byte(kindSession)
		if r.Unsure {
			kind = kindUnsureSession
		}
		return appendSession(append(b, kind), r), nil
	case *overlay.SessionEnded:
		return appendText(append(b, kindSessionEnded), r.Client), nil
	case *overlay.SubscriptionRecord:
		value, err := appendSubscription(nil, r)
		if err != nil {
			return nil, err
		}
		return append(append(b, kindSubscription), value...), nil
	case *overlay.SubscriptionEnded:
		return appendText(appendText(append(b, kindSubscriptionEnded), r.Client), r.ID), nil
	case *overlay.EntryRecord:
		return appendEntry(append(b, kindEntry), r), nil
	case *overlay.EntryEnded:
		return binary.AppendUvarint(append(b, kindEntryEnded), uint64(r.Handle)), nil
	case *overlay.GivenRecord:
		b = appendReading(append(b, kindGiven), r.Reading)
		b = binary.AppendVarint(b, int64(r.At))
		return appendHits(b, r.Hits), nil
	case *overlay.AckedRecord:
		b = binary.AppendUvarint(append(b, kindAcked), uint64(r.Handle))
		return binary.AppendUvarint(b, r.Num), nil
	case *overlay.GapRecord:
		b = binary.AppendUvarint(append(b, kindGap), uint64(r.Handle))
		b = binary.AppendUvarint(b, r.From)
		b = binary.AppendUvarint(b, r.To)
		b = binary.AppendUvarint(b, r.New)
		return append(b, byte(r.Why)), nil
	case *overlay.PassedRecord:
		b = binary.AppendUvarint(append(b, kindPassed), uint64(r.Handle))
		b = binary.AppendUvarint(b, r.From)
		return binary.AppendUvarint(b, r.To), nil
	case *overlay.EntrySubscription:
		value, err := appendEntrySubscription(nil, r)
		if err != nil {
			return nil, err
		}
		return append(append(b, kindEntrySubscription), value...), nil
	case *overlay.StateRecord:
		return appendState(append(b, kindState), r), nil
	case *overlay.StatesEnded:
		return appendText(binary.AppendUvarint(append(b, kindStatesEnded), uint64(r.Handle)), r.ID), nil
	case *overlay.ToldRecord:
		return appendTold(append(b, kindTold), r), nil
	case *overlay.EntrySubscriptionEnded:
		return appendText(binary.AppendUvarint(append(b, kindEntrySubscriptionEnded), uint64(r.Handle)), r.ID), nil
	}
	return nil, fmt.Errorf("spool: no format for a %T", r)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendEpoch(b []byte, e overlay.Epoch) []byte {
	b = binary.AppendUvarint(b, e.Attachment)
	b = appendText(b, string(e.Edge))
	return binary.AppendUvarint(b, e.Revision)
}

func appendSession(b []byte, r *overlay.SessionRecord) []byte {
	b = appendText(b, r.Client)
	b = appendEpoch(b, overlay.Epoch(r.Session))
	return appendEpoch(b, r.Epoch)
}

func appendSubscription(b []byte, r *overlay.SubscriptionRecord) ([]byte, error) {
	text, err := json.Marshal(r.Subscription)
	if err != nil {
		return nil, fmt.Errorf("spool: subscription %q of %q: %w", r.Subscription.ID, r.Client, err)
	}
	b = appendText(b, r.Client)
	b = binary.AppendUvarint(b, r.Born)
	return append(binary.AppendUvarint(b, uint64(len(text))), text...), nil
}

func appendEntrySubscription(b []byte, r *overlay.EntrySubscription) ([]byte, error) {
	text, err := json.Marshal(r.Subscription)
	if err != nil {
		return nil, fmt.Errorf("spool: subscription %q of entry %d: %w", r.Subscription.ID, r.Handle, err)
	}
	b = binary.AppendUvarint(b, uint64(r.Handle))
	b = binary.AppendUvarint(b, r.Born)
	return append(binary.AppendUvarint(b, uint64(len(text))), text...), nil
}

func appendState(b []byte, r *overlay.StateRecord) []byte {
	b = binary.AppendUvarint(b, uint64(r.Handle))
	b = appendText(b, r.ID)
	b = binary.AppendUvarint(b, r.Seq)
	b = appendReading(b, r.Reading)
	return appendText(b, string(r.Values))
}

func appendTold(b []byte, r *overlay.ToldRecord) []byte {
	b = appendText(b, r.Client)
	b = appendText(b, string(r.Source))
	b = binary.AppendUvarint(b, r.Version)
	b = appendText(b, r.Robot)
	if r.Away {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendEntry(b []byte, r *overlay.EntryRecord) []byte {
	b = binary.AppendUvarint(b, uint64(r.Handle))
	b = appendText(b, r.Key.Client)
	b = appendEpoch(b, overlay.Epoch(r.Key.Session))
	b = appendText(b, string(r.Key.Source))
	b = binary.AppendUvarint(b, uint64(r.Key.Stamp))
	b = appendEpoch(b, r.Epoch)
	for _, n := range [...]uint64{r.Set, r.Next, r.Num} {
		b = binary.AppendUvarint(b, n)
	}
	var flags byte
	if r.Ended {
		flags |= entryIsEnded
	}
	if r.Own {
		flags |= entryHasOwnSet
	}
	return append(b, flags)
}

func appendReading(b []byte, r *overlay.Reading) []byte {
	b = appendText(b, r.Robot)
	b = appendText(b, r.Interface)
	b = binary.AppendUvarint(b, uint64(r.Index))
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(r.Time))
	if r.Messages == nil {
		return append(binary.AppendUvarint(b, uint64(len(r.JSON))), r.JSON...)
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
			b = append(binary.AppendUvarint(append(b, 1), uint64(len(n.Values))), n.Values...)
		}
	}
	return b
}

// errShort says that bytes end in the middle of a record, or make no record.
var errShort = errors.New("it ends in the middle")

// decoder reads what the append functions wrote. After its first error it
// gives zero values. What it gives does not refer to the bytes read.
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

// raw gives the next length-prefixed bytes, in place.
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

func (d *decoder) epoch() overlay.Epoch {
	return overlay.Epoch{Attachment: d.uvarint(), Edge: overlay.BrokerID(d.text()), Revision: d.uvarint()}
}

func (d *decoder) session() *overlay.SessionRecord {
	return &overlay.SessionRecord{Client: d.text(), Session: overlay.Session(d.epoch()), Epoch: d.epoch()}
}

func (d *decoder) subscription() *overlay.SubscriptionRecord {
	r := &overlay.SubscriptionRecord{Client: d.text(), Born: d.uvarint(), Subscription: &overlay.Subscription{}}
	if text := d.raw(); d.err == nil {
		if err := json.Unmarshal(text, r.Subscription); err != nil {
			d.fail(err)
		}
	}
	return r
}

func (d *decoder) entrySubscription() *overlay.EntrySubscription {
	r := &overlay.EntrySubscription{Handle: overlay.Handle(d.uvarint()), Born: d.uvarint(), Subscription: &overlay.Subscription{}}
	if text := d.raw(); d.err == nil {
		if err := json.Unmarshal(text, r.Subscription); err != nil {
			d.fail(err)
		}
	}
	return r
}

func (d *decoder) state() *overlay.StateRecord {
	r := &overlay.StateRecord{Handle: overlay.Handle(d.uvarint()), ID: d.text(), Seq: d.uvarint(), Reading: d.reading()}
	if values := d.bytes(); len(values) > 0 {
		r.Values = values
	}
	return r
}

func (d *decoder) told() *overlay.ToldRecord {
	return &overlay.ToldRecord{Client: d.text(), Source: overlay.BrokerID(d.text()), Version: d.uvarint(), Robot: d.text(), Away: d.byte() == 1}
}

func (d *decoder) entry() *overlay.EntryRecord {
	r := &overlay.EntryRecord{Handle: overlay.Handle(d.uvarint())}
	r.Key = overlay.Key{Client: d.text(), Session: overlay.Session(d.epoch()), Source: overlay.BrokerID(d.text()), Stamp: overlay.Stamp(d.uvarint())}
	r.Epoch = d.epoch()
	r.Set, r.Next, r.Num = d.uvarint(), d.uvarint(), d.uvarint()
	flags := d.byte()
	r.Ended, r.Own = flags&entryIsEnded != 0, flags&entryHasOwnSet != 0
	return r
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
	switch kind := d.byte(); kind {
	case kindStamp:
		return &overlay.StampRecord{Stamp: overlay.Stamp(d.uvarint())}
	case kindSession:
		return d.session()
	case kindUnsureSession:
		r := d.session()
		r.Unsure = true
		return r
	case kindSessionEnded:
		return &overlay.SessionEnded{Client: d.text()}
	case kindSubscription:
		return d.subscription()
	case kindSubscriptionEnded:
		return &overlay.SubscriptionEnded{Client: d.text(), ID: d.text()}
	case kindEntry:
		return d.entry()
	case kindEntryEnded:
		return &overlay.EntryEnded{Handle: overlay.Handle(d.uvarint())}
	case kindGiven:
		return d.given()
	case kindAcked:
		return &overlay.AckedRecord{Handle: overlay.Handle(d.uvarint()), Num: d.uvarint()}
	case kindGap:
		return &overlay.GapRecord{Handle: overlay.Handle(d.uvarint()), From: d.uvarint(), To: d.uvarint(), New: d.uvarint(), Why: overlay.Why(d.byte())}
	case kindPassed:
		return &overlay.PassedRecord{Handle: overlay.Handle(d.uvarint()), From: d.uvarint(), To: d.uvarint()}
	case kindState:
		return d.state()
	case kindStatesEnded:
		return &overlay.StatesEnded{Handle: overlay.Handle(d.uvarint()), ID: d.text()}
	case kindTold:
		return d.told()
	case kindEntrySubscription:
		return d.entrySubscription()
	case kindEntrySubscriptionEnded:
		return &overlay.EntrySubscriptionEnded{Handle: overlay.Handle(d.uvarint()), ID: d.text()}
	default:
		d.fail(fmt.Errorf("no record is of kind %d", kind))
		return nil
	}
}

// decodeRecords reads records up to the end of b.
func decodeRecords(b []byte) (records []overlay.Record, err error) {
	for d := (&decoder{b: b}); len(d.b) > 0; {
		r := d.record()
		if d.err != nil {
			return nil, d.err
		}
		records = append(records, r)
	}
	return records, nil
}
