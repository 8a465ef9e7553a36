package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"callboard/player"
	"callboard/player/client"
	"callboard/player/iface"
)

// asker asks simulation:0 for poses, whose requests the test answers.
type asker struct {
	t       *testing.T
	fake    *fake
	running *running
	held    chan player.Message
	probes  []player.Message // that the fake did not answer
	results chan result
}

// askers has check ask one device. Time is fake there, as in all of one: a sleep
// of an hour lets an hour's timers fire and takes none.
func askers(t *testing.T, check func(a *asker)) {
	t.Helper()
	held := make(chan player.Message, 100)
	one(t, client.Config{RequestTimeout: 2 * time.Second}, []player.Addr{laser0}, holdSimulation(held), func(t *testing.T, f *fake, r *running) {
		check(&asker{t: t, fake: f, running: r, held: held, results: make(chan result, 1)})
	})
}

// ask returns the request as it arrived.
func (a *asker) ask(name string) player.Message {
	a.t.Helper()
	go getPose(a.running, name, a.results)
	synctest.Wait()
	m := a.drain()
	if len(m) != 1 {
		a.t.Fatalf("%s: %d requests came, expected one", name, len(m))
	}
	return m[0]
}

// drain returns the requests that have arrived, and keeps probes apart.
func (a *asker) drain() (requests []player.Message) {
	for len(a.held) > 0 {
		if m := <-a.held; isProbe(m) {
			a.probes = append(a.probes, m)
		} else {
			requests = append(requests, m)
		}
	}
	return requests
}

// refuse answers the probes that wait.
func (a *asker) refuse() {
	a.drain()
	for _, m := range a.probes {
		a.fake.nack(m, nil)
	}
	a.probes = nil
}

func (a *asker) reply(m player.Message) {
	a.t.Helper()
	var pose iface.SimulationPose2DReq
	a.fake.decode(m, &pose)
	a.fake.ack(m, &pose)
}

func (a *asker) replies(asked []player.Message) {
	a.t.Helper()
	for _, m := range asked {
		a.reply(m)
	}
}

func (a *asker) gets(want string) {
	a.t.Helper()
	if got := <-a.results; got.name != want || got.err != nil {
		a.t.Errorf("got %+v, expected %s", got, want)
	}
}

func (a *asker) fails(want error) {
	a.t.Helper()
	if got := <-a.results; !errors.Is(got.err, want) {
		a.t.Errorf("got %+v, expected the error %v", got, want)
	}
}

// answered asks once more and gets the answer.
func (a *asker) answered(name string) {
	a.t.Helper()
	a.reply(a.ask(name))
	a.gets(name)
}

// A late answer is not taken for that of the next request, not even if both
// ask the same: between them something else may have been asked.
func TestLateAnswers(t *testing.T) {
	askers(t, func(a *asker) {
		first := a.ask("a")
		a.fails(client.ErrTimeout)
		second := a.ask("b")
		a.reply(first)
		a.reply(second)
		a.gets("b")

		first = a.ask("c")
		a.fails(client.ErrTimeout)
		second = a.ask("c")
		first.Body, _ = iface.Append(nil, poseOf("old", 0))
		a.reply(first)
		a.reply(second)
		a.gets("c")

		soon, cancel := context.WithTimeout(a.t.Context(), time.Second)
		defer cancel()
		go func() {
			a.results <- result{err: a.running.Request(soon, sim0, iface.ReqSimulationGetPose2D, poseOf("d", 0), nil)}
		}()
		first = <-a.held
		a.fails(context.DeadlineExceeded) // given up by the caller
		second = a.ask("e")
		a.reply(first)
		a.reply(second)
		a.gets("e")
		if c := a.running.Counters(); c.Timeouts != 2 || c.Unsolicited != 3 {
			t.Errorf("counters %+v, expected 2 timeouts, and 3 late answers as unsolicited", c)
		}
	})
}

// A real server answers what was asked of a device that nobody has open once
// somebody opens it: hours later, all at once. Nobody gets another's answer.
func TestAnswersHoursLate(t *testing.T) {
	for _, probed := range []bool{true, false} { // false: the late answers come before the device could be probed
		askers(t, func(a *asker) {
			a.fake.stopped.Store(true)
			var asked []player.Message
			for i := range 10 {
				asked = append(asked, a.ask(fmt.Sprint("early", i)))
				a.fails(client.ErrTimeout)
				if probed {
					time.Sleep(time.Hour)
				}
			}
			waiting := a.ask("late")
			a.replies(asked)
			a.refuse()
			a.reply(waiting)
			a.gets("late")
			a.fake.stopped.Store(false)
			time.Sleep(time.Hour)
			a.answered("again")
		})
	}
}

