package simdriver

import (
	"context"
	"testing"
	"testing/synctest"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
	"callboard/sim"
)

// command is a Call as a server makes it for a command.
func command(a player.Addr, subtype uint8, payload any) *server.Call {
	return &server.Call{Header: player.Header{Addr: a, Type: player.Command, Subtype: subtype}, Payload: payload}
}

// TestFullMailbox: however many commands wait, devices are attached, opened and
// closed, and those that are opened and closed over and over take no room.
func TestFullMailbox(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context) {
		s, err := New(Config{World: load(t, "capture.world"), Speed: 1})
		if err != nil {
			t.Fatal(err)
		}
		fill := func() {
			for s.mail.put(func() {}) {
			}
		}
		fill()
		driver, err := s.driver("alpha", 0, true)
		if err != nil {
			t.Fatal(err)
		}
		srv, err := server.New(server.Config{Listener: server.NewPipeListener("test", 0), Drivers: []server.Driver{driver}})
		if err != nil {
			t.Fatal(err)
		}
		_ = srv // it is the Publisher
		if err := driver.Open(positionDevice); err != nil {
			t.Fatal(err)
		}
		go s.Run(ctx)
		synctest.Wait()
		state := func() (subscribed bool, served int) {
			if err := s.Do(ctx, func(w *sim.World) {
				subscribed, served = w.Find("alpha").Subscribed(), len(s.served[w.Find("alpha").Index()])
			}); err != nil {
				t.Fatal(err)
			}
			return subscribed, served
		}
		if subscribed, served := state(); !subscribed || served != 1 {
			t.Errorf("attached and opened beside a full mailbox: subscribed %v, %d devices served", subscribed, served)
		}

		busy := make(chan struct{})
		s.mail.put(func() { <-busy })
		synctest.Wait()
		fill()
		driver.Close(positionDevice)
		for range 100_000 {
			if err := driver.Open(positionDevice); err != nil {
				t.Fatal(err)
			}
			driver.Close(positionDevice)
		}
		if n := len(s.mail.mail); n > maxMail+1 {
			t.Errorf("%d letters wait, expected %d and a note", n, maxMail)
		}
		close(busy)
		synctest.Wait()
		if subscribed, _ := state(); subscribed {
			t.Error("closed beside a full mailbox, and still subscribed")
		}
	})
}

// TestCloseStopsWhatWasCommanded: opening and closing keep their places among the
// commands, though several of them make one note.
func TestCloseStopsWhatWasCommanded(t *testing.T) {
	const open, shut, drive = 'o', 'c', 'd'
	for text, want := range map[string]struct {
		subscribed bool
		speed      float64
	}{
		"od": {true, 0.5}, "odc": {false, 0}, "odco": {true, 0}, "odcod": {true, 0.5}, "ocod": {true, 0.5}, "ocdo": {true, 0.5}, "odcococo": {true, 0}, "": {},
	} {
		bubble(t, func(t *testing.T, ctx context.Context) {
			s, err := New(Config{World: load(t, "capture.world"), Speed: 1, Paused: true})
			if err != nil {
				t.Fatal(err)
			}
			driver, err := s.driver("alpha", 0, true)
			if err != nil {
				t.Fatal(err)
			}
			for _, what := range text {
				switch what {
				case open:
					err = driver.Open(positionDevice)
				case shut:
					driver.Close(positionDevice)
				case drive:
					driver.Handle(command(positionDevice, iface.CmdPosition2DVel, &iface.Position2DCmdVel{Vel: iface.Pose2D{Px: 0.5}}))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			go s.Run(ctx)
			if err := s.Do(ctx, func(w *sim.World) {
				m := w.Find("alpha")
				subscribed := m.Subscribed()
				w.Step()
				if v := m.Position().Velocity().X; subscribed != want.subscribed || v != want.speed {
					t.Errorf("%q: subscribed %v, %v m/s, expected %v, %v", text, subscribed, v, want.subscribed, want.speed)
				}
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
