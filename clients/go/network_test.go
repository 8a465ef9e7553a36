package callboard

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"callboard/subscribe/protocol"
)

// network is several fake brokers, reached by host name. A host that is not
// there swallows connections.
type network map[string]*fakeBroker

func newNetwork(t *testing.T, hosts ...string) network {
	n := network{}
	for _, host := range hosts {
		n[host] = newFakeBroker(t)
	}
	return n
}

func (n network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, _ := strings.Cut(address, ":")
	if host == "refusing" {
		return nil, errors.New("connection refused")
	}
	if f := n[host]; f != nil {
		return f.pipes.dial(ctx, network, address)
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// welcomeAt answers hello in a broker's name; no other broker is named.
func (p *peer) welcomeAt(broker, session string) protocol.Hello {
	p.t.Helper()
	hello := expect[protocol.Hello](p, protocol.OpHello)
	w := welcomeFor(hello, session)
	w.Broker, w.Brokers = broker, nil
	p.send(w)
	return hello
}

// roaming is a client that hangs on broker a of a network, subscribed to
// "near".
func roaming(t *testing.T, n network, config Config) (*running, *peer) {
	t.Helper()
	config.Dial = n.dial
	if config.Brokers == nil {
		config.Brokers = []string{"ws://a/ws"}
	}
	if config.Client == "" {
		config.Client = "me"
	}
	r := start(t, nil, config)
	p := n["a"].accept()
	p.welcomeAt("a", "one")
	next[*Attached](r)
	done := r.subscribe("near")
	expect[protocol.Subscribe](p, protocol.OpSubscribe)
	p.send(subscribedTo("near"))
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	return r, p
}

// move moves without waiting.
func (r *running) move(host string) <-chan error {
	done := make(chan error, 1)
	go func() { done <- r.Move(context.Background(), "ws://"+host+"/ws") }()
	return done
}

// numbers returns the numbers of the next notifications.
func (r *running) numbers(count int) (seqs []uint64) {
	r.t.Helper()
	for range count {
		seqs = append(seqs, next[*Notification](r).Seq)
	}
	return seqs
}

// must fails unless a call that runs ends well within a minute.
func must(t *testing.T, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the call does not end")
	}
}
