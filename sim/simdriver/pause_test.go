package simdriver

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim"
	"callboard/sim/worldfile"

	"golang.org/x/sync/errgroup"
)

// set sets a property of the simulation.
func (r *rig) set(ctx context.Context, prop string, value uint32) error {
	return r.Request(ctx, worldDevice, iface.ReqSimulationSetProperty,
		&iface.SimulationPropertyReq{Prop: iface.CString(prop), Value: binary.LittleEndian.AppendUint32(nil, value)}, nil)
}

// TestStepByRequest: a paused world makes the steps that it is asked for, as
// fast as it can, and answers behind the readings that they brought.
func TestStepByRequest(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		r := start(t, ctx, Config{World: load(t, "capture.world"), Speed: 1, Paused: true}, nil, "alpha")
		<-time.After(5 * time.Second) // of the bubble
		if at := r.sim.Clock(); at != 0 {
			t.Fatalf("paused from the start, and it is %v s", at)
		}
		if err := r.Send(ctx, positionDevice, iface.CmdPosition2DVel, &iface.Position2DCmdVel{Vel: iface.Pose2D{Px: 0.5}}); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			begin := time.Now()
			if err := r.set(ctx, "step", 3); err != nil {
				t.Fatal(err)
			}
			if time.Since(begin) > 10*time.Millisecond {
				t.Errorf("3 steps took %v", time.Since(begin))
			}
			for j := range 3 {
				// They are there already.
				got := r.next(positionDevice, iface.DataPosition2DState)
				if want := float64(3*i+j+1) / 10; got.Header.Timestamp != want {
					t.Fatalf("round %d: reading %d has time %v, expected %v", i, j, got.Header.Timestamp, want)
				}
			}
		}
		synctest.Wait()
		if at := r.sim.Clock(); at != 6 {
			t.Errorf("after 60 steps it is %v s", at)
		}
		for _, bad := range []struct {
			prop  string
			value []byte
		}{{"step", []byte{1}}, {"step", binary.LittleEndian.AppendUint32(nil, 1<<30)}, {"paused", []byte{0}}, {"stride", make([]byte, 4)}} {
			req := &iface.SimulationPropertyReq{Prop: iface.CString(bad.prop), Value: bad.value}
			if err := r.Request(ctx, worldDevice, iface.ReqSimulationSetProperty, req, nil); err == nil {
				t.Errorf("%s of %d bytes was accepted", bad.prop, len(bad.value))
			}
		}
		if err := r.set(ctx, "paused", 0); err != nil {
			t.Fatal(err)
		}
		if err := r.set(ctx, "step", 1); err == nil {
			t.Error("a world that runs made a step by request")
		}
		<-time.After(time.Second)
		if at := r.sim.Clock(); at < 6.8 || at > 7.2 {
			t.Errorf("a second after the pause it is %v s", at)
		}
		var got iface.SimulationPropertyReq
		if err := r.Request(ctx, worldDevice, iface.ReqSimulationGetProperty, &iface.SimulationPropertyReq{Prop: iface.CString("paused"), Value: make([]byte, 4)}, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Value) != 4 || got.Value[0] != 0 {
			t.Errorf("paused is %v", got.Value)
		}
	})
}

// digest is a Publisher that makes a hash of all that is published.
type digest struct {
	mu  sync.Mutex
	sum uint64
	n   int
}

func (d *digest) Opened(player.Addr) bool                         { return true }
func (d *digest) PublishBody(player.Addr, uint8, float64, []byte) {}
func (d *digest) Publish(a player.Addr, subtype uint8, time float64, payload any) {
	body, err := iface.Append(nil, payload)
	if err != nil {
		panic(err)
	}
	h := fnv.New64a()
	var head [8 + 8 + 4]byte
	d.mu.Lock()
	defer d.mu.Unlock()
	binary.LittleEndian.PutUint64(head[:], d.sum)
	binary.LittleEndian.PutUint64(head[8:], uint64(time*1e6))
	head[16], head[17], head[18], head[19] = byte(a.Interf), byte(a.Index), byte(a.Index>>8), subtype
	h.Write(head[:])
	h.Write(body)
	d.sum = h.Sum64()
	d.n++
}

// play runs a world with all its devices open and returns the hash of all that
// it published.
func play(ctx context.Context, file *worldfile.World, seed uint64) (uint64, int, error) {
	w, err := sim.New(sim.Config{World: file, Seed: seed})
	if err != nil {
		return 0, 0, err
	}
	s, err := New(Config{World: w, Duration: 30 * time.Second, Wander: true, Seed: seed})
	if err != nil {
		return 0, 0, err
	}
	d := &digest{}
	for i, name := range s.Robots() {
		driver, err := s.driver(name, uint16(i), true)
		if err != nil {
			return 0, 0, err
		}
		driver.Attach(d)
		for _, info := range driver.Devices() {
			if err := driver.Open(player.Addr{Interf: info.Interf, Index: info.Index}); err != nil {
				return 0, 0, err
			}
		}
	}
	err = s.Run(ctx)
	return d.sum, d.n, err
}

var _ server.Publisher = (*digest)(nil)

// TestSameSeedSameBytes: what is published depends on the seed alone, also when
// worlds run beside each other.
func TestSameSeedSameBytes(t *testing.T) {
	file := load(t, "capture.world").File()
	sums := make([]uint64, 6)
	var group errgroup.Group
	for i := range sums {
		group.Go(func() error {
			sum, n, err := play(t.Context(), file, uint64(i/3))
			if sums[i] = sum; n < 3000 {
				t.Errorf("only %d messages", n)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if sums[0] != sums[1] || sums[0] != sums[2] || sums[3] != sums[4] || sums[3] != sums[5] {
		t.Errorf("one seed, different bytes: %x", sums)
	}
	if sums[0] == sums[3] {
		t.Error("two seeds, the same bytes")
	}
}
