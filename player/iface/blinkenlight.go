package iface

import "callboard/player"

// Subtypes of the blinkenlight interface (code 33).
const (
	DataBlinkenlightState uint8 = 1
	CmdBlinkenlightState  uint8 = 1
	CmdBlinkenlightPower  uint8 = 2
	CmdBlinkenlightColor  uint8 = 3
	CmdBlinkenlightFlash  uint8 = 4
)

// BlinkenlightData is what a light does.
type BlinkenlightData struct {
	Enable    uint8   // 1: on
	Period    float32 // s, of flashing; 0: steady
	DutyCycle float32 // 0 to 1, part of the period that it is on
	Color     Color
}

// BlinkenlightCmd sets all of a light.
type BlinkenlightCmd struct {
	ID        uint16
	Enable    uint8   // 1: on
	Period    float32 // s, of flashing; 0: steady
	DutyCycle float32 // 0 to 1, part of the period that it is on
	Color     Color
}

// BlinkenlightCmdPower switches a light.
type BlinkenlightCmdPower struct {
	ID     uint16
	Enable uint8 // 1: on
}

// BlinkenlightCmdColor sets the colour of a light.
type BlinkenlightCmdColor struct {
	ID    uint16
	Color Color
}

// BlinkenlightCmdFlash makes a light flash.
type BlinkenlightCmdFlash struct {
	ID        uint16
	Period    float32 // s
	DutyCycle float32 // 0 to 1, part of the period that it is on
}

var blinkenlightMessages = []entry{
	{player.Data, DataBlinkenlightState, "STATE", body[BlinkenlightData]},
	{player.Command, CmdBlinkenlightState, "STATE", body[BlinkenlightCmd]},
	{player.Command, CmdBlinkenlightPower, "POWER", body[BlinkenlightCmdPower]},
	{player.Command, CmdBlinkenlightColor, "COLOR", body[BlinkenlightCmdColor]},
	{player.Command, CmdBlinkenlightFlash, "FLASH", body[BlinkenlightCmdFlash]},
}
