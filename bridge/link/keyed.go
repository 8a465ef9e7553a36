package link

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"time"
)

// Keyed is the transport over TLS in which both sides prove that they have a key that
// all brokers of a network share. The proof is bound to the TLS session, so nobody
// stands between. Who has the key may take any id that is free.
type Keyed struct {
	TCP
	key   []byte
	inner *TLS // shows certificates that the configuration names, too; nil: made for this process, and believed
	own   tls.Certificate
}

// NewKeyed makes the transport. With inner both sides show certificates, too, as with
// inner alone.
func NewKeyed(key []byte, inner *TLS) (*Keyed, error) {
	if len(key) == 0 {
		return nil, errors.New("links with an empty key")
	}
	k := &Keyed{key: key, inner: inner}
	if inner != nil {
		return k, nil
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return nil, fmt.Errorf("a certificate for links: %w", err)
	}
	k.own = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}
	return k, nil
}

// Secure implements Transport: TLS, then each side's proof, that of who dials first.
func (k *Keyed) Secure(ctx context.Context, raw net.Conn, dialed bool) (net.Conn, error) {
	conn, err := k.encrypted(ctx, raw, dialed)
	if err != nil {
		return nil, err
	}
	state := conn.ConnectionState()
	session, err := state.ExportKeyingMaterial("EXPORTER-callboard-link", nil, 32)
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	defer context.AfterFunc(ctx, func() { raw.SetDeadline(time.Unix(1, 0)) })()
	if dialed {
		err = errors.Join(k.prove(conn, session, dialed), k.check(conn, session, dialed))
	} else if err = k.check(conn, session, dialed); err == nil {
		err = k.prove(conn, session, dialed)
	}
	if err != nil {
		return nil, fmt.Errorf("proof of the network's key: %w", err)
	}
	return conn, nil
}

func (k *Keyed) prove(conn net.Conn, session []byte, dialed bool) error {
	_, err := conn.Write(k.proof(session, dialed))
	return err
}

func (k *Keyed) check(conn net.Conn, session []byte, dialed bool) error {
	got := make([]byte, sha256.Size)
	if _, err := io.ReadFull(conn, got); err != nil {
		return err
	}
	if !hmac.Equal(got, k.proof(session, !dialed)) {
		return errors.New("the other side does not have it")
	}
	return nil
}

func (k *Keyed) encrypted(ctx context.Context, raw net.Conn, dialed bool) (*tls.Conn, error) {
	if k.inner != nil {
		conn, err := k.inner.Secure(ctx, raw, dialed)
		if err != nil {
			return nil, err
		}
		return conn.(*tls.Conn), nil
	}
	cfg := &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{k.own}, SessionTicketsDisabled: true,
		InsecureSkipVerify: true, // who it is the proof shows
	}
	conn := tls.Server(raw, cfg)
	if dialed {
		conn = tls.Client(raw, cfg)
	}
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return conn, nil
}

// proof is what one side of a session says: what the other one has said does not serve.
func (k *Keyed) proof(session []byte, dialed bool) []byte {
	mac := hmac.New(sha256.New, k.key)
	if dialed {
		mac.Write([]byte("callboard link, who dials"))
	} else {
		mac.Write([]byte("callboard link, who is dialed"))
	}
	mac.Write(session)
	return mac.Sum(nil)
}

// Verify implements Transport.
func (k *Keyed) Verify(conn net.Conn, n Neighbour) error {
	if k.inner != nil {
		return k.inner.Verify(conn, n)
	}
	return nil
}
