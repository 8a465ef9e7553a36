// Package player holds the vocabulary of Player: device addresses, message
// headers, messages, devices with their geometry, and readings. It does no
// I/O; player/xdr encodes bodies, player/iface has the structs in them,
// player/client and player/server speak the protocol.
//
// Wire facts come from the Player 3.1.1 protocol: everything big-endian, a
// 40-byte header before each body, sizes in bytes, times in seconds.
package player

import "strconv"

// Interface is a Player interface code: what kind of device it is.
type Interface uint16

// Type is the kind of a message.
type Type uint8

// Message types.
const (
	Data    Type = 1 // server to client: a reading
	Command Type = 2 // client to server, never answered
	Request Type = 3 // client to server, answered once by Ack or Nack
	Ack     Type = 4
	Synch   Type = 5 // server to client: the end of a pulled round
	Nack    Type = 6
)

// Subtypes of the player interface (code 1).
const (
	PlayerDevlist        uint8 = 1
	PlayerDriverinfo     uint8 = 2
	PlayerDev            uint8 = 3
	PlayerData           uint8 = 4
	PlayerDatamode       uint8 = 5
	PlayerAuth           uint8 = 7
	PlayerNameservice    uint8 = 8
	PlayerAddReplaceRule uint8 = 10

	SynchOK       uint8 = 1
	SynchOverflow uint8 = 2
)

// Data modes.
const (
	Push uint8 = 1
	Pull uint8 = 2
)

// Access modes of a PlayerDev request and its answer.
const (
	AccessOpen  uint8 = 1
	AccessClose uint8 = 2
	AccessError uint8 = 3
)

// Sizes and limits of the protocol.
const (
	BannerSize    = 32                      // bytes, NUL-padded
	HeaderSize    = 40                      // bytes
	MaxMessage    = 32 << 20                // bytes on the wire, header included
	MaxBody       = MaxMessage - HeaderSize // bytes
	QueueLength   = 1024                    // messages a server keeps for a slow client
	MaxDevices    = 4096
	DefaultPort   = 6665
	MaxDriverName = 64 // bytes, NUL included
)

// Addr is a device address. Host is the IPv4 address as a little-endian
// machine reads it (127.0.0.1 is 0x0100007f) or 0; Robot is the TCP port.
// Within one connection Interf and Index identify the device.
type Addr struct {
	Host, Robot uint32
	Interf      Interface
	Index       uint16
}

// String returns the address as Player's tools print it: interface:index.
func (a Addr) String() string {
	return a.Interf.String() + ":" + strconv.Itoa(int(a.Index))
}
