package foxglove

import (
	"encoding/binary"
	"math"
	"strconv"

	"callboard/player"
	"callboard/player/iface"
)

func appendPoseInFrame(b []byte, c *Context, frame string, p player.Pose) []byte {
	b = appendHead(b, c, frame)
	b = appendPose(append(b, `,"pose":`...), p)
	return append(b, '}')
}

func appendTransform(b []byte, c *Context, p player.Pose) []byte {
	b = appendTime(append(b, `{"timestamp":`...), c.Time)
	b = append(b, `,"parent_frame_id":"`+world+`"`...)
	b = appendText(append(b, `,"child_frame_id":`...), c.Robot)
	b = appendVector(append(b, `,"translation":`...), finite(p.X), finite(p.Y), finite(p.Z))
	b = appendRotation(append(b, `,"rotation":`...), p.Roll, p.Pitch, p.Yaw)
	return append(b, '}')
}

func pose2D(b []byte, c *Context, p *iface.Position2DData) []byte {
	return appendPoseInFrame(b, c, world, pose2(p.Pos))
}

func transform2D(b []byte, c *Context, p *iface.Position2DData) []byte {
	return appendTransform(b, c, pose2(p.Pos))
}

func pose3D(b []byte, c *Context, p *iface.Position3DData) []byte {
	return appendPoseInFrame(b, c, world, p.Pos.Pose())
}

func transform3D(b []byte, c *Context, p *iface.Position3DData) []byte {
	return appendTransform(b, c, p.Pos.Pose())
}

// localized draws the likeliest of a localizer's hypotheses.
func localized(b []byte, c *Context, p *iface.LocalizeData) []byte {
	if len(p.Hypoths) == 0 {
		return b
	}
	best := 0
	for i := range p.Hypoths {
		if p.Hypoths[i].Alpha > p.Hypoths[best].Alpha {
			best = i
		}
	}
	return appendPoseInFrame(b, c, world, pose2(p.Hypoths[best].Mean))
}

func locationFix(b []byte, c *Context, p *iface.GPSData) []byte {
	b = appendHead(b, c, c.Robot)
	b = appendExact(append(b, `,"latitude":`...), float64(p.Latitude)/1e7)
	b = appendExact(append(b, `,"longitude":`...), float64(p.Longitude)/1e7)
	b = appendExact(append(b, `,"altitude":`...), float64(p.Altitude)/1e3)
	h, v := finite(p.ErrHorz)*finite(p.ErrHorz), finite(p.ErrVert)*finite(p.ErrVert)
	b = append(b, `,"position_covariance":[`...)
	for i, x := range [9]float64{0: h, 4: h, 8: v} {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendExact(b, x)
	}
	return append(b, `],"position_covariance_type":2}`...)
}

// rawImage draws a picture that is not compressed.
func rawImage(b []byte, c *Context, p *iface.CameraData) []byte {
	encoding, bytes := "", uint32(0)
	switch p.Format {
	case iface.CameraFormatMono8:
		encoding, bytes = "mono8", 1
	case iface.CameraFormatMono16:
		encoding, bytes = "mono16", 2
	case iface.CameraFormatRGB888:
		encoding, bytes = "rgb8", 3
	}
	if p.Compression != iface.CameraCompressRaw || encoding == "" || uint64(len(p.Image)) < uint64(p.Width)*uint64(p.Height)*uint64(bytes) {
		return b
	}
	b = appendHead(b, c, c.Robot)
	b = strconv.AppendUint(append(b, `,"width":`...), uint64(p.Width), 10)
	b = strconv.AppendUint(append(b, `,"height":`...), uint64(p.Height), 10)
	b = appendText(append(b, `,"encoding":`...), encoding)
	b = strconv.AppendUint(append(b, `,"step":`...), uint64(p.Width)*uint64(bytes), 10)
	return append(appendBase64(append(b, `,"data":`...), p.Image), '}')
}

func compressedImage(b []byte, c *Context, p *iface.CameraData) []byte {
	if p.Compression != iface.CameraCompressJPEG {
		return b
	}
	b = appendHead(b, c, c.Robot)
	return append(appendBase64(append(b, `,"format":"jpeg","data":`...), p.Image), '}')
}

func pointCloud(b []byte, c *Context, p *iface.Pointcloud3DData) []byte {
	b = appendHead(b, c, c.Robot)
	b = appendPose(append(b, `,"pose":`...), c.mount())
	b = append(b, `,"point_stride":12,"fields":[{"name":"x","offset":0,"type":7},{"name":"y","offset":4,"type":7},{"name":"z","offset":8,"type":7}],"data":`...)
	data := make([]byte, 0, 12*len(p.Points))
	for i := range p.Points {
		at := &p.Points[i].Point
		for _, v := range [3]float64{at.Px, at.Py, at.Pz} {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		}
	}
	return append(appendBase64(b, data), '}')
}
