package run

// draw
func (w *MCAPWriter) draw(rec *Record, c *deviceChannels, log, published uint64) error { return nil }

type drawnChannel struct{}
