package callboard

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"callboard/subscribe/protocol"

	"github.com/google/go-cmp/cmp"
)

func TestBadCondition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := f.accept()
		p.welcome("one")
		for range 2 { // the id is free again
			done := r.subscribe("near")
			expect[protocol.Subscribe](p, protocol.OpSubscribe)
			p.send(protocol.Error{
				Op: protocol.OpError, ID: "near", Code: protocol.BadCondition,
				Message: "unknown name lasr", Position: &protocol.Position{Line: 1, Column: 4},
			})
			err := <-done
			var e *Error
			if !errors.As(err, &e) || e.Code != protocol.BadCondition || *e.Position != (protocol.Position{Line: 1, Column: 4}) {
				t.Fatalf("%v", err)
			}
			if got := err.Error(); got != "1:4: unknown name lasr (bad_condition)" {
				t.Error(got)
			}
		}
	})
}

func TestUpdateAndUnsubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := r.attachedTo(f, "one")

		condition, trigger := "laser.min < 2", protocol.TriggerRising
		done := make(chan error, 1)
		go func() {
			_, err := r.Update(t.Context(), Update{ID: "near", Condition: &condition, Trigger: &trigger})
			done <- err
		}()
		if u := expect[protocol.Update](p, protocol.OpUpdate); *u.Condition != condition || *u.Trigger != trigger || u.For != nil {
			t.Errorf("%+v", u)
		}
		p.send(subscribedTo("near"))
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		want := []Subscription{{ID: "near", Condition: condition, Trigger: trigger}}
		if diff := cmp.Diff(want, r.State().Subscriptions); diff != "" {
			t.Error(diff)
		}

		// A bad update changes nothing.
		bad := "lasr"
		go func() {
			_, err := r.Update(t.Context(), Update{ID: "near", Condition: &bad})
			done <- err
		}()
		expect[protocol.Update](p, protocol.OpUpdate)
		p.send(protocol.Error{Op: protocol.OpError, ID: "near", Code: protocol.BadCondition, Message: "unknown name"})
		if err := <-done; err == nil {
			t.Error("a bad update was taken")
		}
		if diff := cmp.Diff(want, r.State().Subscriptions); diff != "" {
			t.Error(diff)
		}

		go func() { done <- r.Unsubscribe(t.Context(), "near") }()
		expect[protocol.Unsubscribe](p, protocol.OpUnsubscribe)
		p.send(protocol.Reply{Op: protocol.OpReply, ID: "near", OK: true})
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got := r.State().Subscriptions; got != nil {
			t.Errorf("%+v", got)
		}
		var e *Error
		if err := r.Unsubscribe(t.Context(), "near"); !errors.As(err, &e) || e.Code != protocol.NotFound {
			t.Errorf("%v", err)
		}
		if _, err := r.Update(t.Context(), Update{ID: "near"}); !errors.As(err, &e) || e.Code != protocol.NotFound {
			t.Errorf("%v", err)
		}
	})
}

// What was not answered when the connection went is done after the resume.
func TestChangesOverLostConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := r.attachedTo(f, "one")
		added := r.subscribe("more")
		expect[protocol.Subscribe](p, protocol.OpSubscribe)
		condition := "laser.min < 2"
		updated := make(chan error, 1)
		go func() {
			_, err := r.Update(t.Context(), Update{ID: "near", Condition: &condition})
			updated <- err
		}()
		expect[protocol.Update](p, protocol.OpUpdate)
		p.cut()

		p = f.accept()
		hello := p.welcome("one")
		// The old state is resumed, then changed again.
		if diff := cmp.Diff([]Subscription{{ID: "near", Condition: "laser.min < 1"}}, hello.Subscriptions); diff != "" {
			t.Error(diff)
		}
		expect[protocol.Subscribe](p, protocol.OpSubscribe)
		expect[protocol.Update](p, protocol.OpUpdate)
		_ = updated
		next[*Detached](r)
		next[*Attached](r)
		p.send(subscribedTo("near"), subscribedTo("more"))
		next[*Resubscribed](r)
		if err := <-added; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case <-updated:
			t.Fatal("the resume's answer was taken for the update's")
		default:
		}
		p.send(subscribedTo("near"))
		if err := <-updated; err != nil {
			t.Fatal(err)
		}

		done := make(chan error, 1)
		go func() { done <- r.Unsubscribe(t.Context(), "near") }()
		expect[protocol.Unsubscribe](p, protocol.OpUnsubscribe)
		p.cut()
		p = f.accept()
		hello = p.welcome("one") // what it does not list ends
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]Subscription{{ID: "more", Condition: "laser.min < 1"}}, hello.Subscriptions); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSubscriptionRefusedAtResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := r.attachedTo(f, "one")
		// One that fails while it runs goes on.
		failing := protocol.Error{Op: protocol.OpError, ID: "near", Code: protocol.BadCondition, Message: "index out of range"}
		p.send(failing)
		if e := next[*Failure](r); e.Ended || e.ID != "near" {
			t.Errorf("%+v", e)
		}
		p.cut()
		next[*Detached](r)
		p = f.accept()
		p.welcome("one")
		next[*Attached](r)
		p.send(protocol.Error{Op: protocol.OpError, ID: "near", Code: protocol.Overloaded, Message: "too many"})
		if e := next[*Failure](r); !e.Ended || e.Code != protocol.Overloaded {
			t.Errorf("%+v", e)
		}
		if got := r.State().Subscriptions; got != nil {
			t.Errorf("%+v", got)
		}
	})
}

func TestSubscribeGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		p := f.accept()
		p.welcome("one")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		done := make(chan error, 1)
		go func() {
			_, err := r.Subscribe(ctx, Subscription{ID: "near", Condition: "true"})
			done <- err
		}()
		expect[protocol.Subscribe](p, protocol.OpSubscribe)
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		expect[protocol.Unsubscribe](p, protocol.OpUnsubscribe)
		again := r.subscribe("near") // waits until the old one has gone
		synctest.Wait()
		p.send(subscribedTo("near"), protocol.Reply{Op: protocol.OpReply, ID: "near", OK: true})
		expect[protocol.Subscribe](p, protocol.OpSubscribe)
		p.send(subscribedTo("near"))
		if err := <-again; err != nil {
			t.Fatal(err)
		}
	})
}

func TestIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		r.attachedTo(f, "one")
		var e *Error
		if _, err := r.Subscribe(t.Context(), Subscription{ID: "near"}); !errors.As(err, &e) || e.Code != protocol.Conflict {
			t.Errorf("%v", err)
		}
		for _, id := range []string{"", "~1"} {
			if _, err := r.Subscribe(t.Context(), Subscription{ID: id}); err == nil {
				t.Errorf("id %q was taken", id)
			}
		}
		if _, err := r.Subscribe(t.Context(), Subscription{ID: "big", Condition: string(make([]byte, protocol.MaxMessage))}); err == nil {
			t.Error("a message above the limit was taken")
		}
	})
}

func TestCommandAndList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeBroker(t)
		r := start(t, f, Config{})
		type outcome struct {
			result string
			err    error
		}
		done := make(chan outcome, 1)
		command := func() {
			result, err := r.Command(t.Context(), Command{Robot: "r0", Name: "velocity", Args: []any{0.5, 0.0, -0.2}})
			done <- outcome{string(result), err}
		}
		go command() // waits for the welcome
		p := f.accept()
		p.welcome("one")
		c := expect[protocol.Command](p, protocol.OpCommand)
		if diff := cmp.Diff([]any{0.5, 0.0, -0.2}, c.Args); diff != "" || c.Robot != "r0" {
			t.Errorf("%+v", c)
		}
		p.send(`{"op":"reply","id":"` + c.ID + `","ok":true,"result":{"x":1}}`)
		if got := <-done; got.err != nil || got.result != `{"x":1}` {
			t.Errorf("%+v", got)
		}

		go command()
		c = expect[protocol.Command](p, protocol.OpCommand)
		p.send(protocol.Reply{Op: protocol.OpReply, ID: c.ID, Error: &protocol.ErrorInfo{Code: protocol.NotFound, Message: "no robot r0"}})
		var e *Error
		if got := <-done; !errors.As(got.err, &e) || e.Code != protocol.NotFound {
			t.Errorf("%+v", got)
		}

		go command()
		c = expect[protocol.Command](p, protocol.OpCommand)
		p.send(protocol.Error{Op: protocol.OpError, ID: c.ID, Code: protocol.Forbidden, Message: "may not"})
		if got := <-done; !errors.As(got.err, &e) || e.Code != protocol.Forbidden {
			t.Errorf("%+v", got)
		}

		go command()
		expect[protocol.Command](p, protocol.OpCommand)
		p.cut()
		if got := <-done; !errors.Is(got.err, ErrLost) {
			t.Errorf("%+v", got)
		}

		p = f.accept()
		p.welcome("one")
		go func() {
			result, err := r.List(t.Context(), "robots")
			done <- outcome{string(result), err}
		}()
		expect[protocol.List](p, protocol.OpList)
		p.cut()
		p = f.accept()
		p.welcome("one")
		l := expect[protocol.List](p, protocol.OpList) // asked again
		p.send(`{"op":"reply","id":"` + l.ID + `","ok":true,"result":[]}`)
		if got := <-done; got.err != nil || got.result != "[]" || l.What != "robots" {
			t.Errorf("%+v", got)
		}
	})
}
