package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"

	callboard "callboard/clients/go"
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
		token, err := os.ReadFile(file)
		if err != nil {
			return config, fmt.Errorf("reading the token: %w", err)
		}
		if config.Token = strings.TrimSpace(string(token)); config.Token == "" {
			return config, fmt.Errorf("reading the token: %s is empty", file)
		}
	}
	if file := c.String("ca"); file != "" {
		pem, err := os.ReadFile(file)
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

// dial attaches, or says what to do about it.
func dial(ctx context.Context, config callboard.Config) (*callboard.Client, error) {
	client, err := callboard.Dial(ctx, config)
	if err == nil {
		return client, nil
	}
	var refused *callboard.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("no broker answers at %s: is one running? `callboard demo` starts one with robots, `callboard serve` one for yours", strings.Join(config.Brokers, ", "))
	case errors.As(err, &refused) && refused.Code == protocol.Unauthorized && config.Token == "":
		return nil, fmt.Errorf("%w; name the file that holds the token with --token-file", err)
	case errors.As(err, new(*net.DNSError)):
		return nil, fmt.Errorf("%w; is the host's name right?", err)
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return nil, fmt.Errorf("%w; name the certificate to trust with --ca", err)
	}
	return nil, err
}
