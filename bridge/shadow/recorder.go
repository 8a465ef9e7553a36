package shadow

import (
	"cmp"
	"slices"
	"sync"

	"callboard/bridge/standby"
	"callboard/player"
)

// Recorder notes what an active's sessions with its robots have tested, until that
// goes to the standby: with the batch of the step that gave it, else with the next.
type Recorder struct {
	mu     sync.Mutex
	on     bool // somebody wants it
	trails []*Trail
}

// Trail is what one robot's session has done. Its methods are for the session's
// goroutine, but for what Recorder says.
type Trail struct {
	recorder *Recorder
	robot    string
	devices  map[player.Addr]*marked

	// Under the recorder's lock:
	pending []Item // in order, since what was taken last
	fence   int    // those before it stay as they are
	written []byte // before them: already as it goes
	posted  uint64 // pieces that the session has posted with what matched
	stepped uint64 // of those, what has been stepped
}

// marked is what was tested of a device.
type marked struct {
	marker standby.Marker
	mark   standby.Mark
	newest []Message // the last keptMessages
}

// keptMessages is how many messages of a device its two newest readings are made
// of, at most: a ranger sends ranges and intensities by themselves.
const keptMessages = 4

// NewRecorder returns one that nobody wants anything of yet.
func NewRecorder() *Recorder { return &Recorder{} }

// Trail makes a robot's.
func (r *Recorder) Trail(robot string) *Trail {
	t := &Trail{recorder: r, robot: robot, devices: map[player.Addr]*marked{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.trails = append(r.trails, t)
	return t
}

// Want has it note what is done from now on; or not any more.
func (r *Recorder) Want(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.on == on {
		return
	}
	r.on = on
	for _, t := range r.trails {
		t.pending, t.fence, t.written = nil, 0, nil
	}
}

// Wanted reports whether it notes anything.
func (r *Recorder) Wanted() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.on
}

// Tested notes that a message was tested, by a version of the matcher.
func (t *Trail) Tested(device player.Addr, version uint64, subtype uint8, time float64, body []byte) {
	d := t.devices[device]
	if d == nil {
		d = &marked{}
		t.devices[device] = d
	}
	d.mark = d.marker.Test(time, Hash(subtype, body))
	d.keep(subtype, time, body)
	t.recorder.mu.Lock()
	defer t.recorder.mu.Unlock()
	if !t.recorder.on {
		return
	}
	for _, item := range t.pending[t.fence:] {
		if x := item.(*Tested); x.Device == device && x.Version == version {
			x.Mark.Run, x.Mark.Time, x.Mark.Hashes = d.mark.Run, d.mark.Time, append(x.Mark.Hashes[:0], d.mark.Hashes...)
			return
		}
	}
	x := &Tested{Robot: t.robot, Version: version, Device: device, Mark: d.mark}
	x.Mark.Hashes = slices.Clone(d.mark.Hashes)
	t.pending = append(t.pending, x)
}

// keep keeps a message for State.
func (d *marked) keep(subtype uint8, time float64, body []byte) {
	m := Message{}
	if len(d.newest) == keptMessages {
		m = d.newest[0]
		d.newest = append(d.newest[:0], d.newest[1:]...)
	}
	m.Subtype, m.Time, m.Body = subtype, time, append(m.Body[:0], body...)
	d.newest = append(d.newest, m)
}

// Flushed notes that what was held was given.
func (t *Trail) Flushed() { t.note(&Flushed{t.robot}) }

// Anew notes that the session with the robot has begun, or has ended.
func (t *Trail) Anew(up bool) {
	for _, d := range t.devices { // nothing stands
		d.newest = nil
	}
	t.note(&Anew{t.robot, up})
}

// note notes something that those before it stay before.
func (t *Trail) note(x Item) {
	t.recorder.mu.Lock()
	defer t.recorder.mu.Unlock()
	if t.recorder.on {
		t.pending = append(t.pending, x)
		t.fence = len(t.pending)
	}
}

// Piece is what a session has done up to something that it posts: it goes with that.
type Piece struct {
	trail *Trail
	bytes []byte
}

// Post returns the piece behind the last one, for what is posted now. state says what
// all has come to; nil: that is not wanted.
func (t *Trail) Post(state *State) *Piece {
	if state != nil {
		state.Robot = t.robot
		for a, d := range t.devices { // sorted by the one who takes it
			if len(d.newest) > 0 {
				state.Devices = append(state.Devices, DeviceState{Addr: a, Mark: d.mark, Messages: d.newest})
			}
		}
		slices.SortFunc(state.Devices, func(a, b DeviceState) int {
			return cmp.Or(cmp.Compare(a.Addr.Interf, b.Addr.Interf), cmp.Compare(a.Addr.Index, b.Addr.Index))
		})
	}
	t.recorder.mu.Lock()
	defer t.recorder.mu.Unlock()
	t.posted++
	p := &Piece{trail: t}
	if t.recorder.on {
		p.bytes = t.take(nil)
		if state != nil {
			p.bytes = Append(p.bytes, state)
		}
	}
	return p
}

// Stepped says that what was posted is in a batch, and appends the piece.
func (p *Piece) Stepped(b []byte) []byte {
	r := p.trail.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	p.trail.stepped++
	if !r.on {
		return b
	}
	return append(b, p.bytes...)
}

// Dropped says that what was posted found no room: the piece goes by itself.
func (p *Piece) Dropped() {
	r := p.trail.recorder
	r.mu.Lock()
	defer r.mu.Unlock()
	p.trail.stepped++
	if r.on {
		p.trail.written = append(slices.Clip(p.bytes), p.trail.written...)
	}
}

// Take appends all that has been done and is not behind anything that is posted and
// was not stepped.
func (r *Recorder) Take(b []byte) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.trails {
		if t.posted == t.stepped {
			b = t.take(b)
		}
	}
	return b
}

func (t *Trail) take(b []byte) []byte {
	b = append(b, t.written...)
	for i, x := range t.pending {
		b = Append(b, x)
		t.pending[i] = nil
	}
	t.pending, t.fence, t.written = t.pending[:0], 0, nil
	return b
}

const prime = 1099511628211 // FNV's

// Hash is that of a message, the same at both sides: it tells those of one time apart.
func Hash(subtype uint8, body []byte) uint64 {
	h := uint64(14695981039346656037) ^ uint64(subtype)
	for len(body) >= 8 {
		w := uint64(body[0]) | uint64(body[1])<<8 | uint64(body[2])<<16 | uint64(body[3])<<24 |
			uint64(body[4])<<32 | uint64(body[5])<<40 | uint64(body[6])<<48 | uint64(body[7])<<56
		h = (h ^ w) * prime
		h ^= h >> 29
		body = body[8:]
	}
	for _, c := range body {
		h = (h ^ uint64(c)) * prime
	}
	return h ^ h>>32
}
