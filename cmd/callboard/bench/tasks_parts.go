package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	client "callboard/clients/go"
)

// startTaskSystems starts all systems that can be measured here. stop ends those that
// were started.
func startTaskSystems(ctx context.Context, dir string, start startTasks) (all []namedSystem, stop func() error, err error) {
	var stops []func() error // brokers
	stop = func() error {
		var errs []error
		for _, s := range all {
			errs = append(errs, s.stop())
		}
		for _, f := range stops {
			errs = append(errs, f())
		}
		return errors.Join(errs...)
	}
	add := func(name string, pid int, s taskSystem, err error) error {
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, namedSystem{name, pid, s})
		return nil
	}
	config, err := writeTaskConfig(dir, declaredName, declaredName+orderSuffix, declaredName+hangSuffix)
	if err != nil {
		return nil, stop, err
	}
	ours, err := start(ctx, config)
	if err != nil {
		return nil, stop, err
	}
	stops = append(stops, ours.stop)
	for _, queue := range []string{declaredName, passingName} {
		s, err := newCallboardTasks(ctx, ours.url, queue)
		if err := add(queue, ours.pid, s, err); err != nil {
			return all, stop, err
		}
	}
	if path := findNATS(); path != "" {
		theirs, err := startNATS(path, dir)
		if err != nil {
			return all, stop, err
		}
		stops = append(stops, theirs.stop)
		stored, err := newJetStreamTasks(ctx, theirs.url)
		if err := add(jetStreamName, theirs.pid, stored, err); err != nil {
			return all, stop, err
		}
		s, err := newNATSTasks(theirs.url)
		if err := add(natsName, theirs.pid, s, err); err != nil {
			return all, stop, err
		}
	}
	s, err := newSocketTasks()
	return all, stop, add(socketsName, 0, s, err)
}

// measureOrder sees whether requests of one connection are served in their order.
func measureOrder(ctx context.Context, all []namedSystem, report func(Result)) error {
	c := taskCase{1000, 256}
	bodies := make([][]byte, c.requests)
	for i := range bodies {
		bodies[i] = c.body(i)
	}
	for _, s := range all {
		began := time.Now()
		answers, served, err := s.stream(ctx, bodies)
		if err != nil {
			return fmt.Errorf("order: %s: %w", s.name, err)
		}
		took := time.Since(began)
		name := fmt.Sprintf("%s, %s over one connection", s.name, grouped(c.requests))
		same := func(got [][]byte) (n int) {
			for i := range min(len(got), len(bodies)) {
				if string(got[i]) == string(bodies[i]) {
					n++
				}
			}
			return n
		}
		report(Result{Case: name, Metric: "served in order", Value: 100 * float64(same(served)) / float64(c.requests), Unit: "%"})
		report(Result{Case: name, Metric: "answered in order", Value: 100 * float64(same(answers)) / float64(c.requests), Unit: "%"})
		report(Result{Case: name, Metric: "requests", Value: float64(c.requests) / took.Seconds(), Unit: "1/s"})
	}
	return nil
}

// hangSuffix ends the name of the queue one of whose servers hangs.
const hangSuffix = "-hang"

// Of the part hang: how many servers go on, how many callers ask them, and how often.
const (
	hangServers  = 4
	hangCallers  = 4
	hangRequests = 4000
)

// measureHang compares what others' tasks take while one server of their queue hangs
// with what they take without it.
func measureHang(ctx context.Context, all []namedSystem, rounds int, report func(Result)) error {
	for _, s := range all {
		system, ours := s.taskSystem.(*callboardTasks)
		if !ours {
			continue
		}
		var without, with []time.Duration
		for range rounds {
			for _, hangs := range []bool{false, true} {
				p99, err := hangTurn(ctx, system.url, s.name+hangSuffix, hangs)
				if err != nil {
					return fmt.Errorf("hang: %s: %w", s.name, err)
				}
				if hangs {
					with = append(with, p99)
				} else {
					without = append(without, p99)
				}
			}
		}
		slices.Sort(without)
		slices.Sort(with)
		name := fmt.Sprintf("%s, %d servers", s.name, hangServers)
		a, b := quantile(without, 0.5), quantile(with, 0.5)
		report(Result{Case: name, Metric: "p99", Value: a.Seconds() * 1e3, Unit: "ms"})
		report(Result{Case: name + ", one more hangs", Metric: "p99", Value: b.Seconds() * 1e3, Unit: "ms"})
		report(Result{Case: name + ", one more hangs / none", Metric: "p99", Value: float64(b) / float64(a), Unit: "ratio"})
	}
	return nil
}

// hangTurn returns the p99 of requests to a queue, one server of which hangs.
func hangTurn(ctx context.Context, url, queue string, hangs bool) (p99 time.Duration, err error) {
	asker, err := dialCallboard(ctx, url, queue+"-asker")
	if err != nil {
		return 0, err
	}
	defer asker.Close()
	serve := func(id string, handle client.TaskHandler) (*client.Client, error) {
		c, err := dialCallboard(ctx, url, queue+id)
		if err != nil {
			return nil, err
		}
		if _, err = c.Serve(queue, handle); err == nil {
			_, err = c.List(ctx, "brokers") // the broker has the serve
		}
		if err != nil {
			c.Close()
			return nil, err
		}
		return c, nil
	}
	ask := func() error {
		_, err := asker.Request(ctx, client.Request{Queue: queue, Body: json.RawMessage(`"do it"`), TTL: taskTTL})
		return err
	}
	if hangs {
		has := make(chan struct{})
		hanging, err := serve("-hanging", func(ctx context.Context, _ *client.Task) (any, error) {
			close(has)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		if err != nil {
			return 0, err
		}
		defer hanging.Close()
		hung, giveUp := context.WithCancel(ctx)
		var waiting sync.WaitGroup
		defer waiting.Wait()
		defer giveUp()
		waiting.Go(func() {
			_, _ = asker.Request(hung, client.Request{Queue: queue, Body: json.RawMessage(`"hang"`), TTL: taskTTL}) // it has no answer
		})
		select {
		case <-has:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	for i := range hangServers {
		c, err := serve(fmt.Sprint("-", i), func(_ context.Context, t *client.Task) (any, error) { return t.Body, nil })
		if err != nil {
			return 0, err
		}
		defer c.Close()
	}
	var asking sync.WaitGroup
	took := make([]time.Duration, hangRequests)
	errs := make([]error, hangRequests)
	for caller := range hangCallers {
		asking.Go(func() {
			for i := caller; i < hangRequests; i += hangCallers {
				began := time.Now()
				errs[i] = ask()
				took[i] = time.Since(began)
			}
		})
	}
	asking.Wait()
	slices.Sort(took)
	return quantile(took, 0.99), errors.Join(errs...)
}
