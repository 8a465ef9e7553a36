package link

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// memoryNet is the transport in memory, over net.Pipe. The zero value is ready.
type memoryNet struct {
	TCP       // but for Dial
	mu        sync.Mutex
	listeners map[string]*memoryListener
}

// Listen takes connections to an address, which is any text.
func (m *memoryNet) Listen(address string) (net.Listener, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.listeners[address] != nil {
		return nil, fmt.Errorf("listen on %s in memory: the address is in use", address)
	}
	if m.listeners == nil {
		m.listeners = map[string]*memoryListener{}
	}
	l := &memoryListener{network: m, address: address, conns: make(chan net.Conn), closed: make(chan struct{})}
	m.listeners[address] = l
	return l, nil
}

// Dial connects to whoever listens on the address.
func (m *memoryNet) Dial(ctx context.Context, address string) (net.Conn, error) {
	m.mu.Lock()
	l := m.listeners[address]
	m.mu.Unlock()
	if l == nil {
		return nil, fmt.Errorf("dial %s in memory: nobody listens", address)
	}
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.closed:
		return nil, fmt.Errorf("dial %s in memory: nobody listens any more", address)
	case <-ctx.Done():
		return nil, fmt.Errorf("dial %s in memory: %w", address, ctx.Err())
	}
}

type memoryListener struct {
	network *memoryNet
	address string
	conns   chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() {
		l.network.mu.Lock()
		delete(l.network.listeners, l.address)
		l.network.mu.Unlock()
		close(l.closed)
	})
	return nil
}

func (l *memoryListener) Addr() net.Addr { return memoryAddr(l.address) }

type memoryAddr string

func (memoryAddr) Network() string  { return "memory" }
func (a memoryAddr) String() string { return string(a) }
