package iface

import "callboard/player"

// Subtypes of the wifi interface (code 23).
const (
	DataWifiState    uint8 = 1
	ReqWifiMAC       uint8 = 1
	ReqWifiIWSpyAdd  uint8 = 2
	ReqWifiIWSpyDel  uint8 = 3
	ReqWifiIWSpyPing uint8 = 4
)

// What the levels of a WifiData mean (QualType).
const (
	WifiQualDBm     uint32 = 1
	WifiQualRel     uint32 = 2
	WifiQualUnknown uint32 = 3
)

// Modes of a WifiLink and WifiData.
const (
	WifiModeUnknown uint32 = 0
	WifiModeAuto    uint32 = 1
	WifiModeAdHoc   uint32 = 2
	WifiModeInfra   uint32 = 3
	WifiModeMaster  uint32 = 4
	WifiModeRepeat  uint32 = 5
	WifiModeSecond  uint32 = 6
)

// WifiLink is another station. MAC, IP and ESSID are text without an agreed
// NUL.
type WifiLink struct {
	MAC     string `xdr:"max=32"`
	IP      string `xdr:"max=32"`
	ESSID   string `xdr:"max=32"`
	Mode    uint32 // WifiModeUnknown and so on
	Freq    uint32 // MHz
	Encrypt uint32 // 1: encrypted
	Qual    uint32 // in the unit that WifiData.QualType tells, as the next two
	Level   uint32
	Noise   uint32
}

// WifiData is the stations that are heard, and the own interface.
type WifiData struct {
	Links      []WifiLink
	Throughput uint32
	Bitrate    uint32
	Mode       uint32 // WifiModeUnknown and so on
	QualType   uint32 // WifiQualDBm and so on
	MaxQual    uint32
	MaxLevel   uint32
	MaxNoise   uint32
	AP         [32]uint8 // text, of the access point
}

// WifiIWSpyAddrReq names a station to watch (IWSPY_ADD, IWSPY_DEL, IWSPY_PING).
type WifiIWSpyAddrReq struct {
	Address [32]uint8 // text, NUL-padded
}

var wifiMessages = []entry{
	{player.Data, DataWifiState, "STATE", body[WifiData]},
	{player.Request, ReqWifiMAC, "MAC", body[struct {
		MAC string `xdr:"max=32"`
	}]},
	{player.Request, ReqWifiIWSpyAdd, "IWSPY_ADD", body[WifiIWSpyAddrReq]},
	{player.Request, ReqWifiIWSpyDel, "IWSPY_DEL", body[WifiIWSpyAddrReq]},
	{player.Request, ReqWifiIWSpyPing, "IWSPY_PING", body[WifiIWSpyAddrReq]},
}
