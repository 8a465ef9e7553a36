package link

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"
)

// TestAnotherKey: who has another key, or stands between two who have the same, gets no
// link.
func TestAnotherKey(t *testing.T) {
	made := func(key string) *Keyed {
		k, err := NewKeyed([]byte(key), nil)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	secure := func(a, b *Keyed) (errA, errB error) {
		one, other := net.Pipe()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		done := make(chan error)
		go func() {
			conn, err := b.Secure(ctx, other, false)
			if err != nil {
				other.Close()
			} else if conn == nil {
				err = net.ErrClosed
			}
			done <- err
		}()
		_, errA = a.Secure(ctx, one, true)
		one.Close()
		return errA, <-done
	}
	if a, b := secure(made("field"), made("field")); a != nil || b != nil {
		t.Errorf("with one key: %v, %v", a, b)
	}
	a, b := secure(made("field"), made("forest"))
	if a == nil || b == nil || !strings.Contains(a.Error()+b.Error(), "the other side does not have it") {
		t.Errorf("with two keys: %v, %v", a, b)
	}
	k := made("field")
	if string(k.proof([]byte("session"), true)) == string(k.proof([]byte("session"), false)) {
		t.Error("a proof that is sent back serves")
	}
	if string(k.proof([]byte("session"), true)) == string(k.proof([]byte("another"), true)) {
		t.Error("a proof serves in another session")
	}
}
