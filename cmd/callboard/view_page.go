package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"
	"callboard/bridge/search"
	"callboard/player/replay"
	"callboard/subscribe/protocol"
	"callboard/subscribe/query"
)

// maxMarks bounds what a condition is said to have found in a run.
const maxMarks = 20_000

// viewed is a replay as its broker's page controls it: /api/replay says how it goes,
// and takes what is to change; /api/replay/found says what a condition found in the
// whole run.
type viewed struct {
	replay   *replay.Replay
	sources  []replay.Source
	settings *config.Config
}

// viewState is how a replay goes. Times are in s, since the beginning of the run.
type viewState struct {
	Files   []string `json:"files"`
	At      float64  `json:"at"`
	Length  float64  `json:"length"`
	Speed   float64  `json:"speed"` // multiple of the recording's; 0: as fast as possible
	Playing bool     `json:"playing"`
	Ended   bool     `json:"ended"`
}

// actions are what a page may ask for.
func (v *viewed) actions() map[string]bridge.Action {
	return map[string]bridge.Action{"replay": v.control, "replay/found": v.found}
}

func (v *viewed) state() any {
	p := v.replay.Progress()
	s := &viewState{At: p.At.Seconds(), Length: p.Length.Seconds(), Speed: p.Speed, Playing: p.Playing, Ended: p.Ended}
	for _, source := range v.sources {
		s.Files = append(s.Files, source.File.Name())
	}
	return s
}

// control changes what of the replay is asked for, and returns how it goes.
func (v *viewed) control(_ context.Context, body []byte) (any, error) {
	var want struct {
		At      *float64 `json:"at"`
		Speed   *float64 `json:"speed"`
		Playing *bool    `json:"playing"`
	}
	if err := decodeStrictly(body, &want); err != nil {
		return nil, err
	}
	if want.Speed != nil {
		if err := v.replay.SetSpeed(*want.Speed); err != nil {
			return nil, &protocol.Problem{Code: protocol.BadMessage, Message: err.Error()}
		}
	}
	switch before := v.replay.Progress(); {
	case want.At != nil && !(*want.At >= 0):
		return nil, &protocol.Problem{Code: protocol.BadMessage, Message: "at: expected s since the beginning of the run"}
	case want.At != nil:
		v.replay.Seek(time.Duration(min(*want.At, before.Length.Seconds()) * float64(time.Second)))
	case want.Playing != nil && *want.Playing && before.Ended:
		v.replay.Seek(0)
	}
	if want.Playing != nil {
		v.replay.Play(*want.Playing)
	}
	return v.state(), nil
}

// mark is a stretch of the run in which a condition found something of a robot.
type mark struct {
	Robot string  `json:"robot"`
	From  float64 `json:"from"` // s, since the beginning of the run
	To    float64 `json:"to"`
	Count int     `json:"count"` // notifications
}

// found searches the run for what a subscription would have been told.
func (v *viewed) found(ctx context.Context, body []byte) (any, error) {
	var asked protocol.Subscription
	if err := decodeStrictly(body, &asked); err != nil {
		return nil, err
	}
	asked.ID = queryID
	q, err := query.New(query.Config{Subscriptions: []protocol.Subscription{asked}, Zones: v.settings.Zones, ConditionLength: v.settings.Limits.ConditionLength, Bare: true})
	if err != nil {
		return nil, &protocol.Problem{Code: protocol.BadCondition, Message: err.Error()}
	}
	marks := &marks{first: math.Inf(1), apart: max(0.25, v.replay.Progress().Length.Seconds()/2000), newest: map[string]int{}, list: []mark{}}
	c := search.Config{Query: q, Format: formatMark, Write: marks.add}
	for _, s := range v.sources {
		marks.first = min(marks.first, s.Survey.First)
		c.Sources = append(c.Sources, search.Source{File: s.File, Name: s.RobotName})
	}
	s, err := search.New(c)
	if err != nil {
		return nil, err
	}
	result, err := s.Run(ctx)
	if err != nil {
		return nil, err
	}
	return &struct {
		Marks         []mark `json:"marks"`
		Notifications uint64 `json:"notifications"`
		More          bool   `json:"more"` // not all of them are among the marks
	}{marks.list, result.Notifications, marks.more}, nil
}

// formatMark words a notification for marks.add: its time, and the robot. That a
// condition has become false is none.
func formatMark(dst []byte, n *protocol.Notify) []byte {
	for _, s := range n.Subscriptions {
		if s.State != nil && !*s.State {
			return dst
		}
	}
	dst = strconv.AppendFloat(dst, n.Time, 'g', -1, 64)
	return append(append(dst, ' '), n.Robot...)
}

// marks gathers notifications: those of a robot that are close together are one mark.
type marks struct {
	first, apart float64 // s
	list         []mark
	newest       map[string]int // robot → in list
	more         bool
}

func (m *marks) add(_ uint64, text []byte) error {
	word, robot, found := bytes.Cut(text, []byte(" "))
	if !found {
		return nil
	}
	t, err := strconv.ParseFloat(string(word), 64)
	if err != nil {
		return err
	}
	t -= m.first
	if i, had := m.newest[string(robot)]; had && t >= m.list[i].From && t-m.list[i].To <= m.apart {
		m.list[i].To = max(m.list[i].To, t)
		m.list[i].Count++
		return nil
	}
	if len(m.list) == maxMarks {
		m.more = true
		return nil
	}
	m.newest[string(robot)] = len(m.list)
	m.list = append(m.list, mark{Robot: string(robot), From: t, To: t, Count: 1})
	return nil
}

// decodeStrictly reads a JSON object whose fields are all known.
func decodeStrictly(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return &protocol.Problem{Code: protocol.BadMessage, Message: err.Error()}
	}
	return nil
}
