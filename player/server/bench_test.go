//go:build unix

package server_test

import (
	"io"
	"strconv"
	"syscall"
	"testing"
	"time"

	"callboard/player"
	"callboard/player/iface"
)

// cpu is what the process has used, in s.
func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Sec+u.Stime.Sec) + float64(u.Utime.Usec+u.Stime.Usec)/1e6
}

// BenchmarkPublish is the cost of one reading to its publisher: encoded, and
// queued for clients that pull only the latest.
func BenchmarkPublish(b *testing.B) {
	for _, clients := range []int{0, 1, 10, 100} {
		b.Run(strconv.Itoa(clients), func(b *testing.B) {
			r := start(b, nil)
			for range clients {
				c := r.client()
				c.rule(-1, -1, 1, -1, 1)
				c.mode(player.Pull)
				c.open(laser)
			}
			s := scan()
			b.ReportAllocs()
			for b.Loop() {
				r.driver.pub.Publish(laser, 1, 1, s)
			}
		})
	}
}

// BenchmarkRound is one PULL round over a pipe: request, ACK, reading, SYNCH.
func BenchmarkRound(b *testing.B) {
	r := start(b, nil)
	c := r.client()
	c.mode(player.Pull)
	c.open(laser)
	s := scan()
	request := encode(b, player.Header{Addr: self, Type: player.Request, Subtype: player.PlayerData}, nil)
	buf := make([]byte, 40+scanSize+40)
	c.nc.SetDeadline(time.Time{})
	b.ReportAllocs()
	for b.Loop() {
		r.driver.pub.Publish(laser, 1, 1, s)
		c.nc.Write(request)
		if _, err := io.ReadFull(c.nc, buf); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRequest is one request and its answer, over loopback.
func BenchmarkRequest(b *testing.B) {
	r := tcp(b, nil)
	c := r.dial()
	request := encode(b, player.Header{Addr: self, Type: player.Request, Subtype: player.PlayerDriverinfo}, &iface.DeviceDriverinfo{Addr: laser})
	buf := make([]byte, 40+24+8)
	c.nc.SetDeadline(time.Time{})
	b.ReportAllocs()
	for b.Loop() {
		c.nc.Write(request)
		if _, err := io.ReadFull(c.nc, buf); err != nil {
			b.Fatal(err)
		}
	}
}
