package link

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// event is a call of a Handler.
type event struct {
	what      string // "up", "frame", "down"
	neighbour overlay.BrokerID
	session   uint64
	messages  []overlay.Message
}

// recorder is a Handler that hands its calls to the test.
type recorder struct {
	mu     sync.Mutex
	all    []event
	events chan event
}

func newRecorder() *recorder { return &recorder{events: make(chan event, 10_000)} }

func (r *recorder) add(e event) {
	r.mu.Lock()
	r.all = append(r.all, e)
	r.mu.Unlock()
	r.events <- e
}

func (r *recorder) Up(n overlay.BrokerID, s uint64)   { r.add(event{"up", n, s, nil}) }
func (r *recorder) Down(n overlay.BrokerID, s uint64) { r.add(event{"down", n, s, nil}) }
func (r *recorder) Frame(n overlay.BrokerID, s uint64, m []overlay.Message) {
	r.add(event{"frame", n, s, m})
}

// expect waits for the next call.
func (r *recorder) expect(t *testing.T, what string) event {
	t.Helper()
	select {
	case e := <-r.events:
		if e.what != what {
			t.Fatalf("%s of %s, session %d; expected %s", e.what, e.neighbour, e.session, what)
		}
		return e
	case <-time.After(time.Minute):
		t.Fatalf("no %s came", what)
	}
	panic("unreachable")
}

// broker is one end under test.
type broker struct {
	*Links
	*recorder
	stop func()
	err  error
	log  *syncBuffer
}

// syncBuffer takes a log.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// awaitLog waits until something was logged.
func (b *broker) awaitLog(t *testing.T, text string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(b.log.String(), text); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s logged %s; expected %q", b.cfg.Self, b.log, text)
		}
	}
}

// calm returns a broker on real sockets time: the machine may be busy.
func calm(cfg Config) Config {
	cfg.Heartbeat, cfg.Handshake = 20*time.Second, 30*time.Second
	return cfg
}

// start runs links until the test ends or stop is called.
func start(t *testing.T, cfg Config) *broker {
	t.Helper()
	b := &broker{recorder: newRecorder(), log: &syncBuffer{}}
	if cfg.Handler == nil {
		cfg.Handler = b.recorder
	}
	cfg.Logger = slog.New(slog.NewTextHandler(b.log, nil))
	if cfg.DialMin == 0 {
		cfg.DialMin = time.Millisecond
	}
	var err error
	if b.Links, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		b.err = b.Run(ctx)
		close(done)
	}()
	b.stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(b.stop)
	return b
}

// frameTo is a frame for one session.
func frameTo(neighbour overlay.BrokerID, session uint64, messages ...overlay.Message) *overlay.Frame {
	return &overlay.Frame{To: []overlay.Link{{Neighbour: neighbour, Session: session}}, Messages: messages}
}

func head(n uint64) *overlay.HeadMessage {
	return &overlay.HeadMessage{Key: overlay.Key{Client: "c", Session: overlay.Session{Edge: "b1"}, Source: "b2", Stamp: 5}, Last: n}
}

func reading(n int) *overlay.NotifyMessage {
	return &overlay.NotifyMessage{
		Reading: &overlay.Reading{Robot: "r0", Interface: "laser", Time: float64(n), JSON: []byte(fmt.Sprintf(`{"ranges":[%d%s]}`, n, bytes.Repeat([]byte(",1.5"), 180)))},
		Hits:    []overlay.KeyHit{{Key: head(0).Key, Seq: uint64(n), Names: []protocol.Matched{{ID: "near"}}}},
	}
}

func TestCompressionIfBothAsk(t *testing.T) {
	b1, b2 := pair(t, networks(t)[1], func(c *Config) { c.Compress = c.Self == "b1" })
	b1.expect(t, "up")
	b2.expect(t, "up")
	if b1.Status()[0].Compressed || b2.Status()[0].Compressed {
		t.Error("compressed, though b2 did not ask for it")
	}
}

