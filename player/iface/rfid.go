package iface

import "callboard/player"

// Subtypes of the rfid interface (code 56). Its requests have no body: the real
// server drops one that has.
const (
	DataRFIDTags    uint8 = 1
	ReqRFIDPower    uint8 = 1
	ReqRFIDReadTag  uint8 = 2
	ReqRFIDWriteTag uint8 = 3
	ReqRFIDLockTag  uint8 = 4
)

// RFIDTag is a tag that was read.
type RFIDTag struct {
	Type uint32  // the driver's
	GUID []uint8 // the tag's number, raw bytes
}

// RFIDData is the tags in reach.
type RFIDData struct {
	Tags []RFIDTag
}

var rfidMessages = []entry{
	{player.Data, DataRFIDTags, "TAGS", body[RFIDData]},
	{player.Request, ReqRFIDPower, "POWER", nil},
	{player.Request, ReqRFIDReadTag, "READTAG", nil},
	{player.Request, ReqRFIDWriteTag, "WRITETAG", nil},
	{player.Request, ReqRFIDLockTag, "LOCKTAG", nil},
}
