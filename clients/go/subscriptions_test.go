package callboard

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"callboard/subscribe/protocol"
)

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
