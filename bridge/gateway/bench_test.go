package gateway_test

import (
	"fmt"
	"io"
	"runtime"
	"testing"

	"callboard/player"
	"callboard/player/iface"
)

// through is a robot whose readings a program gets through the gateway.
type through struct {
	robot   *real
	program *program
	size    int // bytes of a reading, with its header
	body    []byte
	buf     []byte
}

func newThrough(t testing.TB, body int) *through {
	robot := newReal(camera, position)
	s, _ := serve(t, "127.0.0.1:0", robot)
	r := start(t, nil, one("r0", s.Addr().String()))
	r.isUp()
	p := r.attach(0)
	p.until(2)
	p.open(camera)
	robot.answer = nil
	return &through{robot: robot, program: p, size: player.HeaderSize + body, body: make([]byte, body), buf: make([]byte, player.HeaderSize+body)}
}

// readings sends n, each once the one before has arrived.
func (u *through) readings(t testing.TB, n int) {
	for range n {
		u.robot.pub.PublishBody(camera, 1, 1, u.body)
		if _, err := io.ReadFull(u.program.nc, u.buf); err != nil {
			t.Fatal(err)
		}
	}
}

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// BenchmarkThroughTheGateway takes readings from the robot's server through the
// gateway to a program, all over TCP. allocated/size is what is allocated per
// reading in the whole process, the robot's server and the program included, as
// a multiple of the reading: promised is 2 at most.
func BenchmarkThroughTheGateway(b *testing.B) {
	for _, body := range []int{52, 1844, 100_000, 2_764_800} {
		b.Run(fmt.Sprint(player.HeaderSize+body), func(b *testing.B) {
			u := newThrough(b, body)
			u.readings(b, 20)
			b.SetBytes(int64(u.size))
			b.ResetTimer()
			bytes := allocated(func() { u.readings(b, b.N) })
			b.ReportMetric(float64(bytes)/float64(b.N)/float64(u.size), "allocated/size")
		})
	}
}

// What the benchmark shows holds, for readings and for commands.
func TestLittleIsAllocatedPerMessage(t *testing.T) {
	for _, test := range []struct{ body, n int }{{52, 2000}, {1844, 1000}, {100_000, 100}, {2_764_800, 20}} {
		u := newThrough(t, test.body)
		u.readings(t, 100)
		bytes := allocated(func() { u.readings(t, test.n) })
		if ratio := float64(bytes) / float64(test.n) / float64(u.size); ratio > 2 {
			t.Errorf("a reading of %d bytes allocates %.2f times its size", u.size, ratio)
		}
	}
	const n, batch = 2000, 50
	u := newThrough(t, 4)
	command, err := iface.AppendMessage(nil, player.Header{Addr: position, Type: player.Command, Subtype: iface.CmdPosition2DVel}, &iface.Position2DCmdVel{})
	if err != nil {
		t.Fatal(err)
	}
	arrived := make(chan struct{}, 10*batch)
	u.robot.quiet(func() { arrived <- struct{}{} })
	send := func(n int) {
		for range n / batch {
			for range batch {
				if _, err := u.program.nc.Write(command); err != nil {
					t.Fatal(err)
				}
			}
			for range batch {
				<-arrived
			}
		}
	}
	send(10 * batch)
	if ratio := float64(allocated(func() { send(n) })) / n / float64(len(command)); ratio > 2 {
		t.Errorf("a command of %d bytes allocates %.2f times its size", len(command), ratio)
	}
}
