package client

import (
	"errors"
	"fmt"

	"callboard/player"
)

// ErrAway is the error of requests and commands while no session stands, and
// of those that were waiting when it ended.
var ErrAway = errors.New("client: no session with the Player server")

// ErrTimeout is the error of a request that was not answered in time.
var ErrTimeout = errors.New("client: the Player server did not answer in time")

// ErrBusy is the error of a request or command while too much waits to be
// written, because the server does not read.
var ErrBusy = errors.New("client: the Player server does not read, too much waits to be sent")

// ErrUnanswered is the error of a request of which the device has too many to
// answer, those included that were given up, since it may do so yet; or the
// server has.
var ErrUnanswered = errors.New("client: the Player server has left too many requests unanswered")

// ErrForbidden is the error of what a client must not send: what crashes the
// real server, or is the session's own business.
var ErrForbidden = errors.New("client: must not be sent")

// NackError is the error of a request that was refused.
type NackError struct {
	Header player.Header // of the answer
	Body   []byte        // of the answer, mostly empty
}

func (e *NackError) Error() string {
	return fmt.Sprintf("client: the Player server refused request %d to %s", e.Header.Subtype, e.Header.Addr)
}
