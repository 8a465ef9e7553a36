package foxglove

import (
	"callboard/player"
	"callboard/player/iface"
)

// Parts of Foxglove's schemas.
const (
	timeSchema     = `{"type":"object","title":"time","properties":{"sec":{"type":"integer","minimum":0},"nsec":{"type":"integer","minimum":0,"maximum":999999999}}}`
	durationSchema = `{"type":"object","title":"duration","properties":{"sec":{"type":"integer"},"nsec":{"type":"integer","minimum":0,"maximum":999999999}}}`
	vectorSchema   = `{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"},"z":{"type":"number"}}}`
	rotationSchema = `{"type":"object","title":"foxglove.Quaternion","properties":{"x":{"type":"number"},"y":{"type":"number"},"z":{"type":"number"},"w":{"type":"number"}}}`
	poseSchema     = `{"type":"object","title":"foxglove.Pose","properties":{"position":` + vectorSchema + `,"orientation":` + rotationSchema + `}}`
	colorSchema    = `{"type":"object","title":"foxglove.Color","properties":{"r":{"type":"number"},"g":{"type":"number"},"b":{"type":"number"},"a":{"type":"number"}}}`
	numbersSchema  = `{"type":"array","items":{"type":"number"}}`
	bytesSchema    = `{"type":"string","contentEncoding":"base64"}`
	headSchema     = `"timestamp":` + timeSchema + `,"frame_id":{"type":"string"}`
	anySchema      = `{"type":"array","items":{"type":"object"}}`
)

func object(title, properties string) string {
	return `{"title":"` + title + `","type":"object","properties":{` + properties + `}}`
}

// schemas has Foxglove's schemas, as JSON schemas. It never changes.
var schemas = map[string]string{
	"foxglove.LaserScan":       object("foxglove.LaserScan", headSchema+`,"pose":`+poseSchema+`,"start_angle":{"type":"number"},"end_angle":{"type":"number"},"ranges":`+numbersSchema+`,"intensities":`+numbersSchema),
	"foxglove.PoseInFrame":     object("foxglove.PoseInFrame", headSchema+`,"pose":`+poseSchema),
	"foxglove.FrameTransform":  object("foxglove.FrameTransform", `"timestamp":`+timeSchema+`,"parent_frame_id":{"type":"string"},"child_frame_id":{"type":"string"},"translation":`+vectorSchema+`,"rotation":`+rotationSchema),
	"foxglove.LocationFix":     object("foxglove.LocationFix", headSchema+`,"latitude":{"type":"number"},"longitude":{"type":"number"},"altitude":{"type":"number"},"position_covariance":{"type":"array","items":{"type":"number"},"minItems":9,"maxItems":9},"position_covariance_type":{"title":"foxglove.PositionCovarianceType","oneOf":[{"title":"UNKNOWN","const":0},{"title":"APPROXIMATED","const":1},{"title":"DIAGONAL_KNOWN","const":2},{"title":"KNOWN","const":3}]}`),
	"foxglove.RawImage":        object("foxglove.RawImage", headSchema+`,"width":{"type":"integer"},"height":{"type":"integer"},"encoding":{"type":"string"},"step":{"type":"integer"},"data":`+bytesSchema),
	"foxglove.CompressedImage": object("foxglove.CompressedImage", headSchema+`,"data":`+bytesSchema+`,"format":{"type":"string"}`),
	"foxglove.PointCloud":      object("foxglove.PointCloud", headSchema+`,"pose":`+poseSchema+`,"point_stride":{"type":"integer"},"fields":{"type":"array","items":{"type":"object","title":"foxglove.PackedElementField","properties":{"name":{"type":"string"},"offset":{"type":"integer"},"type":{"title":"foxglove.NumericType","oneOf":[{"title":"UNKNOWN","const":0},{"title":"UINT8","const":1},{"title":"INT8","const":2},{"title":"UINT16","const":3},{"title":"INT16","const":4},{"title":"UINT32","const":5},{"title":"INT32","const":6},{"title":"FLOAT32","const":7},{"title":"FLOAT64","const":8}]}}}},"data":`+bytesSchema),
	"foxglove.SceneUpdate": object("foxglove.SceneUpdate", `"deletions":`+anySchema+`,"entities":{"type":"array","items":`+
		object("foxglove.SceneEntity", headSchema+`,"id":{"type":"string"},"lifetime":`+durationSchema+`,"frame_locked":{"type":"boolean"},"metadata":`+anySchema+`,"arrows":`+anySchema+
			`,"cubes":{"type":"array","items":`+object("foxglove.CubePrimitive", `"pose":`+poseSchema+`,"size":`+vectorSchema+`,"color":`+colorSchema)+`}`+
			`,"spheres":`+anySchema+`,"cylinders":`+anySchema+
			`,"lines":{"type":"array","items":`+object("foxglove.LinePrimitive", `"type":{"title":"foxglove.LineType","oneOf":[{"title":"LINE_STRIP","const":0},{"title":"LINE_LOOP","const":1},{"title":"LINE_LIST","const":2}]},"pose":`+poseSchema+`,"thickness":{"type":"number"},"scale_invariant":{"type":"boolean"},"points":{"type":"array","items":`+vectorSchema+`},"color":`+colorSchema+`,"colors":{"type":"array","items":`+colorSchema+`},"indices":{"type":"array","items":{"type":"integer"}}`)+`}`+
			`,"triangles":`+anySchema+
			`,"texts":{"type":"array","items":`+object("foxglove.TextPrimitive", `"pose":`+poseSchema+`,"billboard":{"type":"boolean"},"font_size":{"type":"number"},"scale_invariant":{"type":"boolean"},"color":`+colorSchema+`,"text":{"type":"string"}`)+`}`+
			`,"models":`+anySchema)+`}`),
}

// Schema returns the JSON schema of a name that a Drawing has.
func Schema(name string) string {
	if s, ok := schemas[name]; ok {
		return s
	}
	for _, m := range iface.Messages() {
		if m.Type == player.Data && m.Struct() != nil && schemaName(m.Struct()) == name {
			return string(appendSchema(nil, m.Struct(), name, true))
		}
	}
	return `{"type":"object"}`
}
