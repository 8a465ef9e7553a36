package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"callboard/bridge/config"
	"callboard/bridge/record"
	callboard "callboard/clients/go"
	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
	"callboard/player/run"
	"callboard/player/server"
	"callboard/subscribe/protocol"
	"callboard/subscribe/view"

	"github.com/google/go-cmp/cmp"
)

// choirAsks are conditions on every kind of reading, with thresholds that no
// value with three decimals is near to.
var choirAsks = map[view.Kind]string{
	view.KindLaser: "laser.min < 2.0004", view.KindSonar: "sonar.min < 2.0004", view.KindPosition: "position.x > 1.0004",
	view.KindBumper: "bumper.pressed > 1", view.KindFiducial: "fiducial.range < 9.0004", view.KindPower: "power.volts > 1.0004",
	view.KindGPS: "gps.latitude > 0.00000035", view.KindIMU: "imu.yaw > 1.0004", view.KindBlobfinder: "blobfinder.area > 3",
	view.KindGripper: "gripper.beams > 3", view.KindLocalize: "localize.x > 1.0004", view.KindIR: "ir.min < 1.0004",
	view.KindPTZ: "ptz.pan > 1.0004", view.KindAIO: "aio.max > 1.0004", view.KindDIO: "dio.on > 1", view.KindJoystick: "joystick.pos[0] > 2",
	view.KindPlanner: "planner.x > 1.0004", view.KindPosition1D: "position1d.pos > 1.0004", view.KindActarray: "any(actarray.positions, # > 1.0004)",
	view.KindLimb: "limb.x > 1.0004", view.KindHealth: "health.cpu_idle > 1.0004", view.KindWifi: "wifi.level > 2", view.KindRFID: `"0203" in rfid.tags`,
	view.KindWSN: "wsn.temperature > 1.0004", view.KindSpeechRecognition: `speech_recognition.text == "ab"`,
	view.KindBlinkenlight: "blinkenlight.period > 1.0004", view.KindCoopobject: "coopobject.id > 3",
}

