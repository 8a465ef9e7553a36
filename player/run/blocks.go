package run

import (
	"io"
	"sync/atomic"

	"callboard/player"
	"callboard/player/playerlog"
	"callboard/player/problem"
)

// Choice is what is to be made of the messages of an interface.
type Choice = playerlog.Choice

// Choices.
const (
	Whole      = playerlog.Whole      // the message
	HeaderOnly = playerlog.HeaderOnly // the message with a nil Payload, unless that tells a device's geometry
	Nothing    = playerlog.Nothing    // it is passed over: neither its device nor its faults are told
)

// BlockOptions say what of a run to read by blocks.
type BlockOptions struct {
	// Choose says what to make of an interface's messages; nil: all are Whole.
	// It is called from several goroutines.
	Choose func(player.Interface) Choice
}

// Blocks reads a run as Reader does, by blocks, so that several processors can
// read at the same time: one goroutine takes the blocks in order (Next), any
// of several parses each (Block.Parse), one returns their records in order
// (Records).
//
//	for blocks.Next(b) == nil {
//		b.Parse()
//		blocks.Records(b, give)
//	}
type Blocks struct {
	choose func(player.Interface) Choice
	read   readCounter // of a log
	cutter *playerlog.Cutter
	source *logSource
	lines  blockLines
	line   int   // of the log, of the block that comes next
	start  int64 // byte of it
	mcap   *mcapSource
	at     atomic.Int64 // of an MCAP file: byte that was read up to
}

// Block is a part of a run. What Records returns of it is valid until it is
// filled again.
type Block struct {
	log    playerlog.Block
	mcap   mcapBlock
	packed bool // it is of an MCAP file
	choose func(player.Interface) Choice
}

// Blocks begins to read the run by blocks.
func (f *File) Blocks(o BlockOptions) (*Blocks, error) {
	if o.Choose == nil {
		o.Choose = func(player.Interface) Choice { return Whole }
	}
	b := &Blocks{choose: o.Choose, line: 1, read: readCounter{r: f.raw()}}
	var err error
	if f.format == MCAP {
		b.mcap, err = newMCAPSource(f, Options{})
		return b, err
	}
	if b.source, err = foreseen(f, Options{}); err != nil {
		return nil, err
	}
	b.lines.remark = b.source.remark
	b.source.lines = &b.lines
	b.cutter, err = playerlog.NewCutter(playerlog.ReaderConfig{R: &b.read, Name: f.name})
	return b, err
}

// Next fills a block with what comes next. io.EOF is the end, anything else an
// error that ends the reading.
func (b *Blocks) Next(k *Block) error {
	k.choose, k.packed = b.choose, b.mcap != nil
	if b.mcap != nil {
		err := b.mcap.fill(&k.mcap)
		offset, _ := b.mcap.in.Offset()
		b.at.Store(max(b.at.Load(), offset))
		return err
	}
	return b.cutter.Next(&k.log)
}

// Close frees what reading holds beside memory, when Next is called no more.
func (b *Blocks) Close() {
	if b.mcap != nil {
		b.mcap.close()
	}
}

// Consumed returns how many of the file's bytes were read so far, about. Safe
// for concurrent use.
func (b *Blocks) Consumed() int64 {
	if b.mcap != nil {
		return b.at.Load()
	}
	return b.read.n.Load()
}

// readCounter counts what is read of r.
type readCounter struct {
	r io.Reader
	n atomic.Int64
}

func (c *readCounter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// Parse reads what the block holds.
func (k *Block) Parse() {
	if k.packed {
		k.mcap.parse(k.choose)
	} else {
		k.log.Parse(k.choose)
	}
}

// Size is how many unpacked bytes of the run the block has.
func (k *Block) Size() int {
	if k.packed {
		return len(k.mcap.text)
	}
	return k.log.Size()
}

// Records returns a parsed block's records in order, each valid during the call
// but for what it points to, or a Problem. Blocks must come in the order in
// which Next filled them.
func (b *Blocks) Records(k *Block, give func(*Record, *problem.Problem)) {
	if b.mcap != nil {
		b.mcap.records(&k.mcap, give)
		return
	}
	b.line, b.start = k.log.Place(b.line, b.start)
	b.lines.begin(&k.log)
	for {
		rec, err := b.source.next()
		if err == io.EOF {
			return
		}
		if p, ok := err.(*problem.Problem); ok {
			give(nil, p)
			continue
		}
		give(rec, nil)
	}
}

// blockLines returns the messages of a block; io.EOF is its end.
type blockLines struct {
	block    *playerlog.Block
	messages []playerlog.Line
	remarks  []playerlog.Remark
	problems []*problem.Problem
	remark   func([]byte) error
}

func (l *blockLines) begin(b *playerlog.Block) {
	l.block, l.messages, l.remarks, l.problems = b, b.Messages(), b.Remarks(), b.Problems()
}

// Next returns what stands in the next line that has something.
func (l *blockLines) Next() (*playerlog.Line, error) {
	for {
		switch {
		case len(l.remarks) > 0 && l.before(l.remarks[0].Number):
			r := &l.remarks[0]
			l.remarks = l.remarks[1:]
			if err := l.remark(r.Text); err != nil {
				return nil, l.block.Fault(r, err.Error())
			}
		case len(l.problems) > 0 && l.before(l.problems[0].Line):
			p := l.problems[0]
			l.problems = l.problems[1:]
			return nil, p
		case len(l.messages) > 0:
			m := &l.messages[0]
			l.messages = l.messages[1:]
			return m, nil
		default:
			return nil, io.EOF
		}
	}
}

// before reports whether a line stands before all others that are left.
func (l *blockLines) before(line int) bool {
	return (len(l.messages) == 0 || line < l.messages[0].Number) &&
		(len(l.problems) == 0 || line <= l.problems[0].Line) &&
		(len(l.remarks) == 0 || line <= l.remarks[0].Number)
}
