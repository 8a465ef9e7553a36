package player

import (
	"strconv"
	"strings"
)

// twinPrefix begins the driver's name of a twin.
const twinPrefix = "twin of "

// TwinDriver is the driver's name of a twin: a device that shows what another
// device of its server shows, in the messages of another interface. Programs that
// know only one of the interfaces find theirs; whoever reads both gets everything
// twice.
func TwinDriver(of Addr) string { return twinPrefix + of.String() }

// TwinOf returns the device that one with a driver of this name shows once more;
// false: it is no twin.
func TwinOf(driver string) (Addr, bool) {
	of, ok := strings.CutPrefix(driver, twinPrefix)
	name, digits, _ := strings.Cut(of, ":")
	interf, known := ParseInterface(name)
	index, err := strconv.ParseUint(digits, 10, 16)
	return Addr{Interf: interf, Index: uint16(index)}, ok && known && err == nil
}
