package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
)

const socketsName = "sockets"

// socketTasks is two programs and a TCP connection: what a request costs without a
// broker. A frame is the length of its body, a number, and the body.
type socketTasks struct {
	listener net.Listener
	conn     net.Conn
	running  sync.WaitGroup

	writing sync.Mutex // of out: what waits to be written keeps nobody from reading
	out     *bufio.Writer
	wake    chan struct{} // cap 1: there is something to flush

	mu      sync.Mutex
	last    uint32
	waiting map[uint32]chan []byte
	noting  bool
	served  [][]byte
}

func newSocketTasks() (*socketTasks, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &socketTasks{listener: l, wake: make(chan struct{}, 1), waiting: map[uint32]chan []byte{}}
	s.running.Go(s.serve)
	if s.conn, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	s.out = bufio.NewWriterSize(s.conn, 64<<10)
	s.running.Go(s.flush)
	s.running.Go(s.read)
	return s, nil
}

const frameHead = 8

// serve answers each frame by itself. It flushes when nothing more is there to read.
func (s *socketTasks) serve() {
	conn, err := s.listener.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	in, out := bufio.NewReaderSize(conn, 64<<10), bufio.NewWriterSize(conn, 64<<10)
	for {
		number, body, err := readFrame(in)
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.noting {
			s.served = append(s.served, body)
		}
		s.mu.Unlock()
		if writeFrame(out, number, body) != nil || in.Buffered() == 0 && out.Flush() != nil {
			return
		}
	}
}

func readFrame(in io.Reader) (number uint32, body []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return 0, nil, err
	}
	body = make([]byte, binary.BigEndian.Uint32(head[:]))
	_, err = io.ReadFull(in, body)
	return binary.BigEndian.Uint32(head[4:]), body, err
}

func writeFrame(out *bufio.Writer, number uint32, body []byte) error {
	var head [frameHead]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(body)))
	binary.BigEndian.PutUint32(head[4:], number)
	_, err := out.Write(head[:])
	if err == nil {
		_, err = out.Write(body)
	}
	return err
}

// flush writes what callers have said meanwhile, together.
func (s *socketTasks) flush() {
	for range s.wake {
		s.writing.Lock()
		err := s.out.Flush()
		s.writing.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *socketTasks) read() {
	in := bufio.NewReaderSize(s.conn, 64<<10)
	for {
		number, body, err := readFrame(in)
		if err != nil {
			return
		}
		s.mu.Lock()
		to := s.waiting[number]
		delete(s.waiting, number)
		s.mu.Unlock()
		to <- body
	}
}

// say writes a request, and returns where its answer comes.
func (s *socketTasks) say(body []byte) (chan []byte, error) {
	got := make(chan []byte, 1)
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	s.last++
	number := s.last
	s.waiting[number] = got
	s.mu.Unlock()
	if err := writeFrame(s.out, number, body); err != nil {
		return nil, err
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return got, nil
}

func (s *socketTasks) ask(ctx context.Context, body []byte) ([]byte, error) {
	got, err := s.say(body)
	if err != nil {
		return nil, err
	}
	select {
	case answer := <-got:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *socketTasks) stream(ctx context.Context, bodies [][]byte) (answers, served [][]byte, err error) {
	s.mu.Lock()
	s.noting = true
	s.mu.Unlock()
	var waiting []chan []byte
	for _, body := range bodies {
		got, err := s.say(body)
		if err != nil {
			return nil, nil, err
		}
		waiting = append(waiting, got)
	}
	for _, got := range waiting {
		select {
		case answer := <-got:
			answers = append(answers, answer)
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return answers, s.served, nil
}

func (s *socketTasks) stop() error {
	s.listener.Close()
	if s.conn != nil {
		s.conn.Close()
	}
	close(s.wake)
	s.running.Wait()
	return nil
}
