package bridge_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"callboard/bridge/benchtest"
	"callboard/subscribe/protocol"

	"github.com/gorilla/websocket"
)

// BenchmarkDialects is what a program costs that gets the scans (181 beams) of ten
// robots, ten a second each, by callboard.v1, rosbridge and Foxglove. The broker is a
// process of its own. An operation is a scan of each robot, spread over 0.1 s: the
// time of an operation says nothing. p50 and p99 are from the stamp of a scan, when
// its robot sends it, to its arrival at the program's socket.
func BenchmarkDialects(b *testing.B) {
	for _, dialect := range []*dialectLoad{
		{name: "callboard.v1", path: "/ws", subprotocol: protocol.Subprotocol, asks: func(int) string {
			return `{"op":"hello"}` + "\n" + `{"op":"subscribe","id":"a","condition":"laser.count > 0"}`
		}, stamp: func(m []byte) (time.Duration, bool) {
			if !bytes.HasPrefix(m, []byte(`{"op":"notify"`)) {
				return 0, false
			}
			return benchtest.Time(m)
		}},
		{name: "callboard.v1.cbor", path: "/ws", subprotocol: protocol.SubprotocolCBOR, asks: func(int) string {
			return "\xa1\x62op\x65hello" + "\n" + "\xa3\x62op\x69subscribe\x62id\x61a\x69condition\x6flaser.count > 0"
		}, stamp: func(m []byte) (time.Duration, bool) {
			_, rest, ok := bytes.Cut(m, []byte("\x64time\xfb"))
			if !ok || len(rest) < 8 {
				return 0, false
			}
			return time.Duration(math.Float64frombits(binary.BigEndian.Uint64(rest)) * 1e9), true
		}},
		rosbridgeLoad("json", "none"), rosbridgeLoad("cbor", "cbor"), rosbridgeLoad("cbor-raw", "cbor-raw"),
	} {
		b.Run(dialect.name, func(b *testing.B) { dialect.run(b) })
	}
}

// dialectLoad is a way to get scans.
type dialectLoad struct {
	name, path, subprotocol string
	asks                    func(robots int) string // messages, a line each
	stamp                   func(message []byte) (time.Duration, bool)
}

// rosbridgeLoad is rosbridge with a compression.
func rosbridgeLoad(name, compression string) *dialectLoad {
	return &dialectLoad{name: "rosbridge/" + name, path: "/rosbridge", asks: func(robots int) string {
		all := make([]string, robots)
		for i := range all {
			all[i] = fmt.Sprintf(`{"op":"subscribe","topic":"/r%d/base_scan","type":"sensor_msgs/LaserScan","compression":%q}`, i, compression)
		}
		return strings.Join(all, "\n")
	}, stamp: rosbridgeStamp}
}

// rosbridgeStamp reads the stamp of a scan: in JSON, in CBOR, or in ROS 1's bytes.
func rosbridgeStamp(m []byte) (time.Duration, bool) {
	if _, rest, ok := bytes.Cut(m, []byte(`"stamp":{"secs":`)); ok {
		var secs, nsecs int64
		n, err := fmt.Sscanf(string(rest[:min(len(rest), 40)]), `%d,"nsecs":%d`, &secs, &nsecs)
		return time.Duration(secs*1e9 + nsecs), n == 2 && err == nil
	}
	if _, rest, ok := bytes.Cut(m, []byte("\x65bytes")); ok && len(rest) > 3+12 {
		raw := rest[3:] // behind the head of some hundred bytes
		return time.Duration(int64(binary.LittleEndian.Uint32(raw[4:]))*1e9 + int64(binary.LittleEndian.Uint32(raw[8:]))), true
	}
	_, rest, ok := bytes.Cut(m, []byte("\x64secs\x1a"))
	if !ok || len(rest) < 20 {
		return 0, false
	}
	secs, nsecs := int64(binary.BigEndian.Uint32(rest)), int64(0)
	if _, rest, ok = bytes.Cut(rest, []byte("\x65nsecs\x1a")); ok {
		nsecs = int64(binary.BigEndian.Uint32(rest))
	}
	return time.Duration(secs*1e9 + nsecs), true
}

