package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// mosquitto is an MQTT broker in a process of its own, on a free port.
type mosquitto struct {
	address string
	process *exec.Cmd
}

// findMosquitto gives the path of Debian's mosquitto, "" if it is not there.
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

// startMosquitto starts mosquitto with nothing on but what is measured.
func startMosquitto(ctx context.Context, path, dir string) (*mosquitto, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &mosquitto{address: l.Addr().String()}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	settings := filepath.Join(dir, "mosquitto.conf")
	text := fmt.Sprintf("listener %d 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\npersistence false\nlog_type none\n", port)
	if os.Geteuid() == 0 {
		text += "user root\n" // it reads its settings as that user
	}
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		return nil, err
	}
	m.process = exec.Command(path, "-c", settings)
	if err := m.process.Start(); err != nil {
		return nil, err
	}
	for {
		conn, err := net.Dial("tcp", m.address)
		if err == nil {
			conn.Close()
			return m, nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), m.stop())
		}
	}
}

func (m *mosquitto) stop() error { return terminate(m.process) }

// terminate ends a process of ours politely, and waits for it.
func terminate(c *exec.Cmd) error {
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	kill := time.AfterFunc(10*time.Second, func() { _ = c.Process.Kill() })
	defer kill.Stop()
	err := c.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && !exit.Exited() {
		return nil // by the signal
	}
	return err
}

// mqttClient is as much of MQTT 3.1.1 as QoS 0 needs.
type mqttClient struct {
	conn net.Conn
	in   *bufio.Reader
	out  []byte
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
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &mqttClient{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)}
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
	if _, err := c.conn.Write(append(appendLength([]byte{kind}, len(body)), body...)); err != nil {
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
	c.out = appendMQTTText(appendLength(append(c.out[:0], mqttPublish), size), topic)
	c.out = append(c.out, payload...)
	_, err := c.conn.Write(c.out)
	return err
}

// read gives the next packet; the body is valid until the next call.
func (c *mqttClient) read() (kind byte, body []byte, err error) {
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
	if body, err = c.in.Peek(size); err != nil {
		return 0, nil, err
	}
	_, err = c.in.Discard(size)
	return kind, body, err
}

// message reads on until a PUBLISH comes and gives its payload.
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
