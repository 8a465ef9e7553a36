package server_test

import (
	"slices"
	"testing"
	"testing/synctest"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/server"
)

// dataRequest asks for a round; its ACK is not read.
func (c *client) dataRequest() {
	c.t.Helper()
	c.send(self, player.Request, player.PlayerData, nil)
}

func (c *client) dataAck() {
	c.t.Helper()
	c.is(c.next(), player.Ack, self, player.PlayerData)
}

func Test6PullRound(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull)
		c.open(position)
		r.driver.at(1)
		r.driver.at(2)
		c.quiet()
		c.dataRequest()
		c.dataAck()
		c.expectTimes(1, 2)
		c.synch()
		r.driver.at(3)
		c.quiet()
	})
}

func Test6SynchWaitsForTheFirstReading(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull)
		c.dataRequest()
		c.dataAck()
		c.quiet()
		c.open(position) // a reply is no reading
		c.quiet()
		r.driver.at(1)
		c.expectTimes(1)
		c.synch()
	})
}

func Test6TwoDataRequestsHaveTwoAcksAndOneSynch(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull)
		c.open(position)
		c.dataRequest()
		c.dataRequest()
		c.dataAck()
		c.dataAck()
		r.driver.at(1)
		c.expectTimes(1)
		c.synch()
		r.driver.at(2)
		c.quiet()
	})
}

func Test6PullLeaksUpToTheLastReply(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		r.driver.answer = func(*server.Call) {}
		c := r.client()
		c.mode(player.Pull)
		c.open(position)
		c.send(position, player.Request, getGeom, nil)
		synctest.Wait()
		r.driver.at(1)
		r.driver.calls[0].Ack(&iface.Position2DGeom{})
		r.driver.at(2)
		c.expectTimes(1)
		c.is(c.next(), player.Ack, position, getGeom)
		c.quiet()
		c.dataRequest()
		c.dataAck()
		c.expectTimes(2)
		c.synch()
	})
}

func Test6TheDataAckOvertakesWhatWaits(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull)
		c.open(position)
		r.driver.at(1)
		c.dataRequest()
		c.dataAck()
		c.expectTimes(1)
		c.synch()
	})
}

func Test6ADataRequestInPushComesAliveInPull(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.open(position)
		c.dataRequest()
		c.dataAck()
		c.quiet()
		c.mode(player.Pull)
		r.driver.at(1)
		c.expectTimes(1)
		c.synch()
		r.driver.at(2)
		c.quiet()
	})
}

func Test6OverflowCountsWhatWasDroppedSinceTheLastSynch(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull)
		c.open(position)
		var want []float64
		for i := range player.QueueLength + 7 {
			r.driver.at(float64(i))
			if i < player.QueueLength {
				want = append(want, float64(i))
			}
		}
		c.dataRequest()
		c.dataAck()
		c.expectTimes(want...) // the oldest are kept
		m := c.next()
		c.is(m, player.Synch, self, player.SynchOverflow)
		expectBytes(t, m.Body, []byte{0, 0, 0, 7})
		if got := r.server.Stats().QueueFull; got != 7 {
			t.Errorf("%d readings counted as dropped, expected 7", got)
		}
		r.driver.at(5000)
		c.dataRequest()
		c.dataAck()
		c.expectTimes(5000)
		c.synch() // the count starts anew
	})
}

func Test7RepliesAreNeverDropped(t *testing.T) {
	inBubble(t, func(cfg *server.Config) { cfg.QueueLength = 3 }, func(t *testing.T, r *rig) {
		r.driver.answer = func(*server.Call) {}
		c := r.client()
		c.mode(player.Pull)
		c.open(position)
		for range 5 {
			c.send(position, player.Request, getGeom, nil)
		}
		synctest.Wait()
		for i := range 5 {
			r.driver.at(float64(i))
		}
		for _, call := range r.driver.calls {
			call.Nack(nil)
		}
		c.expectTimes(0, 1, 2)
		for range 5 {
			c.is(c.next(), player.Nack, position, getGeom)
		}
	})
}

func Test7OnlyTheLatestOfEachKind(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.rule(-1, -1, 1, -1, 1)
		c.mode(player.Pull)
		c.open(position)
		c.open(laser)
		c.open(ranger)
		scan, other := &iface.LaserData{}, player.Addr{Interf: ranger.Interf, Index: 1}
		c.open(other)
		for i := range 5 {
			at := float64(i)
			r.driver.at(at)
			r.driver.pub.Publish(laser, 1, at, scan)
			r.driver.pub.Publish(ranger, 1, at, &iface.RangerDataRange{})
			r.driver.pub.Publish(ranger, 3, at, &iface.RangerDataIntns{})
			r.driver.pub.Publish(other, 1, at, &iface.RangerDataRange{})
		}
		r.driver.at(9) // goes to the tail
		c.dataRequest()
		c.dataAck()
		var got []string
		for range 5 {
			m := c.next()
			if m.Timestamp != 4 && m.Timestamp != 9 {
				t.Errorf("%s of %v, expected the latest", m.Header, m.Timestamp)
			}
			got = append(got, m.Header.String())
		}
		want := []string{"DATA 1 of laser:0", "DATA 1 of ranger:0", "DATA 3 of ranger:0", "DATA 1 of ranger:1", "DATA 1 of position2d:0"}
		if !slices.Equal(got, want) {
			t.Errorf("got %q, expected %q", got, want)
		}
		c.synch()
		if got := r.server.Stats().Replaced; got != 21 {
			t.Errorf("%d replaced, expected 21", got)
		}
	})
}

