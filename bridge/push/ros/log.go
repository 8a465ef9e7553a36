package ros

// Levels of a rosgraph_msgs/Log.
const (
	LogInfo  uint8 = 2
	LogWarn  uint8 = 4
	LogError uint8 = 8
)

// AppendLog appends a rosgraph_msgs/Log.
func AppendLog(b []byte, f Format, now Stamp, level uint8, node, message string) []byte {
	e := Begin(b, f)
	e.Begin("header")
	e.Uint32("seq", 0)
	e.Time("stamp", now)
	e.String("frame_id", "")
	e.End()
	e.Uint8("level", level)
	e.String("name", node)
	e.String("msg", message)
	e.String("file", "")
	e.String("function", "")
	e.Uint32("line", 0)
	e.Strings("topics", nil)
	return e.Bytes()
}

// AppendClock appends a rosgraph_msgs/Clock.
func AppendClock(b []byte, f Format, now Stamp) []byte {
	e := Begin(b, f)
	e.Time("clock", now)
	return e.Bytes()
}
