package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/subscribe/view"
)

// askTime is how long a Player server may take to say what it has.
const askTime = 10 * time.Second

// listing takes what a Player server has, and ends the session.
type listing struct {
	devices []client.Device
	err     error
	end     context.CancelFunc
}

func (l *listing) Up(devices []client.Device) { l.devices = slices.Clone(devices); l.end() }
func (l *listing) Changed(client.Device)      {}
func (l *listing) Message(player.Header, any) {}
func (l *listing) Round()                     {}
func (l *listing) Overflow(uint64)            {}
func (l *listing) Down(err error) {
	if l.devices == nil {
		l.err = err
		l.end()
	}
}

// askServer returns the devices of a Player server that conditions know.
func askServer(ctx context.Context, address string) ([]client.Device, error) {
	known := view.Interfaces()
	asking, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	l := &listing{end: cancel}
	c, err := client.New(client.Config{Address: address, Handler: l, Open: func(d player.Addr) bool { return slices.Contains(known, d.Interf) }})
	if err != nil {
		return nil, err
	}
	err = c.Run(asking)
	switch {
	case l.devices != nil && len(l.devices) > 0:
		return l.devices, nil
	case l.devices != nil:
		return nil, fmt.Errorf("the Player server at %s has no device that conditions know; is it the port of the robot? (a Stage simulation may have one for itself)", address)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case l.err != nil:
		err = l.err
	case errors.Is(asking.Err(), context.DeadlineExceeded):
		err = errors.New("it does not say what it has")
	}
	return nil, explainServer(address, err)
}

// explainServer says what to do about a Player server that does not answer.
func explainServer(address string, err error) error {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no Player server answers at %s: is one running there, and is it that port? (callboard sim FILE.world, or player FILE.cfg)", address)
	case err == nil:
		return fmt.Errorf("asking %s: it closed the connection", address)
	}
	return fmt.Errorf("asking %s: %w", address, err)
}

// deviceNotes says by which names conditions know the devices: a line for those that
// are alike.
func deviceNotes(devices []client.Device) (notes []string) {
	alike := map[string][]string{}
	for _, d := range devices {
		note := deviceNote(d)
		if alike[note] == nil {
			notes = append(notes, note)
		}
		alike[note] = append(alike[note], d.Interf.String()+":"+strconv.Itoa(int(d.Index)))
	}
	for i, note := range notes {
		names := alike[note]
		if n := len(names); n > 3 {
			names = []string{names[0], "…", names[n-1], fmt.Sprintf("(%d)", n)}
		}
		notes[i] = strings.Join(names, " ") + ": " + note
	}
	return notes
}

func deviceNote(d client.Device) string {
	if d.Interf == player.InterfaceRanger {
		switch {
		case d.Geometry == nil:
			return "laser in conditions if it has one element, sonar if it has several"
		case len(d.Geometry.Elements) > 1:
			return fmt.Sprintf("sonar in conditions, as it has %d elements", len(d.Geometry.Elements))
		}
		return "laser in conditions, as it has one element"
	}
	for k := range view.Kind(view.NumKinds) {
		if slices.Contains(k.Interfaces(), d.Interf) {
			return k.String() + " in conditions"
		}
	}
	return "not in conditions"
}

// robotsOf guesses which devices of a server are of one robot: as many robots as it
// has bases; of each other interface each robot has as many as the next, in order.
// It returns one robot's devices a row.
func robotsOf(devices []client.Device) [][]string {
	of := map[player.Interface][]string{}
	var order []player.Interface
	for _, d := range devices {
		if of[d.Interf] == nil {
			order = append(order, d.Interf)
		}
		of[d.Interf] = append(of[d.Interf], d.Interf.String()+":"+strconv.Itoa(int(d.Index)))
	}
	robots := make([][]string, max(1, len(of[player.InterfacePosition2D])))
	for _, i := range order {
		each := len(of[i]) / len(robots)
		if each*len(robots) != len(of[i]) {
			continue // nobody knows whose they are
		}
		for r := range robots {
			robots[r] = append(robots[r], of[i][r*each:(r+1)*each]...)
		}
	}
	return robots
}
