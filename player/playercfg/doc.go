// Package playercfg reads Player's configuration files (.cfg): which drivers
// a server runs, which devices they provide on which ports, with which
// options, and so which robots there are. Nothing is opened but through
// Config.Open, and problems come with file, line and column.
package playercfg
