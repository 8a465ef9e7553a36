package standby

import "callboard/bridge/overlay"

// Vote is what a witness stores of a pair, on the disk before it answers (W1).
type Vote struct {
	Newest Term    // that it has given its voice to, or was told
	Base   Term    // the newest that the claimant knew then
	Told   [2]Term // to a witness that knows nothing of the pair: the term in which a side said that it is in step (W4)
}

// Witness votes for one pair, as a third one that both sides can reach. It belongs
// to one goroutine.
type Witness struct {
	after   overlay.Instant // TakeOverAfter
	began   overlay.Instant
	vote    Vote
	renewed [2]overlay.Instant // by each side: when it last renewed as the active, or got a voice; 0: never
}

// NewWitness makes the witness of a pair. takeOverAfter is that of both sides.
func NewWitness(vote Vote, takeOverAfter overlay.Duration, now overlay.Instant) *Witness {
	return &Witness{after: overlay.Instant(takeOverAfter), began: now, vote: vote}
}

// Vote returns what is to be stored. If it has changed, that is done before the
// answer goes.
func (w *Witness) Vote() Vote { return w.vote }

// Receive answers a message of a side; nil: it has no answer.
func (w *Witness) Receive(now overlay.Instant, from Side, message Message) Message {
	if !sane(message) {
		return nil
	}
	switch x := message.(type) {
	case *Renew:
		w.renew(now, from, x)
		return &Lease{Sent: x.Sent, Newest: w.vote.Newest}
	case *Claim:
		given := w.grants(now, from, x)
		if given && x.Number >= w.vote.Newest {
			w.vote = Vote{Newest: x.Number, Base: x.Base}
			w.renewed[from] = now
		}
		return &Voice{Number: x.Number, Given: given, Newest: w.vote.Newest, Asked: x.Asked}
	}
	return nil
}

// renew takes in how a side stands.
func (w *Witness) renew(now overlay.Instant, from Side, x *Renew) {
	if w.vote.Newest == 0 {
		if w.vote.Told[from] = x.Term; x.Stands != Both && x.Stands != In {
			w.vote.Told[from] = 0
		}
		if w.vote.Told[A] == w.vote.Told[B] && x.Term != 0 {
			w.vote = Vote{Newest: x.Term, Base: x.Term}
		}
	}
	if !x.Active {
		return
	}
	if x.Term.Of(from) && x.Term > w.vote.Newest && w.vote.Newest != 0 && w.complete(from, x.History, x.Shown) {
		w.vote = Vote{Newest: x.Term, Base: x.Term}
	}
	if x.Term == w.vote.Newest && x.Term.Of(from) {
		w.renewed[from] = now
	}
}

// complete reports whether a side has all that was promised in the newest term:
// its store leads through it, or the witness gave the term to that side itself,
// or the other side will not begin it any more (W2).
func (w *Witness) complete(from Side, terms []Term, shown Term) bool {
	n := w.vote.Newest
	return history(terms).has(n) || n.Of(from) || shown > n
}

// grants decides a claim.
func (w *Witness) grants(now overlay.Instant, from Side, x *Claim) bool {
	n := w.vote.Newest
	switch {
	case !x.Number.Of(from) || x.Number < n:
		return false
	case x.Number == n: // asked again
		return true
	case x.Kind == LostStart: // W3
		return x.Shown == x.Number || w.after > 0 && n != 0 && now-max(w.renewed[from.Other()], w.began) >= w.after
	case n == 0: // W4
		return false
	case n.Of(from):
		return x.Base >= w.vote.Base
	}
	return w.complete(from, x.History, x.Shown)
}
