package iface

import "callboard/player"

// Subtypes of the power interface (code 2).
const (
	DataPowerState            uint8 = 1
	ReqPowerSetChargingPolicy uint8 = 1
)

// What PowerData.Valid says of the other fields.
const (
	PowerMaskVolts    uint32 = 1
	PowerMaskWatts    uint32 = 2
	PowerMaskJoules   uint32 = 4
	PowerMaskPercent  uint32 = 8
	PowerMaskCharging uint32 = 16
)

// PowerData is a battery. Valid tells which of the other fields count
// (PowerMaskVolts and so on); the others are 0 or junk.
type PowerData struct {
	Valid    uint32  // bits: PowerMaskVolts and so on
	Volts    float32 // V
	Percent  float32 // %
	Joules   float32 // J
	Watts    float32 // W, drawn
	Charging int32   // -1 giving, 0 none, 1 receiving
}

var powerMessages = []entry{
	{player.Data, DataPowerState, "STATE", body[PowerData]},
	{player.Request, ReqPowerSetChargingPolicy, "SET_CHARGING_POLICY", body[struct{ EnableInput, EnableOutput uint8 }]},
}
