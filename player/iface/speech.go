package iface

import "callboard/player"

// Subtype of the speech interface (code 12).
const CmdSpeechSay uint8 = 1

// SpeechCmd is a text to say.
type SpeechCmd struct {
	String string
}

var speechMessages = []entry{
	{player.Command, CmdSpeechSay, "SAY", body[SpeechCmd]},
}
