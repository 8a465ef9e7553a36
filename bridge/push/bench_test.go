package push

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"callboard/subscribe/protocol"
)

// scan is a reading of 181 beams.
var scan = []byte(`{"min":0.4,"max":8,"count":181,"ranges":[` + strings.Repeat("7.9912,", 180) + `8]}`)

func notification() *protocol.Notify {
	return &protocol.Notify{Source: "b1:1700000000000000", Seq: 123456, Robot: "r0", Interface: "laser", Time: 1700000000.125,
		Subscriptions: []protocol.Matched{{ID: "near"}}, Reading: scan}
}

// BenchmarkAppendNotify encodes a notification into a frame: per subscriber.
func BenchmarkAppendNotify(b *testing.B) {
	n := notification()
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = endFrame(protocol.AppendNotify(beginFrame(dst[:0]), n), 0, opText)
	}
	b.SetBytes(int64(len(dst)))
}

// BenchmarkNotify sends a reading to so many subscribers over real sockets;
// the figures are per notification.
func BenchmarkNotify(b *testing.B) {
	for _, subscribers := range []int{1, 10, 100} {
		for _, secure := range []bool{false, true} {
			b.Run(fmt.Sprintf("subscribers=%d/tls=%v", subscribers, secure), func(b *testing.B) { benchmarkNotify(b, subscribers, secure) })
		}
	}
}

func benchmarkNotify(b *testing.B, subscribers int, secure bool) {
	c, dialer := Config{}, &websocket.Dialer{}
	if secure {
		certFile, keyFile, roots := certificate(b)
		var err error
		if c.TLS, err = LoadTLS(certFile, keyFile); err != nil {
			b.Fatal(err)
		}
		dialer.TLSClientConfig = c.TLS.Clone()
		dialer.TLSClientConfig.RootCAs = roots
	}
	s := start(b, c)
	const window = 256
	read, done := make(chan int, subscribers), make(chan struct{})
	var drained sync.WaitGroup
	for range subscribers {
		client := s.dial(b, dialer, nil)
		client.send(`{"op":"hello","client":"c"}`)
		client.next()
		drained.Go(func() { drain(client.NetConn(), read, done) })
	}
	size := len(endFrame(protocol.AppendNotify(beginFrame(nil), notification()), 0, opText))
	n := notification()
	b.ReportAllocs()
	b.ResetTimer()
	waiting := 0
	for i := 0; i < b.N; i += subscribers {
		for j := range subscribers {
			s.broker.out(uint64(j+1)).Notify(*n, time.Now())
		}
		// As a window would: at most so many on their way to each.
		for waiting += subscribers * size; waiting > window*subscribers*size; {
			waiting -= <-read
		}
	}
	for waiting > 0 {
		waiting -= <-read
	}
	b.StopTimer()
	b.SetBytes(int64(size))
	close(done)
	for j := range subscribers {
		s.broker.out(uint64(j+1)).Close("", "")
	}
	drained.Wait()
}

// drain reads all and tells how much.
func drain(conn net.Conn, read chan<- int, done <-chan struct{}) {
	buf := make([]byte, 256<<10)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		select {
		case read <- n:
		case <-done:
		}
	}
}
