package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Health is the state of the computer on the robot.
type Health struct {
	CPUIdle     float64 `expr:"cpu_idle"`
	CPUSystem   float64 `expr:"cpu_system"`
	CPUUser     float64 `expr:"cpu_user"`
	MemPercent  float64 `expr:"mem_percent"`
	MemTotal    float64 `expr:"mem_total"`
	MemUsed     float64 `expr:"mem_used"`
	MemFree     float64 `expr:"mem_free"`
	SwapPercent float64 `expr:"swap_percent"`
	SwapTotal   float64 `expr:"swap_total"`
	SwapUsed    float64 `expr:"swap_used"`
	SwapFree    float64 `expr:"swap_free"`
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

var healthFields = with(
	number("cpu_idle", "%", "of the processor, idle", func(h *Health) float64 { return h.CPUIdle }),
	number("cpu_system", "%", "of the processor, for the system", func(h *Health) float64 { return h.CPUSystem }),
	number("cpu_user", "%", "of the processor, for programs", func(h *Health) float64 { return h.CPUUser }),
	number("mem_percent", "%", "memory that is used; no number if there is none", func(h *Health) float64 { return h.MemPercent }),
	number("mem_total", "", "memory, in the unit of the driver (bytes or KiB)", func(h *Health) float64 { return h.MemTotal }),
	number("mem_used", "", "memory, in the unit of the driver (bytes or KiB)", func(h *Health) float64 { return h.MemUsed }),
	number("mem_free", "", "memory, in the unit of the driver (bytes or KiB)", func(h *Health) float64 { return h.MemFree }),
	number("swap_percent", "%", "swap space that is used; no number if there is none", func(h *Health) float64 { return h.SwapPercent }),
	number("swap_total", "", "swap space, in the unit of the driver (bytes or KiB)", func(h *Health) float64 { return h.SwapTotal }),
	number("swap_used", "", "swap space, in the unit of the driver (bytes or KiB)", func(h *Health) float64 { return h.SwapUsed }),
	number("swap_free", "", "swap space, in the unit of the driver (bytes or KiB)", func(h *Health) float64 { return h.SwapFree }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (h *Health) AppendText(dst []byte) []byte { return appendFields(dst, h, healthFields) }
