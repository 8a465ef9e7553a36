package bridge

import (
	"callboard/bridge/gateway"
	"callboard/player/listener"
)

// newGateway makes the Player servers that programs attach to, if any.
func (b *life) newGateway() error {
	c := b.config.Config
	if c.Gateway.Listen == "" {
		return nil
	}
	players := make([]gateway.Player, len(c.Players))
	for i, p := range c.Players {
		players[i].Address = p.Address
		for _, name := range p.Names() {
			players[i].Robots = append(players[i].Robots, gateway.Robot{Name: name, Devices: p.Robots[name]})
		}
	}
	var err error
	b.gateway, err = gateway.New(gateway.Config{Listen: c.Gateway.Listen, Players: players, Broker: b.node, Limits: listener.Limits{Connections: c.Limits.Connections}, Metrics: b.metrics, Logger: b.config.Logger})
	return err
}

// GatewayPorts returns where Player programs find the robots.
func (b *Bridge) GatewayPorts() []gateway.Port {
	l := b.life.Load()
	if l == nil || l.gateway == nil {
		return nil
	}
	return l.gateway.Ports()
}
