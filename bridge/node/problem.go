package node

import (
	"errors"

	"callboard/bridge/attach"
	"callboard/bridge/robots"
)

// problem returns an error from the robots the form that push tells clients.
func problem(err error) error {
	var p *robots.Problem
	if errors.As(err, &p) {
		return &attach.Problem{Code: p.Code, Message: p.Message}
	}
	return err
}
