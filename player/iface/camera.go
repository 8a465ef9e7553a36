package iface

import "callboard/player"

// Subtypes of the camera interface (code 40).
const (
	DataCameraState    uint8 = 1
	ReqCameraGetSource uint8 = 1
	ReqCameraSetSource uint8 = 2
	ReqCameraGetImage  uint8 = 3
)

// Formats of an image. Pixels of several bytes are big-endian.
const (
	CameraFormatMono8  uint32 = 1
	CameraFormatMono16 uint32 = 2
	CameraFormatRGB565 uint32 = 4
	CameraFormatRGB888 uint32 = 5
)

// Compressions of an image.
const (
	CameraCompressRaw  uint32 = 0
	CameraCompressJPEG uint32 = 1
)

// CameraData is an image. An image of several bytes per pixel is big-endian.
type CameraData struct {
	Width       uint32 // px
	Height      uint32 // px
	BPP         uint32 // bits per pixel
	Format      uint32 // CameraFormatMono8 and so on
	Fdiv        uint32 // divisor of pixel values, mostly 1
	Compression uint32 // CameraCompressRaw or CameraCompressJPEG
	Image       []uint8
}

// CameraSource chooses the camera's input (GET_SOURCE, SET_SOURCE).
type CameraSource struct {
	Norm   string // NTSC, PAL …
	Source int32
}

var cameraMessages = []entry{
	{player.Data, DataCameraState, "STATE", body[CameraData]},
	{player.Request, ReqCameraGetSource, "GET_SOURCE", body[CameraSource]},
	{player.Request, ReqCameraSetSource, "SET_SOURCE", body[CameraSource]},
	{player.Request, ReqCameraGetImage, "GET_IMAGE", body[CameraData]},
}
