package server_test

import (
	"testing"
	"testing/synctest"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
)

func Test8CommandsAndRequestsToDevicesThatAreNotOpen(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		r.driver.answer = func(c *server.Call) { c.Ack(&iface.Position2DGeom{}) }
		c := r.client()
		c.send(position, player.Command, setVel, &iface.Position2DCmdVel{Vel: iface.Pose2D{Px: 0.5, Pa: -0.25}, State: 1})
		c.is(c.request(position, getGeom, nil), player.Ack, position, getGeom)
		if got, want := r.driver.noted(), "CMD 1 of position2d:0, REQ 1 of position2d:0"; got != want {
			t.Errorf("driver saw %q, expected %q", got, want)
		}
		got := r.driver.calls[0].Payload.(*iface.Position2DCmdVel)
		if *got != (iface.Position2DCmdVel{Vel: iface.Pose2D{Px: 0.5, Pa: -0.25}, State: 1}) {
			t.Errorf("the driver got %+v", got)
		}
		if r.driver.calls[1].Payload != nil {
			t.Errorf("an empty body came as %T", r.driver.calls[1].Payload)
		}
	})
}

// Kinder: the real server says nothing to all of these.
func Test8WhatTheRealServerDropsIsRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.refused(player.Addr{Interf: 6, Index: 7}, 1, nil)                          // unknown device
		c.refused(player.Addr{Interf: 999}, 1, make([]byte, 100_000))                // unknown interface
		c.refused(position, 77, make([]byte, 8))                                     // unknown subtype with a body
		c.refused(position, uint8(iface.ReqPosition2DResetOdom), []byte{4: 0, 7: 0}) // a body where none is due
		c.refused(position, uint8(iface.ReqPosition2DSetOdom), make([]byte, 8))      // too short
		if got := r.driver.noted(); got != "" {
			t.Errorf("the driver saw %q, expected nothing", got)
		}
		c.refused(position, 77, nil) // this the driver refuses
		s := r.server.Stats()
		if s.UnknownDevice != 2 || s.UnknownMessage != 1 || s.Undecodable != 2 {
			t.Errorf("counted %+v, expected 2 unknown devices, 1 unknown message, 2 undecodable", s)
		}
	})
}

func Test8CommandsThatCannotBeServedAreCounted(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.send(player.Addr{Interf: 6, Index: 7}, player.Command, 1, nil)
		c.send(position, player.Command, 77, make([]byte, 8))
		c.send(position, player.Command, setVel, make([]byte, 8))
		c.send(position, player.Command, setVel, nil)
		c.send(position, player.Data, 1, make([]byte, 52))
		c.send(position, 99, 1, nil)
		c.quiet()
		s := r.server.Stats()
		if s.UnknownDevice != 1 || s.UnknownMessage != 3 || s.Undecodable != 2 || r.driver.noted() != "" {
			t.Errorf("counted %+v, expected 1 unknown device, 3 unknown messages, 2 undecodable; the driver saw %q", s, r.driver.noted())
		}
	})
}

// Kinder: the real server waits for 32 MiB, or crashes. Ours ends that
// connection alone.
func Test8ImpossibleSizesEndTheConnection(t *testing.T) {
	for _, size := range []uint32{player.MaxBody + 1, 40_000_000, 1<<31 - 40, 0x7fffffff, 0xffffffff} {
		inBubble(t, nil, func(t *testing.T, r *rig) {
			other := r.client()
			other.open(position)
			c := r.client()
			c.open(position)
			h := player.Header{Addr: position, Type: player.Request, Subtype: 1, Size: size}
			c.write(h.Append(nil))
			c.ended()
			r.driver.at(1)
			other.expectTimes(1)
			synctest.Wait()
			if s := r.server.Stats(); s.BadSize != 1 || s.Clients != 1 {
				t.Errorf("size %d: counted %d bad sizes, %d clients left, expected 1 and 1", size, s.BadSize, s.Clients)
			}
		})
	}
}

func Test9RepliesCarryTheServersClock(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		if m := c.request(position, getGeom, nil); m.Timestamp != 12.5 {
			t.Errorf("timestamp %v, expected 12.5", m.Timestamp)
		}
	})
}

