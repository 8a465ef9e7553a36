package bridge

import (
	"fmt"
	"net"
	"net/netip"
	"time"

	"callboard/bridge/config"
	"callboard/bridge/link"
	"callboard/bridge/overlay"
	"callboard/bridge/segment"
)

// newLinks makes the links with the configured neighbours; none if the broker is
// to have no links.
func (b *life) newLinks() error {
	c := b.config.Config
	if len(c.Neighbours) == 0 && c.Broker.Links == "" && b.linkListener == nil {
		return nil
	}
	l := link.Config{
		Self:       overlay.BrokerID(c.Broker.ID),
		Neighbours: neighbours(c.Neighbours),
		Heartbeat:  time.Duration(c.Broker.Heartbeat * float64(time.Second)),
		Registry:   overlay.Mode(c.Registry.Mode),
		Handler:    b.node.Neighbours(),
		Logger:     b.config.Logger,
	}
	if b.votes != nil {
		l.Votes = b.votes
	}
	var err error
	if l.Segments, err = b.newSegments(); err != nil {
		return err
	}
	if l.Transport, err = b.transport(); err != nil {
		return err
	}
	if b.linkListener == nil && c.Broker.Links != "" {
		if b.linkListener, err = net.Listen("tcp", c.Broker.Links); err != nil {
			return fmt.Errorf("cannot listen on %s for links: %w", c.Broker.Links, err)
		}
	}
	if b.linkListener != nil {
		l.Listener = b.linkListener
	}
	b.links, err = link.New(l)
	return err
}

// transport is how neighbours are reached; nil: as link does by itself.
func (b *Bridge) transport() (link.Transport, error) {
	if t := b.config.Config.TLS; t.ClientCA != "" {
		return link.LoadTLS(t.Cert, t.Key, t.ClientCA)
	}
	return nil, nil
}

// newSegments joins the configured segments.
func (b *life) newSegments() ([]link.Segment, error) {
	var all []link.Segment
	for _, c := range b.config.Config.Segments {
		group, err := netip.ParseAddrPort(c.Group)
		if err != nil {
			return nil, fmt.Errorf("segment %s: %w", c.Group, err)
		}
		s, err := segment.Open(segment.Config{Interface: c.Interface, Group: group, Datagram: c.Datagram, Logger: b.config.Logger})
		if err != nil {
			return nil, err
		}
		b.segments = append(b.segments, s)
		all = append(all, link.Segment{Group: s, Rate: c.Rate, Datagram: c.Datagram})
	}
	return all, nil
}

func neighbours(all []config.Neighbour) []link.Neighbour {
	out := make([]link.Neighbour, len(all))
	for i, n := range all {
		out[i] = link.Neighbour{ID: overlay.BrokerID(n.ID), Address: n.Address, Compress: n.Compress}
	}
	return out
}
