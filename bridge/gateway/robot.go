package gateway

import (
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/deadline"
	"callboard/player/server"
)

// patience is how long the opening of a device is waited for. Stock clients
// give up after 5 s, a Player server that is a client after 3 s.
const patience = 2500 * time.Millisecond

// robot is one robot as a Driver that passes all on to its Player server.
type robot struct {
	name     string
	patterns []string // of its devices; none: all
	remote   *remote
	port     *port
	pub      server.Publisher

	table atomic.Pointer[map[device]player.Addr] // by address here: the Player server's

	// Of the session's goroutine:
	numbering numbering
	provided  []server.DeviceInfo
	touched   bool // it has data in this burst
	told      bool // of devices that cannot be served

	mu   sync.Mutex
	open map[device]player.Addr // devices that are open, with the Player server's address

	counters counters
}

// Devices lists none yet: they are known once the session stands.
func (r *robot) Devices() []server.DeviceInfo { return nil }

// Attach takes the way to publish.
func (r *robot) Attach(pub server.Publisher) { r.pub = pub }

// Relays reports true: the server does not decode.
func (r *robot) Relays() bool { return true }

// provide serves these devices of the Player server from now on. It gives each
// address here with that of the Player server.
func (r *robot) provide(devices []client.Device) iter.Seq2[player.Addr, player.Addr] {
	r.number(devices)
	table := make(map[device]player.Addr, len(devices))
	infos := make([]server.DeviceInfo, 0, len(devices))
	for _, d := range devices {
		local, ok := r.numbering.local(d.Addr)
		if !ok {
			r.tell("device is not served: there is no index left for it", slog.String("device", d.Addr.String()))
			continue
		}
		name := d.Driver
		if of, twin := player.TwinOf(name); twin {
			if here, ok := r.numbering.local(of); ok {
				name = player.TwinDriver(player.Addr{Interf: here.interf, Index: here.index})
			}
		}
		if most := player.MaxDriverName - 2; len(name) > most {
			name = name[:most]
		}
		table[local] = d.Addr
		infos = append(infos, server.DeviceInfo{Interf: local.interf, Index: local.index, Driver: name})
	}
	r.table.Store(&table)
	if !slices.Equal(infos, r.provided) {
		r.provided = infos
		if err := server.Provide(r.pub, infos); err != nil {
			r.tell("devices are not served", slog.Any("err", err))
		}
	}
	return func(yield func(player.Addr, player.Addr) bool) {
		for local, a := range table {
			if !yield(player.Addr{Interf: local.interf, Index: local.index}, a) {
				return
			}
		}
	}
}

// tell logs once what the operator can do something about.
func (r *robot) tell(msg string, attrs ...any) {
	if !r.told {
		r.told = true
		r.remote.log.Warn(msg, append(attrs, slog.String("robot", r.name))...)
	}
}

// there returns a device's address at the Player server.
func (r *robot) there(a player.Addr) (player.Addr, bool) {
	table := r.table.Load()
	if table == nil {
		return player.Addr{}, false
	}
	there, ok := (*table)[deviceOf(a)]
	return there, ok
}

// here returns the index here of a device of the Player server.
func (r *robot) here(there device) (int, bool) {
	table := r.table.Load()
	if table == nil {
		return 0, false
	}
	for local, a := range *table {
		if deviceOf(a) == there {
			return int(local.index), true
		}
	}
	return 0, false
}

// Open opens a device in the session, unless it is open there already.
func (r *robot) Open(a player.Addr) error {
	there, ok := r.there(a)
	if !ok {
		return fmt.Errorf("gateway: %s has no device %s", r.name, a)
	}
	ctx, cancel := deadline.Context(r.remote.gateway.stop, patience)
	defer cancel()
	err := r.remote.client.Open(ctx, there)
	if err != nil {
		r.counters.refusedOpens.Add(1)
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = map[device]player.Addr{}
	}
	r.open[deviceOf(a)] = there
	return nil
}

// Close takes an Open back.
func (r *robot) Close(a player.Addr) {
	r.mu.Lock()
	there, ok := r.open[deviceOf(a)]
	delete(r.open, deviceOf(a))
	r.mu.Unlock()
	if ok {
		r.remote.client.Close(there)
	}
}

// Handle passes a command or request on. What cannot be passed on, because the
// robot is away above all, is refused at once.
func (r *robot) Handle(c *server.Call) {
	h := c.Header
	there, ok := r.there(h.Addr)
	if !ok {
		c.Nack(nil)
		return
	}
	h.Addr = there
	if h.Type == player.Request {
		r.ask(c, h)
		return
	}
	if err := r.remote.client.Pass(h, c.Body, nil); err != nil {
		r.counters.failed(&r.counters.commands, err)
	}
}

func (r *robot) ask(c *server.Call, h player.Header) {
	err := r.remote.client.Pass(h, c.Body, func(h player.Header, body []byte, err error) {
		if err != nil {
			r.counters.failed(&r.counters.requests, err)
			c.Nack(nil)
			return
		}
		c.Reply(h, body)
	})
	if err != nil {
		r.counters.failed(&r.counters.requests, err)
		c.Nack(nil)
	}
}

// failures are counted by reason.
type failures struct{ away, busy, forbidden, other atomic.Uint64 }

// counters of one robot.
type counters struct {
	requests, commands failures
	refusedOpens       atomic.Uint64
}

func (*counters) failed(f *failures, err error) {
	switch {
	case errors.Is(err, client.ErrAway):
		f.away.Add(1)
	case errors.Is(err, client.ErrBusy), errors.Is(err, client.ErrUnanswered):
		f.busy.Add(1)
	case errors.Is(err, client.ErrForbidden):
		f.forbidden.Add(1)
	case errors.Is(err, client.ErrTimeout): // the server has refused and counted it
	default:
		f.other.Add(1)
	}
}
