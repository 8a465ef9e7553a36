package server

import "callboard/player"

// action is what a replace rule does with an outgoing message.
type action int32

const (
	accept  action = 0
	replace action = 1
	ignore  action = 2
)

// maxRules bounds what one client can make each message cost.
const maxRules = 256

// ruleKey is what a rule applies to; -1 stands for any.
type ruleKey struct{ interf, index, typ, subtype int32 }

type rule struct {
	ruleKey
	action action
}

// rules are searched in the order in which they were added; the first that
// matches counts.
type rules []rule

// set adds a rule, or changes the action of the rule with the same key in its
// place. It reports false when there are too many.
func (r *rules) set(key ruleKey, a action) bool {
	for i := range *r {
		if (*r)[i].ruleKey == key {
			(*r)[i].action = a
			return true
		}
	}
	if len(*r) >= maxRules {
		return false
	}
	*r = append(*r, rule{key, a})
	return true
}

// of returns the action for a message: accept if no rule matches.
func (r rules) of(s signature) action {
	interf, index := int32(s>>32&0xffff), int32(s>>16&0xffff)
	typ, subtype := int32(s>>8&0xff), int32(s&0xff)
	for i := range r {
		k := &r[i].ruleKey
		if (k.interf == -1 || k.interf == interf) && (k.index == -1 || k.index == index) &&
			(k.typ == -1 || k.typ == typ) && (k.subtype == -1 || k.subtype == subtype) {
			return r[i].action
		}
	}
	return accept
}

func (r rules) anyReplace() bool {
	for i := range r {
		if r[i].action == replace {
			return true
		}
	}
	return false
}

// mayDrop reports whether a full queue drops messages of this type rather than
// let a client wait for something that never comes.
func mayDrop(t player.Type) bool { return t == player.Data || t == player.Command }
