package client

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"callboard/player"
	"callboard/player/iface"
)

// device is a device that is to be opened.
type device struct {
	Device
	hearing
	group     string // Config.Group
	state     deviceState
	tasks     []*task // what was asked of it, the newest of each kind
	opener    *task   // that opens it; nil: none yet
	wanted    bool    // by Config.Open; else it is opened only on demand
	undecided bool    // it will be wanted unless it is a twin
	slots     []slot  // by subtype of DATA
}

type deviceState uint8

const (
	closed  deviceState = iota // not asked for yet, or refused
	opening                    // asked for
	opened                     // the server said so, or sends its data
	closing                    // asked to be closed
)

// task is one thing to ask of a device until it is answered: to be opened,
// what its driver is, what its geometry and configuration are.
type task struct {
	device     *device
	addr       player.Addr
	subtype    uint8
	pause      backoff
	due        time.Time // when it may be sent
	sent       bool      // its answer is to come
	tried      bool      // it was answered or timed out at least once
	background bool      // Up does not wait for it
	done       bool
}

// setup are a session's tasks.
type setup struct {
	tasks     []*task
	inAir     int
	undecided int       // devices that may be twins
	listed    bool      // the device list is here
	until     time.Time // Up comes no later
}

// geometryRequests are what a device of an interface is asked for when it is
// open. What their answers tell is in learn.
var geometryRequests = map[player.Interface][]uint8{
	player.InterfaceLaser:      {iface.ReqLaserGetGeom},
	player.InterfaceRanger:     {iface.ReqRangerGetGeom, iface.ReqRangerGetConfig},
	player.InterfaceSonar:      {iface.ReqSonarGetGeom},
	player.InterfacePosition2D: {iface.ReqPosition2DGetGeom},
}

// begin chooses the data mode, then asks for the devices.
func (s *session) begin(now time.Time) error {
	s.lastRead = now
	s.wake = now.Add(housework)
	self := player.Addr{Interf: player.InterfacePlayer}
	var err error
	if s.pull, err = message(player.Request, self, player.PlayerData, nil); err != nil {
		return err
	}
	return s.own(now, self, player.PlayerDatamode, &iface.DeviceDatamodeReq{Mode: s.cfg.Mode}, func(a answer) error {
		if err := a.failed(); err != nil {
			return fmt.Errorf("set the data mode: %w", err)
		}
		return s.own(time.Now(), self, player.PlayerDevlist, nil, s.list)
	})
}

// failed is the error of an answer that is none, or a refusal.
func (a answer) failed() error {
	if a.err != nil {
		return a.err
	}
	if a.header.Type == player.Nack {
		return &NackError{Header: a.header, Body: append([]byte(nil), a.body...)}
	}
	return nil
}

// list takes the device list and makes a task of each device to open.
func (s *session) list(a answer) error {
	if err := a.failed(); err != nil {
		return fmt.Errorf("ask for the devices: %w", err)
	}
	var list iface.DeviceDevlist
	if err := iface.Decode(a.body, &list); err != nil {
		return fmt.Errorf("device list: %w", err)
	}
	s.listed = list.Devices
	if err := s.askPace(list.Devices); err != nil {
		return err
	}
	for _, addr := range list.Devices {
		// Opening a device twice would bring its data twice.
		if s.byID[id(addr)] != nil || addr.Interf == player.InterfacePlayer {
			continue
		}
		wanted := s.cfg.Open(addr)
		if !wanted && s.cfg.Relay == nil {
			continue
		}
		d := &device{Device: Device{Addr: addr}, wanted: wanted}
		if s.cfg.Group != nil {
			d.group = s.cfg.Group(addr)
		}
		s.devices = append(s.devices, d)
		s.byID[id(addr)] = d
		if wanted && s.mayBeTwin(addr, list.Devices) {
			d.wanted, d.undecided = false, true
			s.setup.undecided++
			s.addTask(d, player.Addr{Interf: player.InterfacePlayer}, player.PlayerDriverinfo)
		}
	}
	if s.setup.undecided == 0 {
		s.openWanted()
	}
	now := time.Now()
	s.setup.listed = true
	s.setup.until = now.Add(s.cfg.SetupTimeout)
	s.due(s.setup.until)
	return s.advance(now)
}

