package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"callboard/bridge/benchtest"
	callboard "callboard/clients/go"
	processes "callboard/cmd/callboard/bench/network"
	"callboard/subscribe/protocol"
)

// taskSoak is programs that ask each other for tasks of two declared queues.
type taskSoak struct {
	seed  uint64
	least time.Duration // how long they ask at least
	tasks int64         // and for how many
	log   func(format string, args ...any)

	begun atomic.Int64
	mu    sync.Mutex
	did   map[string]int // by body: how often a server was given it
	again int            // how often with a word that somebody had it before
	right int
	alone int // tasks that were not taken: the broker asked had begun anew, and had not heard of the queue
	wrong []string
}

// The queues and where they live; who asks, and how often at a time.
var taskSoakHomes = map[int]string{1: "docks", 4: "pictures"}

const (
	taskSoakServers = 3
	taskSoakAskers  = 4
	taskSoakAtOnce  = 8
)

// TestTaskSoak has programs that roam at random among six brokers in processes of
// their own ask each other for tasks of declared queues, while brokers are killed,
// those where the queues live among them, and links are cut. Each task is answered
// once, by the answer to it. CALLBOARD_SOAK_TASKS says how many, CALLBOARD_SEED by what
// chance.
func TestTaskSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("-short")
	}
	for _, every := range []bool{false, true} {
		t.Run(fmt.Sprintf("registry at every broker %v", every), func(t *testing.T) { testTaskSoak(t, every) })
	}
}

