package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	jetStreamName = "JetStream"
	natsName      = "NATS"
)

// findNATS returns the path of nats-server: beside this program, or in PATH; "" if it
// is in neither.
func findNATS() string {
	if program, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(program), "nats-server"); isFile(beside) {
			return beside
		}
	}
	path, err := exec.LookPath("nats-server")
	if err != nil {
		return ""
	}
	return path
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// startNATS starts nats-server with JetStream, and returns its address.
func startNATS(path, dir string) (*broker, error) {
	process := exec.Command(path, "--addr", "127.0.0.1", "--port", "-1", "--jetstream", "--store_dir", dir)
	log, err := process.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("starting nats-server: %w", err)
	}
	b := &broker{pid: process.Process.Pid, stop: func() error { return terminate(process) }}
	lines := bufio.NewScanner(log)
	var said []string
	for lines.Scan() {
		const listening = "Listening for client connections on "
		said = append(said, lines.Text())
		if _, address, found := strings.Cut(lines.Text(), listening); found {
			b.url = "nats://" + address
		}
		if strings.Contains(lines.Text(), "Server is ready") {
			break
		}
	}
	go func() {
		for lines.Scan() { // so that it never waits to say something
		}
	}()
	if b.url == "" {
		return nil, errors.Join(fmt.Errorf("nats-server does not tell its address; it said %q", said), b.stop())
	}
	return b, nil
}

// natsTasks is request and reply of NATS.
type natsTasks struct{ asker, server *nats.Conn }

const natsSubject = "tasks.passing"

// maxPending keeps nats.go from dropping what waits for a subscription.
const maxPending = 1 << 30

func newNATSTasks(url string) (_ *natsTasks, err error) {
	s := &natsTasks{}
	if s.asker, err = nats.Connect(url); err != nil {
		return nil, err
	}
	if s.server, err = nats.Connect(url); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	serving, err := s.server.QueueSubscribe(natsSubject, "servers", func(m *nats.Msg) { _ = m.Respond(m.Data) })
	if err == nil {
		err = errors.Join(serving.SetPendingLimits(maxPending, maxPending), s.server.Flush())
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *natsTasks) ask(ctx context.Context, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, taskTTL)
	defer cancel()
	m, err := s.asker.RequestWithContext(ctx, natsSubject, body)
	if err != nil {
		return nil, err
	}
	return m.Data, nil
}

func (s *natsTasks) stop() error {
	for _, c := range []*nats.Conn{s.asker, s.server} {
		if c != nil {
			c.Close()
		}
	}
	return nil
}

func (s *natsTasks) stream(ctx context.Context, bodies [][]byte) (answers, served [][]byte, err error) {
	const subject = natsSubject + orderSuffix
	var mu sync.Mutex
	serving, err := s.server.Subscribe(subject, func(m *nats.Msg) {
		mu.Lock()
		served = append(served, m.Data)
		mu.Unlock()
		_ = m.Respond(m.Data)
	})
	if err != nil {
		return nil, nil, err
	}
	defer serving.Unsubscribe()
	inbox := s.asker.NewRespInbox()
	answering, err := s.asker.SubscribeSync(inbox)
	if err != nil {
		return nil, nil, err
	}
	defer answering.Unsubscribe()
	if err := s.server.Flush(); err != nil {
		return nil, nil, err
	}
	for _, body := range bodies {
		if err := s.asker.PublishRequest(subject, inbox, body); err != nil {
			return nil, nil, err
		}
	}
	if answers, err = collect(ctx, answering, len(bodies)); err != nil {
		return nil, nil, err
	}
	mu.Lock()
	defer mu.Unlock()
	return answers, served, nil
}

func collect(ctx context.Context, answering *nats.Subscription, n int) (answers [][]byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, taskTTL)
	defer cancel()
	for len(answers) < n {
		m, err := answering.NextMsgWithContext(ctx)
		if err != nil {
			return answers, err
		}
		answers = append(answers, m.Data)
	}
	return answers, nil
}

