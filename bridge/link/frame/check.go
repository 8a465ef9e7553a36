package frame

import "callboard/bridge/overlay"

// check refuses messages that lack what the overlay takes for granted.
func (d *Decoder) check(m overlay.Message) {
	switch m := m.(type) {
	case *overlay.NotifyMessage:
		if m.Reading == nil {
			d.fail("a notification without a reading")
		}
	case *overlay.ReplayMessage:
		for i := range m.Items {
			d.checkItem(&m.Items[i])
		}
	}
}

func (d *Decoder) checkItem(item *overlay.Item) {
	switch {
	case item.Kind < overlay.ItemNotification || item.Kind > overlay.ItemPassed:
		d.fail("an item of kind %d", item.Kind)
	case item.From > item.To:
		d.fail("an item from %d to %d", item.From, item.To)
	case item.Kind == overlay.ItemNotification && item.Reading == nil:
		d.fail("a notification without a reading")
	case item.Kind == overlay.ItemNotification && item.From != item.To:
		d.fail("a notification for the numbers %d to %d", item.From, item.To)
	}
}
