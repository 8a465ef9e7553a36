// Package format is how a pair of brokers writes things: what the sides and their
// witness say to each other, and what each keeps in a small file beside its store.
// Package standby says what they mean.
package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"callboard/bridge/overlay"
	"callboard/bridge/spool"
	"callboard/bridge/standby"
)

// Kinds of messages, as written. They are part of the format, as are the fields of
// what they stand for.
const (
	kindBeat = iota + 1
	kindAsk
	kindBatches
	kindAcked
	kindSnapshot
	kindJoin
	kindClaim
	kindVoice
	kindRenew
	kindLease
)

// Append appends a message: its kind, then its fields. Whole numbers are varints.
// Terms that grow are written by how much. Records are as in a store, behind their
// length.
func Append(b []byte, message standby.Message) ([]byte, error) {
	c := &coder{b: append(b, kindOf(message))}
	c.message(message)
	if c.err != nil {
		return nil, fmt.Errorf("standby: a %T cannot be written: %w", message, c.err)
	}
	return c.b, nil
}

// Parse reads a message. Its parts do not refer to b.
func Parse(b []byte) (standby.Message, error) {
	if len(b) == 0 {
		return nil, errors.New("standby: an empty message")
	}
	message := blank(b[0])
	if message == nil {
		return nil, fmt.Errorf("standby: a message of kind %d; expected one up to %d", b[0], kindLease)
	}
	c := &coder{b: b[1:], reading: true}
	c.message(message)
	if c.err == nil && len(c.b) > 0 {
		c.err = fmt.Errorf("%d bytes too much", len(c.b))
	}
	if c.err != nil {
		return nil, fmt.Errorf("standby: a %T makes no sense: %w", message, c.err)
	}
	return message, nil
}

func kindOf(message standby.Message) byte {
	switch message.(type) {
	case *standby.Beat:
		return kindBeat
	case *standby.Ask:
		return kindAsk
	case *standby.Batches:
		return kindBatches
	case *standby.Acked:
		return kindAcked
	case *standby.Snapshot:
		return kindSnapshot
	case *standby.Join:
		return kindJoin
	case *standby.Claim:
		return kindClaim
	case *standby.Voice:
		return kindVoice
	case *standby.Renew:
		return kindRenew
	case *standby.Lease:
		return kindLease
	}
	return 0
}

// blank returns an empty message of a kind, nil if there is none.
func blank(kind byte) standby.Message {
	switch kind {
	case kindBeat:
		return &standby.Beat{}
	case kindAsk:
		return &standby.Ask{}
	case kindBatches:
		return &standby.Batches{}
	case kindAcked:
		return &standby.Acked{}
	case kindSnapshot:
		return &standby.Snapshot{}
	case kindJoin:
		return &standby.Join{}
	case kindClaim:
		return &standby.Claim{}
	case kindVoice:
		return &standby.Voice{}
	case kindRenew:
		return &standby.Renew{}
	case kindLease:
		return &standby.Lease{}
	}
	return nil
}

// coder writes fields, or reads them: which fields there are is said once for both.
type coder struct {
	b       []byte // what is written, or what is left to be read
	reading bool
	err     error
}

func (c *coder) message(message standby.Message) {
	switch x := message.(type) {
	case *standby.Beat:
		c.number(&x.Life, &x.Number, &x.Echo.Life, &x.Echo.Number)
		c.term(&x.Term)
		c.stands(&x.Stands)
		c.flags(&x.Active, &x.Lost, &x.Warm, &x.Outer)
		c.position(&x.Last)
		c.term(&x.Floor)
	case *standby.Ask:
		c.number(&x.Life)
	case *standby.Batches:
		c.term(&x.Term)
		c.position(&x.Before)
		c.batches(&x.Batches, x.Before.ID)
	case *standby.Acked:
		c.term(&x.Term)
		c.position(&x.Last)
		c.stands(&x.Stands)
	case *standby.Snapshot:
		c.term(&x.Term)
		c.position(&x.Last)
		c.terms(&x.Terms)
		c.records(&x.Records)
	case *standby.Join:
		c.term(&x.Term)
		c.position(&x.Before)
		c.batches(&x.Batches, x.Before.ID)
	case *standby.Claim:
		c.term(&x.Number)
		c.kind(&x.Kind)
		c.term(&x.Base)
		c.terms(&x.History)
		c.instant(&x.Asked)
		c.term(&x.Shown)
	case *standby.Voice:
		c.term(&x.Number)
		c.flags(&x.Given)
		c.term(&x.Newest)
		c.instant(&x.Asked)
	case *standby.Renew:
		c.term(&x.Term)
		c.stands(&x.Stands)
		c.flags(&x.Active)
		c.terms(&x.History)
		c.term(&x.Shown)
		c.instant(&x.Sent)
	case *standby.Lease:
		c.instant(&x.Sent)
		c.term(&x.Newest)
	default:
		c.fail(errors.New("it has no format"))
	}
}

