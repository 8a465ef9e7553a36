package link

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"

	"callboard/bridge/overlay"
	"callboard/player/regular"
)

// TLS is the transport over TCP in which both sides show certificates: what a
// broker shows its neighbours, and by what it knows them.
type TLS struct {
	TCP
	Certificate tls.Certificate
	Authorities *x509.CertPool // who may sign neighbours' certificates
}

// LoadTLS reads PEM files: the broker's certificate and key, and the
// certificates of those who may sign its neighbours'.
func LoadTLS(cert, key, authorities string) (*TLS, error) {
	own, err := regular.KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("certificate %s with key %s for links: %w", cert, key, err)
	}
	pem, err := regular.Read(authorities, regular.MaxPEM)
	if err != nil {
		return nil, fmt.Errorf("authorities for links: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("authorities for links: %s holds no certificate in PEM", authorities)
	}
	return &TLS{Certificate: own, Authorities: pool}, nil
}

// config serves both sides of a link: each shows a certificate and verifies
// the other's. A certificate may be made for servers or clients: what it is
// good for is decided by who signed it. Whose it is, Verify checks.
func (t *TLS) config() *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{t.Certificate},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // VerifyConnection does it, for both sides alike
		SessionTicketsDisabled: true,
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return errors.New("the other side shows no certificate")
			}
			others := x509.NewCertPool()
			for _, c := range state.PeerCertificates[1:] {
				others.AddCert(c)
			}
			_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{
				Roots: t.Authorities, Intermediates: others, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
			})
			return err
		},
	}
}

// Secure implements Transport: the TLS handshake.
func (t *TLS) Secure(ctx context.Context, raw net.Conn, dialed bool) (net.Conn, error) {
	var conn *tls.Conn
	if dialed {
		conn = tls.Client(raw, t.config())
	} else {
		conn = tls.Server(raw, t.config())
	}
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return conn, nil
}

// Verify implements Transport: the other side's certificate names the broker's
// id, or the host that it is reached at.
func (t *TLS) Verify(conn net.Conn, n Neighbour) error {
	cert := conn.(*tls.Conn).ConnectionState().PeerCertificates[0]
	if overlay.BrokerID(cert.Subject.CommonName) == n.ID || cert.VerifyHostname(string(n.ID)) == nil {
		return nil
	}
	host, _, err := net.SplitHostPort(n.Address)
	if err == nil && cert.VerifyHostname(host) == nil {
		return nil
	}
	return fmt.Errorf("the certificate is for %q %v %v; expected one that names broker %q or host %q",
		cert.Subject.CommonName, cert.DNSNames, cert.IPAddresses, n.ID, host)
}
