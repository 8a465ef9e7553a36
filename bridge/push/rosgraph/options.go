package rosgraph

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"callboard/subscribe/protocol"
)

// Options are what a client of a dialect may say beside a topic: those of a
// subscription in callboard.v1. Times may have their unit (0.5s).
type Options struct {
	Condition   string            `json:"condition"`
	Robots      []string          `json:"robots"`
	Devices     []string          `json:"devices"`
	Trigger     string            `json:"trigger"`
	MinInterval Seconds           `json:"min_interval"`
	For         Seconds           `json:"for"`
	Select      map[string]string `json:"select"`
	Keep        string            `json:"keep"`
}

// Given reports whether any of them was given.
func (o *Options) Given() bool {
	return o.Condition != "" || len(o.Robots) > 0 || len(o.Devices) > 0 || o.Trigger != "" || o.MinInterval != 0 || o.For != 0 || len(o.Select) > 0 || o.Keep != ""
}

// Subscription returns what they ask for.
func (o *Options) Subscription(id string) protocol.Subscription {
	return protocol.Subscription{
		ID: id, Condition: o.Condition, Robots: o.Robots, Devices: o.Devices, Trigger: o.Trigger,
		MinInterval: float64(o.MinInterval), For: float64(o.For), Select: o.Select, Keep: o.Keep,
	}
}

// Seconds is a length of time, in JSON a number of seconds or a text with a unit.
type Seconds float64

// UnmarshalJSON reads it.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	text := string(bytes.Trim(b, `"`))
	if text == "null" {
		return nil
	}
	v, err := ParseSeconds(text)
	*s = v
	return err
}

// ParseSeconds reads a length of time.
func ParseSeconds(text string) (Seconds, error) {
	number, scale := text, 1.0
	switch {
	case strings.HasSuffix(text, "ms"):
		number, scale = strings.TrimSuffix(text, "ms"), 1e-3
	case strings.HasSuffix(text, "s"):
		number = strings.TrimSuffix(text, "s")
	case strings.HasSuffix(text, "m"):
		number, scale = strings.TrimSuffix(text, "m"), 60
	}
	v, err := strconv.ParseFloat(number, 64)
	if v *= scale; err != nil || !(v >= 0 && v < 1e9) {
		return 0, fmt.Errorf("%q is no time; expected seconds, as 0.5 or 0.5s", text)
	}
	return Seconds(v), nil
}

// SplitTopic returns a topic's name without the options that stand behind a
// question mark in it, and them.
func SplitTopic(name string) (string, Options, error) {
	topic, query, given := strings.Cut(name, "?")
	var o Options
	if !given {
		return topic, o, nil
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return topic, o, fmt.Errorf("the options of topic %q: %w", topic, err)
	}
	for key, all := range values {
		switch key {
		case "condition":
			o.Condition = all[0]
		case "robots":
			o.Robots = all
		case "devices":
			o.Devices = all
		case "trigger":
			o.Trigger = all[0]
		case "min_interval":
			o.MinInterval, err = ParseSeconds(all[0])
		case "for":
			o.For, err = ParseSeconds(all[0])
		case "keep":
			o.Keep = all[0]
		case "select":
			err = json.Unmarshal([]byte(all[0]), &o.Select)
		default:
			err = fmt.Errorf("unknown; expected condition, robots, devices, trigger, min_interval, for, select or keep")
		}
		if err != nil {
			return topic, o, fmt.Errorf("the option %s of topic %q: %w", key, topic, err)
		}
	}
	return topic, o, nil
}
