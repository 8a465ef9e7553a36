package client

import (
	"errors"
	"net"
	"syscall"
	"testing"
)

// A connection that was reset says so as net.Conn's Read would, with both ends.
func TestRawReadOfAReset(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	other, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	other.(*net.TCPConn).SetLinger(0)
	other.Close()
	_, err = newRawReader(conn).read(make([]byte, 10))
	want := "read tcp " + conn.LocalAddr().String() + "->" + conn.RemoteAddr().String() + ": read: connection reset by peer"
	if !errors.Is(err, syscall.ECONNRESET) || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}
