package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"callboard/bridge/benchtest"

	"github.com/gorilla/websocket"
)

// mosquitto is an MQTT broker in a process of its own, on free ports.
type mosquitto struct {
	address    string
	webSockets string // the address for MQTT over WebSocket
	process    *exec.Cmd
}

// findMosquitto returns the path of Debian's mosquitto, "" if it is not there.
func findMosquitto() string {
	if path, err := exec.LookPath("mosquitto"); err == nil {
		return path
	}
	const debian = "/usr/sbin/mosquitto"
	if _, err := os.Stat(debian); err == nil {
		return debian
	}
	return ""
}

// listenWithin is how long mosquitto may take until it listens.
const listenWithin = 10 * time.Second

// startMosquitto starts mosquitto with nothing on but what is measured.
func startMosquitto(ctx context.Context, path, dir string) (*mosquitto, error) {
	address, err := benchtest.FreeAddress()
	if err != nil {
		return nil, err
	}
	webSockets, err := benchtest.FreeAddress()
	if err != nil {
		return nil, err
	}
	m := &mosquitto{address: address, webSockets: webSockets}
	settings := filepath.Join(dir, "mosquitto.conf")
	text := listenerLine(address) + listenerLine(webSockets) + "protocol websockets\n" +
		"allow_anonymous true\nset_tcp_nodelay true\npersistence false\nlog_type none\n"
	if os.Geteuid() == 0 {
		text += "user root\n" // it reads its settings as that user
	}
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return nil, err
	}
	m.process = exec.Command(path, "-c", settings)
	var said bytes.Buffer // read when it has ended
	m.process.Stderr = &said
	if err := m.process.Start(); err != nil {
		return nil, err
	}
	late := time.After(listenWithin)
	for {
		conn, err := net.Dial("tcp", m.webSockets) // it opens this one last
		if err == nil {
			conn.Close()
			return m, nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-late:
			stopped := m.stop()
			return nil, errors.Join(fmt.Errorf("after %v it does not listen for WebSockets, expected a mosquitto that is built with them: %w; it said %q", listenWithin, err, said.Bytes()), stopped)
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), m.stop())
		}
	}
}

// listenerLine is the line of mosquitto's settings for an address.
func listenerLine(address string) string {
	host, port, _ := net.SplitHostPort(address) // it is FreeAddress's
	return "listener " + port + " " + host + "\n"
}

func (m *mosquitto) stop() error { return terminate(m.process) }

// mqttClient is as much of MQTT 3.1.1 as QoS 0 needs.
type mqttClient struct {
	conn   net.Conn
	in     *bufio.Reader
	out    io.Writer // takes whole packets
	framed bool      // each packet comes in a WebSocket frame
	packet []byte    // that is being written
}

// MQTT's packet types, with the flags that they must have.
const (
	mqttConnect   = 0x10
	mqttConnack   = 0x20
	mqttPublish   = 0x30
	mqttSubscribe = 0x82
	mqttSuback    = 0x90
)

func appendLength(dst []byte, n int) []byte {
	for ; n > 127; n >>= 7 {
		dst = append(dst, byte(n)|128)
	}
	return append(dst, byte(n))
}

func appendMQTTText(dst []byte, s string) []byte {
	return append(append(dst, byte(len(s)>>8), byte(len(s))), s...)
}

