package callboard

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"callboard/subscribe/protocol"

	"go.uber.org/goleak"
)

// noLeaks checks that the test leaves no goroutine, once all else is cleaned up.
func noLeaks(t *testing.T) {
	current := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, current) })
}

// socketBroker serves a fake broker on a real socket.
func socketBroker(t *testing.T, start func(*httptest.Server)) (*fakeBroker, *httptest.Server) {
	f := &fakeBroker{t: t, pipes: newPipes(), peers: make(chan *peer)}
	server := httptest.NewUnstartedServer(f)
	start(server)
	t.Cleanup(func() {
		f.pipes.Close()
		server.Close()
	})
	return f, server
}

func TestDialOverSockets(t *testing.T) {
	noLeaks(t)
	for name, start := range map[string]func(*httptest.Server){
		"tcp": (*httptest.Server).Start, "tls": (*httptest.Server).StartTLS,
	} {
		t.Run(name, func(t *testing.T) {
			f, server := socketBroker(t, start)
			config := Config{Brokers: []string{server.URL}, Compression: true}
			if server.Certificate() != nil {
				roots := x509.NewCertPool()
				roots.AddCert(server.Certificate())
				config.TLS = &tls.Config{RootCAs: roots}
			}
			go func() {
				p := f.accept()
				p.welcome("one")
				s := expect[protocol.Subscribe](p, protocol.OpSubscribe)
				p.send(subscribedTo(s.ID), notify("s1", 1, 0), notify("s1", 2, 0))
				p.end()
			}()
			client, err := Dial(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			// What comes waits until it is received.
			s, err := client.Subscribe(t.Context(), Subscription{ID: "near", Condition: "true"})
			if err != nil || s.Robots != 1 {
				t.Fatalf("%+v, %v", s, err)
			}
			var seqs []uint64
			for e := range client.Events() {
				if n, ok := e.(*Notification); ok {
					if seqs = append(seqs, n.Seq); len(seqs) == 2 {
						break
					}
				}
			}
			if got := client.Brokers(); len(got) != 1 || got[0].ID != "b1" {
				t.Errorf("brokers: %+v", got)
			}
			client.Close()
			if _, open := <-client.Events(); open {
				t.Error("events after the end")
			}
			if client.Err() != nil {
				t.Error(client.Err())
			}
		})
	}
}

func TestDialFails(t *testing.T) {
	noLeaks(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := free.Addr().String()
	free.Close()
	answering := func(status int) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "because\nof this", status)
		}))
		t.Cleanup(server.Close)
		return server.URL
	}
	for url, want := range map[string]string{
		nobody:                              "refused",
		answering(http.StatusNotFound):      "HTTP 404 Not Found because",
		answering(http.StatusForbidden):     "HTTP 403 Forbidden because",
		"ftp://x":                           "expected ws or wss",
		"ws://":                             "names no host",
		"ws://%zz":                          "invalid URL",
		nobody + "/a/path?q=1&token=secret": "refused",
	} {
		_, err := Dial(t.Context(), Config{Brokers: []string{url}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q in it", url, err, want)
		}
	}
	if _, err := New(Config{}); err == nil {
		t.Error("a client without brokers")
	}
}

func TestDialGivesUpWithContext(t *testing.T) {
	noLeaks(t)
	f, server := socketBroker(t, (*httptest.Server).Start)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		p := f.accept()
		expect[protocol.Hello](p, protocol.OpHello)
		cancel()
		p.end()
	}()
	if _, err := Dial(ctx, Config{Brokers: []string{server.URL}}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestRunsOnce(t *testing.T) {
	noLeaks(t)
	client, err := New(Config{Brokers: []string{"127.0.0.1:1"}, BackoffMin: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := client.Run(ctx); err != nil {
		t.Error(err)
	}
	if err := client.Run(ctx); err == nil {
		t.Error("a second Run was taken")
	}
}

func TestBrokerURL(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:8800":            "ws://127.0.0.1:8800/ws",
		"http://b1:80":              "ws://b1:80/ws",
		"https://b1/":               "wss://b1/ws",
		"ws://b1/ws":                "ws://b1/ws",
		"wss://b1.example.org/x/ws": "wss://b1.example.org/x/ws",
		"[::1]:8800":                "ws://[::1]:8800/ws",
	} {
		if got, err := BrokerURL(text); err != nil || got != want {
			t.Errorf("%s: %s, %v; expected %s", text, got, err, want)
		}
	}
}