func Test7FirstMatchingRuleWins(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		// As in the captures c_ranger_push and c_replace_order.
		for _, ignoreFirst := range []bool{true, false} {
			c := r.client()
			if ignoreFirst {
				c.rule(62, -1, 1, 3, 2)
			}
			c.rule(-1, -1, 1, -1, 1)
			if !ignoreFirst {
				c.rule(62, -1, 1, 3, 2)
			}
			c.open(ranger)
			r.driver.pub.Publish(ranger, 3, 1, &iface.RangerDataIntns{})
			r.driver.pub.Publish(ranger, 1, 1, &iface.RangerDataRange{})
			if !ignoreFirst {
				c.is(c.next(), player.Data, ranger, 3)
			}
			c.is(c.next(), player.Data, ranger, 1)
			c.quiet()
			c.close(ranger)
		}
		if got := r.server.Stats().Ignored; got != 1 {
			t.Errorf("%d ignored, expected 1", got)
		}
	})
}

func Test7TheSameRuleAgainChangesItInPlace(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.open(position)
		c.rule(4, -1, 1, -1, 0)
		c.rule(-1, -1, 1, -1, 2) // never reached by position2d
		for i, action := range []int32{0, 2, 0} {
			c.rule(4, -1, 1, -1, action)
			r.driver.at(float64(i))
			if action == 0 {
				c.expectTimes(float64(i))
			}
			c.quiet()
		}
	})
}

func Test7IgnoredReadingsAreNotCountedAsLost(t *testing.T) {
	inBubble(t, func(cfg *server.Config) { cfg.QueueLength = 1 }, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull)
		c.rule(6, -1, -1, -1, 2)
		c.open(laser)
		c.open(position)
		r.driver.at(1)
		r.driver.pub.Publish(laser, 1, 2, &iface.LaserData{})
		c.dataRequest()
		c.dataAck()
		c.expectTimes(1)
		c.synch()
	})
}

// Kinder: a client cannot lose the reply that it waits for to a rule that
// replaces.
func Test7RepliesAreNotReplaced(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.rule(-1, -1, -1, -1, 1)
		r.driver.answer = func(*server.Call) {}
		for range 2 {
			c.send(position, player.Request, getGeom, nil)
		}
		c.mode(player.Pull)
		synctest.Wait()
		for _, call := range r.driver.calls {
			call.Nack(nil)
		}
		c.is(c.next(), player.Nack, position, getGeom)
		c.is(c.next(), player.Nack, position, getGeom)
	})
}

// Kinder: one client cannot make every message cost whatever it likes.
func Test7TooManyRulesAreRefused(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		for i := range int32(256) {
			c.rule(6, i, 1, -1, 2)
		}
		c.refused(self, player.PlayerAddReplaceRule, &iface.AddReplaceRuleReq{Interf: 4})
		c.rule(6, 0, 1, -1, 0) // changing one still works
	})
}

// A step's readings are one round, as from the real server, which writes only
// after all of a step is published.
func Test6ABatchIsNotSplitByASynch(t *testing.T) {
	inBubble(t, nil, func(t *testing.T, r *rig) {
		c := r.client()
		c.mode(player.Pull)
		c.open(position)
		c.dataRequest()
		c.dataAck()
		server.Batch(r.driver.pub, func() {
			r.driver.at(1)
			c.quiet()
			r.driver.at(2)
			c.send(self, player.Request, 99, nil)
			c.expectTimes(1, 2)
			c.is(c.next(), player.Nack, self, 99) // replies do not wait
			c.quiet()
			r.driver.at(3)
		})
		c.expectTimes(3)
		c.synch()
	})
}

func Test6ABatchLargerThanHalfTheQueueIsWritten(t *testing.T) {
	inBubble(t, func(cfg *server.Config) { cfg.QueueLength = 10 }, func(t *testing.T, r *rig) {
		c := r.client()
		c.open(position)
		server.Batch(r.driver.pub, func() {
			server.Batch(r.driver.pub, func() {})
			for i := range 5 {
				r.driver.at(float64(i))
			}
			c.quiet()
			r.driver.at(5)
			c.expectTimes(0, 1, 2, 3, 4, 5)
			r.driver.at(6)
		})
		c.expectTimes(6)
	})
}
