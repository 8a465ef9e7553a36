// Package playertest helps tests that need a Player server. Three things:
//
//   - Load reads a capture: the bytes of one recorded connection of a real
//     client with a real Player server, and what a small separate parser made
//     of them.
//   - Play is a server on a loopback TCP port that behaves as the recorded one
//     did: it answers requests from the recorded answers and delivers the
//     recorded readings in order, by PUSH or in PULL rounds.
//   - Fake is a server with a fault: absent, slow, cut in mid-message, garbage,
//     impossible sizes, never answering.
//
// It deliberately shares no code with player/server, player/client and
// player/xdr, so that a mistake in those does not cancel out in tests.
package playertest
