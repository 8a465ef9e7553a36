package record

import (
	"errors"
	"fmt"
	"io/fs"

	"callboard/player/run"
)

// begin begins the next file: it begins with all robots that are up.
func (r *Recorder) begin() error {
	name, file, err := r.create()
	if err != nil {
		return err
	}
	p := &part{disk: r.disk, name: name, file: file}
	var w run.Writer
	if r.isMCAP() {
		w, err = run.NewMCAPWriter(run.MCAPConfig{W: p, World: r.config.World, Plain: r.config.Plain})
	} else {
		w, err = run.NewLogWriter(p)
	}
	if err != nil {
		return err
	}
	r.writer, r.part, r.name = w, p, name
	for _, robot := range r.order {
		s := r.sessions[robot]
		if !s.up {
			continue
		}
		rec := run.Record{Kind: run.Up, Robot: robot, World: s.world, Player: s.player, Logged: now(), Devices: s.devices, Continued: true}
		if err := r.write(&rec); err != nil {
			return err
		}
	}
	return nil
}

// create opens the next file. The first one must not be there; of later ones
// numbers that are taken are passed over.
func (r *Recorder) create() (string, File, error) {
	for {
		r.parts++
		name := run.PartName(r.config.Output, r.parts)
		file, err := r.config.Create(name)
		switch {
		case err == nil:
			return name, file, nil
		case errors.Is(err, fs.ErrExist) && r.parts == 1:
			return "", nil, fmt.Errorf("%s is there already; remove it or name another file", name)
		case errors.Is(err, fs.ErrExist):
			continue
		default:
			return "", nil, err
		}
	}
}

// end completes the file.
func (r *Recorder) end() error {
	if err := r.writer.Close(); err != nil {
		return err
	}
	r.before += r.writer.Size()
	r.disk.end(r.part)
	r.part = nil
	return nil
}

// rotate goes on in a new file.
func (r *Recorder) rotate() error {
	if r.part.messages.Load() == 0 {
		return nil // nothing would be in the old one
	}
	if err := r.end(); err != nil {
		return err
	}
	return r.begin()
}
