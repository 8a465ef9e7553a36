package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	callboard "callboard/clients/go"
	"callboard/subscribe/condition"
	"callboard/subscribe/protocol"
	"callboard/subscribe/query"
	"callboard/subscribe/view"
)

// querySource is the source that a query's notifications name.
const querySource = "query"

// How notifications are printed.
const (
	printNothing = iota
	printLines
	printJSON
	printCSV
)

// queryOutput prints notifications.
type queryOutput struct {
	p        *program
	kind     int
	several  bool     // there are several conditions
	columns  []string // of a table: what is selected
	readings bool     // of a table: the readings are its last column

	out     *bufio.Writer
	head    []byte // of a notify object
	printer *notificationPrinter
	live    bool // to a terminal: each line at once
}

// begin prints what stands before everything.
func (o *queryOutput) begin() error {
	if o.kind == printNothing {
		return nil
	}
	o.out = bufio.NewWriterSize(o.p.stdout, 64<<10)
	o.live = o.p.terminal(o.p.stdout)
	o.head = protocol.AppendText([]byte(`{"op":"notify","source":`), querySource)
	o.head = append(o.head, `,"seq":`...)
	o.printer = newNotificationPrinter(o.p, false)
	o.printer.ids = o.several
	if o.kind == printCSV {
		line := []byte("seq,robot,interface,index,time,id,state")
		for _, name := range o.columns {
			line = appendCell(append(line, ','), name)
		}
		if o.readings {
			line = append(line, ",reading"...)
		}
		_, err := o.out.Write(append(line, '\n'))
		return err
	}
	return nil
}

// lines reports whether lines go to stdout as they are found.
func (o *queryOutput) lines() bool { return o.kind != printNothing }

// format words a notification; the number is put before it. It is called from
// several goroutines.
func (o *queryOutput) format(dst []byte, n *protocol.Notify) []byte {
	switch {
	case o.kind == printJSON, o.kind == printLines && o.printer.on:
		return append(protocol.AppendNotifyTail(dst, n), '\n')
	case o.kind == printCSV:
		return o.rows(dst, n)
	case o.kind == printLines:
		dst = append(dst, o.printer.line(&callboard.Notification{Notify: *n})...)
		return append(dst, '\n')
	}
	return dst
}

// write prints a notification that was worded.
func (o *queryOutput) write(seq uint64, text []byte) error {
	if o.kind == printNothing {
		return nil
	}
	switch {
	case o.kind == printJSON:
		o.out.Write(o.head)
		o.out.Write(strconv.AppendUint(nil, seq, 10))
		o.out.Write(text)
	case o.kind == printCSV:
		number := strconv.AppendUint(nil, seq, 10)
		for line := range strings.Lines(string(text)) {
			o.out.Write(number)
			o.out.WriteString(line)
		}
	case o.printer.on: // columns grow with what comes
		var n callboard.Notification
		if err := json.Unmarshal(append(strconv.AppendUint(append([]byte(nil), o.head...), seq, 10), text...), &n.Notify); err != nil {
			return err
		}
		fmt.Fprintln(o.out, o.printer.line(&n))
	default:
		o.out.Write(text)
	}
	if o.live {
		return o.out.Flush()
	}
	_, err := o.out.Write(nil) // tells of an earlier error
	return err
}

func (o *queryOutput) end() error {
	if o.out == nil {
		return nil
	}
	if err := o.out.Flush(); err != nil {
		return fmt.Errorf("writing to stdout: %w", err)
	}
	return nil
}

// rows makes a table's row for each condition that a reading matched, without
// its number.
func (o *queryOutput) rows(dst []byte, n *protocol.Notify) []byte {
	for i := range n.Subscriptions {
		s := &n.Subscriptions[i]
		dst = appendCell(append(dst, ','), n.Robot)
		dst = append(append(append(dst, ','), n.Interface...), ',')
		dst = strconv.AppendInt(dst, int64(n.Index), 10)
		dst = protocol.AppendFloat(append(dst, ','), n.Time)
		dst = appendCell(append(dst, ','), s.ID)
		dst = append(dst, ',')
		if s.State != nil {
			dst = strconv.AppendBool(dst, *s.State)
		}
		if len(o.columns) > 0 {
			values := map[string][]byte{}
			for name, value := range members(s.Values) {
				values[name] = value
			}
			for _, name := range o.columns {
				dst = appendValue(append(dst, ','), values[name])
			}
		}
		if o.readings {
			dst = appendCell(append(dst, ','), string(n.Reading))
		}
		dst = append(dst, '\n')
	}
	return dst
}

// appendValue appends a JSON value as a cell: null is empty.
func appendValue(dst, value []byte) []byte {
	switch {
	case len(value) == 0, string(value) == "null":
		return dst
	case value[0] == '"':
		var text string
		if json.Unmarshal(value, &text) == nil {
			return appendCell(dst, text)
		}
	}
	return appendCell(dst, string(value))
}

// appendCell appends a cell, in quotes if it needs them. What would break a
// line is a blank: rows are lines.
func appendCell(dst []byte, text string) []byte {
	if !strings.ContainsAny(text, ",\"\n\r") && text == strings.TrimSpace(text) {
		return append(dst, text...)
	}
	text = strings.NewReplacer("\"", "\"\"", "\r\n", " ", "\n", " ", "\r", " ").Replace(text)
	return append(append(append(dst, '"'), text...), '"')
}

// scalars lists the single values of a kind of view, without those that a row
// has anyway.
func scalars(k view.Kind) (names []string) {
	for _, name := range condition.Scalars(k) {
		if _, own, _ := strings.Cut(name, "."); own != "time" && own != "index" {
			names = append(names, name)
		}
	}
	return names
}

// clientError makes the error that a broker would have told a client.
func clientError(p *query.Problem) *callboard.Error {
	return &callboard.Error{Code: p.Code, Message: p.Message, Position: p.Position}
}
