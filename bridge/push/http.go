package push

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/gorilla/websocket"

	"callboard/bridge/attach"
	"callboard/subscribe/protocol"
)

// maxAction is how many bytes a request for an action may have.
const maxAction = 64 << 10

// lists are what can be listed: at /api too.
var lists = []string{"robots", "brokers", "subscriptions"}

// handler returns the routes. Only /healthz and /readyz need no token, and
// dialects may take one later too.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { text(w, http.StatusOK, "ok\n") })
	mux.HandleFunc("GET /readyz", s.readyz)
	for path, dialect := range s.config.dialects {
		mux.Handle("GET "+path, s.ours(s.webSocket(dialect)))
	}
	if s.config.Pair != nil {
		mux.Handle("GET "+s.config.PairPath, s.config.Pair)
	}
	mux.Handle("GET /metrics", s.ours(s.allowed(s.config.Metrics.Handler(s.figures))))
	api := func(pattern string, h http.Handler) {
		mux.Handle("GET /api/"+pattern, s.ours(s.shared(s.allowed(h))))
	}
	for _, what := range lists {
		api(what, s.list(what))
	}
	if s.config.Words != nil {
		api("words", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			answerJSON(w, http.StatusOK, append(protocol.AppendJSON(nil, s.config.Words()), '\n'))
		}))
	}
	for name, give := range s.config.Extra {
		api(name, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !grantOf(r).AllRobots() {
				refuse(w, http.StatusForbidden, protocol.Forbidden, "the token is not for all robots")
				return
			}
			answerJSON(w, http.StatusOK, append(protocol.AppendJSON(nil, give()), '\n'))
		}))
	}
	for name, do := range s.config.Actions {
		mux.Handle("POST /api/"+name, s.ours(s.allowed(s.action(do))))
	}
	api("worlds/{name}", http.HandlerFunc(s.world))
	api("", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, protocol.NotFound, "no such path: "+r.URL.Path)
	}))
	mux.Handle("OPTIONS /api/", s.ours(http.HandlerFunc(s.preflight)))
	if s.config.Page != nil {
		mux.Handle("GET /", s.ours(s.allowed(page(http.FileServerFS(s.config.Page)))))
	}
	return mux
}

// action does something, if it is not a page of another site that asks for it.
func (s *Server) action(do func(context.Context, []byte) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		grant := grantOf(r)
		switch {
		case !s.mayUse(r):
			s.metrics.refused.Of("origin").Inc()
			refuse(w, http.StatusForbidden, protocol.Forbidden, "foreign origin; expected the broker's own page, one of broker.origins, or none")
		case !grant.AllRobots() || !grant.Command:
			refuse(w, http.StatusForbidden, protocol.Forbidden, "the token is not for commands to all robots")
		default:
			body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAction))
			if err != nil {
				refuse(w, http.StatusBadRequest, protocol.BadMessage, err.Error())
				return
			}
			s.answer(w, r, do, body)
		}
	})
}

// answer does an action and answers what came of it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, do func(context.Context, []byte) (any, error), body []byte) {
	result, err := do(r.Context(), body)
	var problem *protocol.Problem
	switch {
	case errors.As(err, &problem):
		refuse(w, http.StatusBadRequest, problem.Code, problem.Message)
	case err != nil:
		refuse(w, http.StatusConflict, protocol.Conflict, err.Error())
	case result == nil:
		answerJSON(w, http.StatusOK, []byte("{}\n"))
	default:
		answerJSON(w, http.StatusOK, append(protocol.AppendJSON(nil, result), '\n'))
	}
}

func text(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // the client may have gone
}

func answerJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have gone
}

func refuse(w http.ResponseWriter, status int, code protocol.Code, message string) {
	answerJSON(w, status, protocol.AppendJSON(nil, &protocol.ErrorInfo{Code: code, Message: message}))
}

// page serves static files: scripts only from here, in no other site's frame.
func page(files http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data: blob:; style-src 'self' 'unsafe-inline'; connect-src 'self' ws: wss:; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cache-Control", "no-cache")
		files.ServeHTTP(w, r)
	})
}

