package overlay

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"callboard/subscribe/protocol"
)

// A client id and its session belong to the token that began them. So the word
// by which the network knows a client (Key.Client, session.client) begins with
// the token's name: clients of different tokens are different ones whatever ids
// and sessions they say, at every broker and over restarts and moves. None gets
// what another's key holds or takes its connection.
//
// That a session is another token's every broker sees by its word. That an id is
// another's who begins a session is told: at once where that is known, else by the
// registry, where the first that began one has the id. What has been let in stays:
// an id may be taken twice where the registry is out of reach.

// ownerEnd stands between a token's name and a client id; neither has it.
const ownerEnd = "\x00"

// clientWord returns the word for a client id of a token; that of a broker without
// tokens is the id itself.
func clientWord(owner, id string) string {
	if owner == "" {
		return id
	}
	return owner + ownerEnd + id
}

// ClientOf returns the token and the id that a client's word is made of; the id of
// a client without one is "".
func ClientOf(word string) (owner, id string) {
	owner, id, found := strings.Cut(word, ownerEnd)
	if !found {
		return "", word
	}
	if owner == "" || strings.HasPrefix(id, ownerEnd) {
		return owner, ""
	}
	return owner, id
}

// owns puts a session at the id that it has.
func (b *edge) owns(s *session) {
	if _, id := ClientOf(s.client); id != "" {
		b.ids[id] = append(b.ids[id], s)
	}
}

func (b *edge) disowns(s *session) {
	_, id := ClientOf(s.client)
	if b.ids[id] = slices.DeleteFunc(b.ids[id], func(o *session) bool { return o == s }); len(b.ids[id]) == 0 {
		delete(b.ids, id)
	}
}

// sessionWord returns the word that a client knows its session by: before the birth
// stands what tells the token, if there is one.
func sessionWord(owner string, birth Session) string {
	if owner == "" {
		return birth.String()
	}
	return ownerMark(owner) + ownerMarkEnd + birth.String()
}

// ownerMarkEnd ends the mark of a token; a birth begins with digits and a dot.
const ownerMarkEnd = ":"

// ownerMark tells tokens apart by their names.
func ownerMark(owner string) string {
	h := sha256.Sum256([]byte(owner))
	return hex.EncodeToString(h[:6])
}

// cutOwnerMark returns a session's word without the mark of its token.
func cutOwnerMark(word string) (mark, birth string) {
	mark, birth, found := strings.Cut(word, ownerMarkEnd)
	if !found || strings.Contains(mark, ".") {
		return "", word
	}
	return mark, birth
}

// belongs refuses a hello with another token's session, or with the id of its
// client. The error tells nothing of that client.
func (b *edge) belongs(h *Hello) *protocol.Error {
	if h.Client == "" || h.Owner == "" {
		return nil
	}
	if mark, _ := cutOwnerMark(h.Session); mark != "" && mark != ownerMark(h.Owner) {
		return forbidden(h.Client)
	}
	if h.resumes() {
		return nil
	}
	word := clientWord(h.Owner, h.Client)
	if holder := b.registry.clientWith(h.Client); holder != "" && holder != word {
		return forbidden(h.Client)
	}
	for _, s := range b.ids[h.Client] {
		if s.client != word {
			return forbidden(h.Client)
		}
	}
	return nil
}

// resumes reports whether a hello goes on with a session of its own token. One
// without a mark is of a time without tokens, or made up.
func (h *Hello) resumes() bool {
	mark, _ := cutOwnerMark(h.Session)
	return h.Session != "" && (h.Owner == "" || mark == ownerMark(h.Owner))
}

func forbidden(id string) *protocol.Error {
	return &protocol.Error{Op: protocol.OpError, Code: protocol.Forbidden, Message: "the client id \"" + clip(id) + "\" belongs to another token"}
}

// expel ends a session that has just begun with the id of another token's client:
// the registry has told.
func (b *edge) expel(s *session) {
	if s.conn != nil {
		_, id := ClientOf(s.client)
		refusal := forbidden(id)
		b.send(s.conn.id, refusal)
		b.put(&Close{Conn: s.conn.id, Code: refusal.Code, Reason: refusal.Message})
	}
	b.endSession(s)
}

// holds is the registry's test whether a client may have its id: not if it is new
// and another token's client has had it before.
func (b *registry) holds(c *ClientLookup) bool {
	owner, id := ClientOf(c.Client)
	holder := b.ids[id]
	return !c.New || owner == "" || holder == nil || holder.client == c.Client || c.Began <= holder.began
}

// keepClient puts a client into the directory.
func (b *registry) keepClient(c *ClientLookup) *whereabouts {
	w := &whereabouts{client: c.Client, session: c.Session, named: map[BrokerID]bool{}, began: c.Began}
	_, id := ClientOf(c.Client)
	switch old := b.ids[id]; {
	case id == "":
	case old == nil && c.Claims:
		b.ids[id] = w
	case old != nil && old.client == c.Client:
		b.ids[id], w.began = w, min(w.began, old.began)
	}
	b.clients[c.Client] = w
	return w
}

// forgetClient takes it out.
func (b *registry) forgetClient(w *whereabouts) {
	delete(b.clients, w.client)
	if _, id := ClientOf(w.client); b.ids[id] == w {
		delete(b.ids, id)
	}
}

// hasID reports whether the registry knows a client as the one that has its id.
func (b *registry) hasID(w *whereabouts) bool {
	_, id := ClientOf(w.client)
	return b.ids[id] == w
}

// rights are the robots that a connection's token lets it see; nil: all. They
// hold where something is delivered: what a token may not see any more is passed
// over.
type rights struct {
	patterns []string
	known    map[string]bool // by robot
}

// maxKnown bounds the answers that a connection's rights remember.
const maxKnown = 4096

func newRights(allowed []string) *rights {
	if allowed == nil {
		return nil
	}
	return &rights{patterns: allowed, known: map[string]bool{}}
}

// allow reports whether the connection may hear of the robot.
func (r *rights) allow(robot string) bool {
	if r == nil {
		return true
	}
	allowed, known := r.known[robot]
	if !known {
		allowed = len(r.patterns) > 0 && matchesAny(r.patterns, robot)
		if len(r.known) >= maxKnown {
			clear(r.known)
		}
		r.known[robot] = allowed
	}
	return allowed
}