func TestSessionsAreNumbered(t *testing.T) {
	n := networks(t)[1]
	listener := n.listen(t)
	b1 := start(t, calm(Config{Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: listener.Addr().String()}}}))
	var last uint64
	for i := range 3 {
		if i > 0 {
			var err error
			if listener, err = net.Listen("tcp", listener.Addr().String()); err != nil {
				t.Fatal(err)
			}
		}
		b2 := start(t, calm(Config{Self: "b2", Neighbours: []Neighbour{{ID: "b1"}}, Listener: listener}))
		up := b1.expect(t, "up")
		if up.session <= last {
			t.Errorf("session %d after %d", up.session, last)
		}
		b2.Send(frameTo("b1", b2.expect(t, "up").session, head(1)))
		if got := b1.expect(t, "frame"); got.session != up.session {
			t.Errorf("a frame of session %d in session %d", got.session, up.session)
		}
		b1.Send(frameTo("b2", last, head(99))) // of the session before
		last = up.session
		b2.stop()
		b1.expect(t, "down")
		b1.Send(frameTo("b2", last, head(98)))
		for _, e := range b2.all {
			if e.what == "frame" {
				t.Errorf("a frame of a session that has ended arrived: %v", e.messages)
			}
		}
	}
	if got := b1.Status()[0].Dropped; got != 6 {
		t.Errorf("%d messages dropped; expected 6", got)
	}
}

func TestWrongConfigurations(t *testing.T) {
	h := newRecorder()
	for _, tt := range []struct {
		cfg  Config
		want string
	}{
		{Config{Handler: h}, `links of broker "": own id: an id of 0 bytes; expected 1 to 256`},
		{Config{Self: "b1"}, `links of broker "b1": no handler`},
		{Config{Self: "b1", Handler: h, Neighbours: []Neighbour{{ID: "b1"}}}, `links of broker "b1": neighbour "b1" has the broker's own id`},
		{Config{Self: "b1", Handler: h, Neighbours: []Neighbour{{ID: "b2"}}}, `links of broker "b1": neighbour "b2" has no address; expected host:port, since the lower id ("b1") dials`},
		{Config{Self: "b3", Handler: h, Neighbours: []Neighbour{{ID: "b2"}}}, `links of broker "b3": neighbour "b2" dials, since its id is the lower one, but there is nothing to listen on`},
		{Config{Self: "b1", Handler: h, Neighbours: []Neighbour{{ID: "b2", Address: "a:1"}, {ID: "b2", Address: "a:2"}}}, `links of broker "b1": neighbour "b2" is listed twice`},
		{Config{Self: "b1", Handler: h, Neighbours: []Neighbour{{ID: "b\n", Address: "a:1"}}}, `links of broker "b1": neighbour "b\n": the id "b\n" is not printable text`},
		{Config{Self: "b1", Handler: h, Heartbeat: 2, Deadline: 1}, `links of broker "b1": a deadline of 1ns is not longer than the heartbeat of 2ns`},
		{Config{Self: "b1", Handler: h, MaxFrame: 1}, `links of broker "b1": frames of up to 1 bytes; expected 65536 to 1073741824`},
	} {
		if _, err := New(tt.cfg); err == nil || err.Error() != tt.want {
			t.Errorf("%v; expected %s", err, tt.want)
		}
	}
}

func TestAListenerThatFails(t *testing.T) {
	listener := networks(t)[1].listen(t)
	l, err := New(Config{Self: "b2", Handler: newRecorder(), Listener: listener, Neighbours: []Neighbour{{ID: "b1"}}})
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	if err := l.Run(context.Background()); err == nil {
		t.Error("Run ended without an error")
	}
	if err := l.Run(context.Background()); err == nil {
		t.Error("Run ran twice")
	}
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "brokers"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{cert: cert, key: key, pool: x509.NewCertPool()}
	a.pool.AddCert(cert)
	return a
}

// sign makes a certificate for a name, good for servers only.
func (a *authority) sign(t *testing.T, name string) *TLS {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if ip := net.ParseIP(name); ip != nil {
		template.IPAddresses = []net.IP{ip}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return &TLS{Certificate: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, Authorities: a.pool}
}

// runUntilStopped runs links in the background; the function that it returns
// waits for their end.
func runUntilStopped(l *Links) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Run(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}
