package server_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"callboard/player"
	"callboard/player/server"
)

func TestNewRefusesWhatCannotBeServed(t *testing.T) {
	pipe := server.NewPipeListener("x", 0)
	device := func(i player.Interface, name string) server.Driver {
		return &fake{infos: []server.DeviceInfo{{Interf: i, Driver: name}}}
	}
	many := &fake{infos: make([]server.DeviceInfo, player.MaxDevices+1)}
	for i := range many.infos {
		many.infos[i] = server.DeviceInfo{Interf: 6, Index: uint16(i)}
	}
	for _, test := range []struct {
		cfg  server.Config
		want string
	}{
		{server.Config{}, "no Listener"},
		{server.Config{Listener: pipe, Drivers: []server.Driver{device(6, "a"), device(6, "b")}}, `laser:0 is provided by driver "a" and by "b"`},
		{server.Config{Listener: pipe, Drivers: []server.Driver{device(1, "a")}}, "the server itself"},
		{server.Config{Listener: pipe, Drivers: []server.Driver{device(6, strings.Repeat("x", 63))}}, "at most 62"},
		{server.Config{Listener: pipe, Drivers: []server.Driver{many}}, "4097 devices"},
		{server.Config{Listener: pipe, Version: strings.Repeat("x", 22)}, "at most 21"},
		{server.Config{Listener: pipe, MaxBody: player.MaxBody + 1}, "MaxBody"},
	} {
		if _, err := server.New(test.cfg); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, expected an error with %q", err, test.want)
		}
	}
	many.infos = many.infos[1:]
	if _, err := server.New(server.Config{Listener: pipe, Drivers: []server.Driver{many}}); err != nil {
		t.Errorf("4096 devices: %v", err)
	}
}

func TestRunEndsWithItsDriver(t *testing.T) {
	broken := errors.New("broken world")
	for _, test := range []struct {
		runs func(context.Context) error
		want error
	}{
		{func(context.Context) error { return broken }, broken},
		{func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, nil},
		{func(context.Context) error { return nil }, nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFake()
			f.runs = test.runs
			pipe := server.NewPipeListener("x", 0)
			s, err := server.New(server.Config{Listener: pipe, Drivers: []server.Driver{runner{f}}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan error, 1)
			go func() { done <- s.Run(ctx) }()
			synctest.Wait()
			if test.want == nil {
				if len(done) > 0 {
					t.Error("Run ended early")
				}
				cancel()
			}
			if err := <-done; !errors.Is(err, test.want) {
				t.Errorf("Run: %v, expected %v", err, test.want)
			}
			if _, err := pipe.Dial(context.Background(), ""); err == nil {
				t.Error("the listener is still open")
			}
			if err := s.Run(ctx); err == nil {
				t.Error("a second Run works")
			}
			cancel()
		})
	}
}
