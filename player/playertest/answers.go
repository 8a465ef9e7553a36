package playertest

import "bytes"

// Subtypes of the player interface.
const (
	interfPlayer = 1

	reqDevlist    = 1
	reqDriverinfo = 2
	reqDev        = 3
	reqData       = 4
	reqDatamode   = 5
	reqRule       = 10

	accessOpen  = 1
	accessClose = 2
	accessError = 3
)

// kind is what a request and its answer have in common.
type kind struct {
	interf, index uint16
	subtype       uint8
}

func kindOf(m Message) kind { return kind{m.Interf, m.Index, m.Subtype} }

// exchange is a recorded request with its recorded answer.
type exchange struct {
	request, answer Message
	used            bool // by this connection
}

// device is one that the recorded server had.
type device struct {
	interf, index uint16
	driver        []byte // with its NUL
}

// recording is what a capture says about its server. It does not change.
type recording struct {
	exchanges []exchange
	devices   []device
	banner    []byte
	rounds    [][]Message // readings, each round with its SYNCH if there was one
	lap       float64     // s, how much later a repeated reading is
}

// record pairs requests with answers: the n-th answer of a kind belongs to the
// n-th request of that kind (servers answer those in order).
func record(c *Capture) *recording {
	r := &recording{banner: c.S2C[:bannerSize]}
	waiting := map[kind][]Message{}
	for _, m := range c.Client {
		if m.Type == typeReq {
			waiting[kindOf(m)] = append(waiting[kindOf(m)], m)
		}
	}
	for _, m := range c.Server {
		if m.Type != typeAck && m.Type != typeNack {
			continue
		}
		if w := waiting[kindOf(m)]; len(w) > 0 {
			r.exchanges = append(r.exchanges, exchange{request: w[0], answer: m})
			waiting[kindOf(m)] = w[1:]
		}
	}
	r.findDevices(c)
	return r
}

// findDevices gathers the devices: those of the recorded list in its order,
// then those that gave driver information, were opened, answered or sent
// readings.
func (r *recording) findDevices(c *Capture) {
	for _, e := range r.exchanges {
		b := e.answer.Body
		if e.request.Interf == interfPlayer && e.request.Subtype == reqDevlist && e.answer.Type == typeAck {
			for at := 8; at+16 <= len(b); at += 16 {
				r.device(uint16(u32(b, at+8)), uint16(u32(b, at+12)))
			}
		}
	}
	for _, e := range r.exchanges {
		b := e.answer.Body
		switch {
		case e.answer.Type != typeAck:
		case e.request.Interf != interfPlayer:
			r.device(e.request.Interf, e.request.Index)
		case e.request.Subtype == reqDriverinfo && len(b) >= 24:
			r.device(uint16(u32(b, 8)), uint16(u32(b, 12))).driver = counted(b[20:])
		case e.request.Subtype == reqDev && len(b) >= 28:
			r.device(uint16(u32(b, 8)), uint16(u32(b, 12))).driver = counted(b[24:])
		}
	}
	for _, m := range c.Data() {
		r.device(m.Interf, m.Index)
	}
}

// counted returns the bytes of a counted array, without padding.
func counted(b []byte) []byte {
	if n := u32(b, 0); int(n) <= len(b)-4 {
		return b[4 : 4+n]
	}
	return nil
}

// device finds a device, or adds it.
func (r *recording) device(interf, index uint16) *device {
	if d := r.find(interf, index); d != nil {
		return d
	}
	r.devices = append(r.devices, device{interf, index, []byte("recorded\x00")})
	return &r.devices[len(r.devices)-1]
}

func (r *recording) find(interf, index uint16) *device {
	for i := range r.devices {
		if d := &r.devices[i]; d.interf == interf && d.index == index {
			return d
		}
	}
	return nil
}

// answer finds the recorded answer to a request whatever the order of requests
// was: one to the same body, not given yet; else one to the same body; else one
// without a body to any request of this kind.
func answer(exchanges []exchange, m Message) (Message, bool) {
	var again, other *exchange
	for i := range exchanges {
		e := &exchanges[i]
		switch {
		case kindOf(e.request) != kindOf(m):
		case !bytes.Equal(e.request.Body, m.Body):
			if len(e.answer.Body) == 0 {
				other = e
			}
		case !e.used:
			e.used = true
			return e.answer, true
		default:
			again = e
		}
	}
	if again == nil {
		again = other
	}
	if again == nil {
		return Message{}, false
	}
	return again.answer, true
}

// cutRounds returns the readings as rounds of PULL: as recorded (up to each
// SYNCH), or size readings each.
func cutRounds(c *Capture, size int) [][]Message {
	var rounds [][]Message
	var round []Message
	recorded := size == 0
	if recorded {
		size = 16
		for _, m := range c.Server {
			if m.Type == typeSynch {
				size = len(c.Server)
			}
		}
	}
	for _, m := range c.Server {
		end := false
		switch {
		case m.Type == typeData:
			round = append(round, m)
			end = len(round) >= size
		case m.Type == typeSynch && recorded:
			round = append(round, m)
			end = true
		}
		if end {
			rounds, round = append(rounds, round), nil
		}
	}
	if len(round) > 0 {
		rounds = append(rounds, round)
	}
	return rounds
}

// lap is how much later, in s, the readings come when they are repeated: the
// time that they take and that to one more.
func lap(data []Message) float64 {
	if len(data) == 0 {
		return 0
	}
	last, steps := data[0].Timestamp, 0
	for _, m := range data {
		if m.Timestamp > last {
			last = m.Timestamp
			steps++
		}
	}
	took := last - data[0].Timestamp
	return took + max(took/float64(max(steps, 1)), 0.001)
}