func testTaskSoak(t *testing.T, every bool) {
	s := &taskSoak{seed: 1, least: 3 * time.Second, tasks: 100, did: map[string]int{}}
	if text := os.Getenv("CALLBOARD_SOAK_TASKS"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			t.Fatalf("CALLBOARD_SOAK_TASKS: %v", err)
		}
		s.tasks, s.seed = n/2, uint64(time.Now().UnixNano())%1_000_000
	}
	if seed, err := strconv.ParseUint(os.Getenv("CALLBOARD_SEED"), 10, 64); err == nil {
		s.seed = seed
	}
	t.Logf("seed %d", s.seed)
	began := time.Now()
	s.log = func(format string, args ...any) {
		t.Logf("%7.3f "+format, append([]any{time.Since(began).Seconds()}, args...)...)
	}
	ctx := t.Context()
	n, err := processes.Start(ctx, processes.Config{
		Dir: t.TempDir(), Brokers: 6, Registry: 2, Every: every, Heartbeat: 500 * time.Millisecond,
		Links: [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {0, 5}, {1, 4}},
		More: func(i int) string {
			if queue := taskSoakHomes[i]; queue != "" {
				return fmt.Sprintf("[[queue]]\nname = %q\ntries = 1000\n", queue)
			}
			return ""
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	waitFor(ctx, t, "all brokers reach each other", func() bool { return allReached(t, n) })
	happened, err := s.run(ctx, t, n)
	if err != nil {
		t.Error(err)
	}
	waitFor(ctx, t, "nothing waits, and nothing is in hand", func() bool { return nothingLeft(t, n) })
	s.judge(t, happened, time.Since(began))
}

// run has all programs ask and serve, in trouble, until so many tasks are answered.
func (s *taskSoak) run(ctx context.Context, t *testing.T, n *processes.Network) (map[string]int, error) {
	rng := rand.New(rand.NewPCG(s.seed, 1))
	troubled, calm := context.WithCancel(ctx)
	var roaming sync.WaitGroup
	program := func(name string) *processes.Program {
		p, err := n.NewProgram(ctx, name, rng.IntN(6), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		chance := rand.New(rand.NewPCG(s.seed, rng.Uint64()))
		roaming.Go(func() { roamAmong(troubled, p, chance, 6) })
		return p
	}
	for i := range taskSoakServers {
		p := program(fmt.Sprint("server-", i))
		for _, queue := range taskSoakHomes {
			if _, err := p.Client.ServeMany(queue, taskSoakAtOnce, s.serve); err != nil {
				t.Fatal(err)
			}
		}
	}
	var asking sync.WaitGroup
	began := time.Now()
	for i := range taskSoakAskers {
		p := program(fmt.Sprint("asker-", i))
		for j := range taskSoakAtOnce {
			queue := taskSoakHomes[[]int{1, 4}[j%2]]
			asking.Go(func() {
				for number := s.begun.Add(1); number <= s.tasks || time.Since(began) < s.least; number = s.begun.Add(1) {
					s.ask(ctx, p, queue, fmt.Sprintf(`"%s %d"`, p.Name, number))
				}
			})
		}
	}
	happened := map[string]int{}
	var troubles sync.WaitGroup
	var failed error
	for _, kind := range []string{"kill", "cut"} { // each from the beginning
		troubles.Go(func() {
			some := &trouble{seed: s.seed, kinds: []string{kind}, every: 1500 * time.Millisecond, longest: 3 * time.Second, log: s.log}
			count, err := some.run(troubled, n)
			s.mu.Lock()
			defer s.mu.Unlock()
			happened[kind] = count[kind]
			failed = errors.Join(failed, err)
		})
	}
	asking.Wait()
	calm()
	troubles.Wait()
	roaming.Wait()
	return happened, failed
}

// serve does a task: it answers what was asked.
func (s *taskSoak) serve(_ context.Context, task *callboard.Task) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.did[string(task.Body)]++
	if task.Again {
		s.again++
	}
	return task.Body, nil
}

// ask asks for a task, and looks at its answer.
func (s *taskSoak) ask(ctx context.Context, p *processes.Program, queue, body string) {
	request := callboard.Request{Queue: queue, Body: json.RawMessage(body), TTL: 10 * time.Minute}
	got, err := p.Client.Request(ctx, request)
	for refused := (*callboard.Error)(nil); errors.As(err, &refused) && refused.Code == protocol.Unavailable && ctx.Err() == nil; {
		s.mu.Lock()
		s.alone++
		s.mu.Unlock()
		got, err = p.Client.Request(ctx, request)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.wrong = append(s.wrong, fmt.Sprintf("%s of %s: %v", body, queue, err))
	case string(got) != body:
		s.wrong = append(s.wrong, fmt.Sprintf("%s of %s is answered by %s", body, queue, got))
	case s.did[body] == 0:
		s.wrong = append(s.wrong, fmt.Sprintf("%s of %s is answered, and nobody has done it", body, queue))
	default:
		s.right++
		if s.right%10_000 == 0 {
			s.log("%d tasks are answered", s.right)
		}
	}
}

// roamAmong has a program move at random, and be out of reach at times.
func roamAmong(ctx context.Context, p *processes.Program, chance *rand.Rand, brokers int) {
	for ctx.Err() == nil {
		if chance.IntN(6) == 0 {
			p.Leave(time.Duration(chance.Int64N(int64(2*time.Second))), chance.IntN(brokers))
		}
		select {
		case <-time.After(time.Duration(chance.Int64N(int64(2 * time.Second)))):
		case <-ctx.Done():
			return
		}
		moving, cancel := context.WithTimeout(ctx, 3*time.Second)
		_ = p.Move(moving, chance.IntN(brokers)) // it may be dead, or late
		cancel()
	}
}

// allReached reports whether each broker hears from all of them.
func allReached(t *testing.T, n *processes.Network) bool {
	for _, b := range n.Brokers() {
		answer, err := http.Get(b.HTTP() + "/api/brokers")
		if err != nil {
			t.Log(err)
			return false
		}
		var all []struct{ Error string }
		err = json.NewDecoder(answer.Body).Decode(&all)
		answer.Body.Close()
		heard := 0
		for _, other := range all {
			if other.Error == "" {
				heard++
			}
		}
		if err != nil || heard < len(n.Brokers()) {
			return false
		}
	}
	return true
}

// nothingLeft reports whether no task waits where the queues live, or is in a server's
// hands.
func nothingLeft(t *testing.T, n *processes.Network) bool {
	for i, queue := range taskSoakHomes {
		for _, what := range []string{"waiting", "in_hand"} {
			v, err := benchtest.Metric(n.Brokers()[i].HTTP(), fmt.Sprintf("callboard_tasks_%s{queue=%q}", what, queue))
			if err != nil {
				t.Log(err)
			}
			if err != nil || v > 0 {
				return false
			}
		}
	}
	return true
}

// judge tells what happened, and what went wrong.
func (s *taskSoak) judge(t *testing.T, happened map[string]int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	given := 0
	for _, times := range s.did {
		given += times
	}
	t.Logf("%d tasks answered in %v; servers had %d, %d of them again; trouble %v", s.right, took.Round(time.Millisecond), given, s.again, happened)
	for _, wrong := range s.wrong {
		t.Error(wrong)
	}
	if happened["kill"] == 0 || happened["cut"] == 0 {
		t.Errorf("trouble %v; expected kills and cuts", happened)
	}
	// A broker that begins anew beside others that have just done so cannot know what
	// the rest declares.
	if t.Logf("%d were not taken, and asked for again", s.alone); s.alone > s.right/1000+100 {
		t.Errorf("%d of %d tasks were not taken; expected fewer", s.alone, s.right)
	}
	if int64(s.right) < s.tasks {
		t.Errorf("%d tasks are answered, expected %d", s.right, s.tasks)
	}
}