// addTask makes the task of asking something of d, unless that is under way: a
// device may be opened any number of times in a session.
func (s *session) addTask(d *device, addr player.Addr, subtype uint8) *task {
	t := &task{device: d, addr: addr, subtype: subtype,
		pause: backoff{min: 4 * s.cfg.BackoffMin, max: 4 * s.cfg.BackoffMax, jitter: s.cfg.Jitter}}
	i := slices.IndexFunc(d.tasks, func(old *task) bool { return old.addr == addr && old.subtype == subtype })
	switch {
	case i < 0:
		d.tasks = append(d.tasks, t)
	case !d.tasks[i].done:
		return d.tasks[i]
	default:
		d.tasks[i] = t
	}
	s.setup.tasks = append(s.setup.tasks, t)
	return t
}

// addOpener makes the task that opens d.
func (s *session) addOpener(d *device) {
	d.opener = s.addTask(d, player.Addr{Interf: player.InterfacePlayer}, player.PlayerDev)
}

// advance sends the tasks that are due and says Up when the first attempts
// are through.
func (s *session) advance(now time.Time) error {
	if !s.setup.listed {
		return nil
	}
	waiting := false
	keep := s.setup.tasks[:0]
	for _, t := range s.setup.tasks {
		if t.done = t.done || !t.sent && t.known(); t.done {
			continue
		}
		keep = append(keep, t)
		waiting = waiting || !t.tried && !t.background
		switch {
		case t.sent:
		case t.due.After(now):
			s.due(t.due)
		case s.setup.inAir >= maxInAir: // the next answer calls advance again
		case s.pending.crowded(id(t.addr), t.subtype):
			t.tried = true
			t.due = now.Add(t.pause.next())
			s.due(t.due)
		default:
			if err := s.try(now, t); err != nil {
				return err
			}
		}
	}
	clear(s.setup.tasks[len(keep):])
	s.setup.tasks = keep
	if s.upAt.IsZero() && (!waiting || !now.Before(s.setup.until)) {
		return s.up(now)
	}
	if s.setup.inAir == 0 {
		s.tellList()
	}
	return nil
}

// known reports that what the task asks for has come without its answer: in a
// DATA message.
func (t *task) known() bool {
	switch {
	case t.addr.Interf == player.InterfacePlayer:
		return t.subtype == player.PlayerDriverinfo && t.device.Driver != ""
	case t.addr.Interf == player.InterfaceRanger && t.subtype == iface.ReqRangerGetConfig:
		return t.device.Config != nil
	}
	return t.device.Geometry != nil
}

// try sends the request of a task.
func (s *session) try(now time.Time, t *task) error {
	t.sent = true
	s.setup.inAir++
	var req any
	if t.addr.Interf == player.InterfacePlayer {
		switch t.subtype {
		case player.PlayerDev:
			t.device.state = max(t.device.state, opening)
			req = &iface.DeviceReq{Addr: t.device.Addr, Access: player.AccessOpen}
		case player.PlayerDriverinfo:
			req = &iface.DeviceDriverinfo{Addr: t.device.Addr}
		}
	}
	return s.own(now, t.addr, t.subtype, req, func(a answer) error { return s.tried(t, a) })
}

// errLostStep is in the error that ends a session whose answers do not belong
// to its requests.
var errLostStep = errors.New("answers are out of step")

// tried takes a task's answer. What is refused, unanswered or of no use is
// tried again later.
func (s *session) tried(t *task, a answer) error {
	now := time.Now()
	t.sent, t.tried = false, true
	s.setup.inAir--
	err := s.apply(t, a)
	decides := t.device.undecided && t.subtype == player.PlayerDriverinfo && t.addr.Interf == player.InterfacePlayer
	if decides {
		s.decide(t.device)
	}
	switch {
	case errors.Is(err, errLostStep):
		return err
	case decides:
		t.done = true // opening it tells the driver's name, too
	case err != nil:
		pause := t.pause.next()
		t.due = now.Add(pause)
		s.warn(id(t.device.Addr), t.addr.Interf, t.subtype, "device does not answer as expected, it is asked again",
			"device", t.device.Addr.String(), "request", t.subtype, "pause", pause, "err", err)
	default:
		t.done = true
	}
	return s.advance(now)
}

