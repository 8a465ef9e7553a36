package view

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestNarrow holds what is printed of a float32's value against strconv.
func TestNarrow(t *testing.T) {
	taken, random := 0, rand.New(rand.NewPCG(1, 2))
	hold := func(f float64) {
		t.Helper()
		got, ok := appendNarrow([]byte("x"), f)
		if !ok {
			if string(got) != "x" {
				t.Fatalf("%v: %q was appended and not taken", f, got)
			}
			return
		}
		taken++
		if want := "x" + strconv.FormatFloat(f, 'f', -1, 64); string(got) != want {
			t.Fatalf("%b: %s, expected %s", f, got, want)
		}
	}
	for _, f := range []float64{0.1, 0.3, 0.5, 0.75, 1, 1.5, 2.25, 7.999999, 8, 9.999999, 10.000001, 99.99999, 100.00001, 999.9999, 1000.0001, 1023.9999, 1024, 0.001, 0.00097656255, 1e-7, math.Pi, math.Inf(1), math.NaN(), 0} {
		for range 2 {
			hold(f)
			hold(-f)
			f = float64(float32(f))
		}
	}
	for bits := range uint32(1 << 16) { // all exponents, few digits
		hold(float64(math.Float32frombits(bits << 16)))
	}
	for range 300_000 {
		hold(float64(math.Float32frombits(random.Uint32())))
		hold(float64(float32(random.Float64() * 100)))
		hold(float64(float32(math.Round(random.Float64()*1e5) / 1e3))) // of a log's three places
	}
	if taken < 500_000 {
		t.Errorf("only %d were taken", taken)
	}
}

// Each part is right for all its values: the first four digits and the last.
func TestEightDigits(t *testing.T) {
	for n := range uint64(10000) {
		for _, n := range []uint64{n, n * 10000, n*10000 + 9999, 99990000 + n} {
			got := binary.LittleEndian.AppendUint64(nil, eightDigits(n))
			if want := fmt.Sprintf("%08d", n); string(got) != want {
				t.Fatalf("%q, expected %q", got, want)
			}
		}
	}
}

func BenchmarkAppendFloats(b *testing.B) {
	fs := make([]float64, 181)
	for i := range fs {
		fs[i] = float64(float32(1.5 + math.Sin(float64(i)/7)))
	}
	for name, appendAll := range map[string]func([]byte, []float64) []byte{
		"ours": AppendFloats,
		"strconv": func(dst []byte, fs []float64) []byte {
			for _, f := range fs {
				dst = append(strconv.AppendFloat(dst, f, 'f', -1, 64), ',')
			}
			return dst
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = appendAll(buf[:0], fs)
			}
		})
	}
}
