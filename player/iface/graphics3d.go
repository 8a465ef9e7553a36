package iface

import "callboard/player"

// Subtypes of the graphics3d interface (code 58).
const (
	CmdGraphics3DClear     uint8 = 1
	CmdGraphics3DDraw      uint8 = 2
	CmdGraphics3DTranslate uint8 = 3
	CmdGraphics3DRotate    uint8 = 4
	CmdGraphics3DPush      uint8 = 5
	CmdGraphics3DPop       uint8 = 6
)

// What Graphics3DCmdDraw makes of its points, as in OpenGL.
const (
	DrawPoints        uint32 = 0
	DrawLines         uint32 = 1
	DrawLineStrip     uint32 = 2
	DrawLineLoop      uint32 = 3
	DrawTriangles     uint32 = 4
	DrawTriangleStrip uint32 = 5
	DrawTriangleFan   uint32 = 6
	DrawQuads         uint32 = 7
	DrawQuadStrip     uint32 = 8
	DrawPolygon       uint32 = 9
)

// Graphics3DCmdDraw draws points, lines or faces.
type Graphics3DCmdDraw struct {
	DrawMode uint32    // DrawPoints and so on
	Points   []Point3D // m
	Color    Color
}

var graphics3DMessages = []entry{
	{player.Command, CmdGraphics3DClear, "CLEAR", nil},
	{player.Command, CmdGraphics3DDraw, "DRAW", body[Graphics3DCmdDraw]},
	{player.Command, CmdGraphics3DTranslate, "TRANSLATE", body[struct{ X, Y, Z float64 }]},
	{player.Command, CmdGraphics3DRotate, "ROTATE", body[struct{ A, X, Y, Z float64 }]},
	{player.Command, CmdGraphics3DPush, "PUSH", nil},
	{player.Command, CmdGraphics3DPop, "POP", nil},
}
