package link

import (
	"context"
	"fmt"
	"time"

	"callboard/bridge/overlay"
	"callboard/player/deadline"
)

// Votes is the witness of pairs of brokers. What its callers say is messages of
// package standby, as they are written.
type Votes interface {
	// Serve answers one side of a pair until its connection ends.
	Serve(pair overlay.BrokerID, side string, takeOverAfter time.Duration, m *Vote)
}

// maxVote is how long a message between a side and its witness may be, in bytes.
const maxVote = 4096

// voteSilence ends a connection on which nothing comes: a side speaks each T.
const voteSilence = 10 * time.Second

// Vote is a connection between a side of a pair and its witness.
type Vote struct {
	o   *opening
	buf []byte
}

// Read returns the next message. It is valid until the next call.
func (v *Vote) Read() ([]byte, error) {
	v.o.raw.SetReadDeadline(time.Now().Add(voteSilence))
	_, content, err := readPiece(v.o.r, v.buf, func(kind byte) int {
		if kind == pieceVote {
			return maxVote
		}
		return -1
	})
	v.buf = content
	return content, err
}

// Write sends a message.
func (v *Vote) Write(message []byte) error {
	if len(message) > maxVote {
		return fmt.Errorf("a message of %d bytes for a witness; expected up to %d", len(message), maxVote)
	}
	v.o.raw.SetWriteDeadline(time.Now().Add(voteSilence))
	_, err := v.o.conn.Write(endPiece(append(beginPiece(nil, pieceVote), message...), 0))
	return err
}

// Close ends the connection.
func (v *Vote) Close() error { return v.o.raw.Close() }

// vote serves a side of a pair.
func (l *Links) vote(ctx context.Context, o *opening, h hello) {
	o.raw.SetDeadline(time.Time{})
	defer context.AfterFunc(ctx, func() { o.raw.Close() })()
	l.cfg.Votes.Serve(overlay.BrokerID(h.ID), h.Side, time.Duration(h.TakeOverAfter)*time.Microsecond, &Vote{o: o})
}

// Call connects one side of a pair with its witness. Of the configuration it takes
// Self, Transport, Registry and Handshake.
func Call(ctx context.Context, cfg Config, witness Neighbour, side string, takeOverAfter time.Duration) (*Vote, error) {
	cfg.Handler = nobody{}
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	l := &Links{cfg: cfg, side: side, takeOverAfter: takeOverAfter}
	raw, err := cfg.Transport.Dial(ctx, witness.Address)
	if err != nil {
		return nil, err
	}
	conn := deadline.New(raw)
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	o, err := l.open(ctx, conn, true)
	if err == nil {
		_, err = o.greet(l, witness, 0)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	conn.SetDeadline(time.Time{})
	return &Vote{o: o}, nil
}

// nobody has no sessions.
type nobody struct{}

func (nobody) Up(overlay.BrokerID, uint64)                       {}
func (nobody) Frame(overlay.BrokerID, uint64, []overlay.Message) {}
func (nobody) Down(overlay.BrokerID, uint64)                     {}