func (c *coder) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.b = nil
}

var errShort = errors.New("it ends too soon")

func (c *coder) number(all ...*uint64) {
	for _, n := range all {
		if !c.reading {
			c.b = binary.AppendUvarint(c.b, *n)
			continue
		}
		v, length := binary.Uvarint(c.b)
		if length <= 0 {
			c.fail(errShort)
			return
		}
		*n, c.b = v, c.b[length:]
	}
}

func (c *coder) term(t *standby.Term) { c.number((*uint64)(t)) }

func (c *coder) instant(t *overlay.Instant) {
	n := uint64(*t)
	c.number(&n)
	*t = overlay.Instant(n)
}

func (c *coder) position(p *standby.Position) {
	c.number(&p.Index)
	c.term(&p.ID)
}

func (c *coder) byte(v *byte) {
	switch {
	case !c.reading:
		c.b = append(c.b, *v)
	case len(c.b) == 0:
		c.fail(errShort)
	default:
		*v, c.b = c.b[0], c.b[1:]
	}
}

// flags are the bits of a byte.
func (c *coder) flags(all ...*bool) {
	var bits byte
	for i, f := range all {
		if *f {
			bits |= 1 << i
		}
	}
	c.byte(&bits)
	for i, f := range all {
		*f = bits&(1<<i) != 0
	}
	if bits>>len(all) != 0 {
		c.fail(fmt.Errorf("flags %b; expected %d", bits, len(all)))
	}
}

func (c *coder) stands(s *standby.Stands) {
	if c.byte((*byte)(s)); *s > standby.In {
		c.fail(fmt.Errorf("%s; expected one up to %d", *s, standby.In))
	}
}

func (c *coder) kind(k *standby.Kind) {
	if c.byte((*byte)(k)); *k < standby.TakeOver || *k > standby.LostStart {
		c.fail(fmt.Errorf("a claim of kind %d; expected %d to %d", *k, standby.TakeOver, standby.LostStart))
	}
}

// count is how many parts follow, each of one byte at least.
func (c *coder) count(have int) int {
	n := uint64(have)
	if c.number(&n); c.reading && n > uint64(len(c.b)) {
		c.fail(errShort)
		return 0
	}
	return int(n)
}

// rising is a term that is not before another one.
func (c *coder) rising(t *standby.Term, last standby.Term) {
	more := uint64(*t - last)
	c.number(&more)
	if *t = last + standby.Term(more); *t < last {
		c.fail(fmt.Errorf("term %d after %d", *t, last))
	}
}

func (c *coder) terms(all *[]standby.Term) {
	n := c.count(len(*all))
	if c.reading && n > 0 {
		*all = make([]standby.Term, n)
	}
	last := standby.Term(0)
	for i := range *all {
		c.rising(&(*all)[i], last)
		last = (*all)[i]
	}
}

func (c *coder) batches(all *[]standby.Batch, last standby.Term) {
	n := c.count(len(*all))
	for i := range n {
		if c.reading {
			*all = append(*all, standby.Batch{}) // as many as come, not as many as are announced
		}
		b := &(*all)[i]
		c.rising(&b.ID, last)
		last = b.ID
		length := c.records(&b.Records) + c.bytes(&b.Beside)
		if c.reading {
			b.Bytes = length
		}
		if c.err != nil {
			return
		}
	}
}

// bytes returns how many there are.
func (c *coder) bytes(b *[]byte) int {
	n := c.count(len(*b))
	switch {
	case !c.reading:
		c.b = append(c.b, *b...)
	case n > 0 && c.err == nil:
		*b = bytes.Clone(c.b[:n])
		c.b = c.b[n:]
	}
	return n
}

// records returns how many bytes they have.
func (c *coder) records(all *[]overlay.Record) int {
	if !c.reading {
		var text []byte
		for _, r := range *all {
			var err error
			if text, err = spool.AppendRecord(text, r); err != nil {
				c.fail(err)
				return 0
			}
		}
		c.b = binary.AppendUvarint(c.b, uint64(len(text)))
		c.b = append(c.b, text...)
		return len(text)
	}
	n := c.count(0)
	if c.err != nil {
		return 0
	}
	var err error
	if *all, err = spool.DecodeRecords(c.b[:n]); err != nil {
		c.fail(err)
		return 0
	}
	c.b = c.b[n:]
	return n
}
