package playerlog_test

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"testing"

	"callboard/player/playerlog"
)

// BenchmarkRead reads a log of lasers, sonars and positions, beside a plain
// loop that cuts the same text at blanks and calls ParseFloat.
func BenchmarkRead(b *testing.B) {
	text, err := os.ReadFile(logs + "/two-robots-laser-sonar.log")
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.Count(text, []byte("\n"))
	report := func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		b.ReportMetric(float64(lines*b.N)/b.Elapsed().Seconds(), "lines/s")
	}
	b.Run("playerlog", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r := reader(b, "x", bytes.NewReader(text))
			for {
				if _, err := r.Next(); err == io.EOF {
					break
				} else if err != nil {
					b.Fatal(err)
				}
			}
		}
		report(b)
	})
	b.Run("blocks", func(b *testing.B) {
		b.ReportAllocs()
		block := new(playerlog.Block)
		for b.Loop() {
			c, err := playerlog.NewCutter(playerlog.ReaderConfig{R: bytes.NewReader(text)})
			if err != nil {
				b.Fatal(err)
			}
			for c.Next(block) == nil {
				block.Parse(nil)
			}
		}
		report(b)
	})
	b.Run("plain loop", func(b *testing.B) {
		values := make([]float64, 0, 400)
		for b.Loop() {
			for line := range bytes.Lines(text) {
				values = values[:0]
				for token := range bytes.FieldsSeq(line) {
					if v, err := strconv.ParseFloat(string(token), 64); err == nil {
						values = append(values, v)
					}
				}
			}
		}
		report(b)
	})
}

// BenchmarkWrite writes what was read.
func BenchmarkWrite(b *testing.B) {
	text, err := os.ReadFile(logs + "/beta-laser-odom.log")
	if err != nil {
		b.Fatal(err)
	}
	r := reader(b, "x", bytes.NewReader(text))
	l := new(playerlog.Line)
	for l.Number < 12 { // a scan
		if l, err = r.Next(); err != nil {
			b.Fatal(err)
		}
	}
	w, err := playerlog.NewWriter(playerlog.WriterConfig{W: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(l.Header, l.Payload); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}
