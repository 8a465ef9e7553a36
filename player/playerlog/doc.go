// Package playerlog reads and writes Player's log files: text, one message a
// line, as Player's writelog driver writes and its readlog driver replays them
// (file version 0.3.0). Reading streams with constant memory, also from gzip.
package playerlog
