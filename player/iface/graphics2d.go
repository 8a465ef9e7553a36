package iface

import "callboard/player"

// Subtypes of the graphics2d interface (code 55).
const (
	CmdGraphics2DClear     uint8 = 1
	CmdGraphics2DPoints    uint8 = 2
	CmdGraphics2DPolyline  uint8 = 3
	CmdGraphics2DPolygon   uint8 = 4
	CmdGraphics2DMultiline uint8 = 5
)

// Graphics2DCmdPoints draws points.
type Graphics2DCmdPoints struct {
	Points []Point2D // m
	Color  Color
}

// Graphics2DCmdPolyline draws a line through points.
type Graphics2DCmdPolyline struct {
	Points []Point2D // m
	Color  Color
}

// Graphics2DCmdPolygon draws a polygon.
type Graphics2DCmdPolygon struct {
	Points    []Point2D // m
	Color     Color
	FillColor Color
	Filled    uint8 // 1: with FillColor
}

// Graphics2DCmdMultiline draws a line for each two points.
type Graphics2DCmdMultiline struct {
	Points []Point2D // m
	Color  Color
}

var graphics2DMessages = []entry{
	{player.Command, CmdGraphics2DClear, "CLEAR", nil},
	{player.Command, CmdGraphics2DPoints, "POINTS", body[Graphics2DCmdPoints]},
	{player.Command, CmdGraphics2DPolyline, "POLYLINE", body[Graphics2DCmdPolyline]},
	{player.Command, CmdGraphics2DPolygon, "POLYGON", body[Graphics2DCmdPolygon]},
	{player.Command, CmdGraphics2DMultiline, "MULTILINE", body[Graphics2DCmdMultiline]},
}
