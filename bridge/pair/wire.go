package pair

import (
	"bufio"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"callboard/bridge/standby"
	"callboard/bridge/standby/format"
)

// Kinds of what is written on a line: the length of the content (4 bytes,
// big-endian), the kind (1), the content; on the outer line a seal behind it.
const (
	kindHello   = iota + 1 // JSON: hello
	kindMessage            // of the rules, as package format writes it
	kindPiece              // records of a snapshot, which follows
	kindWant               // what the standby wants told: nothing is all, else a robot
)

const (
	frameHead = 5
	sealSize  = 16
	maxHello  = 4096
	maxFrame  = 256 << 20 // a single batch may be long
	readChunk = 64 << 10
)

// protocol and version are named in each hello. Who changes what is said on the
// lines counts the version up.
const (
	protocol = "callboard.pair"
	version  = 2
)

// hello is the first that each side says on a connection.
type hello struct {
	Protocol string `json:"protocol"`
	Version  int    `json:"version"`
	ID       string `json:"id"`
	Side     string `json:"side"`
	Nonce    []byte `json:"nonce"`
	Key      []byte `json:"key,omitempty"`   // of the pair, on the inner line
	Outer    string `json:"outer,omitempty"` // where the sender reaches the other side on the outer line
}

func newNonce() ([]byte, error) {
	b := make([]byte, 16)
	_, err := rand.Read(b)
	return b, err
}

// check reports what is wrong with the other side's hello.
func (h *hello) check(own *hello) error {
	switch {
	case h.Protocol != protocol || h.Version != version:
		return fmt.Errorf("it speaks %.64q version %d; expected %q version %d", h.Protocol, h.Version, protocol, version)
	case h.ID != own.ID:
		return fmt.Errorf("it is a side of broker %.256q; expected %q", h.ID, own.ID)
	case h.Side == own.Side:
		return fmt.Errorf("both sides are %s; expected standby.side = \"A\" at one and \"B\" at the other", h.Side)
	case len(h.Nonce) < 16 || len(h.Nonce) > 64:
		return errors.New("its hello has no nonce")
	case h.Key != nil && len(h.Key) != keySize:
		return fmt.Errorf("a key of %d bytes; expected %d", len(h.Key), keySize)
	}
	return nil
}

func appendFrame(b []byte, kind byte, content []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(content)))
	return append(append(b, kind), content...)
}

// readFrame reads one. Memory grows as the content comes.
func readFrame(r *bufio.Reader, most int) (kind byte, content []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	length := int(binary.BigEndian.Uint32(head[:]))
	if length > most {
		return 0, nil, fmt.Errorf("%d bytes at once; expected up to %d", length, most)
	}
	for len(content) < length {
		chunk := min(length-len(content), max(readChunk, len(content)))
		from := len(content)
		content = append(content, make([]byte, chunk)...)
		if _, err := io.ReadFull(r, content[from:]); err != nil {
			return 0, nil, errors.Join(err, io.ErrUnexpectedEOF)
		}
	}
	return head[4], content, nil
}

func readHello(r *bufio.Reader) (*hello, error) {
	kind, content, err := readFrame(r, maxHello)
	if err != nil {
		return nil, err
	}
	h := &hello{}
	if kind != kindHello || json.Unmarshal(content, h) != nil {
		return nil, errors.New("it does not say hello")
	}
	return h, nil
}

func (h *hello) frame() []byte {
	content, err := json.Marshal(h)
	if err != nil {
		panic(err) // a flat struct of texts and bytes
	}
	return appendFrame(nil, kindHello, content)
}

// encoded returns a message of the rules as it is written; nil if it cannot be.
func encoded(m standby.Message) []byte {
	b, err := format.Append(nil, m)
	if err != nil {
		return nil // a record without a format, which the store has told of
	}
	return b
}

// seals seal what is said in one direction of a connection of the outer line, so
// that nobody else can say it, leave it out or say it again.
type seals struct {
	key   []byte
	count uint64
}

func newSeals(key, nonceA, nonceB []byte, from standby.Side) *seals {
	h := hmac.New(sha256.New, key)
	for _, part := range [][]byte{nonceA, nonceB, []byte(from.String())} {
		h.Write([]byte{byte(len(part))})
		h.Write(part)
	}
	return &seals{key: h.Sum(nil)}
}

// of returns the seal of the next frame.
func (s *seals) of(frame []byte) []byte {
	s.count++
	h := hmac.New(sha256.New, s.key)
	h.Write(binary.BigEndian.AppendUint64(nil, s.count))
	h.Write(frame)
	return h.Sum(nil)[:sealSize]
}
