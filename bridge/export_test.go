package bridge

import (
	"callboard/bridge/link"
	"callboard/bridge/overlay"
)

// SetNeighbours returns the broker links with the others, and with nobody else.
func (b *Bridge) SetNeighbours(others ...*Bridge) error {
	var all []link.Neighbour
	for _, o := range others {
		c := o.config.Config.Broker
		all = append(all, link.Neighbour{ID: overlay.BrokerID(c.ID), Address: c.Links})
	}
	return b.life.Load().links.Set(all)
}
