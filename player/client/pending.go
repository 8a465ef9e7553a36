package client

import (
	"bytes"
	"sync"
	"time"

	"callboard/player"
	"callboard/player/iface"
)

// Bounds of what is remembered of requests that were given up. Beyond them no
// more are sent.
const (
	maxGivenUpAlike = 16      // to one device, of one subtype
	maxGivenUp      = 1024    // in a session
	maxTasksGivenUp = 64      // of one kind, of the session's own
	maxKeptBody     = 4 << 10 // bytes of a body
)

// maxWaiting is how many requests of others may wait for their answers in a
// session: each costs each answer a look.
const maxWaiting = 4096

// exchange is a request that waits for its answer.
type exchange struct {
	id      uint32
	subtype uint8
	sent    []byte // the body; nil when it was given up and is long
	// An exchange of the session's own has fn, called in its goroutine, and may
	// expire, as may one of Pass, which has relayed; one of Request has done,
	// with room for one.
	fn      func(answer) error
	relayed func(player.Header, []byte, error)
	expires time.Time
	done    chan answer

	at      time.Time // when it was sent
	givenUp time.Time // zero: it was not
	probed  bool      // since it was given up the device was asked for a sign of life
	passed  time.Time // when the device answered something that it was asked later; zero: it did not
}

// answer is an ACK or NACK, or the error instead. body is its own copy in an
// exchange of Request, else valid during the call.
type answer struct {
	header player.Header
	body   []byte
	err    error
}

// pending are the exchanges of a session, oldest first.
//
// An answer is matched by device and subtype, in order; nothing else in it says
// to whom it belongs. A real server answers a request to a device that nobody
// has open when somebody opens it, hours later perhaps. So a request that was
// given up stays, and takes its late answer: until the device has answered
// something that it was asked after that, and grace more, for drivers that
// overtake themselves. Devices are asked on purpose (probe). What stays for the
// whole session for want of that is bounded: then no more requests of the kind
// are sent.
type pending struct {
	mu    sync.Mutex
	grace time.Duration
	list  []*exchange
	ended bool
}

// add registers x and calls send within the same lock, so that the order of
// the list is that on the wire.
func (p *pending) add(x *exchange, send func() error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return ErrAway
	}
	x.at = time.Now()
	p.purge(x.at)
	if alike, all := p.countGivenUp(x.id, x.subtype); x.fn == nil &&
		(alike >= maxGivenUpAlike || all >= maxGivenUp || len(p.list)-all >= maxWaiting) {
		return ErrUnanswered
	}
	if err := send(); err != nil {
		return err
	}
	p.list = append(p.list, x)
	return nil
}

// countGivenUp counts the requests that were given up: those of a kind, and all.
func (p *pending) countGivenUp(id uint32, subtype uint8) (alike, all int) {
	for _, x := range p.list {
		if x.givenUp.IsZero() {
			continue
		}
		all++
		if x.id == id && x.subtype == subtype {
			alike++
		}
	}
	return alike, all
}

// crowded reports whether so many of the session's own requests of a kind went
// unanswered that no more should be sent.
func (p *pending) crowded(id uint32, subtype uint8) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.purge(time.Now())
	alike, _ := p.countGivenUp(id, subtype)
	return alike >= maxTasksGivenUp
}

// take removes the exchange that an answer belongs to. It returns nil, too, for
// one that was given up; but what the session asks by itself changes nothing,
// so who asked the same again may have the late answer.
func (p *pending) take(id uint32, subtype uint8) *exchange {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.purge(now)
	var oldest *exchange
	for _, x := range p.list {
		if x.id != id || x.subtype != subtype {
			continue
		}
		if oldest == nil {
			p.answered(x, now)
			oldest = x
		}
		if x.givenUp.IsZero() && (x == oldest || x.fn != nil && oldest.fn != nil && bytes.Equal(x.sent, oldest.sent)) {
			p.remove(x)
			return x
		}
	}
	if oldest != nil {
		p.remove(oldest)
	}
	return nil
}

