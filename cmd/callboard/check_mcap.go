package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/mcap"
	"callboard/player/problem"
	"callboard/player/regular"
	"callboard/player/run"
)

// maxTold is how many problems of a file are printed; the others are counted.
const maxTold = 100

// mcapFile checks an MCAP file: the container, whoever wrote it, then what
// callboard record keeps in one.
func (k *checker) mcapFile(name string) {
	file, err := regular.Open(name)
	if err != nil {
		k.wrong(name, problem.OfFile(err))
		return
	}
	defer func() { _ = file.Close() }()
	before := k.errors
	c := &container{k: k, name: name, channels: map[uint16]*channelCount{}}
	c.read(file)
	c.index(file)
	if c.told > maxTold {
		k.note(name, "%s more", plural(c.told-maxTold, "problem"))
	}
	if k.errors > before {
		return
	}
	if c.recorded {
		k.recordedRun(name)
		return
	}
	k.note(name, "%s on %s", plural(int(c.messages), "message"), plural(len(c.channels), "channel"))
	c.list()
}

// container is what is found in an MCAP file.
type container struct {
	k        *checker
	name     string
	told     int
	messages uint64
	channels map[uint16]*channelCount
	cut      bool
	recorded bool // it has messages of Player servers
}

type channelCount struct {
	topic, schema string
	json          bool
	messages      uint64
}

// problem prints a problem, or counts it if there were many.
func (c *container) problem(p problem.Problem) {
	if c.told++; c.told > maxTold {
		c.k.count(p)
		return
	}
	c.k.tell(p)
}

// at makes a problem of a byte of the file.
func (c *container) at(offset int64, format string, values ...any) problem.Problem {
	return problem.Problem{Place: problem.Place{File: c.name}, Binary: true, Offset: offset, Message: fmt.Sprintf(format, values...)}
}

// read goes through the file from its beginning.
func (c *container) read(file *os.File) {
	r, err := mcap.NewReader(mcap.ReaderConfig{R: file, Name: c.name, Attachment: func(*mcap.Attachment) error { return nil }, Metadata: func(*mcap.Metadata) error { return nil }})
	if err != nil {
		c.problem(faultOf(c.name, 0, err))
		return
	}
	defer r.Close()
	for {
		m, err := r.Next()
		var p *problem.Problem
		switch {
		case err == io.EOF:
			return
		case errors.As(err, &p) && p.Ends:
			c.cut = true
			p.Message += "; what was written before is whole"
			p.Warning = true
			c.problem(*p)
		case errors.As(err, &p):
			c.problem(*p)
		case err != nil:
			offset, _ := r.Offset()
			c.problem(faultOf(c.name, offset, err))
			return
		default:
			c.message(r, m)
		}
	}
}

func (c *container) message(r *mcap.Reader, m *mcap.Message) {
	n := c.channels[m.ChannelID]
	if n == nil {
		channel := r.Channel(m.ChannelID)
		n = &channelCount{topic: channel.Topic, json: channel.Encoding == "json"}
		if s := r.Schema(channel.SchemaID); s != nil {
			n.schema = s.Name
		}
		c.recorded = c.recorded || n.schema == run.MessageSchema
		c.channels[m.ChannelID] = n
	}
	n.messages++
	c.messages++
	if n.json && !json.Valid(m.Data) {
		offset, _ := r.Offset()
		c.problem(c.at(offset, "message %d on %s is no JSON, expected what its channel announces", n.messages, n.topic))
	}
}

// index compares the index with what was found.
func (c *container) index(file *os.File) {
	info, err := file.Stat()
	if err != nil || c.cut {
		return
	}
	s, err := mcap.ReadSummary(file, info.Size(), c.name)
	switch {
	case errors.Is(err, mcap.ErrNoSummary):
		p := c.at(info.Size(), "the file has no index; it is read from its beginning")
		p.Warning = true
		c.problem(p)
	case err != nil:
		c.problem(faultOf(c.name, info.Size(), err))
	case s.Statistics != nil && s.Statistics.Messages != c.messages:
		c.problem(c.at(info.Size(), "the index tells %d messages, expected the %d that are there", s.Statistics.Messages, c.messages))
	}
}

