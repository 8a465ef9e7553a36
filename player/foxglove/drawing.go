// Package foxglove draws readings as the messages that Foxglove, Lichtblick and
// their like draw and plot: Foxglove's well-known schemas as JSON, and for what
// those do not know the Player message's own fields. They are there to be
// looked at: lengths are rounded to a tenth of a millimetre.
package foxglove

import (
	"callboard/player"
	"callboard/player/iface"
)

// Drawing is a way to tell a kind of message. It is immutable.
type Drawing struct {
	Topic  string // behind that of the device: /scan
	Schema string // foxglove.LaserScan; Schema(…) tells it
	// Shared is the topic of all robots' messages, instead of Topic. Of a
	// robot's devices only the first one that has a shared drawing tells it.
	Shared string

	draw func(b []byte, c *Context, payload any) []byte
}

// Context is what a drawing needs beside the payload.
type Context struct {
	Time   uint64 // ns, Unix: that of the file, which panels go by
	Robot  string // its frame has this name
	Device *player.Device
}

// Append appends the message for a payload as JSON; false if there is nothing
// to draw in it.
func (d *Drawing) Append(b []byte, c *Context, payload any) ([]byte, bool) {
	from := len(b)
	b = d.draw(b, c, payload)
	return b, len(b) > from
}

// world is the frame that robots' positions are in: that of their odometry,
// which conditions take as the world's, too.
const world = "world"

// drawingsOf makes a drawing of a function for one struct.
func drawing[T any](topic, schema string, draw func([]byte, *Context, *T) []byte) *Drawing {
	return &Drawing{Topic: topic, Schema: schema, draw: func(b []byte, c *Context, payload any) []byte {
		if p, ok := payload.(*T); ok {
			return draw(b, c, p)
		}
		return b
	}}
}

func shared[T any](topic, schema string, draw func([]byte, *Context, *T) []byte) *Drawing {
	d := drawing("", schema, draw)
	d.Shared = topic
	return d
}

// key of the table: interface and subtype of a DATA message.
type key struct {
	interf  player.Interface
	subtype uint8
}

// drawn has what Foxglove's schemas know. It never changes.
var drawn = map[key][]*Drawing{
	{player.InterfaceLaser, iface.DataLaserScan}:                {drawing("/scan", "foxglove.LaserScan", laserScan)},
	{player.InterfaceLaser, iface.DataLaserScanpose}:            {drawing("/scan", "foxglove.LaserScan", laserScanpose)},
	{player.InterfaceRanger, iface.DataRangerRange}:             {drawing("/scan", "foxglove.LaserScan", rangerScan), drawing("/rays", "foxglove.SceneUpdate", rangerRays)},
	{player.InterfaceRanger, iface.DataRangerRangestamped}:      {drawing("/scan", "foxglove.LaserScan", stampedScan), drawing("/rays", "foxglove.SceneUpdate", stampedRays)},
	{player.InterfaceSonar, iface.DataSonarRanges}:              {drawing("/rays", "foxglove.SceneUpdate", sonarRays)},
	{player.InterfacePosition2D, iface.DataPosition2DState}:     {drawing("/pose", "foxglove.PoseInFrame", pose2D), shared("/tf", "foxglove.FrameTransform", transform2D)},
	{player.InterfacePosition3D, iface.DataPosition3DState}:     {drawing("/pose", "foxglove.PoseInFrame", pose3D), shared("/tf", "foxglove.FrameTransform", transform3D)},
	{player.InterfaceLocalize, iface.DataLocalizeHypoths}:       {drawing("/pose", "foxglove.PoseInFrame", localized)},
	{player.InterfaceGPS, iface.DataGPSState}:                   {drawing("/fix", "foxglove.LocationFix", locationFix)},
	{player.InterfaceCamera, iface.DataCameraState}:             {drawing("/image", "foxglove.RawImage", rawImage), drawing("/compressed", "foxglove.CompressedImage", compressedImage)},
	{player.InterfacePointcloud3D, iface.DataPointcloud3DState}: {drawing("/points", "foxglove.PointCloud", pointCloud)},
	{player.InterfaceFiducial, iface.DataFiducialScan}:          {drawing("/marks", "foxglove.SceneUpdate", marks)},
}

// large are interfaces whose own fields are not told: a drawing has them, or
// they are too many to be plotted.
var large = map[player.Interface]bool{
	player.InterfaceLaser: true, player.InterfaceRanger: true, player.InterfaceCamera: true, player.InterfaceStereo: true,
	player.InterfacePointcloud3D: true, player.InterfaceAudio: true, player.InterfaceMap: true, player.InterfaceVectormap: true,
}

// table has all drawings by kind of message. It never changes.
var table = makeTable()

func makeTable() map[key][]*Drawing {
	out := map[key][]*Drawing{}
	for _, m := range iface.Messages() {
		if m.Type != player.Data || m.Struct() == nil {
			continue
		}
		k := key{m.Interface, m.Subtype}
		out[k] = append(out[k], drawn[k]...)
		if !large[m.Interface] {
			out[k] = append(out[k], fieldsOf(m.Struct()))
		}
	}
	return out
}

// Of returns the drawings of a kind of DATA message.
func Of(i player.Interface, subtype uint8) []*Drawing { return table[key{i, subtype}] }
