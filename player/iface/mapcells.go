package iface

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"io"
)

// MaxTile is the number of cells that a tile may have: the real server's
// messages end there.
const MaxTile = 8 << 20

// Cells returns the tile's Width times Height cells, row by row from its lowest,
// in the memory of into if they fit. Data is the zlib stream of an ACK, or as
// many raw bytes as servers built without zlib send. A stream that gives more
// or fewer cells is an error; no more than a tile is ever inflated.
func (d *MapData) Cells(into []int8) ([]int8, error) {
	n := uint64(d.Width) * uint64(d.Height)
	if n > MaxTile {
		return nil, fmt.Errorf("iface: map tile of %d × %d cells, expected at most %d cells", d.Width, d.Height, MaxTile)
	}
	stream, err := zlib.NewReader(&int8Reader{rest: d.Data})
	if err != nil {
		if uint64(len(d.Data)) == n {
			return append(into[:0], d.Data...), nil
		}
		return nil, fmt.Errorf("iface: map tile of %d bytes is neither a zlib stream (%w) nor %d × %d cells",
			len(d.Data), err, d.Width, d.Height)
	}
	into = into[:0]
	chunk := make([]byte, 4096)
	for {
		got, err := stream.Read(chunk)
		if uint64(len(into)+got) > n {
			return nil, fmt.Errorf("iface: map tile inflates to more than its %d × %d cells", d.Width, d.Height)
		}
		for _, b := range chunk[:got] {
			into = append(into, int8(b))
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("iface: inflating a map tile of %d × %d cells: %w", d.Width, d.Height, err)
		}
	}
	if uint64(len(into)) != n {
		return nil, fmt.Errorf("iface: map tile inflates to %d cells, expected %d × %d", len(into), d.Width, d.Height)
	}
	return into, nil
}

// SetCells deflates cells into Data, as the ACK that answers GET_DATA has them.
func (d *MapData) SetCells(cells []int8) error {
	if n := uint64(d.Width) * uint64(d.Height); uint64(len(cells)) != n || n > MaxTile {
		return fmt.Errorf("iface: %d cells for a map tile of %d × %d, expected as many, at most %d", len(cells), d.Width, d.Height, MaxTile)
	}
	var out bytes.Buffer
	stream := zlib.NewWriter(&out)
	raw := make([]byte, len(cells))
	for i, c := range cells {
		raw[i] = byte(c)
	}
	if _, err := stream.Write(raw); err != nil {
		return fmt.Errorf("iface: deflating a map tile: %w", err)
	}
	if err := stream.Close(); err != nil {
		return fmt.Errorf("iface: deflating a map tile: %w", err)
	}
	d.Data = d.Data[:0]
	for _, b := range out.Bytes() {
		d.Data = append(d.Data, int8(b))
	}
	return nil
}

// int8Reader reads cells as the bytes that they are on the wire.
type int8Reader struct{ rest []int8 }

func (r *int8Reader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := min(len(p), len(r.rest))
	for i, c := range r.rest[:n] {
		p[i] = byte(c)
	}
	r.rest = r.rest[n:]
	return n, nil
}
