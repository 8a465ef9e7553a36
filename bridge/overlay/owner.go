package overlay

import (
	"crypto/sha256"
	"encoding/hex"
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

// resumes reports whether a hello goes on with a session of its own token. One
// without a mark is of a time without tokens, or made up.
func (h *Hello) resumes() bool {
	mark, _ := cutOwnerMark(h.Session)
	return h.Session != "" && (h.Owner == "" || mark == ownerMark(h.Owner))
}

func forbidden(id string) *protocol.Error {
	return &protocol.Error{Op: protocol.OpError, Code: protocol.Forbidden, Message: "the client id \"" + clip(id) + "\" belongs to another token"}
}
