package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"callboard/bridge/benchtest"
)

// relay is the system beside: a publisher for each robot, mosquitto,
// subscribers, and the same messages.
type relay struct {
	broker     *mosquitto
	publishers []*mqttClient
	topics     []string
	clients    []*mqttClient
	reading    sync.WaitGroup
	stopping   atomic.Bool
	failed     chan error
	clock      clock
	head, tail []byte // of a message, around its time
	text       []byte
}

// newMosquitto connects publishers and subscribers. template is a notification
// of ours: the messages are that, each with its own time.
func newMosquitto(ctx context.Context, c crowding, path, dir string, template []byte, time0 clock, to *samples) (*relay, error) {
	at := bytes.Index(template, []byte(`"time":`)) + len(`"time":`)
	end := bytes.IndexByte(template[at:], ',')
	if end < 0 {
		return nil, fmt.Errorf("no time in %.80s", template)
	}
	r := &relay{clock: time0, head: template[:at], tail: template[at+end:], failed: make(chan error, c.subscribers)}
	var err error
	if r.broker, err = startMosquitto(ctx, path, dir); err != nil {
		return nil, fmt.Errorf("starting mosquitto: %w", err)
	}
	for i := range c.robots {
		p, err := dialMQTT(ctx, r.broker.address, fmt.Sprintf("robot-%d", i))
		if err != nil {
			return nil, errors.Join(err, r.stop())
		}
		r.publishers, r.topics = append(r.publishers, p), append(r.topics, fmt.Sprintf("robots/r%d", i))
	}
	for i := range c.subscribers {
		s, err := dialMQTT(ctx, r.broker.address, fmt.Sprintf("subscriber-%d", i))
		if err == nil {
			r.clients = append(r.clients, s)
			err = s.subscribe("robots/#")
		}
		if err != nil {
			return nil, errors.Join(err, r.stop())
		}
		r.reading.Go(func() { r.receive(s, to) })
	}
	return r, nil
}

func (r *relay) receive(c *mqttClient, to *samples) {
	for {
		text, err := c.message()
		if err != nil {
			if !r.stopping.Load() {
				r.failed <- fmt.Errorf("mosquitto's subscriber: %w", err)
			}
			return
		}
		now := r.clock.now()
		if written, ok := benchtest.Time(text); ok {
			to.take(written, now)
		}
	}
}

func (r *relay) publish(robot int) error {
	r.text = append(r.text[:0], r.head...)
	r.text = strconv.AppendFloat(r.text, r.clock.seconds(), 'f', -1, 64)
	r.text = append(r.text, r.tail...)
	return r.publishers[robot].publish(r.topics[robot], r.text)
}

func (r *relay) stop() error {
	r.stopping.Store(true)
	for _, c := range append(r.publishers, r.clients...) {
		c.conn.Close()
	}
	r.reading.Wait()
	close(r.failed)
	var errs []error
	for err := range r.failed {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, r.broker.stop())...)
}
