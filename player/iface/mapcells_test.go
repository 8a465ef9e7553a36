package iface_test

import (
	"bytes"
	"compress/zlib"
	"slices"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"
)

// cellsOf pastes the tiles that a client got into a map of its size, as the
// client library does, and returns it in runs of equal cells.
func cellsOf(t *testing.T, c *capture, width, height int) []any {
	grid := make([]int8, width*height)
	var cells []int8
	for _, m := range c.S2C {
		if m.Interf != player.InterfaceMap || m.Type != player.Ack || m.Subtype != iface.ReqMapGetData {
			continue
		}
		d := decode(t, m).(*iface.MapData)
		var err error
		if cells, err = d.Cells(cells); err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for i, v := range cells {
			col, row := int(d.Col)+i%int(d.Width), int(d.Row)+i/int(d.Width)
			if col < width && row < height {
				grid[row*width+col] = v
			}
		}
	}
	var runs []any
	for len(grid) > 0 {
		n := 1
		for n < len(grid) && grid[n] == grid[0] {
			n++
		}
		runs = append(runs, nums(float64(grid[0]), float64(n)))
		grid = grid[n:]
	}
	return runs
}

// A map of tiles is the one that the client library put together.
func TestMapsAsTheClientLibraryReadThem(t *testing.T) {
	for _, name := range []string{"g_map", "g_map_small"} {
		c := loadCapture(t, name)
		compared := 0
		for _, e := range c.Events {
			if e["op"] != "map_get" {
				continue
			}
			got := fields{"cells_rle": cellsOf(t, c, int(e["width"].(float64)), int(e["height"].(float64)))}
			if e["cells_rle"] == nil || !agrees(got, e) {
				t.Errorf("%s: cells are %v, the client library got %v", name, got["cells_rle"], e["cells_rle"])
			}
			compared++
		}
		if compared != 1 {
			t.Errorf("%s: %d maps compared, expected 1", name, compared)
		}
	}
}

func deflated(raw []byte) []int8 {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(raw)
	_ = w.Close()
	return signed(b.Bytes())
}

func signed(raw []byte) []int8 {
	out := make([]int8, len(raw))
	for i, v := range raw {
		out[i] = int8(v)
	}
	return out
}

func TestCells(t *testing.T) {
	six := []int8{-1, 0, 1, 1, 0, -1}
	sixBytes := []byte{255, 0, 1, 1, 0, 255}
	for _, test := range []struct {
		name          string
		width, height uint32
		data          []int8
		err           string
	}{
		{"deflated", 3, 2, deflated(sixBytes), ""},
		{"raw", 3, 2, six, ""},
		{"too few", 3, 3, deflated(sixBytes), "inflates to 6 cells, expected 3 × 3"},
		{"too many", 1, 2, deflated(sixBytes), "inflates to more than its 1 × 2 cells"},
		{"bomb", 1, 1, deflated(make([]byte, 64<<20)), "inflates to more than its 1 × 1 cells"},
		{"too large", 1 << 31, 1 << 31, deflated(sixBytes), "expected at most 8388608 cells"},
		{"raw, too few", 3, 3, six, "neither a zlib stream"},
		{"broken", 3, 2, deflated(sixBytes)[:7], "inflating a map tile of 3 × 2 cells"},
		{"wrong sum", 3, 2, append(deflated(sixBytes)[:12:12], 1, 2, 3, 4), "inflating"},
	} {
		d := &iface.MapData{Width: test.width, Height: test.height, Data: test.data}
		got, err := d.Cells(make([]int8, 100))
		switch {
		case test.err == "" && (err != nil || !slices.Equal(got, six)):
			t.Errorf("%s: %v, %v, expected %v", test.name, got, err, six)
		case test.err != "" && (err == nil || !strings.Contains(err.Error(), test.err)):
			t.Errorf("%s: error %v, expected %q in it", test.name, err, test.err)
		}
	}
}

// What SetCells deflates, Cells inflates.
func TestSetCells(t *testing.T) {
	d := &iface.MapData{Width: 50, Height: 40, DataRange: 1}
	cells := make([]int8, 2000)
	for i := range cells {
		cells[i] = int8(i*i%3) - 1
	}
	if err := d.SetCells(cells); err != nil {
		t.Fatal(err)
	}
	got, err := d.Cells(nil)
	if err != nil || !slices.Equal(got, cells) || len(d.Data) >= len(cells) {
		t.Errorf("%d bytes give %d cells: %v", len(d.Data), len(got), err)
	}
	if err := d.SetCells(cells[1:]); err == nil || !strings.Contains(err.Error(), "1999 cells for a map tile of 50 × 40") {
		t.Errorf("one cell too few: %v", err)
	}
}
