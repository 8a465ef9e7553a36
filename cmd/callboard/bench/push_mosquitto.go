package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
)

// relay is the system beside: a publisher for each robot, mosquitto,
// subscribers, and the same messages.
type relay struct {
	broker     *mosquitto
	publishers []*publisher
	clients    []*mqttClient
	running    sync.WaitGroup // publishers and subscribers
	stopping   atomic.Bool
	failed     chan error
	clock      clock
	head, tail []byte // of a message, around its time
}

// publisher is a robot's connection. As a Player server's, a goroutine of its
// own writes to it.
type publisher struct {
	client *mqttClient
	topic  string
	due    chan struct{}
}

// newMosquitto connects publishers, over TCP as the robots are, and subscribers.
// template is a notification of ours: the messages are that, each with its own
// time.
func newMosquitto(ctx context.Context, c crowding, path, dir string, webSockets bool, template []byte, time0 clock, to *delays) (*relay, error) {
	at := bytes.Index(template, []byte(`"time":`)) + len(`"time":`)
	end := bytes.IndexByte(template[at:], ',')
	if end < 0 {
		return nil, fmt.Errorf("no time in %.80s", template)
	}
	r := &relay{clock: time0, head: template[:at], tail: template[at+end:], failed: make(chan error, c.robots+c.subscribers)}
	var err error
	if r.broker, err = startMosquitto(ctx, path, dir); err != nil {
		return nil, fmt.Errorf("starting mosquitto: %w", err)
	}
	for i := range c.robots {
		client, err := dialMQTT(ctx, r.broker.address, fmt.Sprintf("robot-%d", i))
		if err != nil {
			return nil, errors.Join(err, r.stop())
		}
		p := &publisher{client, fmt.Sprintf("robots/r%d", i), make(chan struct{}, 1024)}
		r.publishers = append(r.publishers, p)
		r.running.Go(func() { r.send(p) })
	}
	dial, address := dialMQTT, r.broker.address
	if webSockets {
		dial, address = dialMQTTOverWebSocket, r.broker.webSockets
	}
	for i := range c.subscribers {
		s, err := dial(ctx, address, fmt.Sprintf("subscriber-%d", i))
		if err == nil {
			r.clients = append(r.clients, s)
			err = s.subscribe("robots/#")
		}
		if err != nil {
			return nil, errors.Join(err, r.stop())
		}
		r.running.Go(func() { r.receive(s, to) })
	}
	return r, nil
}

func (r *relay) receive(c *mqttClient, to *delays) {
	for {
		text, err := c.message()
		if err != nil {
			if !r.stopping.Load() {
				r.failed <- fmt.Errorf("mosquitto's subscriber: %w", err)
			}
			return
		}
		to.take(r.clock, c.conn, text)
	}
}

func (r *relay) publish(robot int) error {
	r.publishers[robot].due <- struct{}{}
	return nil
}

// send writes a robot's messages when they are due.
func (r *relay) send(p *publisher) {
	var text []byte
	for range p.due {
		text = append(text[:0], r.head...)
		text = strconv.AppendFloat(text, r.clock.seconds(), 'f', -1, 64)
		text = append(text, r.tail...)
		if err := p.client.publish(p.topic, text); err != nil {
			r.failed <- fmt.Errorf("mosquitto's publisher: %w", err)
			return
		}
	}
}

func (r *relay) stop() error {
	r.stopping.Store(true)
	for _, p := range r.publishers {
		close(p.due)
	}
	for _, c := range r.clients {
		c.conn.Close()
	}
	r.running.Wait()
	for _, p := range r.publishers {
		p.client.conn.Close()
	}
	close(r.failed)
	var errs []error
	for err := range r.failed {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, r.broker.stop())...)
}