func Test10NoAnswerBecomesANack(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		r.driver.answer = func(*server.Call) {}
		c := r.client()
		before := time.Now()
		c.refused(position, getGeom, nil)
		if took := time.Since(before); took != 4*time.Second {
			t.Errorf("refused after %v, expected 4 s", took)
		}
		r.driver.calls[0].Ack(&iface.Position2DGeom{})
		c.quiet()
		if s := r.server.Stats(); s.Unanswered != 1 || s.LateAnswers != 1 {
			t.Errorf("counted %d unanswered, %d late, expected 1 and 1", s.Unanswered, s.LateAnswers)
		}
	})
}

func Test10ExactlyOneAnswer(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		r.driver.answer = func(c *server.Call) {
			c.Ack(&iface.Position2DGeom{})
			c.Ack(&iface.Position2DGeom{})
			c.Nack(nil)
		}
		c := r.client()
		c.is(c.request(position, getGeom, nil), player.Ack, position, getGeom)
		c.send(position, player.Command, setVel, &iface.Position2DCmdVel{}) // answers to commands do nothing
		c.quiet()
		if got := r.server.Stats().LateAnswers; got != 2 {
			t.Errorf("%d late answers, expected 2", got)
		}
	})
}

func Test10AnswersAfterTheClientHasGone(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		r.driver.answer = func(*server.Call) {}
		c := r.client()
		c.send(position, player.Request, getGeom, nil)
		synctest.Wait()
		c.nc.Close()
		synctest.Wait()
		r.driver.calls[0].Ack(&iface.Position2DGeom{})
	})
}

// An ACK without the body that stock clients read becomes a NACK; so does a
// payload that is not the message's.
func Test10AcksWithoutTheirBody(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		var payload any
		r.driver.answer = func(c *server.Call) { c.Ack(payload) }
		c := r.client()
		c.refused(position, getGeom, nil)
		c.refused(ranger, uint8(iface.ReqRangerSetConfig), &iface.RangerConfig{})
		c.refused(laser, uint8(iface.ReqGetIntprop), &iface.IntpropReq{Key: "k\x00"})
		payload = &iface.LaserGeom{}
		c.refused(position, getGeom, nil)
		payload = nil
		c.is(c.request(position, uint8(iface.ReqPosition2DResetOdom), nil), player.Ack, position, uint8(iface.ReqPosition2DResetOdom))
		if s := r.server.Stats(); s.MissingBodies != 3 || s.BadPayload != 1 {
			t.Errorf("counted %d missing bodies, %d bad payloads, expected 3 and 1", s.MissingBodies, s.BadPayload)
		}
	})
}

func Test4ANackMayHaveABody(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		r.driver.answer = func(c *server.Call) { c.Nack(c.Payload) }
		c := r.client()
		m := c.request(laser, 2, &iface.LaserConfig{MinAngle: 1})
		c.is(m, player.Nack, laser, 2)
		if m.Size != 28 {
			t.Errorf("body of %d bytes, expected the request's 28", m.Size)
		}
	})
}

// Kinder: the real server crashes.
func Test11Capabilities(t *testing.T) {
	for _, able := range []bool{true, false} {
		change := func(cfg *server.Config) {
			if able {
				cfg.Drivers[0] = capable{cfg.Drivers[0].(*fake)}
			}
		}
		inBubble(t, change, func(t *testing.T, r *rig) {
			c := r.client()
			for _, q := range []struct{ typ, subtype uint32 }{{2, 1}, {2, 2}, {258, 1}, {2, 257}} {
				want := player.Nack
				if able && q.typ == 2 && q.subtype == 1 {
					want = player.Ack
				}
				m := c.request(position, uint8(iface.ReqCapabilities), &iface.CapabilitiesReq{Type: q.typ, Subtype: q.subtype})
				c.is(m, want, position, uint8(iface.ReqCapabilities))
			}
			c.refused(position, uint8(iface.ReqCapabilities), nil)
			if handled := r.driver.noted() != ""; handled == able {
				t.Errorf("able %v: the driver saw %q", able, r.driver.noted())
			}
		})
	}
}

