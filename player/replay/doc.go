// Package replay serves recorded runs as Player's own reader of logs (readlog)
// does: as Drivers of player/server, one for each Player server of the
// recording, on one time line. See DESIGN.md.
package replay
