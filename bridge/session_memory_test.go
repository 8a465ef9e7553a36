package bridge_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"callboard/bridge/benchtest"

	"golang.org/x/sync/errgroup"
)

// BenchmarkSessionMemory opens 5,000 WebSocket sessions in a whole broker: without
// a client id, with one, and with a subscription too. B/session is a session's live
// heap, stack-B/session what its goroutines' stacks take. The clients are sockets of this process: some 300 B
// of each are theirs.
func BenchmarkSessionMemory(b *testing.B) {
	for _, kind := range []string{"anonymous", "lasting", "subscribed"} {
		b.Run(kind, func(b *testing.B) {
			for b.Loop() {
				heap, stack := sessionMemory(b, 5000, kind)
				b.ReportMetric(heap, "B/session")
				b.ReportMetric(stack, "stack-B/session")
			}
		})
	}
}

// BenchmarkSessionsAtOnce has 500 clients connect and subscribe at once: ms/all
// is until the last one has its subscribed.
func BenchmarkSessionsAtOnce(b *testing.B) {
	fleet, err := benchtest.NewFleet(1, 181)
	if err != nil {
		b.Fatal(err)
	}
	broker, err := benchtest.Start(b.Context(), fleet, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for round := 0; b.Loop(); round++ {
		var opening errgroup.Group
		for i := range 500 {
			opening.Go(func() error {
				conn, err := openSession(b.Context(), broker.URL(), fmt.Sprintf("client-%d-%d", round, i), true, net.IPv4(127, 0, 1, byte(i)))
				if err == nil {
					conn.Close()
				}
				return err
			})
		}
		if err := opening.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/all")
	if err := broker.Stop(); err != nil {
		b.Fatal(err)
	}
}

// sessionMemory returns how many bytes of live heap and of stacks each of so
// many sessions takes.
func sessionMemory(t testing.TB, count int, kind string) (heap, stack float64) {
	fleet, err := benchtest.NewFleet(1, 181)
	if err != nil {
		t.Fatal(err)
	}
	broker, err := benchtest.Start(t.Context(), fleet, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	all := make([]net.Conn, count)
	open := func(from, to int) {
		var opening errgroup.Group
		opening.SetLimit(20)
		for i := from; i < to; i++ {
			opening.Go(func() (err error) {
				client := ""
				if kind != "anonymous" {
					client = fmt.Sprintf("client-%d", i)
				}
				all[i], err = openSession(t.Context(), broker.URL(), client, kind == "subscribed", net.IPv4(127, 0, 1, byte(i)))
				return err
			})
		}
		if err := opening.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	settled := func() (heap, stack float64) {
		h := settledHeap()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(h), float64(m.StackInuse)
	}
	open(0, 100) // what the first ones make for all
	h, s := settled()
	open(100, count)
	h2, s2 := settled()
	for _, c := range all {
		c.Close()
	}
	if err := broker.Stop(); err != nil {
		t.Fatal(err)
	}
	return (h2 - h) / float64(count-100), (s2 - s) / float64(count-100)
}

// openSession opens a session without anything that a client keeps beside its
// socket. It comes from an address of loopback, since one
// address may have only so many.
func openSession(ctx context.Context, url, client string, subscribe bool, from net.IP) (net.Conn, error) {
	host := strings.TrimPrefix(url, "http://")
	conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(conn, "GET /ws HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"+
		"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: callboard.v1\r\n\r\n", host)
	in := bufio.NewReaderSize(conn, 1024)
	answer, err := http.ReadResponse(in, nil)
	if err != nil {
		return nil, err
	}
	answer.Body.Close()
	said := []string{fmt.Sprintf(`{"op":"hello","client":%q}`, client)}
	if subscribe {
		said = append(said, `{"op":"subscribe","id":"near","condition":"laser.min < 0.25"}`)
	}
	for _, text := range said {
		frame := []byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0} // masked with zeros
		if _, err := conn.Write(append(frame, text...)); err != nil {
			return nil, err
		}
	}
	for answers := 0; answers < len(said); { // a welcome, and a subscribed
		_, size, err := benchtest.FrameHeader(in)
		if err != nil {
			return nil, err
		}
		text := make([]byte, size)
		if _, err := io.ReadFull(in, text); err != nil {
			return nil, err
		}
		if bytes.Contains(text, []byte(`"op":"welcome"`)) || bytes.Contains(text, []byte(`"op":"subscribed"`)) {
			answers++
		}
	}
	return conn, nil
}
