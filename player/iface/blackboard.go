package iface

import "callboard/player"

// Subtypes of the blackboard interface (code 64). All have the same struct.
const (
	DataBlackboardUpdate              uint8 = 1
	ReqBlackboardSubscribeToKey       uint8 = 1
	ReqBlackboardUnsubscribeFromKey   uint8 = 2
	ReqBlackboardSetEntry             uint8 = 3
	ReqBlackboardSubscribeToGroup     uint8 = 4
	ReqBlackboardUnsubscribeFromGroup uint8 = 5
	ReqBlackboardGetEntry             uint8 = 6
)

// BlackboardEntry is a value under a group and key. Type 1 subtype 2 is an
// int32, type 1 subtype 3 a float64, both in the bytes of the machine
// (little-endian on x86); type 2 subtype 1 is text with its NUL. A request sets
// only what it needs.
type BlackboardEntry struct {
	Key           string
	Group         string
	Type          uint16
	Subtype       uint16
	Data          []uint8
	TimestampSec  uint32 // s
	TimestampUsec uint32 // µs
}

var blackboardMessages = []entry{
	{player.Data, DataBlackboardUpdate, "UPDATE", body[BlackboardEntry]},
	{player.Request, ReqBlackboardSubscribeToKey, "SUBSCRIBE_TO_KEY", body[BlackboardEntry]},
	{player.Request, ReqBlackboardUnsubscribeFromKey, "UNSUBSCRIBE_FROM_KEY", body[BlackboardEntry]},
	{player.Request, ReqBlackboardSetEntry, "SET_ENTRY", body[BlackboardEntry]},
	{player.Request, ReqBlackboardSubscribeToGroup, "SUBSCRIBE_TO_GROUP", body[BlackboardEntry]},
	{player.Request, ReqBlackboardUnsubscribeFromGroup, "UNSUBSCRIBE_FROM_GROUP", body[BlackboardEntry]},
	{player.Request, ReqBlackboardGetEntry, "GET_ENTRY", body[BlackboardEntry]},
}
