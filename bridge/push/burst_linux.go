package push

import (
	"syscall"
	"unsafe"
)

// batchWriter writes to several sockets with one system call: io_submit, which
// to sockets that do not block has written when it returns (io_uring, its
// successor, is refused in most containers). The scheduler need not hear of
// calls that never wait, which saves a tenth of their time.
//
// The kernel is told addresses within it: it must be on the heap, where nothing
// is moved.
type batchWriter struct {
	state   aioState
	context uintptr
	blocks  [maxBurst]iocb
	list    [maxBurst]*iocb
	parts   [maxBurst]parts
	events  [maxBurst]ioEvent
}

type aioState int

const (
	aioNew    aioState = iota
	aioReady           // context is set up
	aioAbsent          // the system has none to give
)

// iocb is struct iocb of linux/aio_abi.h.
type iocb struct {
	data     uint64
	_        uint64 // key and flags, in the order of the machine's bytes
	opcode   uint16
	priority int16
	fd       uint32
	buf      uint64
	length   uint64
	offset   int64
	_        uint64
	_        uint32
	_        uint32
}

// ioEvent is struct io_event.
type ioEvent struct {
	data, object uint64
	result       int64
	_            int64
}

const iocbPwritev = 8 // IOCB_CMD_PWRITEV

// parts are a frame's, in the order in which they are written.
type parts [3]syscall.Iovec

// of sets the parts of a slot's frame and returns their number.
func (p *parts) of(s *slot) int {
	p.set(0, s.buf.frames)
	if s.buf.shared == nil {
		return 1
	}
	p.set(1, s.buf.shared)
	p.set(2, s.buf.tail)
	return 3
}

func (p *parts) set(i int, b []byte) {
	p[i].Base = unsafe.SliceData(b)
	p[i].SetLen(len(b))
}

// write writes to the slots whose sockets are held and sets n of each.
func (w *batchWriter) write(slots []slot) {
	count := 0
	for i := range slots {
		slot := &slots[i]
		if !slot.held {
			continue
		}
		w.blocks[count] = iocb{
			data: uint64(i), opcode: iocbPwritev, fd: uint32(slot.fd),
			buf: uint64(uintptr(unsafe.Pointer(&w.parts[i]))), length: uint64(w.parts[i].of(slot)),
		}
		w.list[count] = &w.blocks[count]
		count++
	}
	if count > 1 && w.ready() {
		w.submit(slots, count)
	} else {
		for i := range slots {
			w.writeOnce(slots, i)
		}
	}
	clear(w.parts[:len(slots)]) // they keep readings
}

func (w *batchWriter) ready() bool {
	if w.state == aioNew {
		w.state = aioAbsent
		if _, _, failed := syscall.RawSyscall(syscall.SYS_IO_SETUP, maxBurst, uintptr(unsafe.Pointer(&w.context)), 0); failed == 0 {
			w.state = aioReady
		}
	}
	return w.state == aioReady
}

func (w *batchWriter) submit(slots []slot, count int) {
	taken, _, failed := syscall.RawSyscall(syscall.SYS_IO_SUBMIT, w.context, uintptr(count), uintptr(unsafe.Pointer(&w.list)))
	if failed != 0 {
		taken = 0
	}
	for _, block := range w.list[taken:count] { // one was not to its liking
		w.writeOnce(slots, int(block.data))
	}
	for left := taken; left > 0; {
		n, _, failed := syscall.RawSyscall6(syscall.SYS_IO_GETEVENTS, w.context, left, maxBurst, uintptr(unsafe.Pointer(&w.events)), 0, 0)
		if failed == syscall.EINTR {
			continue
		}
		if failed != 0 { // it cannot: the context is our own
			for _, block := range w.list[:taken] {
				slots[block.data].n = unknown
			}
			w.state = aioAbsent
			return
		}
		for _, e := range w.events[:n] {
			slots[e.data].n = max(int(e.result), 0)
		}
		left -= n
	}
}

func (w *batchWriter) close() {
	if w.state == aioReady {
		_, _, _ = syscall.RawSyscall(syscall.SYS_IO_DESTROY, w.context, 0, 0)
	}
	w.state = aioAbsent
}

// writeOnce writes what the socket of one slot takes at once.
func (w *batchWriter) writeOnce(slots []slot, i int) {
	if !slots[i].held {
		return
	}
	count := w.parts[i].of(&slots[i])
	n, _, failed := syscall.RawSyscall(syscall.SYS_WRITEV, slots[i].fd, uintptr(unsafe.Pointer(&w.parts[i])), uintptr(count))
	if failed == 0 {
		slots[i].n = int(n)
	}
}
