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
	if len(c.Neighbours) == 0 && c.Adhoc == nil && c.Broker.Links == "" && b.linkListener == nil {
		return nil
	}
	handler := b.node.Neighbours()
	l := link.Config{
		Self:       overlay.BrokerID(c.Broker.ID),
		Neighbours: neighbours(c.Neighbours),
		Heartbeat:  time.Duration(c.Broker.Heartbeat * float64(time.Second)),
		Registry:   overlay.Mode(c.Registry.Mode),
		Handler:    handler,
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
	if c.Adhoc != nil {
		l.Moving, l.DialMax = true, time.Second // who has come into range is not long in it
	}
	if b.links, err = link.New(l); err == nil && c.Adhoc != nil {
		b.finder, err = b.newFinder(handler)
	}
	return err
}

// transport is how links are made: nil is TCP.
func (b *Bridge) transport() (link.Transport, error) {
	c := b.config.Config
	var certificates *link.TLS
	if c.TLS.ClientCA != "" {
		var err error
		if certificates, err = link.LoadTLS(c.TLS.Cert, c.TLS.Key, c.TLS.ClientCA); err != nil {
			return nil, err
		}
	}
	switch {
	case c.Adhoc != nil:
		return link.NewKeyed(c.Adhoc.Key, certificates)
	case certificates != nil:
		return certificates, nil
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
