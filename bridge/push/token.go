package push

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"

	"callboard/bridge/attach"
)

// Token is a secret and what it allows.
type Token struct {
	Secret string
	Grant  attach.Grant
}

// everything is the grant of a broker without tokens.
var everything = attach.Grant{Subscribe: true, Command: true, Serve: true, Request: true}

// tokens finds what a secret allows.
type tokens struct {
	hashes [][sha256.Size]byte
	grants []attach.Grant
}

func newTokens(list []Token) *tokens {
	t := &tokens{}
	for _, k := range list {
		t.hashes = append(t.hashes, sha256.Sum256([]byte(k.Secret)))
		t.grants = append(t.grants, k.Grant)
	}
	return t
}

// required reports whether anything needs a token at all.
func (t *tokens) required() bool { return len(t.grants) > 0 }

// grant returns what a secret allows. It takes as long whichever it is: equal
// lengths are compared, all of them, in constant time.
func (t *tokens) grant(secret string) (attach.Grant, bool) {
	if !t.required() {
		return everything, true
	}
	hash, found := sha256.Sum256([]byte(strings.TrimSpace(secret))), -1
	for i := range t.hashes {
		if subtle.ConstantTimeCompare(hash[:], t.hashes[i][:]) == 1 {
			found = i
		}
	}
	if found < 0 || secret == "" {
		return attach.Grant{}, false
	}
	return t.grants[found], true
}