// ours refuses requests under a foreign name when anyone on this machine may
// do everything: a page of another site whose name was made to lead to
// loopback (DNS rebinding) would be of our origin.
func (s *Server) ours(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if !s.tokens.required() && local != nil && isLoopbackAddr(local) && !s.isOurName(r.Host) {
			s.metrics.refused.Of("host").Inc()
			refuse(w, http.StatusForbidden, protocol.Forbidden, "unknown host name in the request; expected localhost or an address")
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isLoopbackAddr(a net.Addr) bool {
	at, err := netip.ParseAddrPort(a.String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// isOurName reports whether the Host of a request is an address, localhost, or
// one of the configured names.
func (s *Server) isOurName(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	return slices.ContainsFunc(s.config.Hosts, func(h string) bool { return strings.EqualFold(h, name) })
}

// shown returns what the token in a request's Authorization allows: a bearer
// token, or a password whatever the user's name (so that a browser can ask
// for it); or in the address of a WebSocket, whose headers a page cannot set.
// given is false if there is none at all.
func (s *Server) shown(r *http.Request) (grant attach.Grant, ok, given bool) {
	if !s.tokens.required() {
		return everything, true, true
	}
	header, secret := r.Header.Get("Authorization"), ""
	if header == "" && s.config.dialects[r.URL.Path] != nil {
		secret = r.URL.Query().Get("token")
	}
	if header == "" && secret == "" {
		return attach.Grant{}, false, false
	}
	if scheme, rest, _ := strings.Cut(header, " "); strings.EqualFold(scheme, "Bearer") {
		secret = strings.TrimSpace(rest)
	} else if _, password, basic := r.BasicAuth(); basic {
		secret = password
	}
	grant, ok = s.tokens.grant(secret)
	return grant, ok, true
}

// unauthorized asks for a token.
func (s *Server) unauthorized(w http.ResponseWriter, r *http.Request, given bool) {
	s.metrics.refused.Of("token").Inc()
	if given {
		s.log.Warn("request with an unknown token", "remote", r.RemoteAddr)
	}
	w.Header().Add("WWW-Authenticate", `Basic realm="callboard`+realm(s.config.ID)+`: the token is the password", charset="UTF-8"`)
	w.Header().Add("WWW-Authenticate", `Bearer realm="callboard"`)
	refuse(w, http.StatusUnauthorized, protocol.Unauthorized, "a token is needed; expected Authorization: Bearer, or Basic with the token as password")
}

// realm returns a broker's id as it may stand in a quoted string.
func realm(id string) string {
	if id == "" || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return ""
	}
	return " " + id
}

type grantKey struct{}

// grantOf returns what the token of a request that was allowed lets it see.
func grantOf(r *http.Request) attach.Grant {
	grant, _ := r.Context().Value(grantKey{}).(attach.Grant)
	return grant
}

// figures returns which metrics a request may see: of robots those that its token
// is for, and Player servers, which may have several, only with all of them.
func (s *Server) figures(r *http.Request) func(label, value string) bool {
	grant := grantOf(r)
	if grant.AllRobots() && grant.AllQueues() {
		return nil
	}
	return func(label, value string) bool {
		switch label {
		case "player":
			return grant.AllRobots()
		case "robot":
			return grant.Allows(value)
		case "queue":
			return grant.AllowsQueue(value)
		}
		return true
	}
}

// allowed lets requests with a token through.
func (s *Server) allowed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		grant, ok, given := s.shown(r)
		if !ok {
			s.unauthorized(w, r, given)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), grantKey{}, grant)))
	})
}

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.config.Ready != nil {
		if err := s.config.Ready(); err != nil {
			text(w, http.StatusServiceUnavailable, "not ready: "+err.Error()+"\n")
			return
		}
	}
	text(w, http.StatusOK, "ready\n")
}

func (s *Server) list(what string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		result, err := s.config.Broker.List(r.Context(), what, grantOf(r))
		if err != nil {
			p := protocol.ProblemOf(err)
			refuse(w, http.StatusServiceUnavailable, p.Code, p.Message)
			return
		}
		answerJSON(w, http.StatusOK, append(protocol.AppendJSON(nil, result), '\n'))
	})
}

func (s *Server) world(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	if s.config.World != nil {
		if plan, ok := s.config.World(r.Context(), name, grantOf(r)); ok {
			answerJSON(w, http.StatusOK, plan)
			return
		}
	}
	refuse(w, http.StatusNotFound, protocol.NotFound, "no floor plan of this world")
}

// webSocket upgrades requests and serves the sessions.
func (s *Server) webSocket(dialect attach.Dialect) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.mayUse(r) && !s.peer(r) {
			s.metrics.refused.Of("origin").Inc()
			refuse(w, http.StatusForbidden, protocol.Forbidden, "foreign origin; expected the broker's own page, one of broker.origins, or none")
			return
		}
		grant, ok, given := s.shown(r)
		if given && !ok {
			s.unauthorized(w, r, true)
			return
		}
		subprotocol, ok := dialect.Choose(websocket.Subprotocols(r))
		if !ok {
			s.metrics.refused.Of("handshake").Inc()
			refuse(w, http.StatusBadRequest, protocol.BadMessage, "none of the subprotocols is spoken here")
			return
		}
		conn := connOf(r)
		if s.limit.Full(conn.RemoteAddr()) || !s.enter() {
			s.metrics.refused.Of("full").Inc()
			w.Header().Set("Retry-After", "5")
			refuse(w, http.StatusServiceUnavailable, protocol.Overloaded, noRoom)
			return
		}
		session, err := s.upgrade(w, r, subprotocol)
		if err != nil {
			s.running.Done()
			s.metrics.refused.Of("handshake").Inc()
			return // the library has answered
		}
		if given {
			session.grant = &grant
		}
		session.place = conn
		s.add(session)
		// The request ends here: what it holds would cost more than the session.
		go func() {
			defer s.running.Done()
			defer s.remove(session)
			session.serve(s.sessionContext, dialect)
		}()
	})
}

// upgrade does the WebSocket handshake.
func (s *Server) upgrade(w http.ResponseWriter, r *http.Request, subprotocol string) (*session, error) {
	upgrader := websocket.Upgrader{
		EnableCompression: true,
		WriteBufferPool:   &s.writeBuffers,                          // the library writes nothing but the handshake; it reads through the hijacker's buffer
		CheckOrigin:       func(*http.Request) bool { return true }, // webSocket has looked
	}
	if subprotocol != "" {
		upgrader.Subprotocols = []string{subprotocol}
	}
	h := &hijacker{ResponseWriter: w, extension: chooseDeflate(r.Header)}
	ws, err := upgrader.Upgrade(h, r, nil)
	if err != nil {
		return nil, err
	}
	h.conn.handshaken()
	session := &session{server: s, ws: ws, raw: h.conn, remoteAddr: r.RemoteAddr}
	session.outbox = newOutbox(session)
	return session, nil
}