// answered notes that a device has answered x, and so is past what it was asked
// before.
func (p *pending) answered(x *exchange, now time.Time) {
	for _, y := range p.list {
		switch {
		case y == x:
			return
		case y.id == x.id && y.passed.IsZero():
			y.passed = now
		}
	}
}

// giveUp lets go of what only the answer needs.
func (x *exchange) giveUp(now time.Time) {
	x.givenUp, x.relayed = now, nil
	if len(x.sent) > maxKeptBody {
		x.sent = nil
	}
}

func (p *pending) abandon(x *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	x.giveUp(time.Now())
}

// expired gives up the exchanges of the session and of Pass that are overdue. It
// returns those to be told of it, and when the next one will be overdue.
func (p *pending) expired(now time.Time) (late []exchange, next time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.list {
		switch {
		case x.expires.IsZero() || !x.givenUp.IsZero():
		case !now.Before(x.expires):
			late = append(late, *x)
			x.giveUp(now)
		case next.IsZero() || x.expires.Before(next):
			next = x.expires
		}
	}
	return late, next
}

// postpone returns what waits more time.
func (p *pending) postpone(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.list {
		if !x.expires.IsZero() {
			x.expires = x.expires.Add(by)
		}
	}
}

// probes are what a device is asked for to see whether it is past what was
// given up: properties that no driver has. One that waits for an answer of its
// own is not asked twice.
var probes = []uint8{iface.ReqGetIntprop, iface.ReqGetDblprop, iface.ReqGetStrprop}

// probe is a device that is to be asked for a sign of life, and by which
// request.
type probe struct {
	id      uint32
	subtype uint8
}

// unproven returns the devices that have not answered for so long that they are
// to be asked, each once, and notes that they are. The player interface needs
// none: servers answer it at once, in order.
func (p *pending) unproven(now time.Time) []probe {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.purge(now)
	var out []probe
	for _, x := range p.list {
		if x.givenUp.IsZero() || !x.passed.IsZero() || x.probed || now.Sub(x.at) < p.grace || x.id == id(player.Addr{Interf: player.InterfacePlayer}) {
			continue
		}
		if subtype := p.freeProbe(x.id); subtype != 0 {
			out = append(out, probe{x.id, subtype})
			for _, y := range p.list {
				y.probed = y.probed || y.id == x.id && !y.givenUp.IsZero()
			}
		}
	}
	return out
}

// freeProbe returns a probe for a device; 0: there is one under way, or none.
func (p *pending) freeProbe(id uint32) uint8 {
	for _, x := range p.list {
		if x.id == id && x.fn != nil && x.expires.IsZero() && x.givenUp.IsZero() {
			return 0
		}
	}
	for _, subtype := range probes {
		free := true
		for _, x := range p.list {
			free = free && (x.id != id || x.subtype != subtype)
		}
		if free {
			return subtype
		}
	}
	return 0
}

// end makes every exchange of Request and Pass fail, and those to come.
func (p *pending) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	for _, x := range p.list {
		switch {
		case !x.givenUp.IsZero():
		case x.done != nil:
			x.done <- answer{err: ErrAway}
		case x.relayed != nil:
			x.relayed(player.Header{}, nil, ErrAway)
		}
	}
	p.list = nil
}

func (p *pending) remove(x *exchange) {
	for i, y := range p.list {
		if x == y {
			p.list = append(p.list[:i], p.list[i+1:]...)
			return
		}
	}
}

// purge forgets what the device was past long ago.
func (p *pending) purge(now time.Time) {
	keep := p.list[:0]
	for _, x := range p.list {
		if x.givenUp.IsZero() || x.passed.IsZero() || now.Sub(x.passed) < p.grace || now.Sub(x.givenUp) < p.grace {
			keep = append(keep, x)
		}
	}
	clear(p.list[len(keep):])
	p.list = keep
}
