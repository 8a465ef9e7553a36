package foxglove

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// appendRanges appends numbers, rounded.
func appendRanges[T float32 | float64](b []byte, name string, values []T) []byte {
	b = append(b, name...)
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendNumber(b, float64(v))
	}
	return append(b, ']')
}

// appendScanHead begins a foxglove.LaserScan.
func appendScanHead(b []byte, c *Context, from, to float64) []byte {
	b = appendHead(b, c, c.Robot)
	b = appendPose(append(b, `,"pose":`...), c.mount())
	b = appendExact(append(b, `,"start_angle":`...), from)
	return appendExact(append(b, `,"end_angle":`...), to)
}

func laserScan(b []byte, c *Context, p *iface.LaserData) []byte {
	b = appendScanHead(b, c, float64(p.MinAngle), float64(p.MaxAngle))
	b = appendRanges(b, `,"ranges":[`, p.Ranges)
	b = append(b, `,"intensities":[`...)
	if len(p.Intensity) == len(p.Ranges) { // Foxglove wants as many as ranges, or none
		for i, v := range p.Intensity {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendWhole(b, uint64(v))
		}
	}
	return append(b, `]}`...)
}

func laserScanpose(b []byte, c *Context, p *iface.LaserDataScanpose) []byte {
	return laserScan(b, c, &p.Scan)
}

// rangerScan draws a scanner: a ranger with one element.
func rangerScan(b []byte, c *Context, p *iface.RangerDataRange) []byte {
	d := c.Device
	if d == nil || d.Config == nil || d.Geometry != nil && len(d.Geometry.Elements) > 1 {
		return b
	}
	b = appendScanHead(b, c, d.Config.MinAngle, d.Config.MaxAngle)
	b = appendRanges(b, `,"ranges":[`, p.Ranges)
	return append(b, `,"intensities":[]}`...)
}

func stampedScan(b []byte, c *Context, p *iface.RangerDataRangestamped) []byte {
	return rangerScan(b, c, &p.Data)
}

// rangerRays draws a ring: a ranger with several elements.
func rangerRays(b []byte, c *Context, p *iface.RangerDataRange) []byte {
	d := c.Device
	if d == nil || d.Geometry == nil || len(d.Geometry.Elements) < 2 {
		return b
	}
	return appendRays(b, c, d.Geometry, p.Ranges)
}

func stampedRays(b []byte, c *Context, p *iface.RangerDataRangestamped) []byte {
	return rangerRays(b, c, &p.Data)
}

func sonarRays(b []byte, c *Context, p *iface.SonarData) []byte {
	d := c.Device
	if d == nil || d.Geometry == nil {
		return b
	}
	ranges := make([]float64, len(p.Ranges))
	for i, v := range p.Ranges {
		ranges[i] = float64(v)
	}
	return appendRays(b, c, d.Geometry, ranges)
}

// appendRays draws a line from each element as far as its range.
func appendRays(b []byte, c *Context, g *player.Geometry, ranges []float64) []byte {
	b = appendEntity(b, c, c.Device.Addr.String())
	b = append(b, `"cubes":[],"texts":[],"lines":[{"type":2,"pose":`...)
	b = appendPose(b, g.Pose)
	b = append(b, `,"thickness":0.01,"scale_invariant":false,"points":[`...)
	n := 0
	for i, v := range ranges {
		if i >= len(g.Elements) || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if n++; n > 1 {
			b = append(b, ',')
		}
		e := g.Elements[i]
		x, y, z := finite(e.X), finite(e.Y), finite(e.Z)
		b = append(appendVector(b, x, y, z), ',')
		sin, cos := math.Sincos(finite(e.Yaw))
		b = appendVector(b, x+v*cos, y+v*sin, z)
	}
	return append(b, `],"color":{"r":0.2,"g":0.6,"b":1,"a":0.8},"colors":[],"indices":[]}]}]}`...)
}

// appendEntity begins a foxglove.SceneUpdate with one entity, which replaces
// what had its id.
func appendEntity(b []byte, c *Context, id string) []byte {
	b = append(b, `{"deletions":[],"entities":[`...)
	b = appendHead(b, c, c.Robot)
	b = appendText(append(b, `,"id":`...), c.Robot+" "+id)
	return append(b, `,"lifetime":{"sec":0,"nsec":0},"frame_locked":true,"metadata":[],"arrows":[],"spheres":[],"cylinders":[],"triangles":[],"models":[],`...)
}

// marks draws the marks that a fiducial finder sees, as arrows' places with
// their numbers.
func marks(b []byte, c *Context, p *iface.FiducialData) []byte {
	on := c.mount()
	sin, cos := math.Sincos(finite(on.Yaw))
	at := func(f *iface.FiducialItem) player.Pose {
		x, y := finite(f.Pose.Px), finite(f.Pose.Py)
		return player.Pose{X: finite(on.X) + x*cos - y*sin, Y: finite(on.Y) + x*sin + y*cos, Z: finite(on.Z) + finite(f.Pose.Pz), Yaw: finite(on.Yaw) + finite(f.Pose.Pyaw)}
	}
	b = appendEntity(b, c, c.Device.Addr.String())
	b = append(b, `"lines":[],"cubes":[`...)
	for i := range p.Fiducials {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPose(append(b, `{"pose":`...), at(&p.Fiducials[i]))
		b = append(b, `,"size":{"x":0.05,"y":0.3,"z":0.3},"color":{"r":1,"g":0.6,"b":0,"a":0.8}}`...)
	}
	b = append(b, `],"texts":[`...)
	for i := range p.Fiducials {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendPose(append(b, `{"pose":`...), at(&p.Fiducials[i]))
		b = append(b, `,"billboard":true,"font_size":0.2,"scale_invariant":false,"color":{"r":1,"g":1,"b":1,"a":1},"text":"`...)
		b = appendExact(b, float64(p.Fiducials[i].ID))
		b = append(b, `"}`...)
	}
	return append(b, `]}]}`...)
}
