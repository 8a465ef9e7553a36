package client_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
)

func TestProperties(t *testing.T) {
	ints, floats, texts, bools := map[string]int32{}, map[string]float64{}, map[string]string{}, map[string]int8{}
	prepare := func(f *fake) {
		f.on = func(f *fake, m player.Message) bool {
			def, ok := iface.Lookup(m.Interf, m.Type, m.Subtype)
			if !ok || def.Interface != 0 {
				return false
			}
			p := def.New()
			f.decode(m, p)
			known := true
			switch p := p.(type) {
			case *iface.IntpropReq:
				if m.Subtype == iface.ReqSetIntprop {
					ints[p.Key] = p.Value
				}
				p.Value, known = ints[p.Key]
			case *iface.DblpropReq:
				if m.Subtype == iface.ReqSetDblprop {
					floats[p.Key] = p.Value
				}
				p.Value, known = floats[p.Key]
			case *iface.StrpropReq:
				if m.Subtype == iface.ReqSetStrprop {
					texts[p.Key] = p.Value
				}
				p.Value, known = texts[p.Key]
			case *iface.BoolpropReq:
				if m.Subtype == iface.ReqSetBoolprop {
					bools[p.Key] = p.Value
				}
				p.Value, known = bools[p.Key]
			}
			switch {
			case !known:
				f.nack(m, nil)
			case m.Subtype%2 == 1: // SET
				f.ack(m, nil)
			default:
				f.ack(m, p)
			}
			return true
		}
	}
	one(t, client.Config{}, []player.Addr{laser0}, prepare, func(t *testing.T, f *fake, r *running) {
		ctx := context.Background()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		must(r.SetIntProperty(ctx, laser0, "n", math.MinInt32))
		must(r.SetFloatProperty(ctx, laser0, "x", -0.5))
		must(r.SetTextProperty(ctx, laser0, "s", "a text"))
		must(r.SetBoolProperty(ctx, laser0, "b", true))
		n, err := r.IntProperty(ctx, laser0, "n")
		must(err)
		x, err := r.FloatProperty(ctx, laser0, "x")
		must(err)
		s, err := r.TextProperty(ctx, laser0, "s")
		must(err)
		b, err := r.BoolProperty(ctx, laser0, "b")
		must(err)
		if n != math.MinInt32 || x != -0.5 || s != "a text" || !b {
			t.Errorf("read %v, %v, %q, %v", n, x, s, b)
		}
		must(r.SetBoolProperty(ctx, laser0, "b", false))
		if b, err := r.BoolProperty(ctx, laser0, "b"); b || err != nil {
			t.Errorf("read %v, %v", b, err)
		}
		var nack *client.NackError
		if _, err := r.IntProperty(ctx, laser0, "none"); !errors.As(err, &nack) {
			t.Errorf("an unknown property: %v", err)
		}
		if texts["s\x00"] != "a text\x00" {
			t.Errorf("texts went as %q", texts)
		}
		synctest.Wait()
	})
}

// By default everything is opened but what sends images and the like.
func TestDevicesOpenedByDefault(t *testing.T) {
	devices := []player.Addr{laser0, addr(player.InterfaceCamera, 0), addr(player.InterfaceStereo, 0), addr(player.InterfacePointcloud3D, 0),
		addr(player.InterfaceAudio, 0), addr(player.InterfaceSimulation, 0), addr(player.InterfaceGPS, 0), addr(777, 0)}
	one(t, client.Config{}, devices, nil, func(t *testing.T, f *fake, r *running) {
		f.opens(t, "+laser:0 +gps:0")
	})
}
