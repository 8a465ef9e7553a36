// Package lograte logs what may happen often: line by line while it is rare, and
// else as counts, once a second.
package lograte

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

const (
	window   = time.Second
	maxLines = 10 // of one message in a window
)

// Log is a logger of which each message takes a few lines a second at most. What
// goes beyond is counted, and logged at the end of the second: the message with
// the attribute more.
type Log struct {
	logger *slog.Logger

	mu       sync.Mutex
	messages map[string]*message // of the present window
	end      *time.Timer         // of it; nil: none is open
}

type message struct {
	level slog.Level
	lines int
	more  int
}

// New returns a Log that writes to logger. Whoever has no more to say closes it.
func New(logger *slog.Logger) *Log { return &Log{logger: logger, messages: map[string]*message{}} }

// Info logs at that level, as slog.Logger does.
func (l *Log) Info(msg string, attrs ...any) { l.log(slog.LevelInfo, msg, attrs) }

// Warn logs at that level.
func (l *Log) Warn(msg string, attrs ...any) { l.log(slog.LevelWarn, msg, attrs) }

func (l *Log) log(level slog.Level, msg string, attrs []any) {
	if !l.logger.Enabled(context.Background(), level) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end == nil {
		l.end = time.AfterFunc(window, l.Close)
	}
	m := l.messages[msg]
	if m == nil {
		m = &message{level: level}
		l.messages[msg] = m
	}
	if m.lines == maxLines {
		m.more++
		return
	}
	m.lines++
	l.logger.Log(context.Background(), level, msg, attrs...)
}

// Close logs what was only counted so far.
func (l *Log) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.end == nil {
		return
	}
	l.end.Stop()
	l.end = nil
	for msg, m := range l.messages {
		if m.more > 0 {
			l.logger.Log(context.Background(), m.level, msg, "more", m.more)
		}
	}
	clear(l.messages)
}
