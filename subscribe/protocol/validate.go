package protocol

import (
	"callboard/player/problem"
	"fmt"
	"math"
	"path"
	"slices"
)

// MaxID is how many bytes an id may have.
const MaxID = 256

// Invalid says what is wrong with a message: in which field, and what was
// expected. It is an error.
type Invalid struct {
	Code    Code
	ID      string // the message's id, if it could be read
	Field   string // "" for the message as a whole
	Message string
}

// Error returns field and message.
func (i *Invalid) Error() string {
	if i.Field == "" {
		return i.Message
	}
	return "`" + i.Field + "`: " + i.Message
}

// Validate checks a subscription's id and options; the condition and the
// selected expressions are for the matcher. It returns nil if all is right.
func (s *Subscription) Validate() *Invalid {
	if i := validID(s.ID); i != nil {
		return i
	}
	i := firstInvalid(
		validPatterns("robots", s.Robots),
		validPatterns("devices", s.Devices),
		validChoice("trigger", s.Trigger, TriggerEvery, TriggerRising, TriggerChange),
		validSeconds("min_interval", s.MinInterval),
		validSeconds("for", s.For),
		validSelect(s.Select),
		validMessages(s),
		validChoice("keep", s.Keep, KeepAll, KeepLatest),
	)
	return i.of(s.ID)
}

// Validate checks an update's id and the options that it changes.
func (u *Update) Validate() *Invalid {
	if i := validID(u.ID); i != nil {
		return i
	}
	s := u.Apply(Subscription{ID: u.ID})
	return s.Validate()
}

// Apply returns a subscription with the update's changes.
func (u *Update) Apply(s Subscription) Subscription {
	set(&s.Condition, u.Condition)
	set(&s.Robots, u.Robots)
	set(&s.Devices, u.Devices)
	set(&s.Trigger, u.Trigger)
	set(&s.MinInterval, u.MinInterval)
	set(&s.For, u.For)
	set(&s.Select, u.Select)
	set(&s.Keep, u.Keep)
	set(&s.Messages, u.Messages)
	return s
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func (i *Invalid) of(id string) *Invalid {
	if i != nil {
		i.ID = id
	}
	return i
}

func firstInvalid(all ...*Invalid) *Invalid {
	for _, i := range all {
		if i != nil {
			return i
		}
	}
	return nil
}

func validID(id string) *Invalid {
	switch {
	case id == "":
		return &Invalid{Code: BadMessage, Field: "id", Message: "missing or empty; expected text"}
	case len(id) > MaxID:
		return &Invalid{Code: BadMessage, Field: "id", Message: fmt.Sprintf("%d bytes; the limit is %d", len(id), MaxID)}
	}
	return nil
}

func validPatterns(field string, patterns []string) *Invalid {
	for n, p := range patterns {
		wrong := ""
		if _, err := path.Match(p, ""); p == "" {
			wrong = "empty; expected a name or pattern"
		} else if err != nil {
			wrong = fmt.Sprintf("%q is no pattern; expected a name, or one with *, ? or [a-z]", p)
		}
		if wrong != "" {
			return &Invalid{Code: BadMessage, Field: fmt.Sprintf("%s[%d]", field, n), Message: wrong}
		}
	}
	return nil
}

func validChoice(field, value string, choices ...string) *Invalid {
	if value == "" || slices.Contains(choices, value) {
		return nil
	}
	message := fmt.Sprintf("%q is unknown; expected one of %s", value, quotedList(choices))
	if best := problem.Nearest(value, choices); best != "" {
		message = fmt.Sprintf("%q is unknown: did you mean %q?", value, best)
	}
	return &Invalid{Code: BadMessage, Field: field, Message: message}
}

func validSeconds(field string, value float64) *Invalid {
	if value >= 0 && !math.IsInf(value, 1) {
		return nil
	}
	return &Invalid{Code: BadMessage, Field: field, Message: fmt.Sprintf("%g; expected a number of seconds, 0 or more", value)}
}

func validSelect(sel map[string]string) *Invalid {
	const maxSelect = 64
	if len(sel) > maxSelect {
		return &Invalid{Code: TooCostly, Field: "select", Message: fmt.Sprintf("%d expressions; the limit is %d", len(sel), maxSelect)}
	}
	for name := range sel {
		if name == "" || len(name) > MaxID {
			return &Invalid{Code: BadMessage, Field: "select", Message: fmt.Sprintf("a name is empty or longer than %d bytes", MaxID)}
		}
	}
	return nil
}

func validMessages(s *Subscription) *Invalid {
	if s.Messages && len(s.Select) > 0 {
		return &Invalid{Code: BadMessage, Field: "messages", Message: "it contradicts select; expected one of both"}
	}
	return nil
}
