package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	processes "callboard/cmd/callboard/bench/network"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// natsProcess is a real nats-server that can be killed and started again.
type natsProcess struct {
	program, dir string
	address      string // once it is known
	process      *exec.Cmd
}

// buildNATS builds nats-server, whose version go.mod has.
func buildNATS(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "nats-server")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/nats-io/nats-server/v2").CombinedOutput(); err != nil {
		t.Fatalf("building nats-server: %v\n%s", err, out)
	}
	return program
}

// startNATS starts a server with JetStream that ends with the test.
func startNATS(t *testing.T) *natsProcess {
	t.Helper()
	n := &natsProcess{program: buildNATS(t), dir: t.TempDir(), address: "127.0.0.1:-1"}
	if err := n.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.kill)
	return n
}

func (n *natsProcess) url() string { return "nats://" + n.address }

// start starts it where it was before, and waits until it is ready.
func (n *natsProcess) start() error {
	host, port, _ := strings.Cut(n.address, ":")
	n.process = exec.Command(n.program, "--addr", host, "--port", port, "--jetstream", "--store_dir", n.dir)
	log, err := n.process.StderrPipe()
	if err != nil {
		return err
	}
	if err := n.process.Start(); err != nil {
		return err
	}
	lines, last := bufio.NewScanner(log), ""
	for lines.Scan() {
		last = lines.Text()
		if _, address, found := strings.Cut(last, "Listening for client connections on "); found {
			n.address = address
		}
		if strings.Contains(last, "Server is ready") {
			go func() {
				for lines.Scan() { // so that it never waits to say something
				}
			}()
			return nil
		}
	}
	return fmt.Errorf("nats-server ended: %s", last)
}

func (n *natsProcess) kill() {
	_ = n.process.Process.Kill()
	_ = n.process.Wait()
}

// relayed is what a stream has of what a relay wrote, as a consumer counts it.
type relayed struct {
	faults  []string
	numbers map[string]uint64 // by source
	last    map[string]int    // reading of each robot
	got     map[string]map[int]bool
	gaps    int
}

// readRelayed reads a stream from its beginning.
func readRelayed(ctx context.Context, url, name string) (*relayed, error) {
	conn, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return nil, err
	}
	stream, err := js.Stream(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &relayed{numbers: map[string]uint64{}, last: map[string]int{}, got: map[string]map[int]bool{}}
	end := stream.CachedInfo().State.LastSeq
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return nil, err
	}
	for at := uint64(0); at < end; {
		m, err := consumer.Next()
		if err != nil {
			return nil, err
		}
		about, err := m.Metadata()
		if err != nil {
			return nil, err
		}
		at = about.Sequence.Stream
		r.take(m)
	}
	return r, nil
}

func (r *relayed) fault(format string, words ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, words...))
}

// take holds a message against those before it.
func (r *relayed) take(m jetstream.Msg) {
	h := m.Headers()
	source, robot := h.Get("Callboard-Source"), h.Get("Callboard-Robot")
	number := func(name string) uint64 {
		n, err := strconv.ParseUint(h.Get(name), 10, 64)
		if err != nil {
			r.fault("%s: %s is %q", h.Get("Nats-Msg-Id"), name, h.Get(name))
		}
		return n
	}
	switch h.Get("Callboard-Kind") {
	case "notify":
		var body struct {
			Seq, Skipped  uint64
			Robot         string
			Time          float64
			Subscriptions []struct{ ID string }
		}
		if err := json.Unmarshal(m.Data(), &body); err != nil {
			r.fault("%s: %v", h.Get("Nats-Msg-Id"), err)
		}
		seq, reading := number("Callboard-Seq"), int(number("Callboard-Time"))
		if want := "alarms." + body.Robot + ".near"; m.Subject() != want || body.Robot != robot || body.Seq != seq || int(body.Time) != reading || len(body.Subscriptions) != 1 {
			r.fault("at %s: %v, %s", m.Subject(), h, m.Data())
		}
		if seq != r.numbers[source]+1+body.Skipped {
			r.fault("%s #%d (skipped %d) after #%d", source, seq, body.Skipped, r.numbers[source])
		}
		r.numbers[source] = seq
		if reading <= r.last[robot] {
			r.fault("reading %d of %s after %d", reading, robot, r.last[robot])
		}
		r.last[robot] = reading
		if r.got[robot] == nil {
			r.got[robot] = map[int]bool{}
		}
		r.got[robot][reading] = true
	case "gap":
		if from := number("Callboard-Seq"); from != r.numbers[source]+1 {
			r.fault("gap of %s from #%d after #%d", source, from, r.numbers[source])
		}
		r.numbers[source] = number("Callboard-To")
		r.gaps++
	case "robot":
	default:
		r.fault("a message of no kind: %v", h)
	}
}