func Test11Properties(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		r.driver.answer = func(c *server.Call) {
			p, ok := c.Payload.(*iface.IntpropReq)
			switch {
			case !ok || iface.GoString(p.Key) != "speed":
				c.Nack(nil)
			case c.Header.Subtype == uint8(iface.ReqGetIntprop):
				c.Ack(&iface.IntpropReq{Key: p.Key, Value: -3})
			default:
				c.Ack(nil)
			}
		}
		c := r.client()
		m := c.request(position, uint8(iface.ReqGetIntprop), &iface.IntpropReq{Key: "speed\x00"})
		c.is(m, player.Ack, position, uint8(iface.ReqGetIntprop))
		expectBytes(t, m.Body, unhex(t, "00000006 00000006 73706565 64000000 fffffffd"))
		c.is(c.request(position, uint8(iface.ReqSetIntprop), &iface.IntpropReq{Key: "speed\x00", Value: 2}), player.Ack, position, uint8(iface.ReqSetIntprop))
		c.refused(position, uint8(iface.ReqGetIntprop), &iface.IntpropReq{Key: "other\x00"})
		c.refused(position, uint8(iface.ReqGetStrprop), &iface.StrpropReq{Key: "speed\x00"})
	})
}

func Test14WorkedBytes(t *testing.T) {
	inBubble(t, func(cfg *server.Config) { cfg.Clock = func() float64 { return 1.5 } }, func(t *testing.T, r *rig) {
		c := r.client()
		c.write(unhex(t, `00000000 00000000 00000001 00000000 00000003 00000003
			3ff80000 00000000 00000000 0000001c
			00000000 00000000 00000006 00000000 00000001 00000000 00000000`))
		expectBytes(t, c.bytes(76), unhex(t, `0100007f 00001a09 00000001 00000000 00000004 00000003 3ff80000 00000000 00000000 00000024
			0100007f 00001a09 00000006 00000000 00000001 00000006 00000006 64756d6d 79000000`))
		r.driver.pub.Publish(laser, 1, 2.25, &iface.LaserData{MinAngle: -0.5, MaxAngle: 0.5, Resolution: 0.5, MaxRange: 8,
			Ranges: []float32{1, 2, 8}, Intensity: []uint8{1, 0, 255}, ID: 7})
		expectBytes(t, c.bytes(92), unhex(t, `0100007f 00001a09 00000006 00000000 00000001 00000001 40020000 00000000 00000000 00000034
			bf000000 3f000000 3f000000 41000000 00000003 00000003 3f800000 40000000 41000000
			00000003 00000003 0100ff00 00000007`))
		c.write(unhex(t, `00000000 00000000 00000001 00000000 00000003 00000003
			3ff80000 00000000 00000000 0000001c
			00000000 00000000 00000006 00000009 00000001 00000000 00000000`))
		expectBytes(t, c.bytes(68), unhex(t, `0100007f 00001a09 00000001 00000000 00000006 00000003 3ff80000 00000000 00000000 0000001c
			0100007f 00001a09 00000006 00000009 00000003 00000000 00000000`))
	})
}

func TestPublishBodyIsSentAsItIs(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.open(laser)
		r.driver.pub.PublishBody(laser, 9, 3, []byte{1, 2, 3, 4})
		m := c.next()
		c.is(m, player.Data, laser, 9)
		expectBytes(t, m.Body, []byte{1, 2, 3, 4})
		if m.Timestamp != 3 {
			t.Errorf("timestamp %v, expected 3", m.Timestamp)
		}
	})
}

func TestBadPayloadsAreCountedNotSent(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.open(laser)
		pub := r.driver.pub
		pub.Publish(laser, 1, 0, &iface.Position2DData{})
		pub.Publish(laser, 1, 0, "text")
		pub.Publish(laser, 1, 0, (*iface.LaserData)(nil))
		pub.Publish(player.Addr{Interf: 77}, 1, 0, nil)
		pub.PublishBody(player.Addr{Interf: 77}, 1, 0, nil)
		pub.PublishBody(laser, 1, 0, make([]byte, 3))
		c.quiet()
		if got := r.server.Stats().BadPayload; got != 6 {
			t.Errorf("%d bad payloads, expected 6", got)
		}
	})
}

func TestNothingIsEncodedForNobody(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.open(position)
		r.driver.pub.Publish(laser, 1, 0, "not even a struct")
		c.close(position)
		r.driver.at(1)
		if s := r.server.Stats(); s.Published != 0 || s.BadPayload != 0 {
			t.Errorf("%d published, %d bad payloads, expected none", s.Published, s.BadPayload)
		}
	})
}