// A recorder that comes to a broker whose robots are up counts those that it
// asks for as up, though nothing comes of them.
func TestRecordOfARobotThatIsUp(t *testing.T) {
	c := &choir{}
	address := c.serve(t)
	running := inBackground(t)
	b, gate := gatedBroker(t, running, []config.Player{{Address: address, Robot: "r0"}, {Address: address, Robot: "other"}})
	close(gate)
	until(t, "the broker reads the robots", func() bool { return robotsUp(t, b) == 2 })
	client, err := callboard.Dial(t.Context(), callboard.Config{Brokers: []string{b.WebSocketURL()}})
	if err != nil {
		t.Fatal(err)
	}
	output := filepath.Join(t.TempDir(), "broker.mcap")
	r, err := record.New(record.Config{
		Output: output,
		Source: fromBroker(client, toRecord(output, []string{"r*"}, nil), slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		t.Fatal(err)
	}
	end := running.run("recording", r.Run)
	until(t, "a robot counts as up", func() bool { return r.Status().Up > 0 })
	end()
	if s := r.Status(); s.Robots != 1 {
		t.Errorf("%d robots are recorded, expected the one that is asked for", s.Robots)
	}
}

// TestSameAnswersOfEveryInterface is the round for a robot that has all that
// conditions know: the broker's notifications, and what queries find in
// recordings of the Player server and of the broker, in both formats.
func TestSameAnswersOfEveryInterface(t *testing.T) {
	c := &choir{rng: rand.New(rand.NewPCG(1, 2))}
	address := c.serve(t)
	running := inBackground(t)
	b, gate := gatedBroker(t, running, []config.Player{{Address: address, Robot: "r0"}})
	subscriptions := []protocol.Subscription{{ID: "all", Condition: "true"}}
	for k := range view.Kind(view.NumKinds) {
		subscriptions = append(subscriptions, protocol.Subscription{ID: k.String(), Condition: choirAsks[k]})
	}
	events := subscribedTo(t, b, subscriptions)
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	recorders := map[string]*record.Recorder{}
	ends := map[string]func(){}
	for _, name := range []string{"player.mcap", "player.log", "broker.mcap", "broker.log"} {
		config := record.Config{Output: file(name)}
		if strings.HasPrefix(name, "player") {
			config.Servers = []record.Server{{Address: address, Robot: "r0"}}
		} else {
			client, err := callboard.Dial(t.Context(), callboard.Config{Brokers: []string{b.WebSocketURL()}})
			if err != nil {
				t.Fatal(err)
			}
			config.Source = fromBroker(client, toRecord(name, nil, nil), slog.New(slog.DiscardHandler))
		}
		r, err := record.New(config)
		if err != nil {
			t.Fatal(err)
		}
		recorders[name], ends[name] = r, running.run("recording "+name, r.Run)
	}
	close(gate)
	for _, r := range recorders {
		until(t, "the recorder is up", func() bool { return r.Status().Up == 1 })
	}
	until(t, "the broker reads the robot", func() bool { return robotsUp(t, b) == 1 })
	const rounds = 20
	for range rounds {
		sent := c.sing()
		for name, r := range recorders {
			until(t, "all is recorded: "+name, func() bool { s := r.Status(); return s.Messages+s.Unwritable >= sent })
		}
	}
	for _, end := range ends {
		end()
	}
	found := queried(t, file("player.mcap"), subscriptions)
	live := notifications(t, events, len(found))
	for k := range view.Kind(view.NumKinds) {
		if !slices.ContainsFunc(live, func(line string) bool { return strings.HasPrefix(line, k.String()+" ") }) {
			t.Errorf("no reading matches %s", choirAsks[k])
		}
	}
	if diff := cmp.Diff(live, found); diff != "" {
		t.Errorf("the live run (-) and a query of its MCAP file (+) differ:\n%s", diff)
	}
	if diff := cmp.Diff(live, queried(t, file("broker.mcap"), subscriptions)); diff != "" {
		t.Errorf("the live run (-) and a query of the MCAP file from the broker (+) differ:\n%s", diff)
	}
	if diff := cmp.Diff(bodiesIn(t, file("player.mcap")), bodiesIn(t, file("broker.mcap"))); diff != "" {
		t.Errorf("the recording of the Player server (-) and that of the broker (+) hold other messages:\n%s", diff)
	}
	held := matched(t, slices.DeleteFunc(live, func(line string) bool { return c.unheld(line) }))
	for _, name := range []string{"player.log", "broker.log"} {
		if diff := cmp.Diff(held, matched(t, queried(t, file(name), subscriptions))); diff != "" {
			t.Errorf("the live run (-) and a query of %s (+) match other readings:\n%s", name, diff)
		}
	}
}

// bodiesIn lists the messages of a recording, to the bit.
func bodiesIn(t *testing.T, name string) (all []string) {
	t.Helper()
	f, err := run.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := f.Reader(run.Options{Bodies: true})
	if err != nil {
		t.Fatal(err)
	}
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(all) // a broker holds scans back
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Kind == run.Data {
			all = append(all, fmt.Sprintf("%s %s %d at %g: %x", rec.Robot, rec.Device, rec.Header.Subtype, rec.Header.Timestamp, rec.Payload.(*iface.Raw).Body))
		}
	}
}

// choir is a Player server's driver with a device of every interface that
// conditions know.
type choir struct {
	rng     *rand.Rand
	pub     server.Publisher
	devices []server.DeviceInfo
	rounds  int
	sent    uint64
	missing map[string]bool // readings that a log cannot hold, as device and time
}

// serve serves the driver until the test ends.
func (c *choir) serve(t *testing.T) (address string) {
	t.Helper()
	c.missing = map[string]bool{}
	for _, i := range view.Interfaces() {
		if i != player.InterfaceRanger { // stands for a laser or sonar, which there are
			c.devices = append(c.devices, server.DeviceInfo{Interf: i, Driver: "choir"})
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Listener: listener, Drivers: []server.Driver{c}})
	if err != nil {
		t.Fatal(err)
	}
	inBackground(t).run("the choir", s.Run)
	return listener.Addr().String()
}

func (c *choir) Devices() []server.DeviceInfo { return c.devices }
func (c *choir) Attach(pub server.Publisher)  { c.pub = pub }
func (c *choir) Open(player.Addr) error       { return nil }
func (c *choir) Close(player.Addr)            {}

// Handle tells the sonar's geometry.
func (c *choir) Handle(call *server.Call) {
	if call.Header.Addr.Interf == player.InterfaceSonar && call.Header.Subtype == iface.ReqSonarGetGeom {
		call.Ack(&iface.SonarGeom{Poses: make([]iface.Pose3D, 3)})
		return
	}
	call.Nack(nil)
}

// sing publishes a reading of each device, of any kind that it has, and tells
// how many were published so far.
func (c *choir) sing() uint64 {
	c.rounds++
	now := float64(c.rounds)
	for _, d := range c.devices {
		var kinds []*iface.Message
		for subtype := range uint8(9) {
			if m, ok := iface.Lookup(d.Interf, player.Data, subtype); ok && readings(d.Interf, subtype) {
				kinds = append(kinds, m)
			}
		}
		addr := player.Addr{Interf: d.Interf}
		m := kinds[c.rng.IntN(len(kinds))]
		payload := m.New()
		c.fill(reflect.ValueOf(payload).Elem(), m.Interface == player.InterfaceRFID)
		c.fit(payload)
		wifi, some := payload.(*iface.WifiData)
		if !playerlog.Holds(d.Interf, player.Data, m.Subtype) || some && len(wifi.Links) > 0 {
			c.missing[when(addr.String(), now)] = true
		}
		c.pub.Publish(addr, m.Subtype, now, payload)
		c.sent++
	}
	return c.sent
}

// when names the reading of a device at a time.
func when(device string, time float64) string { return fmt.Sprintf("%s %g", device, time) }

// readings reports whether messages of a subtype are readings.
func readings(i player.Interface, subtype uint8) bool {
	switch i {
	case player.InterfaceLaser:
		return subtype == iface.DataLaserScan || subtype == iface.DataLaserScanangle
	case player.InterfaceCoopobject:
		return subtype < iface.DataCoopobjectUserDefined || subtype == iface.DataCoopobjectPosition
	case player.InterfaceIMU:
		return true
	}
	return subtype == 1
}

// fill fills a message with numbers that a log can hold.
func (c *choir) fill(v reflect.Value, tag bool) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			c.fill(v.Field(i), tag)
		}
	case reflect.Array:
		for i := range v.Len() {
			c.fill(v.Index(i), tag)
		}
	case reflect.Slice:
		n := c.rng.IntN(4)
		if tag && v.Type().Elem().Kind() == reflect.Uint8 { // a tag's number
			v.SetBytes([]byte{2, uint8(c.rng.IntN(4))})
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			c.fill(v.Index(i), tag)
		}
	case reflect.String:
		v.SetString([]string{"ab", "abc"}[c.rng.IntN(2)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(c.rng.IntN(64)-16) / 8)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(c.rng.IntN(10) - 2))
	default:
		v.SetUint(uint64(c.rng.IntN(8)))
	}
}

// fit corrects what no device sends.
func (c *choir) fit(payload any) {
	switch p := payload.(type) {
	case *iface.GPSData:
		p.TimeUsec = 0
	case *iface.WifiData:
		p.AP = [32]uint8{'a'}
	case *iface.LaserData:
		p.MaxRange, p.MinAngle, p.MaxAngle = 8, -1, 1
		p.Resolution = float32(2) / float32(max(len(p.Ranges)-1, 1))
		p.Intensity = p.Intensity[:0]
	case *iface.LaserDataScanangle:
		p.MaxRange, p.Intensity = 8, p.Intensity[:0]
		p.Angles = make([]float32, len(p.Ranges))
		for i := range p.Angles {
			p.Angles[i] = float32(i) / 4
		}
	case *iface.JoystickData:
		p.AxesCount = 3
	case *iface.PowerData:
		p.Valid = iface.PowerMaskVolts | iface.PowerMaskPercent
	}
}

// unheld reports whether a line is of a reading that a log cannot hold.
func (c *choir) unheld(line string) bool {
	_, text, _ := strings.Cut(line, " ")
	var n struct {
		Device string
		Time   float64
	}
	return json.Unmarshal([]byte(text), &n) != nil || c.missing[when(n.Device, n.Time)]
}
