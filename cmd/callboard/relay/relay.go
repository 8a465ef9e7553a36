// Package relay brings what a broker notifies into a stream of NATS JetStream, once
// each, and commands and requests from NATS to the broker. It is a client of the
// broker with a lasting id: it acknowledges what the stream has.
package relay

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	callboard "callboard/clients/go"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Config says what goes from where to where.
type Config struct {
	Client        callboard.Config // with a Client; Handle and Resume are the relay's
	Subscriptions []callboard.Subscription

	NATS     []string // URLs
	Options  []nats.Option
	Stream   string // made if missing
	Replicas int    // of what is made
	Subject  *Template
	Prefix   string // of the subjects of commands and requests; "": none are taken

	Note   func(format string, words ...any) // tells people; at once, of little
	Logger *slog.Logger
}

// keepEvery is after how many messages the memory is kept: so many are read at most
// when a relay begins.
const keepEvery = 5000

// relay is a relay that runs.
type relay struct {
	Config
	conn   *nats.Conn
	stream *stream
	keeper *keeper
	memory *memory
	since  int      // messages since the memory was kept
	begun  []string // subscriptions that people have been told of

	life string // of this process, for names of what has no number
	told int

	ctx  context.Context // of what is under way when events come
	end  context.CancelCauseFunc
	down bool // NATS did not take something, and this has been said
}

// Run relays until ctx ends, which is no error, or until going on makes no sense.
func Run(ctx context.Context, config Config) error {
	r := &relay{Config: config, life: random()}
	var err error
	if r.conn, err = r.connect(ctx); err != nil {
		return ended(ctx, err)
	}
	defer r.conn.Close()
	for err = r.open(ctx); passes(err); err = r.open(ctx) {
		r.complain(err)
		if !pause(ctx) {
			return nil
		}
	}
	if err != nil {
		return ended(ctx, err)
	}
	r.up()
	r.ctx, r.end = context.WithCancelCause(ctx)
	defer r.end(nil)
	client := r.Client
	client.HandleMany, client.Resume = r.take, &r.memory.State
	c, err := callboard.New(client)
	if err != nil {
		return err
	}
	if r.Prefix != "" {
		stop, err := serve(r.ctx, r, c)
		if err != nil {
			return err
		}
		defer stop()
	}
	if err := c.Run(r.ctx); err != nil {
		return err
	}
	if ctx.Err() == nil {
		return context.Cause(r.ctx)
	}
	r.closing()
	return nil
}

// ended returns nil instead of an error that the end of ctx has led to.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

func random() string {
	var b [8]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return hex.EncodeToString(b[:])
}

// connect waits for a NATS server.
func (r *relay) connect(ctx context.Context) (*nats.Conn, error) {
	options := append([]nats.Option{
		nats.Name("callboard relay " + r.Client.Client), nats.MaxReconnects(-1), nats.ReconnectBufSize(-1),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { r.Logger.Warn("connection with NATS lost", "error", err) }),
		nats.ReconnectHandler(func(c *nats.Conn) { r.Logger.Info("connected with NATS again", "url", c.ConnectedUrlRedacted()) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { r.Logger.Warn("NATS", "error", err) }),
	}, r.Options...)
	for told := false; ; told = true {
		conn, err := nats.Connect(strings.Join(r.NATS, ","), options...)
		switch {
		case err == nil:
			return conn, nil
		case errors.Is(err, nats.ErrAuthorization) || !errors.Is(err, nats.ErrNoServers) && !errors.Is(err, nats.ErrTimeout):
			return nil, fmt.Errorf("NATS at %s: %w", strings.Join(r.NATS, ", "), err)
		case !told:
			r.Note("no NATS server answers at %s; waiting for it", strings.Join(r.NATS, ", "))
		}
		if !pause(ctx) {
			return nil, ctx.Err()
		}
	}
}

// open finds out where the last relay of this client came to.
func (r *relay) open(ctx context.Context) error {
	js, err := jetstream.New(r.conn, jetstream.WithPublishAsyncMaxPending(1<<20)) // put bounds it
	if err != nil {
		return err
	}
	if r.stream, err = openStream(ctx, js, r.Stream, r.Subject.Filter(), r.Replicas); err != nil {
		return err
	}
	if r.keeper, r.memory, err = openKeeper(ctx, js, r.Client.Client, r.Replicas); err != nil {
		return err
	}
	if r.memory == nil || r.memory.Stream != r.Stream {
		r.memory = &memory{Stream: r.Stream}
		r.memory.begun("")
		if err := r.stream.read(ctx, func(uint64, nats.Header) {}); err != nil {
			return err
		}
		r.memory.Sequence = r.stream.last
	}
	if r.stream.last = max(r.stream.last, r.memory.Sequence); r.memory.State.Num == nil {
		r.memory.State.Num = map[string]uint64{}
	}
	if r.memory.Parts == nil {
		r.memory.Parts = map[string]part{}
	}
	err = r.stream.read(ctx, func(sequence uint64, h nats.Header) {
		r.memory.Sequence = sequence
		r.memory.learn(h)
	})
	r.memory.State.Client, r.memory.State.Attachment = r.Client.Client, 0 // which hello was the last one is not known
	r.memory.State.Subscriptions = r.Subscriptions
	return err
}

