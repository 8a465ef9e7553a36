package iface

import "callboard/player"

// Subtype of the health interface (code 59).
const DataHealthState uint8 = 1

// HealthCPU is what the processor does.
type HealthCPU struct {
	Idle   float32 // %
	System float32 // %
	User   float32 // %
}

// HealthMemory is memory, in the unit of the driver (bytes or KiB).
type HealthMemory struct {
	Total int64
	Used  int64
	Free  int64
}

// HealthData is the state of the computer on the robot.
type HealthData struct {
	CPUUsage HealthCPU
	Mem      HealthMemory
	Swap     HealthMemory
}

var healthMessages = []entry{
	{player.Data, DataHealthState, "STATE", body[HealthData]},
}
