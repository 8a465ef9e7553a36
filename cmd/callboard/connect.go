package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"callboard/bridge/beacon"
	callboard "callboard/clients/go"
	"callboard/player/regular"
	"callboard/subscribe/protocol"

	"github.com/urfave/cli/v2"
)

// defaultBroker is where a broker listens unless told otherwise.
const defaultBroker = "ws://127.0.0.1:8800/ws"

// connectFlags are those of every command that attaches to a broker.
func connectFlags() []cli.Flag {
	return []cli.Flag{
		repeated("broker", "`URL` of a broker, ws://HOST:PORT/ws; repeat it to name others to try when one is lost (default "+defaultBroker+")"),
		&cli.StringFlag{Name: "token-file", Usage: "`FILE` that holds the token that the broker asks for"},
		&cli.StringFlag{Name: "ca", Usage: "`FILE` with the certificates to trust for wss:// (PEM; default the system's)"},
	}
}

// connection makes the client's configuration of those flags.
func connection(c *cli.Context, logger *slog.Logger) (callboard.Config, error) {
	config := callboard.Config{Brokers: textsOf(c, "broker"), Logger: logger}
	if len(config.Brokers) == 0 {
		config.Brokers = []string{defaultBroker}
	}
	for _, url := range config.Brokers {
		if _, err := callboard.BrokerURL(url); err != nil {
			return config, usagef("--broker: %s", strings.TrimPrefix(err.Error(), "callboard: "))
		}
	}
	if file := c.String("token-file"); file != "" {
		token, err := regular.ReadNamed(file, regular.MaxPEM)
		if err != nil {
			return config, fmt.Errorf("reading the token: %w", err)
		}
		if config.Token = strings.TrimSpace(string(token)); config.Token == "" {
			return config, fmt.Errorf("reading the token: %s is empty", file)
		}
	}
	if file := c.String("ca"); file != "" {
		pem, err := regular.ReadNamed(file, regular.MaxPEM)
		if err != nil {
			return config, fmt.Errorf("reading the certificates: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return config, fmt.Errorf("reading the certificates: %s holds no PEM certificate", file)
		}
		config.TLS = &tls.Config{RootCAs: roots}
	}
	return config, nil
}

// attaching does as begin for a command that attaches to a broker.
func (p *program) attaching(c *cli.Context, least, most int, what string) ([]string, callboard.Config, error) {
	args, logger, err := p.begin(c, least, most, what)
	if err != nil {
		return nil, callboard.Config{}, err
	}
	config, err := connection(c, logger)
	return args, config, err
}

// hearTime is how long brokers are listened for: their heartbeat and a little.
const hearTime = 1500 * time.Millisecond

// beaconFlags say where brokers are heard that announce themselves.
func beaconFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "beacon-group", Usage: "multicast `ADDRESS:PORT` that brokers announce themselves at", Value: beacon.DefaultGroup.String()},
		repeated("beacon-interface", "network interface by `NAME` to hear them on (repeat; default the loopback only)"),
	}
}

// hearing is where to listen for brokers.
func hearing(c *cli.Context, logger *slog.Logger) (beacon.ListenConfig, error) {
	group, err := netip.ParseAddrPort(c.String("beacon-group"))
	if err != nil || !group.Addr().Is4() || !group.Addr().IsMulticast() || group.Port() == 0 {
		return beacon.ListenConfig{}, usagef("--beacon-group %q, expected an IPv4 multicast address and a port, as %s", c.String("beacon-group"), beacon.DefaultGroup)
	}
	interfaces := textsOf(c, "beacon-interface")
	if len(interfaces) == 0 {
		interfaces = beacon.Loopback()
	}
	return beacon.ListenConfig{Network: beacon.Network{Group: group, Interfaces: interfaces}, Logger: logger}, nil
}

// hear listens for brokers: of those that are heard it returns the one with the
// lowest id, "" if there is none.
func hear(ctx context.Context, where beacon.ListenConfig) (url string) {
	ctx, cancel := context.WithTimeout(ctx, hearTime)
	defer cancel()
	lowest := ""
	_ = beacon.Listen(ctx, where, func(b beacon.Beacon) { // it was checked
		if lowest == "" || b.Broker < lowest {
			lowest, url = b.Broker, b.URL
		}
	})
	return url
}

// dial attaches, or says what to do about it.
func dial(ctx context.Context, config callboard.Config) (*callboard.Client, error) {
	client, err := callboard.Dial(ctx, config)
	if err != nil {
		return nil, explainDial(config, err)
	}
	return client, nil
}

// outOfReach reports whether an attempt failed since no broker answered, which
// may change.
func outOfReach(err error) bool {
	var refused *callboard.Error
	if errors.As(err, &refused) {
		return refused.Code == protocol.Unavailable || refused.Code == protocol.Overloaded
	}
	var unknown *net.DNSError
	if errors.As(err, &unknown) {
		return unknown.IsTemporary || unknown.IsTimeout
	}
	var network net.Error
	return errors.As(err, &network) && !errors.As(err, new(*net.AddrError)) // an address that is none stays so
}

// explainDial says what to do about a failed attempt.
func explainDial(config callboard.Config, err error) error {
	var refused *callboard.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("no broker answers at %s: is one running? `callboard demo` starts one with robots, `callboard serve` one for yours", strings.Join(config.Brokers, ", "))
	case errors.As(err, &refused) && refused.Code == protocol.Unauthorized && config.Token == "":
		return fmt.Errorf("%w; name the file that holds the token with --token-file", err)
	case errors.As(err, new(*net.DNSError)):
		return fmt.Errorf("%w; is the host's name right?", err)
	case strings.Contains(err.Error(), "to an HTTPS server"): // as net/http answers
		return fmt.Errorf("%w; the broker speaks TLS: wss:// instead of ws://", err)
	case errors.As(err, new(tls.RecordHeaderError)):
		return fmt.Errorf("%w; the broker does not speak TLS: ws:// instead of wss://", err)
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return fmt.Errorf("%w; name the certificate to trust with --ca", err)
	}
	return err
}