// jetStreamTasks is a work queue of JetStream. Answers go to the subject that a header
// of the task names.
type jetStreamTasks struct {
	asker, server *nats.Conn
	js            jetstream.JetStream
	inbox         string
	last          atomic.Uint64
	waiting       sync.Map // subject → chan []byte
	consuming     jetstream.ConsumeContext
	mu            sync.Mutex
	served        [][]byte
	noting        atomic.Bool
}

const (
	answerTo         = "Answer-To"
	jetStreamSubject = "queue.docks"
)

func newJetStreamTasks(ctx context.Context, url string) (_ *jetStreamTasks, err error) {
	s := &jetStreamTasks{}
	if s.asker, err = nats.Connect(url); err != nil {
		return nil, err
	}
	if s.server, err = nats.Connect(url); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

func (s *jetStreamTasks) start(ctx context.Context) error {
	s.inbox = s.asker.NewInbox()
	answering, err := s.asker.Subscribe(s.inbox+".*", func(m *nats.Msg) {
		if to, ok := s.waiting.LoadAndDelete(m.Subject); ok {
			to.(chan []byte) <- m.Data
		}
	})
	if err != nil {
		return err
	}
	if err := answering.SetPendingLimits(maxPending, maxPending); err != nil {
		return err
	}
	if s.js, err = jetstream.New(s.asker, jetstream.WithPublishAsyncMaxPending(100_000)); err != nil {
		return err
	}
	if _, err := s.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "docks", Subjects: []string{jetStreamSubject}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage,
	}); err != nil {
		return err
	}
	serving, err := jetstream.New(s.server)
	if err != nil {
		return err
	}
	consumer, err := serving.CreateConsumer(ctx, "docks", jetstream.ConsumerConfig{
		Durable: "servers", AckPolicy: jetstream.AckExplicitPolicy, MaxAckPending: atOnce, AckWait: taskTTL,
	})
	if err != nil {
		return err
	}
	s.consuming, err = consumer.Consume(func(m jetstream.Msg) {
		if s.noting.Load() {
			s.mu.Lock()
			s.served = append(s.served, m.Data())
			s.mu.Unlock()
		}
		_ = s.server.Publish(m.Headers().Get(answerTo), m.Data())
		_ = m.Ack()
	}, jetstream.PullMaxMessages(atOnce))
	return err
}

// send puts a task into the stream, which has stored it when the future is done.
func (s *jetStreamTasks) send(body []byte, answer string) (jetstream.PubAckFuture, error) {
	m := nats.NewMsg(jetStreamSubject)
	m.Data = body
	m.Header.Set(answerTo, answer)
	return s.js.PublishMsgAsync(m)
}

func (s *jetStreamTasks) ask(ctx context.Context, body []byte) ([]byte, error) {
	subject := fmt.Sprintf("%s.%d", s.inbox, s.last.Add(1))
	got := make(chan []byte, 1)
	s.waiting.Store(subject, got)
	stored, err := s.send(body, subject)
	if err != nil {
		return nil, err
	}
	late := time.NewTimer(taskTTL)
	defer late.Stop()
	select {
	case answer := <-got:
		select {
		case <-stored.Ok():
			return answer, nil
		case err := <-stored.Err():
			return nil, err
		}
	case err := <-stored.Err():
		return nil, err
	case <-late.C:
		return nil, context.DeadlineExceeded
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *jetStreamTasks) stream(ctx context.Context, bodies [][]byte) (answers, served [][]byte, err error) {
	inbox := s.asker.NewInbox()
	answering, err := s.asker.SubscribeSync(inbox)
	if err != nil {
		return nil, nil, err
	}
	defer answering.Unsubscribe()
	s.noting.Store(true)
	defer s.noting.Store(false)
	for _, body := range bodies {
		if _, err := s.send(body, inbox); err != nil {
			return nil, nil, err
		}
	}
	if answers, err = collect(ctx, answering, len(bodies)); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return answers, s.served, nil
}

func (s *jetStreamTasks) stop() error {
	if s.consuming != nil {
		s.consuming.Stop()
	}
	for _, c := range []*nats.Conn{s.asker, s.server} {
		if c != nil {
			c.Close()
		}
	}
	return nil
}
