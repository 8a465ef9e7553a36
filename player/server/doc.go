// Package server serves Player's TCP protocol from Drivers: the simulator,
// recorded runs, the gateway, fakes in tests. Unmodified Player clients and
// our own player/client cannot tell it from a Player server, except that it is
// kinder where the real one hangs or crashes; DESIGN.md lists where.
package server