func (d *dialectLoad) run(b *testing.B) {
	const robots, beams = 10, 181
	fleet, err := benchtest.NewFleetOn(robots, beams, func(int) (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") })
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- fleet.Run(ctx) }()
	broker := startProcess(b, fleetFile(b, fleet))
	if err := benchtest.Up(ctx, broker.URL, robots); err != nil {
		b.Fatal(err)
	}
	dialer := websocket.Dialer{NetDialContext: benchtest.DialStamped}
	if d.subprotocol != "" {
		dialer.Subprotocols = []string{d.subprotocol}
	}
	ws, _, err := dialer.Dial("ws"+strings.TrimPrefix(broker.URL, "http")+d.path, nil)
	if err != nil {
		b.Fatal(err)
	}
	kind := websocket.TextMessage
	if d.subprotocol == protocol.SubprotocolCBOR {
		kind = websocket.BinaryMessage
	}
	for _, text := range strings.Split(d.asks(robots), "\n") {
		if err := ws.WriteMessage(kind, []byte(text)); err != nil {
			b.Fatal(err)
		}
	}
	arrived := make(chan arrival, 1000)
	go d.read(ws, arrived)
	pace := time.NewTicker(100 * time.Millisecond / robots)
	defer pace.Stop()
	publish := func(robot int) {
		<-pace.C
		fleet.Publish(robot, true, float64(time.Now().UnixMicro())/1e6)
	}
	for robot := range robots { // each is subscribed once its scan comes
		for come := false; !come; {
			publish(robot)
			select {
			case _, ok := <-arrived:
				if come = ok; !ok {
					b.Fatal("the connection ended")
				}
			case <-time.After(100 * time.Millisecond):
			}
		}
	}
	for len(arrived) > 0 {
		<-arrived
	}
	before, err := benchtest.Processor(broker.Pid())
	if err != nil {
		b.Skip(err)
	}
	var delays []time.Duration
	size := 0
	for b.Loop() {
		for robot := range robots {
			publish(robot)
		}
		for range robots {
			a := <-arrived
			delays, size = append(delays, a.delay), size+a.size
		}
	}
	after, err := benchtest.Processor(broker.Pid())
	if err != nil {
		b.Fatal(err)
	}
	n := len(delays)
	slices.Sort(delays)
	b.ReportMetric(float64(delays[n/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(delays[n*99/100].Microseconds()), "p99-µs")
	b.ReportMetric(float64(size)/float64(n), "B/scan")
	b.ReportMetric(float64((after-before).Microseconds())/float64(n), "processor-µs/scan")
	ws.Close()
	broker.Kill()
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
}

// arrival is a scan at the program: how long after it was sent, and its bytes.
type arrival struct {
	delay time.Duration
	size  int
}

// read reads scans until the connection ends.
func (d *dialectLoad) read(ws *websocket.Conn, to chan<- arrival) {
	defer close(to)
	for {
		_, m, err := ws.ReadMessage()
		if err != nil {
			return
		}
		at := benchtest.Arrived(ws.NetConn(), time.Now())
		if stamp, ok := d.stamp(m); ok {
			to <- arrival{time.Duration(at.UnixNano()) - stamp, len(m)}
		}
	}
}

// fleetFile writes the configuration of a broker that reads a fleet.
func fleetFile(b *testing.B, fleet *benchtest.Fleet) string {
	b.Helper()
	dir := b.TempDir()
	text := "[broker]\nid = \"bench\"\nlisten = \"127.0.0.1:0\"\ndata = \"data\"\n"
	for i, address := range fleet.Addresses() {
		text += fmt.Sprintf("[[player]]\naddress = %q\nrobot = %q\n", address, fleet.Robot(i))
	}
	file := filepath.Join(dir, "callboard.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return file
}
