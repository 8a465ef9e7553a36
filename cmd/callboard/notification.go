package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	callboard "callboard/clients/go"
)

// notificationPrinter prints notifications, one a line.
type notificationPrinter struct {
	p    *program
	json bool
	ids  bool // of the subscriptions are shown: there are several
	style
	robotWidth, deviceWidth int        // columns; grow with what comes
	width                   func() int // of a terminal; nil: lines are as long as they get
}

func newNotificationPrinter(p *program, json bool) *notificationPrinter {
	n := &notificationPrinter{p: p, json: json, style: style{p.colours(p.stdout)}}
	if p.terminal(p.stdout) {
		n.width = func() int { return p.columns(p.stdout) } // it may be made wider
	}
	return n
}

func (n *notificationPrinter) print(e *callboard.Notification) error {
	if n.json {
		return writeLine(n.p.stdout, e.Raw)
	}
	return writeLine(n.p.stdout, []byte(n.line(e)))
}

// line makes a notification's line: robot, device, time, state, values. Of these as
// many as a terminal has room for.
func (n *notificationPrinter) line(e *callboard.Notification) string {
	device := e.Interface + ":" + strconv.Itoa(e.Index)
	if n.on { // columns, on a terminal only
		n.robotWidth = max(n.robotWidth, utf8.RuneCountInString(e.Robot))
		n.deviceWidth = max(n.deviceWidth, len(device))
	}
	fields := []string{
		n.bold(pad(e.Robot, n.robotWidth)),
		n.dim(pad(device, n.deviceWidth)),
		strconv.FormatFloat(e.Time, 'f', 3, 64),
	}
	selected := false
	for _, s := range e.Subscriptions {
		if n.ids {
			fields = append(fields, n.dim(s.ID))
		}
		if s.State != nil {
			fields = append(fields, n.truth(*s.State))
		}
		if len(s.Values) > 0 {
			selected = true
			fields = append(fields, n.values(s.Values, 0)...)
		}
	}
	if !selected {
		fields = append(fields, n.values(e.Reading, shownValues)...)
	}
	if n.width == nil {
		return strings.Join(fields, " ")
	}
	return fitFields(fields, n.width())
}

// fitFields puts fields, which may be coloured, on a line of so many characters
// (0: as long as it gets), and shows whether some are left out.
func fitFields(fields []string, width int) string {
	line, used := "", 0
	for i, field := range fields {
		length := utf8.RuneCountInString(colouring.ReplaceAllString(field, ""))
		more := 0
		if i < len(fields)-1 {
			more = 2 // a blank and that there is more
		}
		switch {
		case width > 0 && i == 0 && length+more > width:
			return cut(colouring.ReplaceAllString(field, ""), width)
		case i == 0:
			line, used = field, length
		case width > 0 && used+1+length+more > width:
			return line + " …"
		default:
			line, used = line+" "+field, used+1+length
		}
	}
	return line
}

// colouring matches what colours text on a terminal.
var colouring = regexp.MustCompile("\x1b\\[[0-9;]*m")

// shownValues is how many of a reading's values are shown.
const shownValues = 6

// dull are values of a reading that people do not watch for, or that others
// sum up.
var dull = []string{"time", "index", "angle_min", "angle_max", "resolution", "max_range", "vx", "vy"}

// dullOfRanges are dull values of readings that are ranges before all.
var dullOfRanges = []string{"count", "max"}

// values lists an object's values as name=value, in their order: all of them,
// or the first most numbers, words and truths that are not dull.
func (n *notificationPrinter) values(object []byte, most int) []string {
	var fields []string
	ranges := bytes.HasPrefix(object, []byte(`{"ranges":`))
	for name, value := range members(object) {
		if most > 0 {
			if len(fields) == most {
				break
			}
			if slices.Contains(dull, name) || ranges && slices.Contains(dullOfRanges, name) || len(value) == 0 || value[0] == '[' || value[0] == '{' {
				continue
			}
		}
		if strings.ContainsAny(name, " \t") {
			name = strconv.Quote(name)
		}
		fields = append(fields, n.dim(name+"=")+short(value))
	}
	return fields
}

// members walks a JSON object in its order.
func members(object []byte) func(yield func(string, []byte) bool) {
	return func(yield func(string, []byte) bool) {
		d := json.NewDecoder(bytes.NewReader(object))
		if t, err := d.Token(); err != nil || t != json.Delim('{') {
			return
		}
		for d.More() {
			t, err := d.Token()
			if err != nil {
				return
			}
			name, _ := t.(string)
			var value json.RawMessage
			if d.Decode(&value) != nil || !yield(name, value) {
				return
			}
		}
	}
}

// short words a JSON value for a line: numbers with three decimals at most,
// of lists the first values.
func short(value []byte) string {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return string(value)
	}
	switch v := v.(type) {
	case float64:
		return shortNumber(v)
	case string:
		if v == "" || strings.ContainsAny(v, " \t\n\"") {
			return strconv.Quote(v)
		}
		return v
	case []any:
		return shortList(v)
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil || b.Len() > 200 {
		return fmt.Sprintf("%.200s…", value)
	}
	return b.String()
}

// shortNumber words a number: a whole one with all its digits (an id, a colour, a
// set of bits), others with three decimals at most, or an exponent beyond them.
func shortNumber(v float64) string {
	const exact = 1 << 53 // above it not every integer is a float64
	switch a := math.Abs(v); {
	case v == math.Trunc(v) && a <= exact:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case a < 0.0005 || a >= 1e9:
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	text := strings.TrimRight(strconv.FormatFloat(v, 'f', 3, 64), "0")
	return strings.TrimSuffix(text, ".")
}

// shortList shows the first values of a list, and how many there are.
func shortList(list []any) string {
	const maxShown = 5
	var b strings.Builder
	b.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		if i == maxShown && len(list) > maxShown+1 {
			fmt.Fprintf(&b, "… %d", len(list))
			break
		}
		text, _ := json.Marshal(v)
		b.WriteString(short(text))
	}
	b.WriteByte(']')
	return b.String()
}
