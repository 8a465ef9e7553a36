package push

import (
	"fmt"
	"syscall"
	"testing"
)

// What io_submit does not take holds up nothing behind it.
func TestBatchGoesOnBehindABadSocket(t *testing.T) {
	for bad := range 3 {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			w := onHeap()
			defer w.close()
			slots, ends := make([]slot, 3), make([]int, 3)
			for i := range slots {
				pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_NONBLOCK, 0)
				if err != nil {
					t.Fatal(err)
				}
				defer syscall.Close(pair[0])
				defer syscall.Close(pair[1])
				slots[i] = slot{fd: uintptr(pair[0]), held: true, buf: scratch{frames: fmt.Appendf(nil, "frame %d", i)}}
				ends[i] = pair[1]
			}
			slots[bad].fd = 1 << 20 // none is open
			w.write(slots)
			for i := range slots {
				var got [16]byte
				n, want := 0, ""
				if i != bad {
					want = fmt.Sprintf("frame %d", i)
					n, _ = syscall.Read(ends[i], got[:])
				}
				if string(got[:max(n, 0)]) != want || slots[i].n != len(want) {
					t.Errorf("socket %d has %q and %d bytes are told, expected %q", i, got[:max(n, 0)], slots[i].n, want)
				}
			}
		})
	}
}

// onHeap makes a batchWriter that is not on the stack, which may move.
//
//go:noinline
func onHeap() *batchWriter { return new(batchWriter) }
