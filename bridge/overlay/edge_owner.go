package overlay

import (
	"slices"

	"callboard/subscribe/protocol"
)

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
