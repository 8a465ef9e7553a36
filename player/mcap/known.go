package mcap

import (
	"fmt"
	"maps"
)

// maxKnown is how many bytes the schemas and channels of a file may take.
const maxKnown = 64 << 20

// known is the schemas and channels that a file has told of.
type known struct {
	schemas  map[uint16]*Schema
	channels map[uint16]*Channel
	size     int // bytes
}

func newKnown() known {
	return known{schemas: map[uint16]*Schema{}, channels: map[uint16]*Channel{}}
}

func (k *known) clone() known {
	return known{schemas: maps.Clone(k.schemas), channels: maps.Clone(k.channels), size: k.size}
}

// addSchema takes a schema; what is told again must be the same.
func (k *known) addSchema(s *Schema, size int) error {
	if old := k.schemas[s.ID]; old != nil {
		if old.Name != s.Name || old.Encoding != s.Encoding || string(old.Data) != string(s.Data) {
			return fmt.Errorf("schema %d is %q and was %q before, expected one meaning for each id", s.ID, s.Name, old.Name)
		}
		return nil
	}
	if k.size += size; k.size > maxKnown {
		return fmt.Errorf("the schemas and channels take more than %d bytes", maxKnown)
	}
	k.schemas[s.ID] = s
	return nil
}

// addChannel takes a channel; what is told again must be the same.
func (k *known) addChannel(c *Channel, size int) error {
	if old := k.channels[c.ID]; old != nil {
		if old.Topic != c.Topic || old.Encoding != c.Encoding || old.SchemaID != c.SchemaID {
			return fmt.Errorf("channel %d is %q and was %q before, expected one meaning for each id", c.ID, c.Topic, old.Topic)
		}
		return nil
	}
	if c.SchemaID != 0 && k.schemas[c.SchemaID] == nil {
		return fmt.Errorf("channel %q has schema %d, of which the file has not told", c.Topic, c.SchemaID)
	}
	if k.size += size; k.size > maxKnown {
		return fmt.Errorf("the schemas and channels take more than %d bytes", maxKnown)
	}
	k.channels[c.ID] = c
	return nil
}
