package server_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player"
	"callboard/player/server"
)

// A driver that waits for room loses nothing, however slowly its clients read,
// and goes no faster than the slowest.
func TestWaitRoomLosesNothing(t *testing.T) {
	for _, mode := range []uint8{player.Push, player.Pull} {
		inBubble(t, func(c *server.Config) { c.QueueLength = 16 }, func(t *testing.T, r *rig) {
			const n = 2000
			fast, slow := r.client(), r.client()
			for _, c := range []*client{fast, slow} {
				c.open(position)
			}
			slow.mode(mode)
			published := 0
			go func() {
				for i := range n {
					if server.WaitRoom(t.Context(), r.driver.pub) != nil {
						return
					}
					r.driver.at(float64(i))
					published++
				}
			}()
			done := make(chan struct{})
			go func() { defer close(done); fast.times(n) }()
			synctest.Wait()
			if mode == player.Pull && published > 16/2+1 {
				t.Errorf("%d were published for a client that asks for none, expected that half a queue is", published)
			}
			for next := 0.0; next < n; {
				if mode == player.Pull {
					slow.ask(player.PlayerData, nil)
				}
				for {
					m := slow.next()
					if m.Type == player.Synch {
						break
					}
					if m.Timestamp != next {
						t.Fatalf("got the reading of %v, expected that of %v", m.Timestamp, next)
					}
					if next++; mode == player.Push {
						break
					}
				}
			}
			<-done
			if s := r.server.Stats(); s.QueueFull > 0 {
				t.Errorf("%d readings were dropped", s.QueueFull)
			}
		})
	}
}

func TestWaitRoomEnds(t *testing.T) {
	fill := func(r *rig) *client {
		c := r.client()
		c.open(position)
		c.mode(player.Pull)
		for i := range 9 {
			if i < 9 && server.WaitRoom(context.Background(), r.driver.pub) != nil {
				r.t.Fatal("there was no room at once")
			}
			r.driver.at(float64(i))
		}
		if got := server.Crowded(r.driver.pub); len(got) != 1 || got[0] != "dialed" {
			r.t.Errorf("crowded are %q, expected the one client", got)
		}
		return c
	}
	cases := map[string]func(*rig, *client){
		"the client closes the device": func(_ *rig, c *client) { c.close(position) },
		"the client goes":              func(_ *rig, c *client) { c.nc.Close() },
		"the client reads":             func(_ *rig, c *client) { c.ask(player.PlayerData, nil) },
	}
	for name, free := range cases {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(c *server.Config) { c.QueueLength = 16 }, func(t *testing.T, r *rig) {
				c := fill(r)
				waited := make(chan error, 1)
				go func() { waited <- server.WaitRoom(context.Background(), r.driver.pub) }()
				synctest.Wait()
				select {
				case <-waited:
					t.Fatal("it did not wait")
				default:
				}
				free(r, c)
				if err := <-waited; err != nil {
					t.Errorf("WaitRoom: %v", err)
				}
				synctest.Wait()
				if got := server.Crowded(r.driver.pub); len(got) != 0 {
					t.Errorf("crowded are %q, expected none", got)
				}
			})
		})
	}
	t.Run("ctx", func(t *testing.T) {
		inBubble(t, func(c *server.Config) { c.QueueLength = 16 }, func(t *testing.T, r *rig) {
			fill(r)
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			if err := server.WaitRoom(ctx, r.driver.pub); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("WaitRoom: %v", err)
			}
		})
	})
}
