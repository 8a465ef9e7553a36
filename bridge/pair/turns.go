package pair

import (
	"context"
	"net"
	"time"

	"callboard/bridge/standby"
	"callboard/bridge/standby/format"
)

// turns gives the rules their turns, each T/4, from a thread of its own: a process
// that is busy is no dead one.
func (p *Pair) turns(ctx context.Context) error {
	done := make(chan struct{})
	go func() { // ends with its thread
		defer close(done)
		ahead()
		for due := time.Now(); ctx.Err() == nil; {
			if due = due.Add(p.cfg.Heartbeat / 4); time.Until(due) < 0 { // it stood still
				due = time.Now()
			}
			sleep(time.Until(due))
			p.drain()
			if p.cfg.Witness == nil { // nobody tells whether the outer line lives: it is taken for well
				p.input(&standby.OuterLives{})
			}
			p.input(&standby.Tick{})
			p.signs()
		}
	}()
	<-done
	return nil
}

// maxDrain is how often a turn looks whether all that waits in the sockets is read.
const maxDrain = 20

// drain waits until what has arrived is handed in: it comes before any verdict (H3).
func (p *Pair) drain() {
	for range maxDrain {
		p.mu.Lock()
		lines := p.lines
		p.mu.Unlock()
		waits := false
		for _, l := range lines {
			waits = waits || l != nil && unread(plain(l.conn)) > 0
		}
		if !waits {
			return
		}
		time.Sleep(p.cfg.Heartbeat / 100)
	}
}

// plain returns the connection below those that wrap it.
func plain(c net.Conn) net.Conn {
	for {
		w, is := c.(interface{ NetConn() net.Conn })
		if !is {
			return c
		}
		c = w.NetConn()
	}
}

// callOn keeps a connection with the witness.
func (p *Pair) callOn(ctx context.Context) {
	told := ""
	for wait := time.Duration(0); rest(ctx, wait); wait = min(max(2*wait, p.cfg.Heartbeat), leastWait) {
		m, err := p.call(ctx)
		if err == nil {
			told, wait = "", 0
			p.log.Info("the witness answers")
			err = p.ask(ctx, m)
		}
		if ctx.Err() == nil && err.Error() != told {
			told = err.Error()
			p.log.Warn("no answer from the witness", "error", err)
		}
	}
}

func (p *Pair) call(ctx context.Context) (Messages, error) {
	ctx, cancel := context.WithTimeout(ctx, max(p.patience(), time.Second))
	defer cancel()
	return p.cfg.Witness(ctx)
}

// ask carries messages both ways until the connection ends.
func (p *Pair) ask(ctx context.Context, m Messages) error {
	defer context.AfterFunc(ctx, func() { m.Close() })()
	p.witness.begin()
	written := make(chan struct{})
	go func() {
		defer close(written)
		for all := p.witness.take(); all != nil; all = p.witness.take() {
			for _, b := range all {
				if m.Write(b) != nil {
					m.Close() // and so the reader hears of it
					return
				}
			}
		}
	}()
	defer func() { <-written }()
	defer p.witness.end()
	defer m.Close()
	for {
		b, err := m.Read()
		if err != nil {
			return err
		}
		answer, err := format.Parse(b)
		if err != nil {
			return err
		}
		p.input(&standby.FromWitness{Message: answer})
	}
}
