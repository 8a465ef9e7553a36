package overlay

// setPoint says from which number on a set was in force.
type setPoint struct {
	from  uint64
	epoch Epoch // of the subscribe that brought the set
}

// setPoints are the newest points of a sequence at which its set changed.
type setPoints []setPoint

// maxPoints bounds how many are kept. Of numbers before them the set is not
// known, and any name may be meant.
const maxPoints = 64

func (p *setPoints) add(from uint64, epoch Epoch) {
	if n := len(*p); n > 0 && (*p)[n-1].epoch == epoch {
		return
	}
	if len(*p) >= maxPoints {
		*p = append((*p)[:0], (*p)[len(*p)-maxPoints/2:]...)
	}
	*p = append(*p, setPoint{from, epoch})
}

// touch says that the newest set is that of a later subscribe, too.
func (p setPoints) touch(epoch Epoch) {
	if n := len(p); n > 0 {
		p[n-1].epoch = epoch
	}
}

// at returns the epoch of the set in force at a number; zero if it is not known.
func (p setPoints) at(n uint64) Epoch {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].from <= n {
			return p[i].epoch
		}
	}
	return Epoch{}
}

// prune forgets what is not needed for numbers from n on.
func (p *setPoints) prune(n uint64) {
	for len(*p) > 1 && (*p)[1].from <= n {
		*p = (*p)[1:]
	}
}
