package multicast

// maxBehind is how far behind the newest packet number of a rank another may be.
const maxBehind = 4096

// packets knows which packet numbers of one rank have been seen (Y1).
type packets struct {
	top  uint64
	seen [maxBehind/64 + 1]uint64 // by number, modulo its bits
}

const packetBits = uint64(len(packets{}.seen)) * 64

// new reports whether a packet number has not been seen, and is not too old to
// know.
func (p *packets) new(n uint64) bool {
	if n > p.top {
		return true
	}
	return p.top-n <= maxBehind && p.seen[n%packetBits/64]&(1<<(n%64)) == 0
}

// take notes a number that is new.
func (p *packets) take(n uint64) {
	if n > p.top {
		if n-p.top >= packetBits {
			clear(p.seen[:])
		} else {
			for i := p.top + 1; i <= n; i++ {
				p.seen[i%packetBits/64] &^= 1 << (i % 64)
			}
		}
		p.top = n
	}
	p.seen[n%packetBits/64] |= 1 << (n % 64)
}
