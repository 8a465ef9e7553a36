package push

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"callboard/subscribe/protocol"
)

// Pages of other origins are kept out: a browser lets them open a WebSocket
// anywhere, and only says whose they are. Those of Config.Origins may, and read
// the API too (CORS): then a browser asks first, by OPTIONS and without a token. Pages of
// the network's other brokers may open the WebSocket: programs roam, and so do pages.

// peersTimeout is how long a handshake waits to be told the network's brokers.
const peersTimeout = 5 * time.Second

// mayUse reports whether a request comes from a page of ours, of a configured
// origin, or from no page at all.
func (s *Server) mayUse(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	return err == nil && len(origins) == 1 && u.Host != "" && (strings.EqualFold(u.Host, r.Host) || s.configured(origins[0]))
}

// peer reports whether a request comes from the page of another broker of the network.
func (s *Server) peer(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) != 1 || s.config.Peers == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(r.Context(), peersTimeout)
	defer cancel()
	return slices.ContainsFunc(s.config.Peers(ctx), func(address string) bool {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			return false
		}
		return plainOrigin(strings.Replace(u.Scheme, "ws", "http", 1)+"://"+u.Host) == plainOrigin(origins[0])
	})
}

// configured reports whether an origin is one of the configured ones.
func (s *Server) configured(origin string) bool {
	return slices.ContainsFunc(s.config.Origins, func(o string) bool { return plainOrigin(o) == plainOrigin(origin) })
}

// plainOrigin writes an origin as browsers do: small, without the scheme's port.
func plainOrigin(origin string) string {
	origin = strings.ToLower(origin)
	for scheme, port := range map[string]string{"https://": ":443", "http://": ":80"} {
		if strings.HasPrefix(origin, scheme) {
			return strings.TrimSuffix(origin, port)
		}
	}
	return origin
}

// share lets a page of a configured origin read the answer; it reports whether
// there is one.
func (s *Server) share(w http.ResponseWriter, r *http.Request) bool {
	if len(s.config.Origins) == 0 {
		return false
	}
	w.Header().Add("Vary", "Origin")
	origin := r.Header.Get("Origin")
	if origin == "" || !s.configured(origin) {
		return false
	}
	w.Header().Set("Access-Control-Allow-Origin", origin)
	return true
}

// shared answers so that pages of configured origins can read it.
func (s *Server) shared(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.share(w, r)
		next.ServeHTTP(w, r)
	})
}

// preflight answers a browser that asks whether a page may send a request with a
// token to the API.
func (s *Server) preflight(w http.ResponseWriter, r *http.Request) {
	if !s.share(w, r) {
		s.metrics.refused.Of("origin").Inc()
		refuse(w, http.StatusForbidden, protocol.Forbidden, "foreign origin; expected one of broker.origins")
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET")
	h.Set("Access-Control-Allow-Headers", "Authorization")
	h.Set("Access-Control-Max-Age", "600")
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" { // a public page asks for a private address
		h.Set("Access-Control-Allow-Private-Network", "true")
	}
	w.WriteHeader(http.StatusNoContent)
}