// apply takes the answer to a task, or says why it is of no use.
func (s *session) apply(t *task, a answer) error {
	if t.addr.Interf == player.InterfacePlayer && t.subtype == player.PlayerDev {
		return s.openAnswer(t.device, a)
	}
	if err := a.failed(); err != nil {
		return err
	}
	m, ok := iface.Lookup(t.addr.Interf, player.Request, t.subtype)
	if !ok {
		return fmt.Errorf("request %d of %s is not in the table", t.subtype, t.addr.Interf)
	}
	payload := m.New()
	if err := m.Decode(a.body, payload); err != nil { // an empty body, too
		s.count.undecodable.Add(1)
		return err
	}
	if info, ok := payload.(*iface.DeviceDriverinfo); ok {
		if id(info.Addr) != id(t.device.Addr) {
			return fmt.Errorf("the driver of %s was told instead", info.Addr)
		}
		t.device.Driver = iface.GoString(info.DriverName)
		s.unlisted = true
		s.changed(t.device)
		return nil
	}
	s.learn(t.device, payload)
	return nil
}

// openAnswer takes the answer to the request to open d. An ACK may mean
// failure. One that does not say so has opened the device: to ask again would
// open it twice.
func (s *session) openAnswer(d *device, a answer) error {
	var got iface.DeviceReq
	decoded := iface.Decode(a.body, &got)
	if decoded == nil && id(got.Addr) != id(d.Addr) {
		return fmt.Errorf("%w: opening %s was answered for %s", errLostStep, d.Addr, got.Addr)
	}
	d.state = closed
	if err := a.failed(); err != nil {
		return s.client.refused(d.Addr, err)
	}
	if decoded != nil {
		s.count.undecodable.Add(1)
	} else if got.Access != player.AccessOpen {
		return s.client.refused(d.Addr, fmt.Errorf("driver %q could not open it (access %d, expected %d)",
			iface.GoString(got.DriverName), got.Access, player.AccessOpen))
	}
	if name := iface.GoString(got.DriverName); name != d.Driver {
		d.Driver = name
		s.unlisted = true
	}
	s.open(d)
	s.client.granted(d.Addr)
	s.mail.Store(true) // it may not be wanted any more
	return nil
}

// open notes that a device is open and asks for what is to be known of it.
func (s *session) open(d *device) {
	d.state = opened
	d.opened()
	if d.Driver == "" {
		s.addTask(d, player.Addr{Interf: player.InterfacePlayer}, player.PlayerDriverinfo)
	}
	if !d.wanted {
		return
	}
	for _, subtype := range geometryRequests[d.Interf] {
		s.addTask(d, d.Addr, subtype)
	}
	s.changed(d)
}

// changed tells the handler of a device, once the session is up.
func (s *session) changed(d *device) {
	if !s.upAt.IsZero() && d.state == opened && d.wanted {
		s.cfg.Handler.Changed(d.Device)
	}
}

// up returns the handler of the devices, then hands over what has come in the
// meantime, then begins to pull.
func (s *session) up(now time.Time) error {
	s.upAt = now
	s.client.setSession(nil, s)
	list := make([]Device, 0, len(s.devices))
	for _, d := range s.devices {
		switch {
		case !d.wanted:
		case d.state == opened:
			list = append(list, d.Device)
		case d.state == opening:
			s.log.Warn("device is not open yet", "device", d.Addr.String())
		}
	}
	s.log.Debug("up", "devices", len(list))
	s.unlisted = true
	s.tellList()
	s.mail.Store(s.cfg.Relay != nil) // what is to be open may have changed since
	s.cfg.Handler.Up(list)
	for s.earlyAt < len(s.early) {
		h, err := player.ParseHeader(s.early[s.earlyAt:])
		if err != nil {
			return err
		}
		from := s.earlyAt + player.HeaderSize
		s.earlyAt = from + int(h.Size)
		if err := s.deliver(h, s.early[from:s.earlyAt]); err != nil {
			return err
		}
	}
	s.early = nil
	if s.cfg.Mode == player.Pull {
		return s.pullRound()
	}
	return nil
}
