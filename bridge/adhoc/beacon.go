package adhoc

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"

	"callboard/bridge/overlay"
)

// MaxDatagram is the longest datagram of a beacon, in bytes.
const MaxDatagram = 1400

const (
	magic      = 0xCA
	version    = 1
	tagBytes   = 8
	headBytes  = 2 + tagBytes + 16
	maxID      = 128
	maxAddress = 128
	maxListed  = 64 // whom a beacon lists
)

// beacon is what a broker says of itself.
type beacon struct {
	boot   uint64 // of its sender's life, never again
	number uint64 // from 1
	content
}

// content is the sealed part, as CBOR.
type content struct {
	_       struct{} `cbor:",toarray"`
	ID      string
	Address string // host:port of its links; an empty host is the sender's
	Heard   []heard
}

// heard is whom the sender has heard lately.
type heard struct {
	_      struct{} `cbor:",toarray"`
	Boot   uint64
	Number uint64 // the last that was heard
	Share  uint8  // of its last beacons, in tenths
}

var (
	decoding = must(cbor.DecOptions{
		IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden, MaxNestedLevels: 4, MaxArrayElements: maxListed, UTF8: cbor.UTF8RejectInvalid,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
	}.DecMode())
	encoding = must(cbor.CoreDetEncOptions().EncMode())
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err) // options of a literal that the library does not take
	}
	return value
}

// Reasons for which a datagram is not taken.
var (
	errNoBeacon = errors.New("it is no beacon")
	errForeign  = errors.New("it is another network's")
	errForged   = errors.New("it is not sealed with the network's key")
)

// seal is what beacons of a network are sealed with. Each life of a broker has a key
// of its own, so its numbers are nonces.
type seal struct {
	tag [tagBytes]byte
	key []byte
}

func newSeal(network string, key []byte) seal {
	s := seal{key: key}
	sum := sha256.Sum256([]byte("callboard network " + network))
	copy(s.tag[:], sum[:])
	return s
}

// of returns what the beacons of a life are sealed with.
func (s *seal) of(boot uint64) cipher.AEAD {
	key := must(hkdf.Key(sha256.New, s.key, binary.BigEndian.AppendUint64(nil, boot), "callboard beacon", 32))
	return must(cipher.NewGCM(must(aes.NewCipher(key))))
}

func nonce(number uint64) []byte {
	return binary.BigEndian.AppendUint64(make([]byte, 4, 12), number)
}

// encode returns a beacon as a datagram. Of whom it lists the last are left out if it
// would be too long.
func (s *seal) encode(b *beacon, with cipher.AEAD) []byte {
	data := append(make([]byte, 0, MaxDatagram), magic, version)
	data = append(data, s.tag[:]...)
	data = binary.BigEndian.AppendUint64(data, b.boot)
	data = binary.BigEndian.AppendUint64(data, b.number)
	for {
		plain := must(encoding.Marshal(b.content))
		if headBytes+len(plain)+with.Overhead() <= MaxDatagram {
			return with.Seal(data, nonce(b.number), plain, data)
		}
		b.Heard = b.Heard[:len(b.Heard)-1]
	}
}

// head reads what is not sealed: whose beacon it is.
func (s *seal) head(data []byte) (boot, number uint64, err error) {
	switch {
	case len(data) < headBytes || len(data) > MaxDatagram || data[0] != magic || data[1] != version:
		return 0, 0, errNoBeacon
	case string(data[2:2+tagBytes]) != string(s.tag[:]):
		return 0, 0, errForeign
	}
	return binary.BigEndian.Uint64(data[2+tagBytes:]), binary.BigEndian.Uint64(data[10+tagBytes:]), nil
}

// open reads the sealed rest.
func (s *seal) open(data []byte, number uint64, with cipher.AEAD) (c content, err error) {
	plain, err := with.Open(nil, nonce(number), data[headBytes:], data[:headBytes])
	if err != nil {
		return c, errForged
	}
	if err := decoding.Unmarshal(plain, &c); err != nil {
		return c, fmt.Errorf("%w: %v", errNoBeacon, err)
	}
	return c, c.check()
}

func (c *content) check() error {
	switch {
	case checkID(c.ID) != nil:
		return fmt.Errorf("%w: %v", errNoBeacon, checkID(c.ID))
	case len(c.Address) > maxAddress || !utf8.ValidString(c.Address) || strings.ContainsFunc(c.Address, unicode.IsControl):
		return fmt.Errorf("%w: the address %.200q", errNoBeacon, c.Address)
	}
	for _, h := range c.Heard {
		if h.Share < 1 || h.Share > recent {
			return fmt.Errorf("%w: a share of %d tenths", errNoBeacon, h.Share)
		}
	}
	return nil
}

func checkID(id string) error {
	if id == "" || len(id) > maxID || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return fmt.Errorf("the id %.200q; expected printable text of 1 to %d bytes", id, maxID)
	}
	return nil
}

// brokerID is the word that the overlay has for it.
func (c *content) brokerID() overlay.BrokerID { return overlay.BrokerID(c.ID) }
