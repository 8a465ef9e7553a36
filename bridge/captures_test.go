package bridge_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"
	callboard "callboard/clients/go"
	"callboard/player"
	"callboard/player/playertest"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// startWith runs a broker that reads the Player servers until the test ends.
func startWith(t *testing.T, with bridge.Config, players ...config.Player) *bridge.Bridge {
	t.Helper()
	c := config.Default()
	c.Broker.ID, c.Broker.Listen, c.Broker.Data = "b1", "127.0.0.1:0", t.TempDir()
	c.Players = players
	with.Config = c
	return startAs(t, with)
}

// startAs runs a broker until the test ends, whose configuration it completes.
func startAs(t *testing.T, with bridge.Config) *bridge.Bridge {
	t.Helper()
	with.Config.Complete()
	if err := with.Config.Validate().Err(); err != nil {
		t.Fatal(err)
	}
	b, err := bridge.New(with)
	if err != nil {
		t.Fatal(err)
	}
	run(t, b)
	return b
}

// run runs the broker until the test ends or the returned function is called.
func run(t *testing.T, b *bridge.Bridge) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	ended := false
	stop = func() {
		if ended {
			return
		}
		ended = true
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the broker ended with: %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

func attach(t *testing.T, b *bridge.Bridge) *callboard.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	c, err := callboard.Dial(ctx, callboard.Config{Brokers: []string{b.WebSocketURL()}, Logger: slog.New(slog.NewTextHandler(t.Output(), nil))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// late returns a client whose subscription is in place before the bridge's
// session with the Player server begins, which is when begin is called.
func late(t *testing.T, capture *playertest.Capture, sub protocol.Subscription) (begin func(), client *callboard.Client) {
	t.Helper()
	server := playertest.Play(t, capture, playertest.Options{Open: opened(capture)})
	gate := make(chan struct{})
	b := startWith(t, bridge.Config{Dial: func(ctx context.Context, address string) (net.Conn, error) {
		select {
		case <-gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}}, config.Player{Address: server.Addr(), Robot: "r0"})
	client = attach(t, b)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if _, err := client.Subscribe(ctx, sub); err != nil {
		t.Fatal(err)
	}
	return func() { close(gate) }, client
}

// opened lists the devices of a capture that conditions know.
func opened(c *playertest.Capture) (devices []uint32) {
	for _, m := range c.Data() {
		if slices.Contains(view.Interfaces(), player.Interface(m.Interf)) && !slices.Contains(devices, m.Device()) {
			devices = append(devices, m.Device())
		}
	}
	return devices
}

// reading is what is compared of a reading.
type reading struct {
	Interface string
	Index     int
	Time      float64
	Values    []float64 // ranges; or x, y, yaw, vx, vy, vyaw, stall
	Intensity int       // how many
}

// expected derives, with plain loops over the capture's bytes, the readings
// that conditions see: a scan that the server sent twice is one.
func expected(c *playertest.Capture) []reading {
	var out []reading
	elements := map[uint16]uint32{}
	laser, sonar := false, false
	for _, m := range c.Server {
		if m.Interf == 62 && m.Type == 4 && m.Subtype == 1 {
			elements[m.Index] = binary.BigEndian.Uint32(m.Body[72:])
		}
		laser = laser || m.Interf == 6
		sonar = sonar || m.Interf == 5
	}
	// counts reports whether a ranger's readings are readings of the robot: its
	// kind is known, and no laser or sonar has the same.
	counts := func(ranger uint16) bool {
		n := elements[ranger]
		return n == 1 && !laser || n > 1 && !sonar
	}
	f32 := func(b []byte, n uint32) (v []float64) {
		for i := range n {
			v = append(v, float64(math.Float32frombits(binary.BigEndian.Uint32(b[4*i:]))))
		}
		return v
	}
	f64 := func(b []byte, n uint32) (v []float64) {
		for i := range n {
			v = append(v, math.Float64frombits(binary.BigEndian.Uint64(b[8*i:])))
		}
		return v
	}
	for _, m := range c.Server {
		if m.Type != 1 {
			continue
		}
		r := reading{Index: int(m.Index), Time: m.Timestamp}
		switch key := [2]int{int(m.Interf), int(m.Subtype)}; {
		case key == [2]int{6, 1}:
			r.Interface = "laser"
			n := binary.BigEndian.Uint32(m.Body[20:])
			r.Values = f32(m.Body[24:], n)
			r.Intensity = int(binary.BigEndian.Uint32(m.Body[24+4*n:]))
			most := float64(math.Float32frombits(binary.BigEndian.Uint32(m.Body[12:])))
			for i, v := range r.Values {
				if most > 0 && v >= most {
					r.Values[i] = most
				}
			}
		case key == [2]int{62, 1} && counts(m.Index):
			r.Interface = "ranger"
			r.Values = f64(m.Body[8:], binary.BigEndian.Uint32(m.Body[4:]))
		case key == [2]int{62, 3} && elements[m.Index] == 1:
			n := int(binary.BigEndian.Uint32(m.Body[4:]))
			for i := len(out) - 1; i >= 0; i-- {
				if out[i].Interface == "ranger" && out[i].Index == int(m.Index) {
					if out[i].Time == m.Timestamp {
						out[i].Intensity = n
					}
					break
				}
			}
			continue
		case key == [2]int{5, 1}:
			r.Interface = "sonar"
			r.Values = f32(m.Body[8:], binary.BigEndian.Uint32(m.Body[4:]))
		case key == [2]int{4, 1}:
			r.Interface = "position2d"
			r.Values = append(f64(m.Body, 6), float64(binary.BigEndian.Uint32(m.Body[48:])))
		default:
			continue
		}
		if r.Interface == "laser" {
			twice := slices.IndexFunc(out, func(o reading) bool {
				return o.Interface == r.Interface && o.Index == r.Index && o.Time == r.Time && slices.Equal(o.Values, r.Values)
			})
			if twice >= 0 {
				out[twice].Intensity = r.Intensity
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// received reads a notification back.
func received(t *testing.T, n *callboard.Notification) reading {
	t.Helper()
	var v struct {
		Ranges, Intensities     []float64
		X, Y, Yaw, Vx, Vy, Vyaw float64
		Stall                   bool
	}
	if err := json.Unmarshal(n.Reading, &v); err != nil {
		t.Fatalf("reading %s: %v", n.Reading, err)
	}
	r := reading{Interface: n.Interface, Index: n.Index, Time: n.Time, Values: v.Ranges, Intensity: len(v.Intensities)}
	if n.Interface == "position2d" {
		stall := 0.0
		if v.Stall {
			stall = 1
		}
		r.Values = []float64{v.X, v.Y, v.Yaw, v.Vx, v.Vy, v.Vyaw, stall}
	}
	return r
}

// TestCapturesReachClients plays what real Player servers sent to a whole
// broker and compares what comes out of a real WebSocket with the capture.
func TestCapturesReachClients(t *testing.T) {
	for _, name := range []string{
		"b_laser_pull", "b_ranger_pull", "b_multi_pull_noreplace", "b_multi_pull_replace", "b_playercpp", "b_pull_overflow",
		"c_laser_push", "c_ranger_push", "d_position2d", "d_position2d_golden", "d_position2d_push", "d_position2d_robot2",
		"e_sonar", "e_sonar_as_ranger", "e_sonar_stage", "h_laser_golden", "h_laser_empty", "h_ranger_golden",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			capture, err := playertest.Load("../testdata/captures", name)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, capture, expected(capture))
		})
	}
}

func compare(t *testing.T, capture *playertest.Capture, want []reading) {
	server, client := late(t, capture, protocol.Subscription{ID: "all", Condition: "true", Devices: []string{"position2d", "laser", "sonar", "ranger"}})
	server()
	got := collect(t, client, len(want))
	sortByDevice(want)
	sortByDevice(got)
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("notifications differ from the capture (-capture +notified):\n%s", d)
	}
}

func sortByDevice(all []reading) {
	slices.SortStableFunc(all, func(a, b reading) int {
		return slices.Compare([]byte(fmt.Sprint(a.Interface, a.Index)), []byte(fmt.Sprint(b.Interface, b.Index)))
	})
}

// collect waits for n notifications and checks that they are one sequence.
func collect(t *testing.T, c *callboard.Client, n int) []reading {
	t.Helper()
	var got []reading
	last := map[string]uint64{}
	deadline := time.After(10 * time.Second)
	for len(got) < n {
		select {
		case e, ok := <-c.Events():
			if !ok {
				t.Fatalf("the client ended: %v", c.Err())
			}
			switch e := e.(type) {
			case *callboard.Notification:
				if e.Seq != last[e.Source]+1+e.Skipped {
					t.Errorf("seq %d after %d, skipped %d", e.Seq, last[e.Source], e.Skipped)
				}
				last[e.Source] = e.Seq
				got = append(got, received(t, e))
			case *callboard.Gap, *callboard.Fault, *callboard.Failure:
				t.Errorf("unexpected %T %+v", e, e)
			}
		case <-deadline:
			t.Errorf("only %d of %d notifications came", len(got), n)
			return got
		}
	}
	return got
}

// TestOneScanOneNotification: of a robot whose scanner shows up as ranger:0
// and, twice a scan, as laser:0, and whose ring as ranger:1 and sonar:0, each
// scan is one notification.
func TestOneScanOneNotification(t *testing.T) {
	capture := playertest.TwoRobots()
	want := expected(capture)
	if n := len(want); n < 30 {
		t.Fatalf("the capture has %d readings only", n)
	}
	for _, r := range want {
		if r.Interface == "ranger" {
			t.Fatalf("a ranger counts beside the laser or sonar made from it: %+v", r)
		}
	}
	compare(t, capture, want)
}

// TestConditionsSelect: of a real run only the readings for which a condition
// holds come, whichever way it is asked.
func TestConditionsSelect(t *testing.T) {
	capture := playertest.TwoRobots()
	least := func(r reading) float64 { return slices.Min(r.Values) }
	var threshold float64 // that about half of the scans are below
	var mins []float64
	for _, r := range expected(capture) {
		if r.Interface == "laser" {
			mins = append(mins, least(r))
		}
	}
	slices.Sort(mins)
	threshold = mins[len(mins)/2]
	for _, text := range []string{
		fmt.Sprintf("laser.min < %v", threshold),
		fmt.Sprintf("any(laser.ranges, # < %v)", threshold),
		fmt.Sprintf("not (laser.min >= %v)", threshold),
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			var want []reading
			for _, r := range expected(capture) {
				if r.Interface == "laser" && least(r) < threshold {
					want = append(want, r)
				}
			}
			begin, client := late(t, capture, protocol.Subscription{ID: "near", Condition: text})
			begin()
			if d := cmp.Diff(want, collect(t, client, len(want))); d != "" {
				t.Errorf("notifications differ from the capture (-capture +notified):\n%s", d)
			}
		})
	}
}

// TestFurtherReachClients: what conditions know of is opened unasked, and each
// message of the further interfaces comes as the reading that a condition sees.
func TestFurtherReachClients(t *testing.T) {
	for _, x := range []struct{ capture, interf, kind, condition, wanted string }{
		{"h_bumper_stage", "bumper", "bumper", "bumper.count == 3", "count"},
		{"h_fiducial_stage", "fiducial", "fiducial", "fiducial.count == 2 and 6 in fiducial.ids", "count,ids,range"},
		{"h_gripper_stage", "gripper", "gripper", "gripper.state >= 0", "state,open,broken"},
		{"h_blobfinder_stage", "blobfinder", "blobfinder", "blobfinder.color == 0xff00ff", "area,x"},
		{"h_power", "power", "power", "power.percent == 87.5", "volts,charging"},
		{"h_gps", "gps", "gps", "gps.fix && gps.latitude > 47", "latitude,num_sats"},
		{"h_imu", "imu", "imu", "imu.time >= 1000", "roll,accel_z,q0"},
		{"h_position3d", "position3d", "position", "position.z > 0", "z,vx,speed"},
		{"h_wifi", "wifi", "wifi", `"lab" in wifi.essids`, "essid,levels"},
		{"h_localize_amcl", "localize", "localize", "localize.count >= 0", "x,spread"},
		{"h_dummy_all", "actarray", "actarray", "actarray.motor_state == 1", "positions"},
	} {
		t.Run(x.capture, func(t *testing.T) {
			t.Parallel()
			capture, err := playertest.Load("../testdata/captures", x.capture)
			if err != nil {
				t.Fatal(err)
			}
			sent := 0
			for _, m := range capture.Data() {
				if player.Interface(m.Interf).String() == x.interf {
					sent++
				}
			}
			selected := map[string]string{}
			for name := range strings.SplitSeq(x.wanted, ",") {
				selected[name] = x.kind + "." + name
			}
			begin, client := late(t, capture, protocol.Subscription{ID: "whole", Condition: x.condition})
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if _, err := client.Subscribe(ctx, protocol.Subscription{ID: "parts", Condition: x.condition, Select: selected}); err != nil {
				t.Fatal(err)
			}
			begin()
			for range sent {
				n := next(t, client)
				var whole, parts map[string]any
				for _, s := range n.Subscriptions {
					if s.ID == "parts" {
						if err := json.Unmarshal(s.Values, &parts); err != nil {
							t.Fatal(err)
						}
					}
				}
				if err := json.Unmarshal(n.Reading, &whole); err != nil || n.Interface != x.interf || len(parts) != len(selected) {
					t.Fatalf("%s: %v", n.Raw, err)
				}
				for name, got := range parts {
					if want, ok := whole[name]; !ok || !cmp.Equal(want, got) {
						t.Errorf("%s is %v, selected %v", name, want, got)
					}
				}
			}
		})
	}
}

// next waits for a notification.
func next(t *testing.T, c *callboard.Client) *callboard.Notification {
	t.Helper()
	deadline := time.After(10 * time.Second)
	for {
		select {
		case e, ok := <-c.Events():
			if !ok {
				t.Fatalf("the client ended: %v", c.Err())
			}
			switch e := e.(type) {
			case *callboard.Notification:
				return e
			case *callboard.Gap, *callboard.Fault, *callboard.Failure:
				t.Fatalf("unexpected %T %+v", e, e)
			}
		case <-deadline:
			t.Fatal("no more notifications came")
		}
	}
}
