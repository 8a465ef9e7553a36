package iface

import "callboard/player"

// Subtypes of the blobfinder interface (code 7).
const (
	DataBlobfinderBlobs          uint8 = 1
	ReqBlobfinderSetColor        uint8 = 1
	ReqBlobfinderSetImagerParams uint8 = 2
	ReqBlobfinderGetColor        uint8 = 3
)

// BlobfinderBlob is a patch of one colour in the image.
type BlobfinderBlob struct {
	ID     uint32  // of the colour, from the driver
	Color  uint32  // 0x00RRGGBB
	Area   uint32  // px
	X      uint32  // px, of the centre
	Y      uint32  // px, of the centre
	Left   uint32  // px
	Right  uint32  // px
	Top    uint32  // px
	Bottom uint32  // px
	Range  float32 // m
}

// BlobfinderData is the patches of colour in one image.
type BlobfinderData struct {
	Width  uint32 // px
	Height uint32 // px
	Blobs  []BlobfinderBlob
}

// BlobfinderColorConfig is the range of colours that a channel looks for
// (SET_COLOR, GET_COLOR).
type BlobfinderColorConfig struct {
	Channel uint32
	RMin    uint32 // 0 to 255, as the next five
	RMax    uint32
	GMin    uint32
	GMax    uint32
	BMin    uint32
	BMax    uint32
}

var blobfinderMessages = []entry{
	{player.Data, DataBlobfinderBlobs, "BLOBS", body[BlobfinderData]},
	{player.Request, ReqBlobfinderSetColor, "SET_COLOR", body[BlobfinderColorConfig]},
	{player.Request, ReqBlobfinderSetImagerParams, "SET_IMAGER_PARAMS", body[struct{ Brightness, Contrast, ColorMode, AutoGain int32 }]},
	{player.Request, ReqBlobfinderGetColor, "GET_COLOR", body[BlobfinderColorConfig]},
}
