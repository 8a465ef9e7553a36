package sim

import "golang.org/x/sys/cpu"

// vectors reports whether the processor takes rays eight at a time.
var vectors = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512CD

// setOut makes the lanes of b rays from where f is, in given directions.
//
//go:noescape
func setOut(b *bundle, sin, cos *[lanes]float64, f *field)

// walkBundles follows the rays of n bundles to their ends.
//
//go:noescape
func walkBundles(b *bundle, n int, f *field)