// TestRelay: relay, NATS server and broker are killed again and again while
// readings come. In the stream nothing is missing that a program has got, nothing is
// twice, and all is in order.
func TestRelay(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	server := startNATS(t)
	n, err := processes.Start(ctx, processes.Config{
		Dir: t.TempDir(), Brokers: 2, Sources: []int{0, 1}, Heartbeat: 300 * time.Millisecond,
		Log: func(broker, line string) { t.Logf("%s says %s", broker, line) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	relay := &relayProcess{arguments: []string{
		"relay", "near=true", "--client", "alarms", "--subject", "alarms.{robot}.{id}", "--nats", server.url(),
		"--broker", n.URLs()[0], "--broker", n.URLs()[1],
	}}
	if err := relay.start(); err != nil {
		t.Fatal(err)
	}
	defer relay.kill()
	reference, err := n.NewProgram(ctx, "reference", 0, []int{0, 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reference.Close()
	programs := []*processes.Program{reference}
	awaitFirst(ctx, t, n, programs)
	read := func() *relayed {
		got, err := readRelayed(ctx, server.url(), "callboard-relay-alarms")
		if err != nil {
			return &relayed{}
		}
		return got
	}
	waitFor(ctx, t, "the relay gets readings", func() bool {
		n.Robots.Publish(0)
		n.Robots.Publish(1)
		return len(read().last) == 2
	})
	n.Begin()
	since := []int{n.Robots.Given(0), n.Robots.Given(1)}

	rng := rand.New(rand.NewPCG(1, 2))
	publishing, stop := context.WithCancel(ctx)
	published := make(chan struct{})
	go func() {
		defer close(published)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for robot := 0; publishing.Err() == nil; robot = 1 - robot {
			n.Robots.Publish(robot)
			<-tick.C
		}
	}()
	pause := func(most time.Duration) {
		timer := time.NewTimer(time.Duration(rng.Int64N(int64(most))))
		defer timer.Stop()
		<-timer.C
	}
	for i := range 14 {
		pause(500 * time.Millisecond)
		switch {
		case i%7 == 3:
			server.kill()
			pause(500 * time.Millisecond)
			err = server.start()
		case i%7 == 6:
			b := n.Brokers()[rng.IntN(2)]
			if err = b.Kill(); err == nil {
				pause(300 * time.Millisecond)
				err = b.Start(ctx)
			}
		default:
			relay.kill()
			pause(100 * time.Millisecond)
			err = relay.start()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	stop()
	<-published
	settle(ctx, t, n, programs)
	var got *relayed
	waitFor(ctx, t, "the stream has all that the program has", func() bool {
		got = read()
		return got.last["r0"] >= reference.Last(0) && got.last["r1"] >= reference.Last(1)
	})
	for _, fault := range got.faults[:min(10, len(got.faults))] {
		t.Error(fault)
	}
	verdict := n.Judge(programs)
	if len(verdict.Faults) > 0 || got.gaps > 0 {
		t.Errorf("%d gaps, %q", got.gaps, verdict.Faults)
	}
	missing, all := 0, 0
	for robot := range 2 {
		name := processes.RobotName(robot)
		for reading := since[robot] + 1; reading <= reference.Last(robot); reading++ {
			if all++; !got.got[name][reading] {
				missing++
			}
		}
	}
	if lost := int(verdict.BeforeAll); missing > lost {
		t.Errorf("%d of %d readings are missing in the stream; the program lacks %d", missing, all, lost)
	}
	t.Logf("%d readings, %d of which were lost on the way to their broker", all, verdict.BeforeAll)
	if err := relay.end(); err != nil {
		t.Error(err)
	}
}

// relayProcess is a relay that can be killed and started again.
type relayProcess struct {
	arguments []string
	process   *exec.Cmd
	said      *strings.Builder
}

func (r *relayProcess) start() error {
	r.process, r.said = exec.Command("callboard", r.arguments...), &strings.Builder{}
	r.process.Stderr = r.said
	return r.process.Start()
}

func (r *relayProcess) kill() {
	_ = r.process.Process.Kill()
	_ = r.process.Wait()
}

// end asks it to end, which is no error.
func (r *relayProcess) end() error {
	if err := r.process.Process.Signal(os.Interrupt); err != nil {
		return err
	}
	if err := r.process.Wait(); err != nil {
		return fmt.Errorf("the relay, which was asked to end: %w: %s", err, r.said)
	}
	return nil
}

// TestRelayAnswers: requests from NATS become commands and tasks, and are answered.
func TestRelayAnswers(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server := startNATS(t)
	demo := exec.CommandContext(ctx, "callboard", "demo", "--listen", "127.0.0.1:0")
	out, err := demo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := demo.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = demo.Process.Signal(os.Interrupt)
		_ = demo.Wait()
	}()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	broker := strings.Replace(strings.TrimSpace(address), "http://", "ws://", 1)
	work := exec.CommandContext(ctx, "callboard", "work", "echo", "--broker", broker, "--", "tr", "a-z", "A-Z")
	relay := &relayProcess{arguments: []string{"relay", "position.speed > 100", "--client", "alarms", "--nats", server.url(), "--broker", broker}}
	if err := errors.Join(work.Start(), relay.start()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = work.Process.Kill()
		_ = work.Wait()
		if err := relay.end(); err != nil {
			t.Error(err)
		}
	}()
	conn, err := nats.Connect(server.url())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ask := func(subject, body string, header nats.Header) (answer, code string) {
		m := &nats.Msg{Subject: subject, Data: []byte(body), Header: header}
		got, err := conn.RequestMsgWithContext(ctx, m)
		if err != nil {
			return err.Error(), "none"
		}
		return string(got.Data), got.Header.Get("Nats-Service-Error-Code")
	}
	waitFor(ctx, t, "the relay and the program that serves answer", func() bool {
		_, code := ask("callboard.request.echo", "x", nats.Header{"Callboard-TTL": {"1"}})
		return code == ""
	})
	for _, c := range []struct {
		subject, body string
		header        nats.Header
		answer, code  string
	}{
		{"callboard.command.r0", "stop", nil, "null", ""},
		{"callboard.command.r0", `{"name":"velocity","args":[0.1,0,0,1],"key":"once"}`, nil, "null", ""},
		{"callboard.command.r0", "fly", nil, "", "bad_message"},
		{"callboard.command.r0", "", nil, "", "bad_message"},
		{"callboard.command.r0", `{"nam":"stop"}`, nil, "", "bad_message"},
		{"callboard.command.r0", `{"name":"stop","ttl":-1}`, nil, "", "bad_message"},
		{"callboard.command.nobody", "stop", nil, "", "not_found"},
		{"callboard.request.echo", "hello", nil, `"HELLO"`, ""},
		{"callboard.request.echo", `{"a":1}`, nil, `{"A":1}`, ""},
		{"callboard.request.nobody", "hello", nats.Header{"Callboard-TTL": {"0.2"}}, "", "unavailable"},
		{"callboard.request.echo", "hello", nats.Header{"Callboard-TTL": {"soon"}}, "", "bad_message"},
	} {
		if answer, code := ask(c.subject, c.body, c.header); answer != c.answer || code != c.code {
			t.Errorf("%s %s: %q, code %q; expected %q, %q", c.subject, c.body, answer, code, c.answer, c.code)
		}
	}
}
