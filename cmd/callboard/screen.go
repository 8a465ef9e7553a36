package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	callboard "callboard/clients/go"

	"golang.org/x/term"
)

// refreshPeriod is from one picture of a broker to the next, unless told otherwise.
const refreshPeriod = time.Second

// watchBroker asks a broker every period, and has what it says printed: on a
// terminal in place, until q or Ctrl-C, else one below the other. It ends after most
// times, unless that is 0. Objects follow each other as lines.
func (p *program) watchBroker(ctx context.Context, client *callboard.Client, period time.Duration, most int, objects bool,
	print func(p *program, l lists, now time.Time) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var s *screen
	if p.terminal(p.stdout) && !objects {
		s = p.openScreen(end)
		defer s.close()
	}
	next := time.NewTicker(period)
	defer next.Stop()
	for times := 1; ; times++ {
		l, err := ask(ctx, client)
		switch {
		case ctx.Err() != nil:
			return nil // it was asked to end
		case err != nil:
			return err
		case s != nil:
			err = s.draw(func(inner *program) error { return print(inner, l, time.Now()) })
		default:
			if times > 1 && !objects {
				fmt.Fprintln(p.stdout)
			}
			err = print(p, l, time.Now())
		}
		if err != nil || times == most {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-client.Done():
			return client.Err()
		case <-next.C:
		}
	}
}

// screen is a terminal on which pictures follow each other in place.
type screen struct {
	p       *program
	restore func()
}

// openScreen takes the terminal; q, Ctrl-C and Ctrl-D call end. What was on it is
// there again after close.
func (p *program) openScreen(end func()) *screen {
	s := &screen{p: p, restore: func() {}}
	if in, ok := p.stdin.(*os.File); ok && term.IsTerminal(int(in.Fd())) {
		if before, err := term.MakeRaw(int(in.Fd())); err == nil {
			s.restore = func() { term.Restore(int(in.Fd()), before) }
			go func() { // until the process ends: a read cannot be called off
				key := make([]byte, 1)
				for {
					if _, err := in.Read(key); err != nil || key[0] == 'q' || key[0] == 3 || key[0] == 4 {
						end()
						return
					}
				}
			}()
		}
	}
	io.WriteString(p.stdout, "\x1b[?1049h\x1b[?25l") // another screen, no cursor
	return s
}

func (s *screen) close() {
	io.WriteString(s.p.stdout, "\x1b[?25h\x1b[?1049l")
	s.restore()
}

// draw shows what print prints, as far as there is room.
func (s *screen) draw(print func(inner *program) error) error {
	picture := &pictureOf{terminal: s.p.stdout}
	if err := print(&program{stdout: picture, stderr: picture, getenv: s.p.getenv}); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("\x1b[H")
	lines := strings.Split(strings.TrimRight(picture.String(), "\n"), "\n")
	if rows := s.p.rows(s.p.stdout); rows > 0 && len(lines) > rows {
		lines = append(lines[:rows-1], fmt.Sprintf("… %s more", plural(len(lines)-rows+1, "line")))
	}
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line + "\x1b[K")
	}
	b.WriteString("\x1b[J")
	_, err := io.WriteString(s.p.stdout, b.String())
	return err
}

// pictureOf is what is to be shown on a terminal, whose size it has.
type pictureOf struct {
	bytes.Buffer
	terminal io.Writer
}

// Fd is the terminal's.
func (o *pictureOf) Fd() uintptr {
	if f, ok := o.terminal.(interface{ Fd() uintptr }); ok {
		return f.Fd()
	}
	return ^uintptr(0)
}

// rows is how many lines a terminal has; 0 for what is none.
func (p *program) rows(w io.Writer) int {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		if _, height, err := term.GetSize(int(f.Fd())); err == nil {
			return height
		}
	}
	return 0
}
