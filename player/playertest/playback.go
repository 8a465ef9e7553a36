package playertest

import (
	"encoding/binary"
	"math"
	"net"
	"slices"
	"sync"
	"time"
)

// playback is one connection to which a capture is played.
type playback struct {
	server *Server
	rec    *recording
	opt    Options
	nc     net.Conn
	port   uint32

	exchanges []exchange // of the reading goroutine

	mu        sync.Mutex
	changed   sync.Cond
	replies   [][]byte
	open      map[uint32]int
	started   bool
	pull      bool
	requested bool // a PULL round
	leaked    bool // a reading before the next reply
	sent      bool // a reading of this round
	round, at int  // the next reading
	laps      int
	time      float64   // of the last reading or recorded answer
	pause     time.Time // no reading before
	timer     *time.Timer
	ended     bool
}

func newPlayback(s *Server, rec *recording, o Options, nc net.Conn) *playback {
	p := &playback{server: s, rec: rec, opt: o, nc: nc, port: s.Port(), exchanges: slices.Clone(rec.exchanges), open: map[uint32]int{}}
	p.changed.L = &p.mu
	return p
}

// run reads in this goroutine and writes in another.
func (p *playback) run() {
	if _, err := p.nc.Write(p.rec.banner); err != nil {
		return
	}
	written := make(chan struct{})
	go func() {
		defer close(written)
		p.write()
		p.nc.Close()
	}()
	p.read()
	p.mu.Lock()
	p.ended = true
	if p.timer != nil {
		p.timer.Stop()
	}
	p.changed.Broadcast()
	p.mu.Unlock()
	p.nc.Close()
	<-written
}

func (p *playback) read() {
	for {
		m, err := readMessage(p.nc, 32<<20-headerSize)
		if err == errSize {
			p.server.t.Errorf("playertest: the client announces a body that jams or crashes a real server")
		}
		if err != nil {
			return
		}
		p.server.note(m)
		switch {
		case m.Interf == interfPlayer && m.Type == typeReq:
			p.toServer(m)
		case m.Interf == interfPlayer:
			p.reply(m, typeNack, nil)
		case m.Type == typeReq && p.rec.find(m.Interf, m.Index) != nil:
			p.toDevice(m)
		}
	}
}

// reply queues an answer made here, with the request's sequence number.
func (p *playback) reply(m Message, typ uint8, body []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.replies = append(p.replies, message(p.port, kindOf(m), typ, p.time, m.Seq, body))
	p.changed.Broadcast()
}

// toDevice answers as recorded.
func (p *playback) toDevice(m Message) {
	a, ok := answer(p.exchanges, m)
	if !ok {
		if m.Subtype == 255 {
			p.server.t.Errorf("playertest: the client asks for CAPABILITIES, which crashes a real server")
		}
		p.reply(m, typeNack, nil)
		return
	}
	p.queue(a)
}

// queue queues a recorded answer.
func (p *playback) queue(a Message) {
	raw := slices.Clone(a.Raw)
	address(raw, p.port)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.time = max(p.time, a.Timestamp)
	p.replies = append(p.replies, raw)
	p.changed.Broadcast()
}

func (p *playback) toServer(m Message) {
	switch m.Subtype {
	case reqDriverinfo, reqDev, reqDatamode, reqRule:
		if len(m.Body) == 0 {
			p.server.t.Errorf("playertest: the client sends an empty player request %d, which crashes a real server", m.Subtype)
			return
		}
	}
	switch m.Subtype {
	case reqDevlist:
		p.reply(m, typeAck, p.devlist())
	case reqDriverinfo:
		p.driverinfo(m)
	case reqDev:
		p.dev(m)
	case reqData:
		p.data(m)
	case reqDatamode:
		p.mu.Lock()
		switch {
		case len(m.Body) >= 4 && u32(m.Body, 0) == 1:
			p.pull = false
		case len(m.Body) >= 4 && u32(m.Body, 0) == 2:
			p.pull = true
		}
		p.mu.Unlock()
		p.reply(m, typeAck, nil)
	case reqRule:
		p.reply(m, typeAck, nil)
	default:
		p.reply(m, typeNack, nil)
	}
}

func (p *playback) devlist() []byte {
	n := uint32(len(p.rec.devices))
	body := make([]byte, 8+16*n)
	putU32(body, 0, n)
	putU32(body, 4, n)
	for i, d := range p.rec.devices {
		p.deviceAddress(body[8+16*i:], d.interf, d.index)
	}
	return body
}

func (p *playback) deviceAddress(b []byte, interf, index uint16) {
	address(b, p.port)
	putU32(b, 8, uint32(interf))
	putU32(b, 12, uint32(index))
}

// appendCounted appends a counted byte array with its first count and padding.
func appendCounted(b, v []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
	b = append(b, v...)
	return append(b, make([]byte, (4-len(v)%4)%4)...)
}