// They may also come one by one, and a driver may overtake itself.
func TestAnswersOneByOne(t *testing.T) {
	askers(t, func(a *asker) {
		a.fake.stopped.Store(true)
		var early []player.Message
		for i := range 3 {
			early = append(early, a.ask(fmt.Sprint(i)))
			a.fails(client.ErrTimeout)
		}
		time.Sleep(time.Hour)
		a.reply(early[0])
		time.Sleep(time.Hour)
		a.refuse() // the probe is answered before the rest
		next := a.ask("next")
		time.Sleep(time.Second)
		a.replies([]player.Message{early[1], early[2], next})
		a.gets("next")
	})
}

// A request that a driver has lost is forgotten once it has answered a later
// one, some time after, for drivers that overtake themselves.
func TestLostRequestIsForgotten(t *testing.T) {
	askers(t, func(a *asker) {
		lost := a.ask("lost")
		a.fails(client.ErrTimeout)
		next := a.ask("next")
		time.Sleep(3 * time.Second / 2)
		a.reply(lost) // overtaken by the probe, after all
		a.reply(next)
		a.gets("next")

		a.ask("lost")
		a.fails(client.ErrTimeout)
		time.Sleep(5 * time.Second)
		a.answered("next")
		if n := a.fake.count(player.InterfaceSimulation, player.Request, iface.ReqGetIntprop); n != 2 {
			t.Errorf("the device was probed %d times, expected 2", n)
		}
	})
}

// A device that has answered something later need not be probed.
func TestDevicesThatAnswerAreNotProbed(t *testing.T) {
	askers(t, func(a *asker) {
		a.ask("lost")
		if err := a.running.Request(context.Background(), sim0, iface.ReqGetIntprop, property("callboard"), nil); err == nil {
			t.Error("a property that the driver does not have")
		}
		a.fails(client.ErrTimeout)
		time.Sleep(5 * time.Second)
		a.answered("next")
		if n := a.fake.count(player.InterfaceSimulation, player.Request, iface.ReqGetIntprop); n != 1 {
			t.Errorf("the device was asked for properties %d times, expected once", n)
		}
	})
}

// What a device leaves unanswered is remembered up to a bound; then no more is
// sent of that kind, other kinds are.
func TestTooMuchIsUnanswered(t *testing.T) {
	askers(t, func(a *asker) {
		a.fake.stopped.Store(true)
		var asked []player.Message
		for i := range 16 {
			asked = append(asked, a.ask(fmt.Sprint(i)))
			a.fails(client.ErrTimeout)
			time.Sleep(time.Minute)
		}
		go getPose(a.running, "17th", a.results)
		a.fails(client.ErrUnanswered)
		if other := a.running.Request(context.Background(), laser0, iface.ReqSetIntprop, property("x"), nil); errors.Is(other, client.ErrUnanswered) {
			t.Error("another device is refused, too")
		}
		a.fake.stopped.Store(false)
		a.replies(asked[1:]) // the first is lost
		a.refuse()
		time.Sleep(10 * time.Second)
		a.answered("again")
	})
}

// A property that somebody asks for is not taken for what the session asks.
func TestProbesDoNotDisturbProperties(t *testing.T) {
	askers(t, func(a *asker) {
		ask := func() chan error {
			done := make(chan error, 1)
			go func() {
				err := a.running.Request(context.Background(), sim0, iface.ReqGetIntprop, property("mine"), nil)
				done <- err
			}()
			synctest.Wait()
			return done
		}
		first := ask()
		late := <-a.held
		if err := <-first; !errors.Is(err, client.ErrTimeout) {
			t.Errorf("error %v, expected ErrTimeout", err)
		}
		time.Sleep(500 * time.Millisecond)
		second := ask()
		a.fake.nack(late, nil)
		a.fake.ack(<-a.held, &iface.IntpropReq{Key: "mine\x00", Value: 3})
		if err := <-second; err != nil {
			t.Error(err)
		}
	})
}

// What waits for an answer at a time is bounded, whoever asks.
func TestTooMuchWaits(t *testing.T) {
	relayed(t, func(f *fake) {
		f.on = func(_ *fake, m player.Message) bool { return m.Interf == robot0.Interf } // never answers
	}, func(t *testing.T, _ func() *fake, r *running) {
		h := player.Header{Addr: robot0, Type: player.Request, Subtype: iface.ReqPosition2DGetGeom}
		var failed int
		pass := func() error {
			return r.Pass(h, nil, func(_ player.Header, _ []byte, err error) {
				if errors.Is(err, client.ErrTimeout) {
					failed++
				}
			})
		}
		waiting := 0
		for pass() == nil {
			if waiting++; waiting%1000 == 0 {
				synctest.Wait() // the server reads
			}
			if waiting > 10_000 {
				t.Fatalf("%d requests wait for their answers", waiting)
			}
		}
		if err := pass(); !errors.Is(err, client.ErrUnanswered) {
			t.Errorf("after %d: %v, expected that the server has too many to answer", waiting, err)
		}
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if failed != waiting {
			t.Errorf("%d of %d were told that there is no answer", failed, waiting)
		}
	})
}

// property is a request about a device's property.
func property(key string) *iface.IntpropReq { return &iface.IntpropReq{Key: iface.CString(key)} }
