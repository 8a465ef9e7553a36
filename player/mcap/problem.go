package mcap

import "fmt"

// Problem is a fault in a file: where, what is wrong and what is expected.
// Reading can go on after it.
type Problem struct {
	File    string
	Offset  int64 // byte of the file
	Within  int64 // byte of the unpacked records of the chunk at Offset; -1: not in a chunk
	Message string
	// Cut tells that the file ends early, as when its writer was stopped: what
	// came before is whole.
	Cut bool
}

// Error gives file: byte offset: message.
func (p *Problem) Error() string {
	if p.Within < 0 {
		return fmt.Sprintf("%s: byte %d: %s", p.File, p.Offset, p.Message)
	}
	return fmt.Sprintf("%s: byte %d: %s (at byte %d of the chunk's records)", p.File, p.Offset, p.Message, p.Within)
}
