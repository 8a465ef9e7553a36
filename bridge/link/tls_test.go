package link

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCertificates(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	for _, tt := range []struct {
		name     string
		one, two Transport // b1's, b2's
		want     string
	}{
		{"by id", ca.sign(t, "b1"), ca.sign(t, "b2"), ""},
		{"by host", ca.sign(t, "127.0.0.1"), ca.sign(t, "127.0.0.1"), ""},
		{"the accepting side is another", ca.sign(t, "b1"), ca.sign(t, "b9"), `expected one that names broker "b2" or host "127.0.0.1"`},
		{"the dialing side is another", ca.sign(t, "b9"), ca.sign(t, "b2"), `expected one that names broker "b1" or host "127.0.0.1"`},
		{"signed by another", other.sign(t, "b1"), ca.sign(t, "b2"), "unknown authority"},
		{"plain to TLS", nil, ca.sign(t, "b2"), ""},
		{"no certificate", &TLS{Authorities: ca.pool}, ca.sign(t, "b2"), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			listener := networks(t)[1].listen(t)
			b2 := start(t, calm(Config{Self: "b2", Neighbours: []Neighbour{{ID: "b1", Address: "127.0.0.1:1"}}, Listener: listener, Transport: tt.two}))
			b1 := start(t, calm(Config{Self: "b1", Neighbours: []Neighbour{{ID: "b2", Address: listener.Addr().String()}}, Transport: tt.one, DialMin: 20 * time.Millisecond}))
			if strings.HasPrefix(tt.name, "by ") {
				b1.expect(t, "up")
				b2.expect(t, "up")
				return
			}
			b1.awaitLog(t, "no link")
			b2.awaitLog(t, "link refused")
			if all := b1.log.String() + b2.log.String(); !strings.Contains(strings.ReplaceAll(all, `\"`, `"`), tt.want) {
				t.Errorf("%s; expected %q", all, tt.want)
			}
			if len(b2.events)+len(b1.events) > 0 {
				t.Error("there was a session")
			}
		})
	}
}

func TestLoadTLS(t *testing.T) {
	ca := newAuthority(t)
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	signed := ca.sign(t, "b1")
	key, err := x509.MarshalPKCS8PrivateKey(signed.Certificate.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certFile := write("b1.crt", "CERTIFICATE", signed.Certificate.Certificate[0])
	keyFile := write("b1.key", "PRIVATE KEY", key)
	caFile := write("brokers.crt", "CERTIFICATE", ca.cert.Raw)
	got, err := LoadTLS(certFile, keyFile, caFile)
	if err != nil {
		t.Fatal(err)
	}
	if !got.Authorities.Equal(ca.pool) || len(got.Certificate.Certificate) != 1 {
		t.Error("other certificates than those in the files")
	}
	if got.config().MinVersion != tls.VersionTLS13 {
		t.Error("old versions of TLS are taken")
	}
	for _, files := range [][3]string{{"none", keyFile, caFile}, {certFile, keyFile, "none"}, {certFile, keyFile, keyFile}} {
		if _, err := LoadTLS(files[0], files[1], files[2]); err == nil || !strings.Contains(err.Error(), "for links") {
			t.Errorf("%v: %v", files, err)
		}
	}
}
