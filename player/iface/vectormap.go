package iface

import "callboard/player"

// Subtypes of the vectormap interface (code 63).
const (
	ReqVectormapGetMapInfo   uint8 = 1
	ReqVectormapGetLayerData uint8 = 3
	ReqVectormapWriteLayer   uint8 = 4
)

// VectormapFeatureData is a feature of a layer.
type VectormapFeatureData struct {
	Name   string
	WKB    []uint8 // well-known binary of its geometry
	Attrib string
}

// VectormapLayerInfo is a layer without its features.
type VectormapLayerInfo struct {
	Name   string
	Extent Extent2D
}

// VectormapLayerData is a layer with its features. A request names the layer
// only.
type VectormapLayerData struct {
	Name     string
	Features []VectormapFeatureData
}

// VectormapInfo is what layers a map has.
type VectormapInfo struct {
	SRID   uint32 // number of the spatial reference system
	Layers []VectormapLayerInfo
	Extent Extent2D
}

var vectormapMessages = []entry{
	{player.Request, ReqVectormapGetMapInfo, "GET_MAP_INFO", body[VectormapInfo]},
	{player.Request, ReqVectormapGetLayerData, "GET_LAYER_DATA", body[VectormapLayerData]},
	{player.Request, ReqVectormapWriteLayer, "WRITE_LAYER", body[VectormapLayerData]},
}
