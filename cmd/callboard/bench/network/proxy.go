package network

import (
	"net"
	"sync"
	"time"
)

// Proxy is a link between two brokers: it passes bytes on, late if it is told
// so, and can be cut and stalled.
type Proxy struct {
	listener net.Listener
	delay    time.Duration
	running  sync.WaitGroup

	mu      sync.Mutex
	target  string
	conns   map[net.Conn]bool
	cut     bool
	stalled chan struct{} // closed when the stall ends; nil: none
	closed  bool
	bytes   int64 // passed on
}

// late is what is on its way.
type late struct {
	due   time.Time
	bytes []byte
}

// inFlight bounds how many chunks are on their way at once in one direction;
// with chunk it is what a link holds.
const (
	inFlight = 1024
	chunk    = 32 << 10
)

func newProxy(delay time.Duration) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, delay: delay, conns: map[net.Conn]bool{}}
	p.running.Go(p.accept)
	return p, nil
}

// Address is where the one broker finds the other.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Bytes is how much has passed, both ways.
func (p *Proxy) Bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}

// Cut ends what goes over the link, and lets nothing more begin.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for c := range p.conns {
		c.Close()
	}
}

// Heal lets connections begin again.
func (p *Proxy) Heal() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
}

// Stall holds all back that is on its way: nothing is lost, nothing arrives.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled == nil {
		p.stalled = make(chan struct{})
	}
}

// Resume lets it go on.
func (p *Proxy) Resume() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stalled != nil {
		close(p.stalled)
		p.stalled = nil
	}
}

// Close ends the proxy and waits.
func (p *Proxy) Close() error {
	p.Resume()
	p.mu.Lock()
	p.closed, p.cut = true, true
	err := p.listener.Close()
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
	return err
}

// forward says where connections go from now on.
func (p *Proxy) forward(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		target := p.target
		p.mu.Unlock()
		if !p.enter(c) {
			continue
		}
		p.running.Go(func() { p.connect(c, target) })
	}
}

// enter counts a connection in, or closes it if the link is cut.
func (p *Proxy) enter(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) leave(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
	c.Close()
}

func (p *Proxy) connect(c net.Conn, target string) {
	defer p.leave(c)
	d, err := net.DialTimeout("tcp", target, 5*time.Second)
	if err != nil || !p.enter(d) {
		return
	}
	defer p.leave(d)
	var both sync.WaitGroup
	both.Go(func() { p.pass(c, d) })
	both.Go(func() { p.pass(d, c) })
	both.Wait()
}

// pass hands bytes on, each as late as the link is slow.
func (p *Proxy) pass(from, to net.Conn) {
	defer to.Close()
	defer from.Close()
	way := make(chan late, inFlight)
	var writing sync.WaitGroup
	writing.Go(func() {
		defer from.Close()
		for l := range way {
			if !p.write(to, l) {
				for range way { // until the reader ends
				}
			}
		}
	})
	for {
		b := make([]byte, chunk)
		n, err := from.Read(b)
		if n > 0 {
			way <- late{time.Now().Add(p.delay), b[:n]}
		}
		if err != nil {
			break
		}
	}
	close(way)
	writing.Wait()
}

func (p *Proxy) write(to net.Conn, l late) bool {
	if p.delay > 0 {
		time.Sleep(time.Until(l.due))
	}
	p.mu.Lock()
	stalled := p.stalled
	p.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
	n, err := to.Write(l.bytes)
	p.mu.Lock()
	p.bytes += int64(n)
	p.mu.Unlock()
	return err == nil
}
