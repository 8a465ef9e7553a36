package callboard

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strings"
	"time"
)

// Config says which brokers to use and as whom.
type Config struct {
	// Brokers are the brokers' WebSocket URLs (ws://… or wss://…), best first.
	// A URL without a path gets /ws. At least one, unless Heard reports some.
	// The brokers that a welcome names are known besides.
	Brokers []string
	// Heard reports brokers whose beacons it hears, until ctx ends. With a Token
	// only those count that are in Brokers or were named by a broker, since a
	// beacon may come from anyone. Default none.
	Heard func(ctx context.Context, report func(id, url string))
	// Choose says which brokers to hang on, best first. It is asked when one was
	// lost (current is then "") and whenever a welcome or a beacon has told of
	// some: if the first one is not the current one, the client moves there. It
	// must not block, and not call the client. An empty answer means the default:
	// stay as long as the current one lives; then the others, nearest first.
	Choose func(current string, known []Broker) []string
	// Client is the lasting id of this program. The default is a random id: it
	// comes back after a lost connection, but not after the program's end.
	Client string
	// Anonymous attaches without an id: what the broker has written counts as
	// acknowledged, and nothing is kept over a lost connection. Subscriptions
	// are made again. For programs that only ask or command. Default: no.
	Anonymous bool
	// Resume goes on where an earlier process stopped: what State gave there.
	// Default: a fresh take-over, a new session.
	Resume *State
	// Token is the secret that the broker asks for. Default none.
	Token string
	// TLS is for wss:// URLs. Default: the system's roots.
	TLS *tls.Config
	// Dial makes the connection. Default: TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Compression asks for permessage-deflate. Default: no.
	Compression bool

	// CBOR asks for CBOR instead of JSON: shorter messages. What the program sees is
	// the same. Default: no.
	CBOR bool

	// Handle gets each event, one at a time; a notification is acknowledged
	// when it returns, so a slow Handle slows the broker and nothing else. It
	// may call Subscribe, Command and their kin, but not Close. Default: the
	// events come out of Events.
	Handle func(Event)
	// HandleMany is Handle for a program that keeps what it gets: it gets what has
	// come, up to 1,024 events in their order, and all of that is acknowledged when
	// it returns true. False means that it could not keep it: then none of that is
	// acknowledged, and nothing more comes; the program is to end the client. The
	// slice is the client's. Not both.
	HandleMany func([]Event) (kept bool)

	// ConnectTimeout bounds connecting and the wait for welcome. Default 10 s.
	ConnectTimeout time.Duration
	// BackoffMin and BackoffMax bound the wait between rounds of attempts at
	// all brokers; it doubles, with jitter. Default 0.1 s and 5 s.
	BackoffMin, BackoffMax time.Duration
	// AckCount, AckBytes and AckDelay: acknowledgements go out after so many
	// notifications, so many bytes, or this long after the first of them.
	// Default 64, 256 KiB and 0.1 s.
	AckCount int
	AckBytes int
	AckDelay time.Duration
	// QueueCount and QueueBytes bound what has come but has not been handled
	// yet. The broker's window keeps it far below; beyond it the connection is
	// dropped and resumed when half is handled. Default 65,536 and 64 MiB.
	QueueCount int
	QueueBytes int
	// Logger gets what happens to the connection. Default: none.
	Logger *slog.Logger
}

// State is what a later process needs to go on: its client id, the session,
// and how far each source was handled.
type State struct {
	Client        string            `json:"client"`
	Session       string            `json:"session"`
	Attachment    uint64            `json:"attachment"`
	Num           map[string]uint64 `json:"num"`
	Subscriptions []Subscription    `json:"subscriptions"`
	Away          []string          `json:"away,omitempty"` // robots that the program was last told are away
	// Terms are the newest of pairs of brokers in which each served the client, by
	// the brokers' URLs.
	Terms map[string]uint64 `json:"terms,omitempty"`
}

// defaulted fills in the defaults and checks what can be checked.
func (c Config) defaulted() (Config, error) {
	if len(c.Brokers) == 0 && c.Heard == nil {
		return c, errors.New("callboard: no broker URL given")
	}
	urls := make([]string, 0, len(c.Brokers))
	for _, text := range c.Brokers {
		u, err := BrokerURL(text)
		if err != nil {
			return c, err
		}
		urls = append(urls, u)
	}
	c.Brokers = urls
	if c.Handle != nil && c.HandleMany != nil {
		return c, errors.New("callboard: both Handle and HandleMany, expected one")
	}
	if c.Anonymous && (c.Client != "" || c.Resume != nil) {
		return c, errors.New("callboard: an anonymous client has neither an id nor a state to resume")
	}
	positive(&c.ConnectTimeout, 10*time.Second)
	positive(&c.BackoffMin, 100*time.Millisecond)
	positive(&c.BackoffMax, 5*time.Second)
	positive(&c.AckCount, 64)
	positive(&c.AckBytes, 256<<10)
	positive(&c.AckDelay, 100*time.Millisecond)
	positive(&c.QueueCount, 1<<16)
	positive(&c.QueueBytes, 64<<20)
	if c.Dial == nil {
		c.Dial = (&net.Dialer{}).DialContext
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// positive returns *v the default unless it is above zero.
func positive[T int | time.Duration](v *T, standard T) {
	if *v <= 0 {
		*v = standard
	}
}

// BrokerURL completes a broker's address: "host:port" and "http://host:port"
// become "ws://host:port/ws" (https: wss). Anything else but a WebSocket URL
// is an error.
func BrokerURL(text string) (string, error) {
	whole := text
	if !strings.Contains(whole, "://") {
		whole = "ws://" + whole
	}
	u, err := url.Parse(whole)
	if err != nil {
		return "", fmt.Errorf("callboard: broker %q: %w", text, err)
	}
	switch u.Scheme {
	case "ws", "wss":
	case "http":
		u.Scheme = "ws"
	case "https":
		u.Scheme = "wss"
	default:
		return "", fmt.Errorf("callboard: broker %q: scheme %q, expected ws or wss", text, u.Scheme)
	}
	if u.Hostname() == "" {
		return "", fmt.Errorf("callboard: broker %q names no host, expected ws://HOST:PORT/ws", text)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/ws"
	}
	return u.String(), nil
}

// randomClient makes an id that no other program has.
func randomClient() string {
	var b [8]byte
	rand.Read(b[:]) // never fails (crypto/rand)
	return "go-" + hex.EncodeToString(b[:])
}
