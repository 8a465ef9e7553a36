//go:build !quick

package main

// quick says that this build leaves something out; see quick.go.
const quick = false
