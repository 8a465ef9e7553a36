package server

import "callboard/player"

type answerer interface {
	answer(c *Call, t player.Type, payload any)
}

func (c *Call) reply(t player.Type, payload any) {}
