package server

import (
	"sync"
	"time"

	"callboard/player"
	"callboard/player/deadline"
	"callboard/player/iface"
)

// Call is one command or request that a client sent to a device. Commands are
// never answered: Ack and Nack then do nothing. A request is answered once:
// later answers are ignored and counted, and a request not answered within
// Config.AnswerTimeout is refused by the server.
type Call struct {
	// Header of the message, its address completed with host and port.
	Header player.Header
	// Payload is the decoded body, a pointer to a struct of player/iface. It is
	// nil if the body was empty, which a request may always be (even where it
	// makes no sense: then refuse it), a command only if it has no struct. The
	// driver may keep it.
	Payload any
	// Body is the body as it came, for a Relay. It is valid during Handle.
	Body []byte

	conn *conn

	mu       sync.Mutex
	answered bool
	timer    *deadline.Timer // refuses the request; nil while Handle runs
}

// Client is the program that has sent a Call. Those of one connection are equal.
type Client struct{ conn *conn }

// Client returns who has sent the call.
func (c *Call) Client() Client { return Client{c.conn} }

// Publish is Publisher.Publish for one client alone: other clients that have dev
// open get nothing. It reports whether the client has it open.
func (c Client) Publish(dev player.Addr, subtype uint8, time float64, payload any) bool {
	s := c.conn.server
	d := s.device(dev)
	if d == nil {
		return false
	}
	for _, sub := range d.subscribers() {
		if sub.conn != c.conn {
			continue
		}
		h := player.Header{Addr: d.addr, Type: player.Data, Subtype: subtype, Timestamp: time}
		m, err := s.encode(h, payload)
		if err != nil {
			s.badPayload(h, err)
			return true
		}
		s.deliver([]*subscription{sub}, m)
		return true
	}
	return false
}

// Ack accepts the request. payload is a pointer to the reply's struct (for most
// GETs the request's own), or nil for an empty body. A nil payload where stock
// clients need a body to read becomes a Nack.
func (c *Call) Ack(payload any) { c.answer(player.Ack, payload, false) }

// Nack refuses the request; payload is nearly always nil.
func (c *Call) Nack(payload any) { c.answer(player.Nack, payload, false) }

// Reply answers the request with a reply of another server: its type (ACK or
// NACK), time, sequence number and body. Like Ack it does nothing for what was
// answered before, and an ACK without a body that clients need is a Nack.
func (c *Call) Reply(h player.Header, body []byte) {
	if c.Header.Type != player.Request {
		return
	}
	counters := &c.conn.server.counters
	if !c.settle() {
		counters.lateAnswers.Add(1)
		return
	}
	reply := c.Header
	reply.Type, reply.Timestamp, reply.Seq = player.Nack, h.Timestamp, h.Seq
	switch {
	case h.Type != player.Ack:
	case len(body) == 0 && needsBody(c.Header.Interf, c.Header.Subtype):
		counters.missingBodies.Add(1)
	default:
		reply.Type = player.Ack
	}
	c.conn.replyCall(c, bodyMessage(reply, body))
}

// answer queues the reply unless there has been one.
func (c *Call) answer(t player.Type, payload any, overdue bool) {
	if c.Header.Type != player.Request {
		return
	}
	counters := &c.conn.server.counters
	if !c.settle() {
		if !overdue {
			counters.lateAnswers.Add(1)
		}
		return
	}
	if overdue {
		counters.unanswered.Add(1)
	}
	if t == player.Ack && payload == nil && needsBody(c.Header.Interf, c.Header.Subtype) {
		counters.missingBodies.Add(1)
		t = player.Nack
	}
	h := c.Header
	h.Seq = 0 // as that of the real drivers
	c.conn.replyCall(c, c.conn.encodeReply(h, t, payload))
}

// settle marks the call as answered. It reports false if it was already.
func (c *Call) settle() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.answered {
		return false
	}
	c.answered = true
	if c.timer != nil {
		c.timer.Stop()
	}
	return true
}

// expire refuses the call after the time unless it is answered before.
func (c *Call) expire(after time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.answered {
		c.timer = deadline.AfterFunc(after, func() { c.answer(player.Nack, nil, true) })
	}
}

// needsBody reports whether an ACK without its body makes stock clients read
// memory that is not there.
func needsBody(i player.Interface, subtype uint8) bool {
	switch subtype {
	case iface.ReqGetIntprop, iface.ReqGetDblprop, iface.ReqGetStrprop, iface.ReqGetBoolprop:
		return true
	}
	switch i {
	case 3: // gripper GET_GEOM
		return subtype == 1
	case player.InterfacePosition2D, player.InterfaceSonar, 14, 22, 30, 52: // GET_GEOM; of 22 (ir) POSE
		return subtype == 1
	case player.InterfaceLaser: // GET_GEOM, GET_CONFIG, GET_ID
		return subtype == 1 || subtype == 3 || subtype == 5
	case 7: // blobfinder GET_COLOR
		return subtype == 3
	case 8: // ptz GEOM, STATUS
		return subtype == 4 || subtype == 5
	case 9: // audio WAV_REC, SAMPLE_RETRIEVE, SAMPLE_REC, MIXER_CHANNEL_LIST, MIXER_CHANNEL_LEVEL
		return subtype == 1 || subtype >= 3 && subtype <= 6
	case 10: // fiducial GET_GEOM, GET_FOV, GET_ID
		return subtype == 1 || subtype == 2 || subtype == 7
	case 25: // localize GET_PARTICLES
		return subtype == 2
	case player.InterfaceSimulation: // GET_POSE2D, GET_POSE3D, GET_PROPERTY
		return subtype == 1 || subtype == 3 || subtype == 5
	case 40: // camera GET_SOURCE, GET_IMAGE
		return subtype == 1 || subtype == 3
	case 42: // map GET_INFO, GET_DATA, GET_VECTOR
		return subtype >= 1 && subtype <= 3
	case 44: // planner GET_WAYPOINTS
		return subtype == 1
	case 45: // log GET_STATE
		return subtype == 3
	case 51: // opaque DATA
		return subtype == 1
	case 53, 54: // actarray GET_GEOM, limb GEOM
		return subtype == 3
	case player.InterfaceRanger: // GET_GEOM, SET_CONFIG, GET_CONFIG
		return subtype == 1 || subtype == 4 || subtype == 5
	case 63: // vectormap GET_MAP_INFO, GET_LAYER_DATA
		return subtype == 1 || subtype == 3
	case 64: // blackboard SUBSCRIBE_TO_KEY, GET_ENTRY
		return subtype == 1 || subtype == 6
	}
	return false
}
