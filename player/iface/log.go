package iface

import "callboard/player"

// Subtypes of the log interface (code 45). A reader answers what is for a
// writer with a NACK, and the other way round.
const (
	ReqLogSetWriteState uint8 = 1
	ReqLogSetReadState  uint8 = 2
	ReqLogGetState      uint8 = 3
	ReqLogSetReadRewind uint8 = 4
	ReqLogSetFilename   uint8 = 5
)

// Types of a LogGetState.
const (
	LogTypeRead  uint8 = 1
	LogTypeWrite uint8 = 2
)

// LogSetWriteState starts and stops recording.
type LogSetWriteState struct {
	State uint8 // 1: record
}

// LogSetReadState starts and stops playback.
type LogSetReadState struct {
	State uint8 // 1: play
}

// LogGetState is what a log device does.
type LogGetState struct {
	Type  uint8 // LogTypeRead or LogTypeWrite
	State uint8 // 1: it records or plays
}

// LogSetFilename names the file to write, while nothing is written.
type LogSetFilename struct {
	Filename string `xdr:"max=256"`
}

var logMessages = []entry{
	{player.Request, ReqLogSetWriteState, "SET_WRITE_STATE", body[LogSetWriteState]},
	{player.Request, ReqLogSetReadState, "SET_READ_STATE", body[LogSetReadState]},
	{player.Request, ReqLogGetState, "GET_STATE", body[LogGetState]},
	{player.Request, ReqLogSetReadRewind, "SET_READ_REWIND", nil},
	{player.Request, ReqLogSetFilename, "SET_FILENAME", body[LogSetFilename]},
}
