package iface

import "callboard/player"

// DeviceDevlist answers DEVLIST: the devices on the connection's port.
type DeviceDevlist struct {
	Devices []DevAddr `xdr:"max=4096"`
}

// DeviceDriverinfo asks DRIVERINFO for a device's driver; the answer has its
// name.
type DeviceDriverinfo struct {
	Addr       DevAddr
	DriverName string `xdr:"max=64"`
}

// DeviceReq opens or closes a device (DEV). Access is player.AccessOpen or
// AccessClose; in an answer also AccessError, which means failure even when it
// comes as an ACK. The answer has the driver's name.
type DeviceReq struct {
	Addr       DevAddr
	Access     uint8
	DriverName string `xdr:"max=64"`
}

// DeviceDatamodeReq chooses player.Push or player.Pull (DATAMODE). The real
// server ACKs other values and ignores them.
type DeviceDatamodeReq struct {
	Mode uint8
}

// DeviceAuthReq carries a key (AUTH). The real server always answers NACK.
type DeviceAuthReq struct {
	AuthKey []uint8 `xdr:"max=32"`
}

// DeviceNameserviceReq asks for the port of a named robot (NAMESERVICE). The
// real server always answers NACK.
type DeviceNameserviceReq struct {
	Name []uint8 `xdr:"max=64"`
	Port uint16
}

// What an AddReplaceRuleReq asks for.
const (
	ReplaceRuleAccept  int32 = 0 // append to the queue
	ReplaceRuleReplace int32 = 1 // take the place of the newest such message that is queued
	ReplaceRuleIgnore  int32 = 2 // drop
)

// AddReplaceRuleReq adds a rule for the connection's queue (ADD_REPLACE_RULE);
// -1 stands for any interface, index, type or subtype. The first rule that
// matches a message decides; one with the same four keys changes its Replace.
type AddReplaceRuleReq struct {
	Interf  int32
	Index   int32
	Type    int32
	Subtype int32
	Replace int32
}

var playerMessages = []entry{
	{player.Request, player.PlayerDevlist, "DEVLIST", body[DeviceDevlist]},
	{player.Request, player.PlayerDriverinfo, "DRIVERINFO", body[DeviceDriverinfo]},
	{player.Request, player.PlayerDev, "DEV", body[DeviceReq]},
	{player.Request, player.PlayerData, "DATA", nil},
	{player.Request, player.PlayerDatamode, "DATAMODE", body[DeviceDatamodeReq]},
	{player.Request, player.PlayerAuth, "AUTH", body[DeviceAuthReq]},
	{player.Request, player.PlayerNameservice, "NAMESERVICE", body[DeviceNameserviceReq]},
	{player.Request, player.PlayerAddReplaceRule, "ADD_REPLACE_RULE", body[AddReplaceRuleReq]},
	{player.Synch, player.SynchOK, "OK", nil},
	{player.Synch, player.SynchOverflow, "OVERFLOW", body[Uint32]},
}
