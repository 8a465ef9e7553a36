package relay

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	callboard "callboard/clients/go"
)

// Template makes the subjects of messages: a NATS subject in which names in braces
// stand for what a notification says.
type Template struct {
	parts  []string // text and names by turns, text first
	perID  bool     // it names the subscription: a notification of several is a message for each
	filter string   // all subjects that it makes
}

// names are what a template may name.
var names = []string{"robot", "id", "interface", "index", "source", "client"}

// none stands for what there is not: a gap has no robot.
const none = "_"

// ParseTemplate parses a template.
func ParseTemplate(text string) (*Template, error) {
	t := &Template{}
	rest := text
	for {
		before, after, found := strings.Cut(rest, "{")
		t.parts = append(t.parts, before)
		if !found {
			break
		}
		name, behind, closed := strings.Cut(after, "}")
		if !closed || !slices.Contains(names, name) {
			return nil, fmt.Errorf("subject %q: {%s, expected one of {%s}", text, name, strings.Join(names, "}, {"))
		}
		t.parts = append(t.parts, name)
		t.perID = t.perID || name == "id"
		rest = behind
	}
	var filter strings.Builder
	for i, token := range strings.Split(t.fill(func(string) string { return "{" }), ".") {
		if i > 0 {
			filter.WriteByte('.')
		}
		switch {
		case token == "" || strings.ContainsAny(token, " \t\r\n*>}"):
			return nil, fmt.Errorf("subject %q: its part %d is empty, or has a blank, * or >; expected words between dots, as alarms.{robot}", text, i+1)
		case strings.Contains(token, "{"):
			filter.WriteByte('*')
		default:
			filter.WriteString(token)
		}
	}
	if t.filter = filter.String(); strings.HasPrefix(text, "$") {
		return nil, fmt.Errorf("subject %q begins with $, which is NATS's own", text)
	}
	return t, nil
}

// Filter returns the subject with wildcards that all its subjects match.
func (t *Template) Filter() string { return t.filter }

func (t *Template) fill(value func(name string) string) string {
	var b strings.Builder
	for i, part := range t.parts {
		if i%2 == 0 {
			b.WriteString(part)
		} else {
			b.WriteString(value(part))
		}
	}
	return b.String()
}

// subject makes the subject of a notification, for the subscription with an id.
func (t *Template) subject(client, id string, n *callboard.Notification) string {
	return t.fill(func(name string) string {
		switch name {
		case "robot":
			return token(n.Robot)
		case "id":
			return token(id)
		case "interface":
			return token(n.Interface)
		case "index":
			return strconv.Itoa(n.Index)
		case "source":
			return token(n.Source)
		default:
			return token(client)
		}
	})
}

// about makes the subject of what is no notification: robot and source may be "".
func (t *Template) about(client, robot, source string) string {
	values := map[string]string{"robot": robot, "source": source, "client": client}
	return t.fill(func(name string) string { return token(values[name]) })
}

// token makes a word that can stand between the dots of a subject: what NATS cannot
// have there goes as %XX.
func token(word string) string {
	if word == "" {
		return none
	}
	var b strings.Builder
	for i := range len(word) {
		if c := word[i]; c <= ' ' || c == 0x7f || strings.IndexByte(".*>%", c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// word undoes token.
func word(token string) string {
	var b strings.Builder
	for i := 0; i < len(token); i++ {
		if token[i] == '%' && i+2 < len(token) {
			if c, err := strconv.ParseUint(token[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(token[i])
	}
	return b.String()
}
