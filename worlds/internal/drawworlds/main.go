// Command drawworlds draws the floor plans of the bundled worlds into the
// folder that it is run in.
package main

import (
	"fmt"
	"image"
	"image/png"
	"os"

	"callboard/worlds/internal/draw"
)

func main() {
	for name, plan := range draw.Plans() {
		if err := write(name, plan); err != nil {
			fmt.Fprintln(os.Stderr, "drawworlds:", err)
			os.Exit(1)
		}
	}
}

func write(name string, plan *image.Paletted) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	enc := png.Encoder{CompressionLevel: png.BestCompression}
	if err := enc.Encode(f, plan); err != nil {
		f.Close()
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return f.Close()
}
