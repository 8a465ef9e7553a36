package push

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"

	"callboard/bridge/metric"
	"callboard/player/listener"
)

// A connection is silent until a request has come whole, and again until the
// next one: then it gives way when others need its place. One whose client has
// said hello is kept. So neither silent sockets nor half requests, nor as many
// clients as there may be, keep an operator from /healthz or the page.

// noRoom is what a client is told that could not be kept.
const noRoom = "no more connections are taken now, in all or from this address; try again later"

type connKey struct{}

// withConn remembers a request's connection.
func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, placeOf(c))
}

// connOf returns a request's connection.
func connOf(r *http.Request) *listener.Conn {
	return r.Context().Value(connKey{}).(*listener.Conn) // withConn put it there
}

// placeOf returns the connection that counts, beneath TLS.
func placeOf(c net.Conn) *listener.Conn {
	if secure, ok := c.(*tls.Conn); ok {
		c = secure.NetConn()
	}
	return c.(*listener.Conn) // the server listens through a Limit
}

// busy marks connections while a request that has come whole is answered.
func busy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn := connOf(r)
		conn.Busy()
		defer conn.Silent()
		next.ServeHTTP(w, r)
	})
}

// measureConnections adds what the limit of connections counts.
func (s *Server) measureConnections(to *metric.Set) {
	add := func(name, help string, value func(listener.Stats) float64) {
		to.Func("callboard_push_connections"+name, help, func() float64 { return value(s.limit.Stats()) })
	}
	add("", "Connections that are open, those of HTTP requests included.", func(s listener.Stats) float64 { return float64(s.Open) })
	add("_gave_way_total", "Connections without a whole request or a hello that were closed for new ones.", func(s listener.Stats) float64 { return float64(s.GaveWay) })
	add("_refused_total", "New connections that were closed at once, since none was silent.", func(s listener.Stats) float64 { return float64(s.Refused) })
}
