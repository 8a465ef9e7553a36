package standby

import "slices"

// maxNumber bounds terms and indexes that are taken from others: so nobody can bring
// a count to its end by one message.
const maxNumber = 1 << 62

// sane reports whether a message can have been sent by a side or a witness that
// keeps the rules. One that is not is passed over.
func sane(message Message) bool {
	switch x := message.(type) {
	case *Beat:
		return x.Life > 0 && counted(x.Term, x.Floor) && x.Last.sane()
	case *Batches:
		return counted(x.Term) && row(x.Before, x.Batches)
	case *Acked:
		return counted(x.Term) && x.Last.sane()
	case *Snapshot:
		return counted(x.Term) && x.Last.sane() && rising(x.Terms, x.Last.ID)
	case *Join:
		return counted(x.Term) && row(x.Before, x.Batches)
	case *Claim:
		return counted(x.Number, x.Base, x.Shown) && len(x.History) <= maxShown && rising(x.History, maxNumber)
	case *Voice:
		return counted(x.Number, x.Newest)
	case *Renew:
		return counted(x.Term, x.Shown) && len(x.History) <= maxShown && rising(x.History, maxNumber)
	case *Lease:
		return counted(x.Newest)
	}
	return true
}

func counted(all ...Term) bool { return slices.Max(all) < maxNumber }

func (p Position) sane() bool { return p.Index < maxNumber && counted(p.ID) }

// row reports whether batches can follow each other.
func row(before Position, batches []Batch) bool {
	last := before.ID
	for _, b := range batches {
		if b.ID < last {
			return false
		}
		last = b.ID
	}
	return before.sane() && counted(last)
}

// rising reports whether terms are in order, up to one.
func rising(terms []Term, most Term) bool {
	last := Term(0)
	for _, t := range terms {
		if t <= last {
			return false
		}
		last = t
	}
	return last <= most
}
