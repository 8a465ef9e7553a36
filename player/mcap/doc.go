// Package mcap reads and writes MCAP files (https://mcap.dev): messages of
// many channels with their times, in compressed chunks, with an index behind
// them. It knows the container only; what callboard records in one is in
// package run.
package mcap