func (p *playback) driverinfo(m Message) {
	var d *device
	if len(m.Body) >= 24 {
		d = p.rec.find(uint16(u32(m.Body, 8)), uint16(u32(m.Body, 12)))
	}
	if d == nil {
		p.reply(m, typeNack, nil)
		return
	}
	body := make([]byte, 16)
	p.deviceAddress(body, d.interf, d.index)
	p.reply(m, typeAck, appendCounted(body, d.driver))
}

// dev opens or closes a device. An open that failed in the capture fails.
func (p *playback) dev(m Message) {
	if len(m.Body) < 28 {
		return // a real server says nothing
	}
	interf, index, access := uint16(u32(m.Body, 8)), uint16(u32(m.Body, 12)), u32(m.Body, 16)
	body := make([]byte, 20)
	p.deviceAddress(body, interf, index)
	putU32(body, 16, accessError)
	d := p.rec.find(interf, index)
	if d == nil {
		p.reply(m, typeNack, appendCounted(body, nil))
		return
	}
	key := Device(interf, index)
	p.mu.Lock()
	switch {
	case access == accessOpen && !p.failed(interf, index):
		p.open[key]++
		putU32(body, 16, accessOpen)
	case access == accessClose && p.open[key] > 0:
		p.open[key]--
		putU32(body, 16, accessClose)
	}
	p.mu.Unlock()
	p.reply(m, typeAck, appendCounted(body, d.driver))
	p.mu.Lock()
	p.started = p.started || !slices.ContainsFunc(p.opt.Open, func(k uint32) bool { return p.open[k] == 0 })
	p.changed.Broadcast()
	p.mu.Unlock()
}

// failed reports whether opening the device was answered with an error in the
// capture.
func (p *playback) failed(interf, index uint16) bool {
	for _, e := range p.exchanges {
		r, a := e.request.Body, e.answer.Body
		if e.request.Interf == interfPlayer && e.request.Subtype == reqDev && len(r) >= 20 && len(a) >= 20 &&
			uint16(u32(r, 8)) == interf && uint16(u32(r, 12)) == index && u32(r, 16) == accessOpen && u32(a, 16) == accessError {
			return true
		}
	}
	return false
}

// data begins a PULL round; its ACK overtakes everything.
func (p *playback) data(m Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	ack := message(p.port, kindOf(m), typeAck, p.time, m.Seq, nil)
	p.replies = slices.Insert(p.replies, 0, ack)
	p.requested, p.sent = true, false
	p.changed.Broadcast()
}

// write sends what is due, each message by itself as the real server does.
func (p *playback) write() {
	for {
		b := p.next()
		if b == nil {
			return
		}
		if _, err := p.nc.Write(b); err != nil {
			return
		}
	}
}

// next waits for something to send; nil means the end.
func (p *playback) next() []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.ended {
			return nil
		}
		if len(p.replies) > 0 {
			if p.opt.Leak && p.pull && !p.requested && !p.leaked {
				p.leaked = true
				if b := p.reading(); b != nil {
					return b
				}
			}
			p.leaked = false
			b := p.replies[0]
			p.replies = p.replies[1:]
			return b
		}
		if b := p.reading(); b != nil {
			return b
		}
		p.changed.Wait()
	}
}

// reading returns the next reading or SYNCH if it is time for it.
func (p *playback) reading() []byte {
	if !p.started || p.pull && !p.requested && !p.leaked {
		return nil
	}
	if wait := time.Until(p.pause); wait > 0 && !(p.pull && p.sent) {
		if p.timer != nil {
			p.timer.Stop()
		}
		p.timer = time.AfterFunc(wait, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.changed.Broadcast()
		})
		return nil
	}
	for tried := 0; p.round < len(p.rec.rounds) && tried <= len(p.rec.rounds); tried++ {
		round := p.rec.rounds[p.round]
		for p.at < len(round) && round[p.at].Type == typeData {
			m := round[p.at]
			p.at++
			if p.open[m.Device()] > 0 {
				p.sent = true
				p.pause = time.Now().Add(p.opt.Interval)
				return p.shifted(m)
			}
		}
		synch := message(0, kind{interf: interfPlayer, subtype: 1}, typeSynch, 0, 0, nil)
		if p.at < len(round) {
			synch = slices.Clone(round[p.at].Raw)
		}
		putU32(synch, 0, 0)
		p.advance()
		if p.pull && p.requested && p.sent {
			p.requested, p.sent = false, false
			return synch
		}
		p.sent = false
	}
	return nil
}

// advance goes on to the next round.
func (p *playback) advance() {
	p.round, p.at = p.round+1, 0
	if p.round < len(p.rec.rounds) {
		return
	}
	p.server.finished()
	if p.opt.Loop && len(p.open) > 0 {
		p.round = 0
		p.laps++
	}
}

// shifted returns a reading with this server's address, and with the time of its
// lap.
func (p *playback) shifted(m Message) []byte {
	raw := slices.Clone(m.Raw)
	address(raw, p.port)
	at := m.Timestamp + float64(p.laps)*p.rec.lap
	binary.BigEndian.PutUint64(raw[24:], math.Float64bits(at))
	p.time = at
	return raw
}
