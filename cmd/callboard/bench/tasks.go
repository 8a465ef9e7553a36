package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"callboard/bridge/benchtest"
)

// tasks measures requests that one program does for another.
func tasks() Workload {
	return Workload{
		Name:    "tasks",
		Summary: "requests between programs; beside NATS and plain sockets",
		About: `Measures requests and their answers between two programs of this process, through a
broker of its own process, in turn with others that do the same:

  declared      callboard serve, a queue that it declares: tasks and answers are stored
  passing       callboard serve, a queue that lives as long as its server
  JetStream     nats-server: a stream in files whose retention is a work queue, and a
                consumer that acknowledges each task. Answers go by NATS itself and
                are not stored
  NATS          nats-server: request and reply, nothing is stored
  sockets       no broker: one TCP connection, frames with a length and a number

Each request is text of so many bytes, and its answer the same. A server has up to
1,000 tasks in hand. The libraries are those of Go (clients/go, nats.go), as programs
use them: each request is a goroutine that waits for its answer. Parts:

  callers       100 to 5,000 requests at once of 256 bytes
  bodies        1,000 requests at once of 256 bytes to 10 kB
  crowd         50,000 requests at once of 256 bytes
  large         20 requests at once of 1 MiB, less 4 KiB for what is around them
  order         1,000 requests over one connection, none waiting for another's answer,
                by the protocols' own messages: does the server get them in order?
  hang          servers that take 1 ms for a task, with and without one more that
                never answers: what becomes of the others' tasks?

Each system has each case so many times, in turn with the others and in another order
each time. Figures are of its median turn. nats-server is looked for beside this
program and in PATH (make bench builds it); without it Callboard and sockets are
measured alone`,
		Examples: []string{
			"callboard bench tasks",
			"callboard bench tasks --only callers --rounds 5 --json",
		},
		Parameters: []Parameter{
			{"only", "`PART` to measure: callers, bodies, crowd, large, order or hang (default all)", ""},
			{"rounds", "`N` of turns that each system has in each case", 5},
			{"crowd", "`N` of requests at once in the part crowd", 50_000},
		},
		Run: func(ctx context.Context, v Values, report func(Result)) error {
			return measureTasks(ctx, v, servingTasks, report)
		},
	}
}

// taskSystem carries requests to a server, and answers back.
type taskSystem interface {
	// ask sends a request and returns its answer.
	ask(ctx context.Context, body []byte) ([]byte, error)
	// stream sends requests over one connection without waiting for their answers,
	// and returns the answers and the order in which the server got the requests.
	stream(ctx context.Context, bodies [][]byte) (answers, served [][]byte, err error)
	// stop ends it, and returns what went wrong before.
	stop() error
}

// namedSystem is a system with what it is called in figures.
type namedSystem struct {
	name string
	pid  int // of its broker's process; 0: it has none beside this one
	taskSystem
}

// processor returns what a system's broker and this process have used.
func (s *namedSystem) processor() time.Duration {
	used := processorTime()
	if s.pid != 0 {
		if more, err := benchtest.Processor(s.pid); err == nil {
			used += more
		}
	}
	return used
}

// broker is a broker that was started.
type broker struct {
	url  string
	pid  int // 0: in this process
	stop func() error
}

// taskCase is so many requests of a size.
type taskCase struct{ requests, size int }

func (c taskCase) String() string {
	return fmt.Sprintf("%s at once, %s", grouped(c.requests), byteCount(c.size))
}

