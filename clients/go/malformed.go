package callboard

import (
	"errors"
	"fmt"

	"callboard/subscribe/protocol"
)

// maxNumber is the highest number that the protocol counts to: every program's
// JSON has those up to it.
const maxNumber = 1<<53 - 1

// What the client counts with is checked before it does. An error ends the
// connection: what comes behind it has no place any more.

// decode reads a message of a broker.
func decode[T any](text []byte, into *T, check func(*T) error) error {
	if err := protocol.Unmarshal(text, into); err != nil {
		return err
	}
	return check(into)
}

func checkNotify(n *protocol.Notify) error {
	switch {
	case n.Source == "":
		return errNoSource
	case n.Seq == 0 || n.Seq > maxNumber:
		return fmt.Errorf("seq is %d or missing; expected a number from 1 to %d", n.Seq, uint64(maxNumber))
	case n.Skipped >= n.Seq:
		return fmt.Errorf("skipped is %d; expected a number below seq, which is %d", n.Skipped, n.Seq)
	}
	if n.Index < 0 || n.Index > maxIndex {
		return fmt.Errorf("index is %d; expected a number from 0 to %d", n.Index, maxIndex)
	}
	for i := range n.Subscriptions {
		if n.Subscriptions[i].ID == "" {
			return fmt.Errorf("subscriptions[%d] has no id; expected text", i)
		}
	}
	return nil
}

func checkReply(r *reply) error {
	if r.ID == "" && r.Key == "" || r.OK == nil { // a broker may not know the id of a task any more
		return errors.New("no id and no key, or no ok; expected text, and true or false")
	}
	return nil
}

func checkGap(g *protocol.Gap) error {
	switch {
	case g.Source == "":
		return errNoSource
	case g.From == 0 || g.From > maxNumber:
		return fmt.Errorf("from is %d or missing; expected a number from 1 to %d", g.From, uint64(maxNumber))
	case g.To != nil && (*g.To < g.From || *g.To > maxNumber):
		return fmt.Errorf("to is %d; expected a number from from, which is %d, to %d", *g.To, g.From, uint64(maxNumber))
	}
	return nil
}

func checkWelcome(w *protocol.Welcome) error {
	switch {
	case w.Session == "":
		return errors.New("no session; expected text")
	case w.Broker == "":
		return errors.New("no broker; expected text")
	case !(w.Heartbeat > 0 && w.Heartbeat <= maxHeartbeat):
		return fmt.Errorf("heartbeat is %v; expected seconds up to %d", w.Heartbeat, maxHeartbeat)
	}
	if err := checkTerm(w.Term); err != nil {
		return err
	}
	return checkAttachment(&w.Attachment)
}

func checkTerm(term uint64) error {
	if term > maxNumber {
		return fmt.Errorf("term is %d; expected a number up to %d", term, uint64(maxNumber))
	}
	return nil
}

func checkTask(m *protocol.Task) error {
	if m.ID == "" || m.Task == "" {
		return errors.New("no task, or no id; expected text")
	}
	return nil
}

func checkAccepted(m *protocol.Accepted) error {
	if m.Ahead > maxNumber {
		return fmt.Errorf("ahead is %d; expected a number up to %d", m.Ahead, uint64(maxNumber))
	}
	return nil
}

// checkAttachment looks at one that a broker tells; the next hello takes a higher.
func checkAttachment(a *uint64) error {
	if a != nil && *a >= maxNumber {
		return fmt.Errorf("attachment is %d; expected a number below %d", *a, uint64(maxNumber))
	}
	return nil
}

func checkError(e *protocol.Error) error {
	if e.Code == "" {
		return errors.New("no code; expected text")
	}
	return checkAttachment(e.Attachment)
}

func checkSubscribed(s *protocol.Subscribed) error {
	if s.ID == "" {
		return errors.New("no id; expected text")
	}
	for _, source := range s.Sources {
		if source == "" {
			return errNoSource
		}
	}
	if s.Robots < 0 || uint64(s.Robots) > maxNumber {
		return fmt.Errorf("robots is %d; expected a number from 0 to %d", s.Robots, uint64(maxNumber))
	}
	return nil
}

func checkRobot(r *protocol.Robot) error {
	if r.Robot == "" || r.State == "" {
		return fmt.Errorf("robot is %q and state %q; expected text", r.Robot, r.State)
	}
	if r.Lost != nil && *r.Lost > maxNumber {
		return fmt.Errorf("lost is %d; expected a number from 0 to %d", *r.Lost, uint64(maxNumber))
	}
	return nil
}

// maxIndex bounds a device's index: Player's have 16 bits.
const maxIndex = 1<<16 - 1

// maxHeartbeat bounds a broker's, in s: silence of three is taken.
const maxHeartbeat = 3600

var (
	errNoOp     = errors.New("no op; expected text")
	errNoSource = errors.New("no source; expected text")
)
