package record

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
)

// disk writes in a goroutine of its own what is handed to it, in order.
type disk struct {
	ended  func(Part)
	failed chan struct{} // closed when writing fails

	mu     sync.Mutex
	more   sync.Cond
	queue  []job
	queued int // bytes in it
	closed bool
	err    error
}

// job is bytes for a file, or its end.
type job struct {
	part *part
	data []byte
	end  bool
}

// part is a file that is written.
type part struct {
	disk     *disk
	name     string
	file     File
	messages atomic.Uint64
	written  int64 // the disk's
}

func newDisk(ended func(Part)) *disk {
	d := &disk{ended: ended, failed: make(chan struct{})}
	d.more.L = &d.mu
	return d
}

// Write takes bytes for the file: whole lines or records.
func (p *part) Write(b []byte) (int, error) {
	d := p.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return 0, d.err
	}
	d.add(job{part: p, data: bytes.Clone(b)})
	return len(b), nil
}

// add queues a job. The lock is held.
func (d *disk) add(j job) {
	d.queue = append(d.queue, j)
	d.queued += len(j.data)
	d.more.Signal()
}

// end completes a file once all of it is written.
func (d *disk) end(p *part) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.add(job{part: p, end: true})
}

// close ends run when all is written.
func (d *disk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.more.Signal()
}

// abandon closes a file that nothing was written to, without run.
func (d *disk) abandon(p *part) { p.file.Close() }

// waiting is how many bytes wait.
func (d *disk) waiting() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.queued
}

// failure is why writing has failed, nil if it has not.
func (d *disk) failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// next waits for jobs; false is the end.
func (d *disk) next() (job, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.queue) == 0 && !d.closed {
		d.more.Wait()
	}
	if len(d.queue) == 0 {
		return job{}, false
	}
	j := d.queue[0]
	d.queue[0] = job{}
	d.queue = d.queue[1:]
	return j, true
}

// done forgets a job that is done, or reports that it failed.
func (d *disk) done(j job, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queued -= len(j.data)
	if err != nil && d.err == nil {
		d.err = err
		d.queue, d.queued = nil, 0
		close(d.failed)
	}
}

// run writes until close. When writing fails, the file is cut behind the last
// whole record, so that it stays readable to its end.
func (d *disk) run() {
	open := map[*part]bool{}
	for {
		j, ok := d.next()
		if !ok {
			for p := range open {
				p.file.Close()
			}
			return
		}
		open[j.part] = true
		if d.failure() != nil {
			continue
		}
		if j.end {
			delete(open, j.part)
			d.done(j, j.part.complete(d.ended))
			continue
		}
		n, err := j.part.file.Write(j.data)
		if err == nil {
			j.part.written += int64(n)
			d.done(j, nil)
			continue
		}
		err = fmt.Errorf("writing %s failed after %d bytes, which can be read: %w", j.part.name, j.part.written, err)
		if cut := j.part.file.Truncate(j.part.written); cut != nil {
			err = fmt.Errorf("%w (and cutting it behind its last whole record: %w)", err, cut)
		}
		d.done(j, err)
	}
}

// complete hands the file to the disk for good.
func (p *part) complete(ended func(Part)) error {
	err := p.file.Sync()
	if closing := p.file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return fmt.Errorf("completing %s: %w", p.name, err)
	}
	ended(Part{Name: p.name, Bytes: p.written, Messages: p.messages.Load()})
	return nil
}
