package callboard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"callboard/subscribe/protocol"
)

// requestPrefix begins the ids of commands and lists, which share the ids of
// subscriptions in replies and errors.
const requestPrefix = "~"

// request is a command or list that waits for its reply.
type request struct {
	conn   *connection
	answer chan answer // cap 1
}

// Command sends a command to a robot and returns the result (JSON, may be
// empty). It waits for a broker; a connection that is lost before the answer
// is ErrLost, since a command is never sent twice; unless it has a Key: then it is
// carried out once, over as many connections as it takes.
func (c *Client) Command(ctx context.Context, command Command) (json.RawMessage, error) {
	command.Op = protocol.OpCommand
	if command.Key != "" {
		return c.commandOnce(ctx, command)
	}
	return c.request(ctx, func(id string) any {
		command.ID = id
		return command
	})
}

// List asks for "robots", "brokers" or "subscriptions": JSON, as GET
// /api/robots and its kin give it.
func (c *Client) List(ctx context.Context, what string) (json.RawMessage, error) {
	for {
		result, err := c.request(ctx, func(id string) any {
			return protocol.List{Op: protocol.OpList, ID: id, What: what}
		})
		if errors.Is(err, ErrLost) {
			continue // asking twice does no harm
		}
		return result, err
	}
}

// request sends a message once attached and waits for its reply.
func (c *Client) request(ctx context.Context, message func(id string) any) (json.RawMessage, error) {
	r := &request{answer: make(chan answer, 1)}
	id, err := c.sendRequest(ctx, r, message)
	if err != nil {
		return nil, err
	}
	select {
	case a := <-r.answer:
		return a.result, a.err
	case <-ctx.Done():
		c.mu.Lock()
		c.finishRequest(id, answer{err: ctx.Err()})
		c.mu.Unlock()
		return nil, fmt.Errorf("callboard: waiting for the broker's answer: %w", ctx.Err())
	}
}

func (c *Client) sendRequest(ctx context.Context, r *request, message func(id string) any) (string, error) {
	for {
		c.mu.Lock()
		if c.ended {
			defer c.mu.Unlock()
			return "", c.closedError()
		}
		if c.conn != nil {
			defer c.mu.Unlock()
			c.nextID++
			id := requestPrefix + strconv.FormatUint(c.nextID, 10)
			m := message(id)
			if err := checkSize(m); err != nil {
				return "", err
			}
			r.conn = c.conn
			c.requests[id] = r
			c.conn.requests++
			return id, c.conn.send(m)
		}
		attached := c.attached
		c.mu.Unlock()
		select {
		case <-attached:
		case <-c.done:
		case <-ctx.Done():
			return "", fmt.Errorf("callboard: waiting for a broker: %w", ctx.Err())
		}
	}
}

// reply is protocol.Reply, whose result is the program's.
type reply struct {
	ID     string              `json:"id"`
	Key    string              `json:"key"`
	OK     *bool               `json:"ok"`
	Result json.RawMessage     `json:"result"`
	Error  *protocol.ErrorInfo `json:"error"`
}

// takeReply answers an unsubscribe, command or list.
func (c *Client) takeReply(conn *connection, text []byte) error {
	var r reply
	if err := decode(text, &r, checkReply); err != nil {
		return err
	}
	if r.Key != "" {
		return c.takeAnswer(conn, &r)
	}
	a := answer{result: r.Result}
	if !*r.OK {
		a.err = r.problem()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.finishRequest(r.ID, a) || c.conn != conn {
		return c.current(conn)
	}
	return c.settle(func() {
		if e := c.entries[r.ID]; e != nil && e.ending() {
			// not_found is what was asked for, too.
			c.remove(r.ID)
			e.finish(answer{})
		}
	})
}

// finishRequest answers a command or list; false if there is none. A
// connection that was kept for it alone ends. mu is held.
func (c *Client) finishRequest(id string, a answer) bool {
	r := c.requests[id]
	if r == nil {
		return false
	}
	delete(c.requests, id)
	r.answer <- a
	if r.conn.requests--; r.conn.requests == 0 && c.conn != r.conn {
		r.conn.finish()
	}
	return true
}

// closedError answers calls after the end. mu is held.
func (c *Client) closedError() error {
	if c.err != nil {
		return fmt.Errorf("%w: %w", ErrClosed, c.err)
	}
	return ErrClosed
}

// checkSize refuses what the broker would close the connection for.
func checkSize(message any) error {
	text, err := encode(message)
	if err != nil {
		return err
	}
	return checkLength(text)
}

func checkLength(text []byte) error {
	if len(text) > protocol.MaxMessage {
		return fmt.Errorf("callboard: a message of %d bytes, the limit is %d", len(text), protocol.MaxMessage)
	}
	return nil
}