// dialMQTT connects. Go sets TCP_NODELAY.
func dialMQTT(ctx context.Context, address, client string) (*mqttClient, error) {
	conn, err := benchtest.DialStamped(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return startMQTT(&mqttClient{conn: conn, out: conn}, client)
}

// dialMQTTOverWebSocket connects over a WebSocket. As the subscribers of ours
// do, the client reads the frames itself.
func dialMQTTOverWebSocket(ctx context.Context, address, client string) (*mqttClient, error) {
	dialer := websocket.Dialer{Subprotocols: []string{"mqtt"}, NetDialContext: benchtest.DialStamped}
	ws, _, err := dialer.DialContext(ctx, "ws://"+address+"/mqtt", nil)
	if err != nil {
		return nil, err
	}
	return startMQTT(&mqttClient{conn: ws.NetConn(), out: binaryMessages{ws}, framed: true}, client)
}

// binaryMessages writes to a WebSocket.
type binaryMessages struct{ ws *websocket.Conn }

func (m binaryMessages) Write(b []byte) (int, error) {
	if err := m.ws.WriteMessage(websocket.BinaryMessage, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// startMQTT says hello. A server says nothing before, so that nothing is lost
// in the WebSocket library's own buffer.
func startMQTT(c *mqttClient, client string) (*mqttClient, error) {
	c.in = bufio.NewReaderSize(c.conn, 64<<10)
	const version, clean, keepAlive = 4, 2, 0
	body := appendMQTTText(nil, "MQTT")
	body = appendMQTTText(append(body, version, clean, 0, keepAlive), client)
	return c, c.ask(mqttConnect, body, mqttConnack, 2)
}

func (c *mqttClient) subscribe(topic string) error {
	const id, qos = 1, 0
	return c.ask(mqttSubscribe, append(appendMQTTText([]byte{0, id}, topic), qos), mqttSuback, 3)
}

// ask sends a packet and waits for its answer, whose last byte is 0 if all is
// well.
func (c *mqttClient) ask(kind byte, body []byte, answer byte, size int) error {
	if _, err := c.out.Write(append(appendLength([]byte{kind}, len(body)), body...)); err != nil {
		return err
	}
	got, b, err := c.read()
	if err != nil {
		return err
	}
	if got != answer || len(b) != size || b[size-1] != 0 {
		return fmt.Errorf("mosquitto answered with packet %#x %x", got, b)
	}
	return nil
}

func (c *mqttClient) publish(topic string, payload []byte) error {
	size := 2 + len(topic) + len(payload)
	c.packet = appendMQTTText(appendLength(append(c.packet[:0], mqttPublish), size), topic)
	c.packet = append(c.packet, payload...)
	_, err := c.out.Write(c.packet)
	return err
}

// read returns the next packet; the body is valid until the next call.
func (c *mqttClient) read() (kind byte, body []byte, err error) {
	frame := 0 // bytes of it that are left
	if c.framed {
		if _, frame, err = benchtest.FrameHeader(c.in); err != nil {
			return 0, nil, err
		}
	}
	if kind, err = c.in.ReadByte(); err != nil {
		return 0, nil, err
	}
	size := 0
	for shift := 0; ; shift += 7 {
		b, err := c.in.ReadByte()
		if err != nil {
			return 0, nil, err
		}
		size |= int(b&127) << shift
		if b < 128 {
			break
		}
	}
	if size > c.in.Size() {
		return 0, nil, fmt.Errorf("an MQTT packet of %d bytes", size)
	}
	if head := 1 + len(appendLength(nil, size)); c.framed && head+size != frame { // MQTT allows it, mosquitto does not do it
		return 0, nil, fmt.Errorf("an MQTT packet of %d bytes in a frame of %d", head+size, frame)
	}
	if body, err = c.in.Peek(size); err != nil {
		return 0, nil, err
	}
	_, err = c.in.Discard(size)
	return kind, body, err
}

// message reads on until a PUBLISH comes and returns its payload.
func (c *mqttClient) message() ([]byte, error) {
	for {
		kind, body, err := c.read()
		if err != nil {
			return nil, err
		}
		if kind&0xf0 != mqttPublish {
			continue
		}
		topic := 0
		if len(body) >= 2 {
			topic = 2 + int(body[0])<<8 + int(body[1])
		}
		if topic == 0 || topic > len(body) {
			return nil, io.ErrUnexpectedEOF
		}
		return body[topic:], nil
	}
}
