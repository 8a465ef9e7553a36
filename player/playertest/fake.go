package playertest

import (
	"encoding/binary"
	"io"
	"math"
	"net"
	"testing"
	"time"
)

// Fault is what is wrong with a Fake.
type Fault int

// Faults. Each behaves as a good server up to its fault. The good one has
// position2d:0 and laser:0 (9 ranges) of driver "fake", and returns a reading of
// each in turn every 2 ms, every 0.1 s of its own time, from the time that both
// are open. The first reading of position2d is at Px 0, each further one 0.1 m
// on.
const (
	Good        Fault = iota // no fault
	Absent                   // nothing listens on the address
	Silent                   // accepts and never sends a byte
	HalfBanner               // sends half a banner and no more
	Hangup                   // closes right after the banner
	NoAnswers                // banner, then no answer to anything
	NoOpen                   // answers everything but DEV
	RefuseOpen               // NACKs every DEV, with body
	ErrorAccess              // ACKs every DEV with access 3
	CutHeader                // closes in the middle of the third reading's header
	CutBody                  // closes in the middle of the third reading's body
	Garbage                  // after the banner sends bytes that are no messages
	HugeSize                 // the third reading announces 2^31 bytes, then nothing
	LargeSize                // the third reading announces 32 MiB and has 100 bytes, then nothing
	ShortBody                // the third reading is too short for its struct; good ones follow
	BadCounts                // the second laser scan's counts differ; good ones follow
	Stall                    // sends three readings and no more, nor answers
	Dribble                  // good, but a byte at a time
)

// Fake serves with the fault on a free loopback port until the test ends.
func Fake(t testing.TB, f Fault) *Server {
	t.Helper()
	s := listen(t)
	if f == Absent {
		s.listener.Close()
		return s
	}
	c := fakeCapture()
	rec := record(c)
	rec.rounds = cutRounds(c, 2)
	rec.lap = lap(c.Data())
	o := Options{Open: []uint32{Device(4, 0), Device(6, 0)}, Interval: 2 * time.Millisecond, Loop: true}
	return s.run(func(nc net.Conn) {
		if f == Silent {
			io.Copy(io.Discard, nc)
			return
		}
		newPlayback(s, rec, o, &faulty{Conn: nc, fault: f}).run()
	})
}

// fakeCapture is a recorded run that never was: geometry requests and readings
// of both devices.
func fakeCapture() *Capture {
	const port = 6665
	banner := make([]byte, bannerSize)
	copy(banner, "Player v.3.1.1-fake")
	s2c := banner
	var c2s []byte
	floats := func(v ...float64) []byte {
		var b []byte
		for _, f := range v {
			b = binary.BigEndian.AppendUint64(b, math.Float64bits(f))
		}
		return b
	}
	float32s := func(v ...float32) []byte {
		var b []byte
		for _, f := range v {
			b = binary.BigEndian.AppendUint32(b, math.Float32bits(f))
		}
		return b
	}
	pos, las := kind{4, 0, 1}, kind{6, 0, 1}
	for _, k := range []kind{pos, las} {
		c2s = append(c2s, message(port, k, typeReq, 0, 0, nil)...)
		s2c = append(s2c, message(port, k, typeAck, 0, 0, floats(0, 0, 0, 0, 0, 0, 0.4, 0.5, 0.2))...)
		body := make([]byte, 20)
		address(body, port)
		putU32(body, 8, uint32(k.interf))
		putU32(body, 16, accessOpen)
		open := kind{interfPlayer, 0, reqDev}
		c2s = append(c2s, message(port, open, typeReq, 0, 0, appendCounted(body, nil))...)
		s2c = append(s2c, message(port, open, typeAck, 0, 0, appendCounted(body, []byte("fake\x00")))...)
	}
	for i := range 50 {
		at := float64(i) / 10
		s2c = append(s2c, message(port, pos, typeData, at, 0, append(floats(at, 0, 0, 1, 0, 0), 0, 0, 0, 0))...)
		scan := float32s(-1, 1, 0.25, 8)
		scan = append(scan, 0, 0, 0, 9, 0, 0, 0, 9)
		scan = append(scan, float32s(8, 7, 6, 5, 1+float32(i%5), 5, 6, 7, 8)...)
		scan = append(scan, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
		s2c = append(s2c, message(port, las, typeData, at, 0, scan)...)
	}
	c, err := New("fake", c2s, s2c)
	if err != nil {
		panic(err) // a mistake in this function
	}
	return c
}

// faulty is a connection to which every write is one message (or the banner),
// some of which go wrong.
type faulty struct {
	net.Conn
	fault  Fault
	banner bool // sent
	data   int  // readings so far
	scans  int  // laser readings so far
	mute   bool // nothing is sent any more
}

func (f *faulty) Write(b []byte) (int, error) {
	if f.mute {
		return len(b), nil
	}
	if !f.banner {
		f.banner = true
		return f.writeBanner(b)
	}
	typ, subtype := b[19], b[23]
	isDev := b[11] == interfPlayer && subtype == reqDev
	if typ == typeData {
		f.data++
		if b[11] == 6 {
			f.scans++
		}
		return f.writeReading(b)
	}
	switch {
	case f.fault == NoAnswers, f.fault == NoOpen && isDev:
		return len(b), nil
	case f.fault == RefuseOpen && isDev:
		b[19] = typeNack
		putU32(b, headerSize+16, accessError)
	case f.fault == ErrorAccess && isDev:
		putU32(b, headerSize+16, accessError)
	}
	return f.send(b)
}

func (f *faulty) writeBanner(b []byte) (int, error) {
	switch f.fault {
	case HalfBanner:
		f.mute = true
		f.Conn.Write(b[:bannerSize/2])
		return len(b), nil
	case Hangup:
		f.Conn.Write(b)
		f.Conn.Close()
		return len(b), nil
	case Garbage:
		f.mute = true
		f.Conn.Write(b)
		f.Conn.Write([]byte("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\r\nBad Request\r\n"))
		return len(b), nil
	}
	return f.send(b)
}

// writeReading sends a reading; the third is the one that goes wrong.
func (f *faulty) writeReading(b []byte) (int, error) {
	if f.fault == BadCounts && b[11] == 6 && f.scans == 2 {
		putU32(b, headerSize+16, 3) // of 9
	}
	switch f.fault {
	case NoAnswers, NoOpen, RefuseOpen, ErrorAccess: // nothing is open, as far as is told
		return len(b), nil
	}
	if f.data < 3 {
		return f.send(b)
	}
	cut := -1
	switch f.fault {
	case CutHeader:
		cut = headerSize / 2
	case CutBody:
		cut = headerSize + 10
	case HugeSize:
		putU32(b, 36, 1<<31)
		b, f.mute = b[:headerSize], true
	case LargeSize:
		putU32(b, 36, 32<<20-headerSize)
		b, f.mute = append(b[:headerSize], make([]byte, 100)...), true
	case Stall:
		f.mute = true
	case ShortBody:
		if f.data == 3 {
			putU32(b, 36, 8)
			b = b[:headerSize+8]
		}
	}
	if cut >= 0 {
		f.Conn.Write(b[:cut])
		f.Conn.Close()
		return cut, net.ErrClosed
	}
	return f.send(b)
}

func (f *faulty) send(b []byte) (int, error) {
	if f.fault != Dribble {
		return f.Conn.Write(b)
	}
	for i := range b {
		if _, err := f.Conn.Write(b[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(b), nil
}
