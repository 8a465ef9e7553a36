package link

import (
	"reflect"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// weigh estimates what messages that wait hold in memory, in bytes. Of the
// messages that are many it is told by hand, since it costs the broker's time;
// of the others by deepSize.
func weigh(messages []overlay.Message) int {
	const each = 256 // of a message with its place in the queue
	n := each
	for _, m := range messages {
		n += each
		switch m := m.(type) {
		case *overlay.NotifyMessage:
			n += weighReading(m.Reading)
			for i := range m.Hits {
				n += 128 + weighNames(m.Hits[i].Names)
			}
		case *overlay.ReplayMessage:
			for i := range m.Items {
				n += 128 + weighReading(m.Items[i].Reading) + weighNames(m.Items[i].Names)
			}
		case *overlay.SubscribeMessage:
			if m.Set != nil {
				n += deepSize(reflect.ValueOf(m.Set))
			}
		case *overlay.RoutedMessage:
			n += deepSize(reflect.ValueOf(m.Body))
		}
	}
	return n
}

func weighReading(r *overlay.Reading) int {
	if r == nil {
		return 0
	}
	return 128 + len(r.JSON) + len(r.Messages)
}

func weighNames(names []protocol.Matched) int {
	n := 0
	for i := range names {
		n += 64 + len(names[i].Values)
	}
	return n
}

// deepSize is the memory of a value with all that it points to, about.
func deepSize(v reflect.Value) int {
	n := int(v.Type().Size())
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n += deepSize(v.Elem())
		}
	case reflect.String:
		n += v.Len()
	case reflect.Slice:
		for i := range v.Len() {
			n += deepSize(v.Index(i))
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			n += deepSize(entries.Key()) + deepSize(entries.Value())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += deepSize(v.Field(i)) - int(v.Field(i).Type().Size())
		}
	}
	return n
}
