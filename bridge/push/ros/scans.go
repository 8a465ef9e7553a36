package ros

import (
	"encoding/binary"
	"math"

	"callboard/player/iface"
)

// writeScan writes a scan. What is not finite, or at the maximum or beyond, is the
// maximum, as stage_ros has it.
func writeScan(e *Encoder, r *Reading) bool {
	from, to, least, most, ok := r.scan()
	if !ok {
		return false
	}
	step := 0.0
	if n := len(r.ranges); n > 1 {
		step = (to - from) / float64(n-1)
	}
	r.header(e, r.Frame)
	e.Float32("angle_min", float32(from))
	e.Float32("angle_max", float32(to))
	e.Float32("angle_increment", float32(step))
	e.Float32("time_increment", 0)
	e.Float32("scan_time", 0)
	e.Float32("range_min", float32(least))
	e.Float32("range_max", float32(most))
	Float32s(e, "ranges", r.ranges)
	r.intensities(e)
	return true
}

// scan takes the ranges of a scan, and where it begins and ends.
func (r *Reading) scan() (from, to, least, most float64, ok bool) {
	narrow := func(ranges []float32) {
		r.ranges = r.ranges[:0]
		for _, v := range ranges {
			r.ranges = append(r.ranges, float64(v))
		}
	}
	laser := payloadOf[iface.LaserData](r)
	if p := payloadOf[iface.LaserDataScanpose](r); p != nil {
		laser = &p.Scan
	}
	switch {
	case laser != nil:
		narrow(laser.Ranges)
		from, to, most = float64(laser.MinAngle), float64(laser.MaxAngle), float64(laser.MaxRange)
	case payloadOf[iface.LaserDataScanangle](r) != nil:
		p := payloadOf[iface.LaserDataScanangle](r)
		narrow(p.Ranges)
		if n := len(p.Angles); n > 0 {
			from, to = float64(p.Angles[0]), float64(p.Angles[n-1])
		}
		most = float64(p.MaxRange)
	default:
		c := r.rangerConfig()
		if c == nil || !r.rangerRanges() {
			return 0, 0, 0, 0, false
		}
		from, to, least, most = c.MinAngle, c.MaxAngle, c.MinRange, c.MaxRange
	}
	return from, to, finite(least), r.clip(most), true
}

// clip makes ranges that are none the maximum, which it returns: that of the scan
// if the device has none.
func (r *Reading) clip(most float64) float64 {
	if !(most > 0) || math.IsInf(most, 0) {
		most = 0
		for _, v := range r.ranges {
			if !math.IsInf(v, 0) && v > most {
				most = v
			}
		}
	}
	for i, v := range r.ranges {
		if math.IsNaN(v) || math.IsInf(v, 0) || v > most {
			r.ranges[i] = most
		}
	}
	return most
}

// rangerConfig returns the ranger's configuration, nil if it is not told.
func (r *Reading) rangerConfig() *iface.RangerConfig {
	if p := payloadOf[iface.RangerDataRangestamped](r); p != nil && p.HaveConfig != 0 {
		return &p.Config
	}
	return payloadOf[iface.RangerConfig](r)
}

// rangerRanges takes the ranges of a ranger.
func (r *Reading) rangerRanges() bool {
	if p := payloadOf[iface.RangerDataRange](r); p != nil {
		r.ranges = append(r.ranges[:0], p.Ranges...)
		return true
	}
	if p := payloadOf[iface.RangerDataRangestamped](r); p != nil {
		r.ranges = append(r.ranges[:0], p.Data.Ranges...)
		return true
	}
	return false
}

// intensities writes a scan's intensities: as many as ranges, or none.
func (r *Reading) intensities(e *Encoder) {
	n := len(r.ranges)
	var small []uint8
	switch {
	case payloadOf[iface.LaserData](r) != nil:
		small = payloadOf[iface.LaserData](r).Intensity
	case payloadOf[iface.LaserDataScanpose](r) != nil:
		small = payloadOf[iface.LaserDataScanpose](r).Scan.Intensity
	case payloadOf[iface.LaserDataScanangle](r) != nil:
		small = payloadOf[iface.LaserDataScanangle](r).Intensity
	}
	r.ranges = r.ranges[:0] // they are written: the room is free
	for _, v := range small {
		r.ranges = append(r.ranges, float64(v))
	}
	if p := payloadOf[iface.RangerDataIntns](r); p != nil {
		r.ranges = append(r.ranges, p.Intensities...)
	} else if p := payloadOf[iface.RangerDataIntnsstamped](r); p != nil {
		r.ranges = append(r.ranges, p.Data.Intensities...)
	}
	if len(r.ranges) != n {
		r.ranges = r.ranges[:0]
	}
	Float32s(e, "intensities", r.ranges)
}

// ring returns the points that a ring of ranges sees, in the robot's frame, with
// their ranges. What is beyond the maximum is none.
func (r *Reading) ring(yield func(x, y, z, distance float64)) bool {
	if r.Geometry == nil {
		return false
	}
	most := math.Inf(1)
	if p := payloadOf[iface.SonarData](r); p != nil {
		r.ranges = r.ranges[:0]
		for _, v := range p.Ranges {
			r.ranges = append(r.ranges, float64(v))
		}
	} else if !r.rangerRanges() {
		return false
	}
	if c := r.rangerConfig(); c != nil && c.MaxRange > 0 {
		most = c.MaxRange
	}
	at := r.Geometry.Pose
	sin, cos := math.Sincos(finite(at.Yaw))
	for i, v := range r.ranges {
		if i >= len(r.Geometry.Elements) || math.IsNaN(v) || math.IsInf(v, 0) || v >= most {
			continue
		}
		element := r.Geometry.Elements[i]
		s, c := math.Sincos(finite(element.Yaw))
		x, y := finite(element.X)+v*c, finite(element.Y)+v*s
		yield(finite(at.X)+x*cos-y*sin, finite(at.Y)+x*sin+y*cos, finite(at.Z)+finite(element.Z), v)
	}
	return true
}

// writeRing writes a ring of ranges as the points that it sees.
func writeRing(e *Encoder, r *Reading) bool {
	n := 0
	if !r.ring(func(_, _, _, _ float64) { n++ }) {
		return false
	}
	r.header(e, "base_link")
	e.Array("points", n)
	r.ring(func(x, y, z, _ float64) {
		e.Begin("")
		e.Float32("x", float32(x))
		e.Float32("y", float32(y))
		e.Float32("z", float32(z))
		e.End()
	})
	e.EndArray()
	e.Array("channels", 0)
	e.EndArray()
	return true
}

// pointStep is how many bytes a point of a PointCloud2 has here: x, y, z.
const pointStep = 12

func writePoints(e *Encoder, r *Reading) bool {
	var data []byte
	if !r.ring(func(x, y, z, _ float64) {
		for _, v := range [3]float64{x, y, z} {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		}
	}) {
		return false
	}
	r.header(e, "base_link")
	e.Uint32("height", 1)
	e.Uint32("width", uint32(len(data)/pointStep))
	e.Array("fields", 3)
	for i, name := range [3]string{"x", "y", "z"} {
		e.Begin("")
		e.String("name", name)
		e.Uint32("offset", uint32(4*i))
		e.Uint8("datatype", 7) // FLOAT32
		e.Uint32("count", 1)
		e.End()
	}
	e.EndArray()
	e.Bool("is_bigendian", false)
	e.Uint32("point_step", pointStep)
	e.Uint32("row_step", uint32(len(data)))
	e.Uint8s("data", data)
	e.Bool("is_dense", true)
	return true
}
