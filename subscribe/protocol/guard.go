package protocol

import (
	"bytes"
	"fmt"
)

const (
	guardFrom = 4 << 10   // smaller messages, in bytes, cannot become large
	maxValues = 1_000_000 // values in one message
)

// Guard refuses messages that would take many times their bytes once decoded:
// a hello of 64 MiB can list 20 million empty subscriptions. It decodes
// nothing. What is not JSON is for the decoder to tell.
func Guard(text []byte, subscriptions int) *Invalid {
	if len(text) < guardFrom {
		return nil
	}
	if !Valid(text) {
		// The decoder stops at the fault; what comes before it must be small.
		return guardValues(text)
	}
	var problem *Invalid
	members(text, func(name string, value []byte) {
		if name != "subscriptions" {
			return
		}
		n := 0
		elements(value, func([]byte) { n++ })
		if n > subscriptions {
			problem = &Invalid{Code: Overloaded, Message: fmt.Sprintf("%d subscriptions in one message; expected at most %d", n, subscriptions)}
		}
	})
	if problem != nil {
		return problem
	}
	return guardValues(text)
}

// guardValues counts what may be a value, that in strings too.
func guardValues(text []byte) *Invalid {
	n := bytes.Count(text, []byte{','}) + bytes.Count(text, []byte{'{'}) + bytes.Count(text, []byte{'['})
	if n > maxValues {
		return &Invalid{Code: TooCostly, Message: fmt.Sprintf("more than %d values in one message; expected fewer", maxValues)}
	}
	return nil
}

// SaysHello reports whether a message is a hello, even one that is wrong.
func SaysHello(text []byte) bool {
	hello := false
	if Valid(text) {
		members(text, func(name string, value []byte) { hello = hello || name == "op" && unquote(value) == OpHello })
	}
	return hello
}
