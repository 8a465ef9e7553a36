//go:build !amd64

package sim

var vectors = false

func setOut(*bundle, *[lanes]float64, *[lanes]float64, *field) { panic("no vectors") }

func walkBundles(*bundle, int, *field) { panic("no vectors") }
