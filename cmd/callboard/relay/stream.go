package relay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Times of the stream.
const (
	ackWait  = 5 * time.Second // how long it has to acknowledge
	askWait  = 5 * time.Second // how long a question to the server may take
	tryAgain = 500 * time.Millisecond
)

// stream is what the relay writes, alone: each message names the last one that it
// expects to be there, so that none comes twice or out of order.
type stream struct {
	js   jetstream.JetStream
	name string
	last uint64 // the last message that is known to be there
}

// openStream makes the stream, unless there is one that takes the subjects.
func openStream(ctx context.Context, js jetstream.JetStream, name, filter string, replicas int) (*stream, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	s := &stream{js: js, name: name}
	found, err := js.Stream(ctx, name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		found, err = js.CreateStream(ctx, jetstream.StreamConfig{
			Name: name, Subjects: []string{filter}, Replicas: replicas,
			Description: "notifications of Callboard: callboard relay writes it alone",
		})
	}
	if err != nil {
		return nil, fmt.Errorf("stream %s: %w", name, err)
	}
	config := found.CachedInfo().Config
	if !slices.ContainsFunc(config.Subjects, func(subject string) bool { return covers(subject, filter) }) {
		return nil, fmt.Errorf("stream %s is there, but takes %s; expected %s among them (another --stream, or another --subject)", name, strings.Join(config.Subjects, ", "), filter)
	}
	return s, nil
}

// covers reports whether a subject with wildcards takes all that another takes.
func covers(wide, narrow string) bool {
	w, n := strings.Split(wide, "."), strings.Split(narrow, ".")
	for i, token := range w {
		switch {
		case token == ">":
			return len(n) > i
		case i >= len(n) || token != "*" && token != n[i]:
			return false
		}
	}
	return len(w) == len(n)
}

// put writes messages behind the last one and returns how many of them, from the
// first on, are in the stream. With an error it is not known of the next ones.
func (s *stream) put(ctx context.Context, messages []*nats.Msg) (kept int, err error) {
	acks := make([]jetstream.PubAckFuture, 0, len(messages))
	for i, m := range messages {
		ack, wrong := s.js.PublishMsgAsync(m, jetstream.WithExpectLastSequence(s.last+uint64(i)), jetstream.WithRetryAttempts(0))
		if wrong != nil {
			err = wrong
			break
		}
		acks = append(acks, ack)
	}
	timer := time.NewTimer(ackWait)
	defer timer.Stop()
	expected := s.last
	for _, ack := range acks {
		expected++
		select {
		case ok := <-ack.Ok():
			if ok.Sequence != expected { // it was there already
				return kept, fmt.Errorf("message %d of the stream is there as %d", expected, ok.Sequence)
			}
			kept++
			s.last = expected
		case failed := <-ack.Err():
			return kept, failed
		case <-timer.C:
			return kept, fmt.Errorf("stream %s has not answered within %s", s.name, ackWait)
		case <-ctx.Done():
			return kept, ctx.Err()
		}
	}
	return kept, err
}

// read takes the messages behind the last one that is known, of whom only headers come.
func (s *stream) read(ctx context.Context, take func(sequence uint64, h nats.Header)) error {
	asking, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	found, err := s.js.Stream(asking, s.name)
	if err != nil {
		return fmt.Errorf("stream %s: %w", s.name, err)
	}
	end := found.CachedInfo().State.LastSeq
	if end < s.last {
		return fmt.Errorf("stream %s ends at %d, but had %d: an older state of it is there now, or another one; the relay cannot know what is missing (another --stream, or --client)", s.name, end, s.last)
	}
	if end == s.last {
		return nil
	}
	consumer, err := found.OrderedConsumer(asking, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: s.last + 1, HeadersOnly: true,
	})
	if err != nil {
		return fmt.Errorf("reading stream %s: %w", s.name, err)
	}
	for s.last < end {
		m, err := consumer.Next(jetstream.FetchMaxWait(askWait))
		if errors.Is(err, nats.ErrTimeout) || errors.Is(err, jetstream.ErrNoMessages) {
			s.last = end // the rest has been deleted meanwhile
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading stream %s behind %d: %w", s.name, s.last, err)
		}
		about, err := m.Metadata()
		if err != nil {
			return fmt.Errorf("reading stream %s behind %d: %w", s.name, s.last, err)
		}
		take(about.Sequence.Stream, m.Headers())
		s.last = about.Sequence.Stream
	}
	return nil
}