// passes reports whether an error is one that passes: servers that cannot answer yet,
// as those of a cluster that has no leader.
func passes(err error) bool {
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		return refused.Code == 503 && refused.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabled && refused.ErrorCode != jetstream.JSErrCodeJetStreamNotEnabledForAccount
	}
	for _, passing := range []error{context.DeadlineExceeded, nats.ErrTimeout, nats.ErrNoResponders, nats.ErrConnectionReconnecting, nats.ErrDisconnected} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// take brings events into the stream. It returns false if it could not.
func (r *relay) take(events []callboard.Event) bool {
	var all []*nats.Msg
	for _, e := range events {
		if attached, is := e.(*callboard.Attached); is {
			if !r.write(all) || !r.attached(attached) {
				return false
			}
			all = nil
		}
		r.say(e)
		all = r.messages(all, e)
	}
	return r.write(all)
}

// attached keeps a new session before anything of it is written.
func (r *relay) attached(e *callboard.Attached) bool {
	if e.Session == r.memory.State.Session {
		return true
	}
	r.memory.begun(e.Session)
	return r.keep()
}

// say tells people what happens besides.
func (r *relay) say(event callboard.Event) {
	switch e := event.(type) {
	case *callboard.Resubscribed:
		if !slices.Contains(r.begun, e.ID) {
			r.begun = append(r.begun, e.ID)
			r.Note("%s is subscribed: %d robots match", e.ID, e.Robots)
		}
		if e.Warning != "" {
			r.Note("%s", e.Warning)
		}
	case *callboard.Gap:
		r.Logger.Warn("notifications are lost", "source", e.Source, "from", e.From, "to", e.To, "why", e.Why)
	case *callboard.Failure:
		r.Logger.Warn("the broker reports an error", "error", e.Error.Error())
		if e.Ended {
			failed := e.Error
			r.end(&failed)
		}
	case *callboard.Fault:
		r.Logger.Error("the broker broke the protocol", "error", e)
	}
}

// write writes messages, those that are not there, for as long as it takes. It
// returns false at the relay's end.
func (r *relay) write(all []*nats.Msg) bool {
	for {
		rest := all[:0]
		for _, m := range all {
			if !r.memory.has(m.Header) {
				rest = append(rest, m)
			}
		}
		all = rest
		if len(all) == 0 {
			return r.since < keepEvery || r.keep()
		}
		kept, err := r.stream.put(r.ctx, all)
		for _, m := range all[:kept] {
			r.memory.learn(m.Header)
		}
		r.memory.Sequence = r.stream.last
		r.since += kept
		if all = all[kept:]; err == nil {
			r.up()
			continue
		}
		if !r.failed(err) {
			return false
		}
		if all, err = r.reread(all); err != nil && !r.failed(err) {
			return false
		}
	}
}

// reread finds out what of messages is in the stream after all, and returns the rest.
func (r *relay) reread(all []*nats.Msg) ([]*nats.Msg, error) {
	there := map[string]bool{}
	err := r.stream.read(r.ctx, func(sequence uint64, h nats.Header) {
		there[h.Get(jetstream.MsgIDHeader)] = true
		r.memory.Sequence = sequence
		r.memory.learn(h)
		r.since++
	})
	rest := all[:0]
	for _, m := range all {
		if !there[m.Header.Get(jetstream.MsgIDHeader)] {
			rest = append(rest, m)
		}
	}
	return rest, err
}

// keep keeps the memory, for as long as it takes.
func (r *relay) keep() bool {
	for {
		err := r.keeper.keep(r.ctx, r.memory)
		if err == nil {
			r.since = 0
			r.up()
			return true
		}
		if !r.failed(err) {
			return false
		}
	}
}

// failed waits a little after an error; false: the relay ends. A wrong expectation
// says what there is, and is no fault.
func (r *relay) failed(err error) bool {
	if errors.Is(err, errFollowed) {
		r.end(err)
	}
	if r.ctx.Err() != nil {
		return false
	}
	var refused *jetstream.APIError
	if errors.As(err, &refused) && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		return true
	}
	r.complain(err)
	return pause(r.ctx)
}

// complain says, once, that NATS does not take what comes.
func (r *relay) complain(err error) {
	if !r.down {
		r.down = true
		r.Note("NATS does not take what comes, trying again: %v", err)
	}
}

// up says that NATS takes what comes again.
func (r *relay) up() {
	if r.down {
		r.down = false
		r.Note("NATS takes what comes again")
	}
}

// closing keeps how far it came, so that the next relay has less to read.
func (r *relay) closing() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := r.keeper.keep(ctx, r.memory); err != nil {
		r.Logger.Warn("how far the relay came is not kept; the next one reads it from the stream", "error", err)
	}
}
