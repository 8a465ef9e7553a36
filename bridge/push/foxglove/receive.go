package foxglove

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"

	"callboard/bridge/attach"
	"callboard/bridge/push/rosgraph"
	"callboard/subscribe/protocol"
)

// What a client sends in binary begins with one of these.
const (
	opPublish byte = 1
	opCall    byte = 2
)

// Receive does what a message asks for.
func (c *client) Receive(ctx context.Context, isBinary bool, b []byte) error {
	if len(b) > protocol.MaxMessage {
		return attach.ErrTooLarge
	}
	if c.member == nil {
		return nil // it was refused, and the connection ends
	}
	if isBinary {
		c.binary(ctx, b)
	} else if err := c.text(ctx, b); err != nil {
		c.status(levelError, err.Error())
	}
	c.clean(ctx)
	return nil
}

// asking is a message in JSON: its op, and of each op the fields.
type asking struct {
	Op            string `json:"op"`
	Subscriptions *[]struct {
		ID        *uint32 `json:"id"`
		ChannelID *uint32 `json:"channelId"`
	} `json:"subscriptions"`
	SubscriptionIDs *[]uint32 `json:"subscriptionIds"`
	Channels        *[]struct {
		ID         *uint32 `json:"id"`
		Topic      string  `json:"topic"`
		Encoding   string  `json:"encoding"`
		SchemaName string  `json:"schemaName"`
	} `json:"channels"`
	ChannelIDs     *[]uint32 `json:"channelIds"`
	ParameterNames *[]string `json:"parameterNames"`
	Parameters     *[]struct {
		Name string `json:"name"`
	} `json:"parameters"`
	ID  *string `json:"id"`
	URI string  `json:"uri"`
}

func missing(op, field string) error {
	return fmt.Errorf("%s without %s; expected a list", op, field)
}

// text does what a message in JSON asks for.
func (c *client) text(ctx context.Context, b []byte) error {
	if invalid := protocol.Guard(b, c.dialect.maxSubscriptions); invalid != nil {
		return invalid
	}
	var m asking
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Errorf("The message is not understood: %w", err)
	}
	switch m.Op {
	case "subscribe":
		if m.Subscriptions == nil {
			return missing(m.Op, "subscriptions")
		}
		for _, s := range *m.Subscriptions {
			if s.ID == nil || s.ChannelID == nil {
				return fmt.Errorf("A subscription without id or channelId; expected both")
			}
			c.subscribe(ctx, *s.ID, *s.ChannelID)
		}
	case "unsubscribe":
		if m.SubscriptionIDs == nil {
			return missing(m.Op, "subscriptionIds")
		}
		for _, id := range *m.SubscriptionIDs {
			c.unsubscribe(id)
		}
	case "advertise":
		if m.Channels == nil {
			return missing(m.Op, "channels")
		}
		for _, ch := range *m.Channels {
			if ch.ID == nil || ch.Topic == "" {
				return fmt.Errorf("A channel without id or topic; expected both")
			}
			if err := c.advertise(*ch.ID, ch.Topic, ch.Encoding, ch.SchemaName); err != nil {
				c.status(levelError, err.Error())
			}
		}
	case "unadvertise":
		if m.ChannelIDs == nil {
			return missing(m.Op, "channelIds")
		}
		for _, id := range *m.ChannelIDs {
			c.unadvertise(ctx, id)
		}
	default:
		return c.look(m)
	}
	return nil
}

// look does what a message asks for that only looks around.
func (c *client) look(m asking) error {
	switch m.Op {
	case "getParameters":
		if m.ParameterNames == nil {
			return missing(m.Op, "parameterNames")
		}
		c.sendParameters(*m.ParameterNames, m.ID)
	case "setParameters":
		if m.Parameters == nil {
			return missing(m.Op, "parameters")
		}
		var names []string
		for _, p := range *m.Parameters {
			names = append(names, p.Name)
		}
		if m.ID != nil {
			c.sendParameters(names, m.ID)
		}
		return fmt.Errorf("Parameters cannot be changed here")
	case "subscribeParameterUpdates", "unsubscribeParameterUpdates":
		if m.ParameterNames == nil {
			return missing(m.Op, "parameterNames")
		}
		c.watchParameters(*m.ParameterNames, m.Op == "subscribeParameterUpdates")
	case "subscribeConnectionGraph":
		c.mu.Lock()
		c.connected = &connections{}
		c.mu.Unlock()
		c.conn.Send(&rosgraph.Changed{})
	case "unsubscribeConnectionGraph":
		c.mu.Lock()
		c.connected = nil
		c.mu.Unlock()
	case "fetchAsset":
		return fmt.Errorf("fetchAsset: there are no assets here")
	case "":
		return fmt.Errorf("A message without op; expected one")
	default:
		return fmt.Errorf("Unknown operation: %.64q", m.Op)
	}
	return nil
}

// binary does what a message in binary asks for.
func (c *client) binary(ctx context.Context, b []byte) {
	switch {
	case len(b) == 0:
		c.status(levelError, "Received an empty binary message")
	case b[0] == opPublish && len(b) >= 5:
		if err := c.publish(ctx, binary.LittleEndian.Uint32(b[1:]), b[5:]); err != nil {
			c.status(levelError, protocol.ProblemOf(err).Message)
		}
	case b[0] == opCall && len(b) >= 13:
		size := binary.LittleEndian.Uint32(b[9:])
		if uint64(size) > uint64(len(b)-13) {
			c.status(levelError, fmt.Sprintf("Invalid message length %d", len(b)))
			return
		}
		call := &call{client: c, service: binary.LittleEndian.Uint32(b[1:]), id: binary.LittleEndian.Uint32(b[5:]), encoding: string(b[13 : 13+size])}
		c.call(ctx, call, b[13+size:])
	case b[0] == opPublish || b[0] == opCall:
		c.status(levelError, fmt.Sprintf("Invalid message length %d", len(b)))
	default:
		c.status(levelError, fmt.Sprintf("Unrecognized client opcode %d", b[0]))
	}
}

type parameter struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// values returns the parameters of the names, all of them for none.
func (c *client) values(names []string) []parameter {
	out := []parameter{}
	for _, name := range rosgraph.Params {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		out = append(out, parameter{name, c.member.Param(name)})
	}
	return out
}

func (c *client) sendParameters(names []string, id *string) {
	fields := object{"parameters": c.values(names)}
	if id != nil {
		fields["id"] = *id
	}
	c.conn.Send(message("parameterValues", fields))
}

// watchParameters has the client told when parameters change, or no longer.
func (c *client) watchParameters(names []string, on bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range rosgraph.Params {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		c.parameters = slices.DeleteFunc(c.parameters, func(n string) bool { return n == name })
		if on {
			c.parameters = append(c.parameters, name)
		}
	}
}

// changedParameters tells the client. mu is held.
func (c *client) changedParameters(write func(*said)) {
	if len(c.parameters) > 0 {
		write(message("parameterValues", object{"parameters": c.values(c.parameters)}))
	}
}
