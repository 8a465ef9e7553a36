package lograte

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		l := New(slog.New(slog.NewTextHandler(&text, nil)))
		expect := func(when, what string, lines int) {
			t.Helper()
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
			if got := strings.Count(text.String(), "\n"); got != lines || !strings.Contains(text.String(), what) {
				t.Errorf("%s: %d lines, want %d with %q:\n%s", when, got, lines, what, text.String())
			}
			text.Reset()
		}
		for n := range 3000 {
			l.Info("client connected", "client", n)
		}
		l.Warn("client with an unknown token")
		expect("at once", "client=9", maxLines+1)
		<-time.After(window)
		expect("after a second", `level=INFO msg="client connected" more=2990`, 1)
		<-time.After(time.Minute)
		expect("later", "", 0)
		l.Info("client connected", "client", "x")
		expect("a rare one", "client=x", 1)
		for range maxLines {
			l.Info("client connected")
		}
		text.Reset()
		l.Close()
		expect("closed", "more=1", 1)
	})
}