// list prints the channels.
func (c *container) list() {
	var lines []string
	for _, n := range c.channels {
		lines = append(lines, fmt.Sprintf("%s (%s): %d", n.topic, n.schema, n.messages))
	}
	slices.Sort(lines)
	for i, line := range lines {
		if i == summarised {
			c.k.more(c.name, "and %s", plural(len(lines)-i, "more channel"))
			return
		}
		c.k.more(c.name, "%s", line)
	}
}

// recordedRun checks the messages of a run, and reports what it has.
func (k *checker) recordedRun(name string) {
	f, err := run.Open(name)
	if err != nil {
		k.fault(name, err)
		return
	}
	defer func() { _ = f.Close() }()
	r, err := f.Reader(run.Options{})
	if err != nil {
		k.fault(name, err)
		return
	}
	defer r.Close()
	s := &runSurvey{devices: map[string]*logged{}, robots: map[string]bool{}}
	for {
		rec, err := r.Next()
		var p *problem.Problem
		switch {
		case err == io.EOF:
			s.print(k, name)
			k.recordedWorld(name, f)
			for _, topic := range f.Objects() {
				k.tell(problem.Problem{Place: problem.Place{File: name}, Binary: true, Warning: true, Message: objectsOnly(topic)})
			}
			return
		case errors.As(err, &p) && p.Warning:
		case errors.As(err, &p):
			k.tell(*p)
		case err != nil:
			k.fault(name, err)
			return
		case rec.Odd != nil:
			k.tell(*rec.Odd)
		default:
			s.add(rec)
		}
	}
}

// runSurvey is what a run has in it.
type runSurvey struct {
	robots        map[string]bool
	devices       map[string]*logged
	messages      int
	lost          uint64
	first, last   float64
	begin, ending time.Time
}

func (s *runSurvey) add(rec *run.Record) {
	s.robots[rec.Robot] = true
	if s.begin.IsZero() {
		s.begin = rec.Logged
	}
	s.ending = rec.Logged
	if rec.Kind == run.Lost {
		s.lost += rec.Count
	}
	if rec.Kind != run.Data {
		return
	}
	h := rec.Header
	if s.messages == 0 {
		s.first, s.last = h.Timestamp, h.Timestamp
	}
	s.messages++
	s.first, s.last = min(s.first, h.Timestamp), max(s.last, h.Timestamp)
	device := fmt.Sprintf("%s %s", rec.Robot, rec.Device.Addr)
	d := s.devices[device]
	if d == nil {
		d = &logged{kinds: map[string]int{}}
		s.devices[device] = d
	}
	kind := fmt.Sprint(h.Subtype)
	if m, ok := iface.Lookup(h.Interf, player.Data, h.Subtype); ok {
		kind = m.Name
	}
	if d.kinds[kind]++; d.kinds[kind] == 1 {
		d.order = append(d.order, kind)
	}
}

func (s *runSurvey) print(k *checker, name string) {
	const layout = "2006-01-02 15:04:05"
	k.note(name, "%s of %s, %.3f to %.3f s, recorded %s to %s", plural(s.messages, "message"), plural(len(s.robots), "robot"),
		s.first, s.last, s.begin.Local().Format(layout), s.ending.Local().Format(layout))
	if s.lost > 0 {
		k.more(name, "%s lost while it was recorded", plural(int(s.lost), "message"))
	}
	k.devices(name, s.devices)
}

// recordedWorld reports the world that was recorded with the run.
func (k *checker) recordedWorld(name string, f *run.File) {
	w, err := f.World()
	switch {
	case err != nil:
		k.fault(name, err)
	case w != nil:
		names := make([]string, len(w.Files))
		for i, file := range w.Files {
			names[i] = file.Name
		}
		k.more(name, "with its world: %s", strings.Join(names, ", "))
	}
}

// devices prints how many messages of which kind each device has.
func (k *checker) devices(name string, all map[string]*logged) {
	devices := make([]string, 0, len(all))
	for device := range all {
		devices = append(devices, device)
	}
	slices.Sort(devices)
	for i, device := range devices {
		if i == summarised {
			k.more(name, "and %s", plural(len(devices)-i, "more device"))
			break
		}
		var kinds []string
		for _, kind := range all[device].order {
			kinds = append(kinds, fmt.Sprintf("%s %d", kind, all[device].kinds[kind]))
		}
		k.more(name, "%s: %s", device, strings.Join(kinds, ", "))
	}
}
