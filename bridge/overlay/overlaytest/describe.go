package overlaytest

import (
	"fmt"
	"reflect"
	"strings"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// shown writes a client's word: lab:c is a token's.
func shown(word string) string { return strings.Replace(word, "\x00", ":", 1) }

func describeKey(k overlay.Key) string {
	return fmt.Sprintf("%s/%d→%s.%d", shown(k.Client), k.Session.Attachment, k.Source, int64(k.Stamp)%100_000_000_000)
}

func describeEpoch(e overlay.Epoch) string {
	return fmt.Sprintf("%d@%s.%d", e.Attachment, e.Edge, e.Revision%100_000_000_000)
}

func describeInput(in overlay.Input) string {
	switch in := in.(type) {
	case *overlay.FrameReceived:
		return fmt.Sprintf("from %s: %s", in.Neighbour, describeAll(in.Messages))
	case *overlay.Hello:
		var nums, subs []string
		for _, word := range sortedKeys(in.Num) {
			nums = append(nums, fmt.Sprintf("%s=%d", word, in.Num[word]))
		}
		for _, s := range in.Subscriptions {
			subs = append(subs, s.ID+":"+s.Condition)
		}
		attachment := uint64(0)
		if in.Attachment != nil {
			attachment = *in.Attachment
		}
		text := fmt.Sprintf("hello %s%s attachment %d session %q num %v subscriptions %v", in.Owner, in.Client, attachment, in.Session, nums, subs)
		if in.Away != nil {
			text += fmt.Sprintf(" away %v", *in.Away)
		}
		return text
	case *overlay.RobotState:
		return fmt.Sprintf("robot %s is %s", in.Robot, in.State)
	case *overlay.Matched:
		text := fmt.Sprintf("matched %s", numberOf(in.Reading))
		for _, h := range in.Hits {
			text += fmt.Sprintf(" %d by %d", h.Handle, h.Set)
			for _, n := range h.Names {
				if text += " " + n.ID; n.State != nil {
					text += fmt.Sprintf("=%v", *n.State)
				}
			}
		}
		return text
	case *overlay.Ack:
		return fmt.Sprintf("ack %s %d", in.Source, in.Num)
	case *overlay.LinkUp:
		return fmt.Sprintf("link up %s", in.Neighbour)
	case *overlay.LinkCost:
		return fmt.Sprintf("link with %s costs %d", in.Neighbour, in.Cost)
	case *overlay.LinkDown:
		return fmt.Sprintf("link down %s", in.Neighbour)
	case *overlay.Subscribe:
		return fmt.Sprintf("subscribe %s %s", in.Subscription.ID, in.Subscription.Condition)
	case *overlay.Update:
		return fmt.Sprintf("update %s %s", in.Subscription.ID, in.Subscription.Condition)
	case *overlay.Unsubscribe:
		return fmt.Sprintf("unsubscribe %s", in.ID)
	case *overlay.Installed:
		return fmt.Sprintf("installed %d %d", in.Handle, in.Set)
	case *overlay.RequestTask, *overlay.Serve, *overlay.Unserve, *overlay.DoneTask, *overlay.CancelTask, *overlay.AckTask, *overlay.Executed, *overlay.Disconnected:
		return fieldsOf(in)
	case *overlay.Restore:
		return fmt.Sprintf("restore %d records", len(in.Records))
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", in), "*overlay.")
}

func describeOutput(out overlay.Output) string {
	switch o := out.(type) {
	case *overlay.Frame:
		return fmt.Sprintf("to %v: %s", o.To, describeAll(o.Messages))
	case *overlay.Notify:
		return fmt.Sprintf("notify %s #%d skipped %d reading %s %v", o.Source, o.Seq, o.Skipped, numberOf(o.Reading), ids(o.Subscriptions))
	case *overlay.Send:
		switch m := o.Message.(type) {
		case *protocol.Gap:
			to := "end, next " + m.Next
			if m.To != nil {
				to = fmt.Sprint(*m.To)
			}
			return fmt.Sprintf("gap %s %d…%s %s", m.Source, m.From, to, m.Why)
		case *protocol.Subscribed:
			return fmt.Sprintf("subscribed %s %v robots %d %s", m.ID, m.Sources, m.Robots, m.Warning)
		case *protocol.Robot:
			return fmt.Sprintf("robot %s %s", m.Name(), m.State)
		case *protocol.Error:
			return fmt.Sprintf("error %s %s", m.Code, m.Message)
		}
		return fmt.Sprintf("%T", o.Message)
	case *overlay.Install:
		return fmt.Sprintf("install %d set %d", o.Handle, o.Set)
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", out), "*overlay.")
}

func ids(names []protocol.Matched) (all []string) {
	for _, n := range names {
		id := n.ID
		if n.State != nil {
			id += fmt.Sprintf("=%v", *n.State)
		}
		all = append(all, id)
	}
	return all
}

func describeAll(messages []overlay.Message) string {
	var all []string
	for _, m := range messages {
		all = append(all, Describe(m))
	}
	return strings.Join(all, "; ")
}

// describeBulletin lists what has changed: "r1" a robot that is new or has changed,
// "-r1" one that is withdrawn; "r1:up" and "r1:away" what has become of one.
func describeBulletin(m *overlay.BulletinMessage) string {
	text := fmt.Sprintf("bulletin of %s ", m.Broker)
	if m.From > 0 {
		text += fmt.Sprintf("%d to ", m.From%100_000_000_000)
	}
	text += fmt.Sprint(m.Version % 100_000_000_000)
	for i := range m.Robots {
		text += " " + m.Robots[i].Robot
	}
	for _, name := range m.Withdrawn {
		text += " -" + name
	}
	for i := range m.States {
		state := ":away"
		if m.States[i].Up {
			state = ":up"
		}
		text += " " + m.States[i].Robot + state
	}
	for _, name := range m.Forgotten {
		text += " -" + name + ":"
	}
	for i := range m.Clients {
		text += fmt.Sprintf(" %s@%d", shown(m.Clients[i].Client), m.Clients[i].Attachment)
	}
	for _, client := range m.Left {
		text += " -" + shown(client) + "@"
	}
	return text
}

// fieldsOf writes a type's name and its fields.
func fieldsOf(v any) string {
	name := strings.TrimPrefix(strings.TrimPrefix(fmt.Sprintf("%T", v), "*overlay."), "*protocol.")
	return fmt.Sprintf("%s%+v", name, reflect.ValueOf(v).Elem())
}

// Describe writes a message between brokers as a line.
func Describe(m overlay.Message) string {
	switch m := m.(type) {
	case *overlay.QueuesMessage:
		return fieldsOf(m)
	case *overlay.SubscribeMessage:
		text := fmt.Sprintf("subscribe %s %s num %d path %v", describeKey(m.Key), describeEpoch(m.Epoch), m.Num, m.Path)
		if m.Set != nil {
			text += " with set"
			if !m.Set.Whole {
				text = strings.TrimSuffix(text, "set") + "change"
			}
		}
		if m.Missing != nil {
			text += fmt.Sprintf(" missing %d…%d", m.Missing.From, m.Missing.To)
		}
		return text
	case *overlay.RefreshMessage:
		return fmt.Sprintf("refresh %s %s num %d", describeKey(m.Key), describeEpoch(m.Epoch), m.Num)
	case *overlay.HeadMessage:
		return fmt.Sprintf("head %s %d", describeKey(m.Key), m.Last)
	case *overlay.UnsubscribeMessage:
		return fmt.Sprintf("unsubscribe %s path %v", describeKey(m.Key), m.Path)
	case *overlay.GoneMessage:
		return fmt.Sprintf("gone %s stamp %d", describeKey(m.Key), int64(m.Stamp)%100_000_000_000)
	case *overlay.NotifyMessage:
		var hits []string
		for _, h := range m.Hits {
			hits = append(hits, fmt.Sprintf("%s #%d %v", describeKey(h.Key), h.Seq, ids(h.Names)))
		}
		return fmt.Sprintf("notify reading %s: %s", numberOf(m.Reading), strings.Join(hits, ", "))
	case *overlay.FetchMessage:
		return fmt.Sprintf("fetch %s %s num %d", describeKey(m.Key), describeEpoch(m.Epoch), m.Num)
	case *overlay.ReplayMessage:
		var items []string
		for _, it := range m.Items {
			switch it.Kind {
			case overlay.ItemNotification:
				items = append(items, fmt.Sprintf("#%d", it.From))
			case overlay.ItemGap:
				items = append(items, fmt.Sprintf("gap %d…%d", it.From, it.To))
			default:
				items = append(items, fmt.Sprintf("passed %d…%d", it.From, it.To))
			}
		}
		text := fmt.Sprintf("replay %s %v", describeKey(m.Key), items)
		if m.Last {
			text += " last"
		}
		return text
	case *overlay.EventMessage:
		return "event " + describeKey(m.Key)
	case *overlay.BrokenMessage:
		return "broken " + describeKey(m.Key)
	case *overlay.LinkState:
		if len(m.Costs) > 0 {
			return fmt.Sprintf("state of %s %v, which cost %v", m.Broker, m.Neighbours, m.Costs)
		}
		return fmt.Sprintf("state of %s %v", m.Broker, m.Neighbours)
	case *overlay.BulletinMessage:
		return describeBulletin(m)
	case *overlay.KnownMessage:
		text := "knows"
		if m.All {
			text += " only"
		}
		for _, k := range m.Brokers {
			text += fmt.Sprintf(" %s.%d", k.Broker, k.Version%100_000_000_000)
		}
		return text
	case *overlay.RoutedMessage:
		switch body := m.Body.(type) {
		case *overlay.Watch:
			if body.Of != "" {
				return fmt.Sprintf("watch to %s of %s", m.To, body.Of)
			}
			return fmt.Sprintf("watch to %s from version %d", m.To, body.Version)
		case *overlay.Robots:
			text := fmt.Sprintf("robots to %s, version %d to %d", m.To, body.From, body.Version)
			if body.Of != "" {
				text = fmt.Sprintf("robots of %s to %s, version %d", body.Of, m.To, body.Version)
			}
			for _, a := range body.Robots {
				text += fmt.Sprintf(" %s up=%v gone=%d", a.Robot, a.Up, a.Gone)
			}
			return text
		case *overlay.Told:
			text := fmt.Sprintf("told to %s of %s under %d: whole=%v %v awaited %v away %v", m.To, body.Client, body.Attachment, body.Whole, body.Seen, body.Awaited, body.Away)
			for _, h := range body.States {
				text += fmt.Sprintf(" %s of %s #%d over=%d", h.ID, h.Source, h.Seq, h.Over)
			}
			return text
		}
		if name := fmt.Sprintf("%T", m.Body); strings.HasPrefix(name, "*overlay.Task") {
			return fmt.Sprintf("%s to %s", fieldsOf(m.Body), m.To)
		}
		return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T to %s", m.Body, m.To), "*overlay."))
	}
	return fmt.Sprintf("%T", m)
}
