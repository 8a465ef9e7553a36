package run

import (
	"callboard/player"
	"callboard/player/foxglove"
	"callboard/player/mcap"
)

// drawnChannel is a drawing of a device's messages and where it goes.
type drawnChannel struct {
	drawing *foxglove.Drawing
	stream  *stream // nil until there is something to draw
	foreign bool    // another device of the robot tells what is shared
}

// drawKind are the drawings of one kind of message of a device.
type drawKind struct {
	subtype  uint8
	drawings []drawnChannel
}

// draw writes what of a message can be drawn.
func (w *MCAPWriter) draw(rec *Record, c *deviceChannels, log, published uint64) error {
	kind := c.kind(rec.Header.Interf, rec.Header.Subtype)
	context := foxglove.Context{Time: log, Robot: rec.Robot, Device: rec.Device}
	for i := range kind.drawings {
		d := &kind.drawings[i]
		if d.foreign {
			continue
		}
		var something bool
		if w.json, something = d.drawing.Append(w.json[:0], &context, rec.Payload); !something {
			continue
		}
		if d.stream == nil {
			if err := w.openDrawing(rec, d); err != nil {
				return err
			}
			if d.foreign {
				continue
			}
		}
		if err := w.put(d.stream, log, published, w.json); err != nil {
			return err
		}
	}
	return nil
}

// kind returns the drawings of a kind of message.
func (c *deviceChannels) kind(i player.Interface, subtype uint8) *drawKind {
	for k := range c.drawn {
		if c.drawn[k].subtype == subtype {
			return &c.drawn[k]
		}
	}
	n := drawKind{subtype: subtype}
	for _, d := range foxglove.Of(i, subtype) {
		n.drawings = append(n.drawings, drawnChannel{drawing: d})
	}
	c.drawn = append(c.drawn, n)
	return &c.drawn[len(c.drawn)-1]
}

// openDrawing makes the channel of a drawing.
func (w *MCAPWriter) openDrawing(rec *Record, d *drawnChannel) error {
	id, err := w.schema(d.drawing.Schema, foxglove.Schema(d.drawing.Schema))
	if err != nil {
		return err
	}
	name := topic(rec) + d.drawing.Topic
	if d.drawing.Shared != "" {
		owner := mcapPlace(rec.Robot, rec.Header.Addr)
		if first, taken := w.sharing[rec.Robot]; taken && first != owner {
			d.foreign = true
			return nil
		}
		w.sharing[rec.Robot] = owner
		name = d.drawing.Shared
		if d.stream = w.shared[name]; d.stream != nil {
			return nil
		}
	}
	d.stream, err = w.stream(mcap.Channel{Topic: name, SchemaID: id, Encoding: "json", Group: groupDrawn})
	if err == nil && d.drawing.Shared != "" {
		w.shared[name] = d.stream
	}
	return err
}
