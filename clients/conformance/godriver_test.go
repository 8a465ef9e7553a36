//go:build linux

package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"time"

	callboard "callboard/clients/go"
)

// goDriver is the Go library's driver: see driver.
type goDriver struct {
	client *callboard.Client
	mu     sync.Mutex
	out    *json.Encoder
	held   chan struct{} // closed by release; nil: nothing holds the program up

	servers map[string]*callboard.Server // by queue
	inHand  map[string]*work             // by word
	asked   map[string]asking            // by tag
}

// settings are what a driver is told first.
type settings struct {
	Brokers        []string         `json:"brokers"`
	Client         string           `json:"client"`
	Anonymous      bool             `json:"anonymous"`
	Token          string           `json:"token"`
	Backoff        [2]float64       `json:"backoff"`
	ConnectTimeout float64          `json:"connect_timeout"`
	AckCount       int              `json:"ack_count"`
	AckDelay       float64          `json:"ack_delay"`
	QueueCount     int              `json:"queue_count"`
	Choose         []string         `json:"choose"`
	CBOR           bool             `json:"cbor"`
	Resume         *callboard.State `json:"resume"`
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

func drive() {
	lines := bufio.NewReader(os.Stdin)
	var s settings
	read := func(into any) bool {
		line, err := lines.ReadBytes('\n')
		return err == nil && json.Unmarshal(line, into) == nil
	}
	if !read(&s) {
		os.Exit(2)
	}
	d := &goDriver{
		out: json.NewEncoder(os.Stdout), servers: map[string]*callboard.Server{}, inHand: map[string]*work{}, asked: map[string]asking{},
	}
	config := callboard.Config{
		Brokers: s.Brokers, Client: s.Client, Anonymous: s.Anonymous, Token: s.Token, Resume: s.Resume,
		BackoffMin: seconds(s.Backoff[0]), BackoffMax: seconds(s.Backoff[1]), ConnectTimeout: seconds(s.ConnectTimeout),
		AckCount: s.AckCount, AckDelay: seconds(s.AckDelay), QueueCount: s.QueueCount, Handle: d.handle, CBOR: s.CBOR,
	}
	if s.Choose != nil {
		config.Choose = func(string, []callboard.Broker) []string { return s.Choose }
	}
	client, err := callboard.New(config)
	if err != nil {
		d.print(map[string]any{"end": err.Error()})
		return
	}
	d.client = client
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var calls sync.WaitGroup
	go func() {
		err := client.Run(ctx)
		calls.Wait()
		d.print(map[string]any{"end": code(err)})
		os.Exit(0)
	}()
	for {
		var c call
		if !read(&c) {
			return
		}
		switch c.Do {
		case "hold":
			d.mu.Lock()
			d.held = make(chan struct{})
			d.mu.Unlock()
			d.print(map[string]any{"result": c.Tag})
		case "release":
			close(d.held)
			d.print(map[string]any{"result": c.Tag})
		case "close":
			cancel()
		default:
			if c.Do == "request" { // so that what cancels it finds it
				ctx, cancel := context.WithCancel(context.Background())
				d.locked(func() { d.asked[c.Tag] = asking{ctx, cancel} })
			}
			calls.Go(func() { d.call(c) })
		}
	}
}

// call is what a driver is told to do.
type call struct {
	Tag  string          `json:"tag"`
	Do   string          `json:"do"`
	Args json.RawMessage `json:"args"`
}

func (d *goDriver) call(c call) {
	ctx := context.Background()
	var v any
	var err error
	switch c.Do {
	case "subscribe":
		v, err = d.client.Subscribe(ctx, args[callboard.Subscription](c))
	case "update":
		v, err = d.client.Update(ctx, args[callboard.Update](c))
	case "unsubscribe":
		err = d.client.Unsubscribe(ctx, args[struct{ ID string }](c).ID)
	case "command":
		v, err = d.client.Command(ctx, args[callboard.Command](c))
	case "list":
		v, err = d.client.List(ctx, args[struct{ What string }](c).What)
	case "move":
		err = d.client.Move(ctx, args[struct{ URL string }](c).URL)
	case "state":
		v = d.client.State()
	default:
		v, err = d.task(c)
	}
	result := map[string]any{"result": c.Tag, "value": v}
	if err != nil {
		about := map[string]any{"code": code(err), "message": err.Error()}
		if e, is := errors.AsType[*callboard.Error](err); is {
			about["position"] = e.Position
		}
		result = map[string]any{"result": c.Tag, "error": about}
	}
	d.print(result)
}

func args[T any](c call) (v T) {
	if err := json.Unmarshal(c.Args, &v); err != nil {
		panic(err)
	}
	return v
}

// code returns what kind of error it is.
func code(err error) string {
	for kind, known := range map[string]error{
		"aborted":    context.Canceled,
		"taken_over": callboard.ErrTakenOver, "lost": callboard.ErrLost, "overtaken": callboard.ErrOvertaken,
	} {
		if errors.Is(err, known) {
			return kind
		}
	}
	if e, is := errors.AsType[*callboard.Error](err); is {
		return string(e.Code)
	}
	switch {
	case err == nil:
		return ""
	case errors.Is(err, callboard.ErrClosed):
		return "closed"
	}
	return "unavailable"
}

func (d *goDriver) print(v any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.out.Encode(v)
}

func (d *goDriver) handle(event callboard.Event) {
	if name, v := named(event); name != "" {
		text, err := json.Marshal(v)
		fields := map[string]any{}
		if err == nil {
			err = json.Unmarshal(text, &fields)
		}
		if err != nil {
			panic(err)
		}
		fields["event"] = name
		d.print(fields)
	}
	d.mu.Lock()
	held := d.held
	d.mu.Unlock()
	if held != nil {
		<-held
	}
}

// named returns an event's name and its fields.
func named(event callboard.Event) (string, any) {
	switch e := event.(type) {
	case *callboard.Notification:
		return "notification", e.Notify
	case *callboard.Gap:
		return "gap", e.Gap
	case *callboard.Robot:
		return "robot", e.Robot
	case *callboard.Resubscribed:
		return "resubscribed", e.Subscribed
	case *callboard.Failure:
		return "failure", map[string]any{"id": e.ID, "code": e.Code, "message": e.Message, "position": e.Position, "ended": e.Ended}
	case *callboard.Fault:
		return "fault", map[string]any{"source": e.Source, "reason": e.Reason}
	case *callboard.Attached:
		return "attached", map[string]any{"url": e.URL, "broker": e.Broker, "session": e.Session, "attachment": e.Attachment, "resumed": e.Resumed}
	case *callboard.Stayed:
		return "stayed", map[string]any{"url": e.URL}
	case *callboard.Detached:
		return "detached", map[string]any{"url": e.URL}
	}
	return "", nil // of this library alone
}
