package overlaytest

import (
	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// digest is the hash of a trace (64 bits: FNV-1a for texts, and for numbers a
// multiplication each, which is what most of a trace is). Two runs that have the
// same one did the same.
type digest uint64

const newDigest digest = 14695981039346656037

func (d *digest) number(n uint64) {
	h := (uint64(*d) ^ n) * 0x9e3779b97f4a7c15
	*d = digest(h ^ h>>32)
}

func (d *digest) text(s string) {
	h := uint64(*d)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	*d = digest(h)
	d.number(uint64(len(s)))
}

func (d *digest) kind(k byte) { *d = (*d ^ digest(k)) * 1099511628211 }

func (d *digest) key(k overlay.Key) {
	d.text(k.Client)
	d.epoch(overlay.Epoch(k.Session))
	d.text(string(k.Source))
	d.number(uint64(k.Stamp))
}

func (d *digest) epoch(e overlay.Epoch) {
	d.number(e.Attachment)
	d.text(string(e.Edge))
	d.number(e.Revision)
}

func (d *digest) names(all []protocol.Matched) {
	for i := range all {
		d.text(all[i].ID)
	}
	d.number(uint64(len(all)))
}

func (d *digest) path(p []overlay.BrokerID) {
	for _, id := range p {
		d.text(string(id))
	}
	d.number(uint64(len(p)))
}

// output takes in what a broker gives out. What goes in follows from it and
// from the choices.
func (d *digest) output(out overlay.Output) {
	switch o := out.(type) {
	case *overlay.Frame:
		d.kind(1)
		d.text(string(o.Neighbour))
		for _, m := range o.Messages {
			d.message(m)
		}
	case *overlay.Notify:
		d.kind(2)
		d.text(o.Source)
		d.number(o.Seq)
		d.number(o.Skipped)
		d.names(o.Subscriptions)
	case *overlay.Send:
		d.kind(3)
		d.number(uint64(o.Conn))
		d.sent(o.Message)
	case *overlay.Close:
		d.kind(4)
		d.number(uint64(o.Conn))
	case *overlay.Install:
		d.kind(5)
		d.number(uint64(o.Handle))
		d.number(o.Set)
		for _, s := range o.Put {
			d.text(s.ID)
		}
		for _, id := range o.Drop {
			d.text(id)
		}
	case *overlay.Uninstall:
		d.kind(6)
		d.number(uint64(o.Handle))
	}
}

func (d *digest) sent(message any) {
	switch m := message.(type) {
	case *protocol.Gap:
		d.kind(1)
		d.text(m.Source)
		d.number(m.From)
		if m.To != nil {
			d.number(*m.To)
		}
		d.text(m.Why)
		d.text(m.Next)
	case *protocol.Subscribed:
		d.kind(2)
		d.text(m.ID)
		for _, s := range m.Sources {
			d.text(s)
		}
		d.number(uint64(m.Robots))
		d.text(m.Warning)
	case *protocol.Error:
		d.kind(3)
		d.text(m.Message)
	case *protocol.Welcome:
		d.kind(4)
		d.text(m.Session)
		d.number(m.Attachment)
	case *protocol.Robot:
		d.kind(5)
		d.text(m.Robot)
		d.text(m.State)
	case *protocol.Reply:
		d.kind(6)
		d.text(m.ID)
	}
}

func (d *digest) message(m overlay.Message) {
	switch m := m.(type) {
	case *overlay.SubscribeMessage:
		d.kind(1)
		d.key(m.Key)
		d.epoch(m.Epoch)
		d.number(m.Num)
		d.path(m.Path)
		d.number(m.Hash.Hi)
		if m.Set != nil {
			d.number(uint64(len(m.Set.Put)))
		}
		if m.Missing != nil {
			d.number(m.Missing.From)
			d.number(m.Missing.To)
		}
	case *overlay.RefreshMessage:
		d.kind(2)
		d.key(m.Key)
		d.number(m.Num)
	case *overlay.HeadMessage:
		d.kind(3)
		d.key(m.Key)
		d.number(m.Last)
	case *overlay.UnsubscribeMessage:
		d.kind(4)
		d.key(m.Key)
		d.path(m.Path)
	case *overlay.GoneMessage:
		d.kind(5)
		d.key(m.Key)
		d.number(uint64(m.Stamp))
	case *overlay.NotifyMessage:
		d.kind(6)
		for i := range m.Hits {
			d.key(m.Hits[i].Key)
			d.number(m.Hits[i].Seq)
			d.names(m.Hits[i].Names)
		}
	case *overlay.FetchMessage:
		d.kind(7)
		d.key(m.Key)
		d.epoch(m.Epoch)
		d.number(m.Num)
		d.number(m.ID.Number)
	case *overlay.ReplayMessage:
		d.kind(8)
		d.key(m.Key)
		d.items(m.Items)
		d.number(m.ID.Number)
	case *overlay.EventMessage:
		d.kind(9)
		d.key(m.Key)
		d.number(uint64(len(m.Counts)))
	case *overlay.BrokenMessage:
		d.kind(10)
		d.key(m.Key)
	case *overlay.LinkState:
		d.kind(11)
		d.text(string(m.Broker))
		d.number(m.Number)
		d.path(m.Neighbours)
	case *overlay.RoutedMessage:
		d.kind(12)
		d.text(string(m.From))
		d.text(string(m.To))
		d.number(uint64(m.Hops))
	}
}

func (d *digest) items(all []overlay.Item) {
	for i := range all {
		d.kind(byte(all[i].Kind))
		d.number(all[i].From)
		d.number(all[i].To)
	}
}
