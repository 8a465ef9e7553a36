package replay

import (
	"math"
	"strings"

	"callboard/player/iface"
	"callboard/player/server"
)

// Properties of log:0, for what Player's protocol has no request: the speed (0:
// as fast as possible), which can be set, and the names of the files.
const (
	SpeedProperty    = "speed"
	FilenameProperty = "filename"
)

// controls reports whether a request to log:0 is answered.
func controls(subtype uint8) bool {
	switch subtype {
	case iface.ReqLogSetReadState, iface.ReqLogGetState, iface.ReqLogSetReadRewind,
		iface.ReqGetDblprop, iface.ReqSetDblprop, iface.ReqGetStrprop:
		return true
	}
	return false
}

// control answers a request to log:0 as Player's reader does: what is for a
// writer is refused. After the end the state is 0; rewind, then play.
func (r *Replay) control(c *server.Call) {
	switch c.Header.Subtype {
	case iface.ReqLogGetState:
		c.Ack(&iface.LogGetState{Type: iface.LogTypeRead, State: r.playState()})
	case iface.ReqLogSetReadState:
		want, ok := c.Payload.(*iface.LogSetReadState)
		if !ok {
			c.Nack(nil)
			return
		}
		r.change(func() { r.playing = want.State != 0 })
		c.Ack(nil)
	case iface.ReqLogSetReadRewind:
		r.change(func() { r.state.rewind = true })
		c.Ack(nil)
	case iface.ReqGetDblprop:
		asked, ok := c.Payload.(*iface.DblpropReq)
		if !ok || iface.GoString(asked.Key) != SpeedProperty {
			c.Nack(nil)
			return
		}
		c.Ack(&iface.DblpropReq{Key: asked.Key, Value: r.speedNow()})
	case iface.ReqSetDblprop:
		asked, ok := c.Payload.(*iface.DblpropReq)
		if !ok || iface.GoString(asked.Key) != SpeedProperty || !(asked.Value >= 0) || math.IsInf(asked.Value, 1) {
			c.Nack(nil)
			return
		}
		r.change(func() { r.speed = asked.Value })
		c.Ack(nil)
	case iface.ReqGetStrprop:
		asked, ok := c.Payload.(*iface.StrpropReq)
		if !ok || iface.GoString(asked.Key) != FilenameProperty {
			c.Nack(nil)
			return
		}
		c.Ack(&iface.StrpropReq{Key: asked.Key, Value: iface.CString(r.fileNames())})
	default:
		c.Nack(nil)
	}
}

// fileNames are those of the sources.
func (r *Replay) fileNames() string {
	var names []string
	for _, s := range r.cfg.Sources {
		names = append(names, s.File.Name())
	}
	return strings.Join(names, " ")
}

// change changes what Run looks at.
func (r *Replay) change(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
	r.changed()
}

func (r *Replay) playState() uint8 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.playing {
		return 1
	}
	return 0
}

func (r *Replay) speedNow() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.speed
}
