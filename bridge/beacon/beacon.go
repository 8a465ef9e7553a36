// Package beacon lets brokers announce themselves on the network, and clients
// hear who is in reach: a UDP multicast each heartbeat. See DESIGN.md.
package beacon

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
)

// Version of the format.
const Version = 1

const (
	maxBeacon    = 1024 // bytes
	maxID        = 256  // bytes
	maxHeartbeat = time.Minute
)

// Beacon is what a broker says of itself. It is not signed: who connects
// proves by TLS and tokens who he is.
type Beacon struct {
	Broker    string         // its id
	URL       string         // where it serves clients: ws://… or wss://…
	Heartbeat time.Duration  // until the next one
	From      netip.AddrPort // who sent it; not part of what is sent
}

// content is a beacon's format: a CBOR map. Fields that are not known are
// ignored, so that later versions of the format can be read as far as they go.
type content struct {
	Version   uint64 `cbor:"callboard"`
	Broker    string `cbor:"broker"`
	URL       string `cbor:"url"`
	Heartbeat uint64 `cbor:"heartbeat"` // µs
}

var (
	decoding = must(cbor.DecOptions{
		DupMapKey: cbor.DupMapKeyEnforcedAPF, IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden,
		MaxNestedLevels: 4, MaxMapPairs: 32, MaxArrayElements: 32, UTF8: cbor.UTF8RejectInvalid,
	}.DecMode())
	encoding = must(cbor.CoreDetEncOptions().EncMode())
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err) // options of a literal that the library does not take
	}
	return value
}

func (b *Beacon) check() error {
	switch {
	case b.Broker == "" || len(b.Broker) > maxID:
		return fmt.Errorf("a broker's id of %d bytes; expected 1 to %d", len(b.Broker), maxID)
	case !utf8.ValidString(b.Broker) || strings.ContainsFunc(b.Broker, unicode.IsControl):
		return fmt.Errorf("the broker's id %q is not printable text", b.Broker)
	case b.Heartbeat <= 0 || b.Heartbeat > maxHeartbeat:
		return fmt.Errorf("a heartbeat of %v; expected up to %v", b.Heartbeat, maxHeartbeat)
	}
	u, err := url.Parse(b.URL)
	if err != nil || u.Scheme != "ws" && u.Scheme != "wss" || u.Host == "" {
		return fmt.Errorf("the URL %.200q; expected ws://host:port/… or wss://host:port/…", b.URL)
	}
	return nil
}

// encode returns the beacon as it is sent.
func (b *Beacon) encode() ([]byte, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	data, err := encoding.Marshal(content{Version, b.Broker, b.URL, uint64(b.Heartbeat.Microseconds())})
	if err == nil && len(data) > maxBeacon {
		err = fmt.Errorf("a beacon of %d bytes; expected up to %d", len(data), maxBeacon)
	}
	return data, err
}

// Decode reads what was received.
func Decode(data []byte) (Beacon, error) {
	var c content
	if len(data) > maxBeacon {
		return Beacon{}, fmt.Errorf("a beacon of %d bytes; expected up to %d", len(data), maxBeacon)
	}
	if err := decoding.Unmarshal(data, &c); err != nil {
		return Beacon{}, fmt.Errorf("no beacon: %w", err)
	}
	if c.Version == 0 {
		return Beacon{}, errors.New("no beacon: it has no version")
	}
	if c.Version > Version {
		return Beacon{}, fmt.Errorf("a beacon of version %d; expected up to %d", c.Version, Version)
	}
	b := Beacon{Broker: c.Broker, URL: c.URL, Heartbeat: time.Duration(min(c.Heartbeat, uint64(2*maxHeartbeat/time.Microsecond))) * time.Microsecond}
	if err := b.check(); err != nil {
		return Beacon{}, err
	}
	return b, nil
}
