//go:build !unix

package bench

// maxMemory is not known here.
func maxMemory() int64 { return 0 }
