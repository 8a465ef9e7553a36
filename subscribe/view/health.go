package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Health is the state of the computer on the robot.
type Health struct {
	CPUIdle     float64 `expr:"cpu_idle" unit:"%" doc:"of the processor, idle"`
	CPUSystem   float64 `expr:"cpu_system" unit:"%" doc:"of the processor, for the system"`
	CPUUser     float64 `expr:"cpu_user" unit:"%" doc:"of the processor, for programs"`
	MemPercent  float64 `expr:"mem_percent" unit:"%" doc:"memory that is used; no number if there is none"`
	MemTotal    float64 `expr:"mem_total" doc:"memory, in the unit of the driver (bytes or KiB)"`
	MemUsed     float64 `expr:"mem_used" doc:"memory, in the unit of the driver (bytes or KiB)"`
	MemFree     float64 `expr:"mem_free" doc:"memory, in the unit of the driver (bytes or KiB)"`
	SwapPercent float64 `expr:"swap_percent" unit:"%" doc:"swap space that is used; no number if there is none"`
	SwapTotal   float64 `expr:"swap_total" doc:"swap space, in the unit of the driver (bytes or KiB)"`
	SwapUsed    float64 `expr:"swap_used" doc:"swap space, in the unit of the driver (bytes or KiB)"`
	SwapFree    float64 `expr:"swap_free" doc:"swap space, in the unit of the driver (bytes or KiB)"`
	Stamp
}

func (h *Health) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.HealthData)
	if !ok {
		return false
	}
	*h = Health{
		CPUIdle:     float64(d.CPUUsage.Idle),
		CPUSystem:   float64(d.CPUUsage.System),
		CPUUser:     float64(d.CPUUsage.User),
		MemPercent:  percent(&d.Mem),
		MemTotal:    float64(d.Mem.Total),
		MemUsed:     float64(d.Mem.Used),
		MemFree:     float64(d.Mem.Free),
		SwapPercent: percent(&d.Swap),
		SwapTotal:   float64(d.Swap.Total),
		SwapUsed:    float64(d.Swap.Used),
		SwapFree:    float64(d.Swap.Free),
	}
	return true
}

// percent is how much is used; NaN if there is nothing to use.
func percent(m *iface.HealthMemory) float64 {
	if m.Total <= 0 {
		return math.NaN()
	}
	return 100 * float64(m.Used) / float64(m.Total)
}