func grouped(n int) string {
	text := strconv.Itoa(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func byteCount(n int) string {
	switch {
	case n >= 1<<19:
		return "1 MiB"
	case n >= 1024 && n%1024 == 0:
		return strconv.Itoa(n/1024) + " kB"
	}
	return strconv.Itoa(n) + " B"
}

// body returns the text of a request: JSON of so many bytes that begins with its number.
func (c taskCase) body(number int) []byte {
	text := fmt.Sprintf(`"%d `, number)
	return []byte(text + strings.Repeat("x", max(0, c.size-len(text)-1)) + `"`)
}

// largest is what fits into one message of 1 MiB beside what is around it.
const largest = 1<<20 - 4<<10

// taskParts are the parts of the workload that are cases, in their order.
func taskParts(v Values) []struct {
	name  string
	cases []taskCase
} {
	return []struct {
		name  string
		cases []taskCase
	}{
		{"callers", []taskCase{{100, 256}, {500, 256}, {1000, 256}, {2000, 256}, {5000, 256}}},
		{"bodies", []taskCase{{1000, 256}, {1000, 512}, {1000, 1 << 10}, {1000, 5 << 10}, {1000, 10 << 10}}},
		{"crowd", []taskCase{{v.Int("crowd"), 256}}},
		{"large", []taskCase{{20, largest}}},
	}
}

// startTasks starts callboard serve with a configuration.
type startTasks func(ctx context.Context, config string) (*broker, error)

func measureTasks(ctx context.Context, v Values, start startTasks, report func(Result)) (err error) {
	only := v.Text("only")
	for _, name := range []string{"rounds", "crowd"} {
		if v.Int(name) < 1 {
			return fmt.Errorf("--%s is %d, expected at least 1", name, v.Int(name))
		}
	}
	dir, err := os.MkdirTemp("", "callboard-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	all, stop, err := startTaskSystems(ctx, dir, start)
	defer func() { err = errors.Join(err, stop()) }()
	if err != nil {
		return err
	}
	known := false
	for _, part := range taskParts(v) {
		if only != "" && only != part.name {
			continue
		}
		known = true
		for _, c := range part.cases {
			if err := c.measure(ctx, all, v.Int("rounds"), report); err != nil {
				return fmt.Errorf("%s: %w", c, err)
			}
		}
	}
	if only == "" || only == "order" {
		known = true
		if err := measureOrder(ctx, all, report); err != nil {
			return err
		}
	}
	if only == "" || only == "hang" {
		known = true
		if err := measureHang(ctx, all, v.Int("rounds"), report); err != nil {
			return err
		}
	}
	if !known {
		return fmt.Errorf("--only is %q, expected callers, bodies, crowd, large, order or hang", only)
	}
	return nil
}

// turn is what a system was seen to do in one case.
type turn struct {
	right     int
	rate      float64 // requests a second
	p50, p99  time.Duration
	processor time.Duration // of a request
}

// measure has each system do a case in turn, after one turn to warm up, and reports the
// median turns.
func (c taskCase) measure(ctx context.Context, all []namedSystem, rounds int, report func(Result)) error {
	turns := make([][]turn, len(all))
	bodies := make([][]byte, c.requests)
	for i := range bodies {
		bodies[i] = c.body(i)
	}
	for round := range rounds + 1 {
		for i := range all {
			at := (i + round) % len(all)
			t, err := c.run(ctx, all[at], bodies)
			if err != nil {
				return fmt.Errorf("%s: %w", all[at].name, err)
			}
			if round > 0 {
				turns[at] = append(turns[at], t)
			}
		}
	}
	medians := map[string]turn{}
	for i, s := range all {
		m := median(turns[i])
		medians[s.name] = m
		name := s.name + ", " + c.String()
		report(Result{Case: name, Metric: "answered right", Value: 100 * float64(m.right) / float64(c.requests), Unit: "%"})
		report(Result{Case: name, Metric: "requests", Value: m.rate, Unit: "1/s"})
		report(Result{Case: name, Metric: "p50", Value: m.p50.Seconds() * 1e3, Unit: "ms"})
		report(Result{Case: name, Metric: "p99", Value: m.p99.Seconds() * 1e3, Unit: "ms"})
		report(Result{Case: name, Metric: "processor time", Value: m.processor.Seconds() * 1e6, Unit: "us"})
	}
	for _, pair := range [][2]string{{declaredName, jetStreamName}, {passingName, natsName}} {
		ours, theirs := medians[pair[0]], medians[pair[1]]
		if theirs.rate > 0 {
			name := pair[0] + " / " + pair[1] + ", " + c.String()
			report(Result{Case: name, Metric: "requests", Value: ours.rate / theirs.rate, Unit: "ratio"})
			report(Result{Case: name, Metric: "p99", Value: float64(ours.p99) / float64(theirs.p99), Unit: "ratio"})
			report(Result{Case: name, Metric: "processor time", Value: float64(ours.processor) / float64(theirs.processor), Unit: "ratio"})
		}
	}
	return nil
}

// median returns the turn of the median rate, with the worst share that was right, and
// the median processor time.
func median(turns []turn) turn {
	worst := slices.MinFunc(turns, func(a, b turn) int { return a.right - b.right }).right
	slices.SortFunc(turns, func(a, b turn) int { return int(a.rate - b.rate) })
	m := turns[len(turns)/2]
	m.right = worst
	slices.SortFunc(turns, func(a, b turn) int { return int(a.processor - b.processor) })
	m.processor = turns[len(turns)/2].processor
	return m
}

// run has all requests of a case asked for at once.
func (c taskCase) run(ctx context.Context, s namedSystem, bodies [][]byte) (turn, error) {
	var asking sync.WaitGroup
	took := make([]time.Duration, len(bodies))
	errs := make([]error, len(bodies))
	used, began := s.processor(), time.Now()
	for i, body := range bodies {
		asking.Go(func() {
			answer, err := s.ask(ctx, body)
			took[i] = time.Since(began)
			if err == nil && string(answer) != string(body) {
				err = fmt.Errorf("request %d is answered by %.40q", i, answer)
			}
			errs[i] = err
		})
	}
	asking.Wait()
	t := turn{rate: float64(len(bodies)) / time.Since(began).Seconds(), processor: (s.processor() - used) / time.Duration(len(bodies))}
	for _, err := range errs {
		if err == nil {
			t.right++
		}
	}
	slices.Sort(took)
	t.p50, t.p99 = quantile(took, 0.5), quantile(took, 0.99)
	if t.right == 0 {
		return t, errors.Join(errs[0], ctx.Err())
	}
	return t, ctx.Err()
}
