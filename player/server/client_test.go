package server_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"callboard/player"
	playerclient "callboard/player/client"
	"callboard/player/iface"
	"callboard/player/server"
)

// recorder records what our own client makes of the server.
type recorder struct {
	up    []playerclient.Device
	times []float64
	lost  uint64
	downs int
}

func (l *recorder) Up(d []playerclient.Device)     { l.up = slices.Clone(d) }
func (l *recorder) Changed(playerclient.Device)    {}
func (l *recorder) Message(h player.Header, _ any) { l.times = append(l.times, h.Timestamp) }
func (l *recorder) Round()                         {}
func (l *recorder) Overflow(lost uint64)           { l.lost += lost }
func (l *recorder) Down(error)                     { l.downs++ }

// Our client and our server understand each other over a pipe, in both modes:
// devices with geometry, readings, requests, commands.
func TestOurClient(t *testing.T) {
	for _, mode := range []uint8{player.Push, player.Pull} {
		inBubble(t, nil, func(t *testing.T, r *rig) {
			r.driver.answer = func(c *server.Call) {
				switch p := c.Payload.(type) {
				case *iface.SimulationPose2DReq:
					p.Pose.Px = 3
					c.Ack(p)
				default:
					if c.Header.Interf == player.InterfacePosition2D && c.Header.Subtype == getGeom {
						c.Ack(&iface.Position2DGeom{Size: iface.BBox3D{Sl: 0.5}})
						return
					}
					c.Nack(nil)
				}
			}
			l := &recorder{}
			c, err := playerclient.New(playerclient.Config{Address: "r0", Dial: r.pipe.Dial, Mode: mode, Handler: l})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() { done <- c.Run(ctx) }()
			synctest.Wait()
			var reply iface.SimulationPose2DReq
			if err := c.Request(ctx, sim, 1, &iface.SimulationPose2DReq{Name: "r0\x00"}, &reply); err != nil || reply.Pose.Px != 3 {
				t.Errorf("GET_POSE2D: %+v, %v", reply, err)
			}
			if err := c.Send(ctx, position, setVel, &iface.Position2DCmdVel{}); err != nil {
				t.Errorf("a command: %v", err)
			}
			for i := range 50 {
				server.Batch(r.driver.pub, func() { r.driver.at(float64(i)) })
			}
			synctest.Wait()
			cancel()
			<-done
			synctest.Wait()
			if len(l.up) != 4 || l.up[0].Geometry == nil || l.up[0].Geometry.Size.L != 0.5 || l.up[0].Driver != "stage" {
				t.Errorf("devices %+v, expected 4, position2d with its geometry", l.up)
			}
			if len(l.times) != 50 || !slices.IsSorted(l.times) || l.lost != 0 {
				t.Errorf("readings at %v, %d lost, expected 50 in order", l.times, l.lost)
			}
			if s := r.server.Stats(); s.Clients != 0 || r.driver.pub.Opened(position) {
				t.Errorf("%d clients left after the session's end", s.Clients)
			}
		})
	}
}
