package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"callboard/bridge/benchtest"
	"callboard/subscribe/protocol"

	"golang.org/x/sync/errgroup"
)

// oneIn is of how many readings one matches.
const oneIn = 10

// runRobots measures a broker that reads many robots at once.
func runRobots(ctx context.Context, v Values, report func(Result)) error {
	name := fmt.Sprintf("%d robots, %v Hz, %d beams", v.Int("robots"), v.Float("rate"), v.Int("beams"))
	alone, err := controlRun(ctx, v)
	if err != nil {
		return err
	}
	fleet, err := benchtest.NewFleet(v.Int("robots"), v.Int("beams"))
	if err != nil {
		return err
	}
	return withBroker(ctx, fleet, func(b *benchtest.Broker) error {
		s, err := benchtest.Attach(ctx, b.URL(), "subscriber", nil, nil)
		if err != nil {
			return err
		}
		if err := s.Subscribe(ctx, protocol.Subscription{ID: "near", Condition: benchtest.Near}); err != nil {
			return errors.Join(err, s.Close())
		}
		began, used := time.Now(), processorTime()
		sent, near, err := send(ctx, fleet, v)
		if err != nil {
			return errors.Join(err, s.Close())
		}
		sending := time.Since(began)
		err = errors.Join(b.Tested(ctx, sent), benchtest.Until(ctx, fmt.Sprintf("%d notifications came", near), func() (bool, error) {
			return s.Notifications.Load() >= near, nil
		}))
		took := time.Since(began)
		busy := processorTime() - used
		return errors.Join(err, reportRobots(b, s, name, sent, sending, took, busy, alone, report), s.Close())
	})
}

func reportRobots(b *benchtest.Broker, s *benchtest.Subscriber, name string, sent uint64, sending, took, busy time.Duration, alone load, report func(Result)) error {
	totals, err := b.Totals()
	if err != nil {
		return err
	}
	dropped, err := benchtest.Metric(b.URL(), "callboard_node_readings_dropped_total")
	if err != nil {
		return err
	}
	all := busy.Seconds() / took.Seconds()
	for _, r := range []Result{
		{Metric: "scans sent", Value: float64(sent), Unit: "1"},
		{Metric: "scans tested", Value: float64(totals.Readings), Unit: "1"},
		{Metric: "scans matched", Value: float64(totals.Matched), Unit: "1"},
		{Metric: "notifications received", Value: float64(s.Notifications.Load()), Unit: "1"},
		{Metric: "lost to overflow or gaps", Value: float64(totals.Lost+b.Fleet.Dropped()+s.Gaps.Load()) + dropped, Unit: "1"},
		{Metric: "scans sent per second", Value: float64(sent) / sending.Seconds(), Unit: "1/s"},
		{Metric: "done after the last scan", Value: (took - sending).Seconds() * 1e3, Unit: "ms"},
		{Metric: "processor time of all", Value: all, Unit: "cores"},
		{Metric: "processor time of the robots (control run)", Value: alone.cores(), Unit: "cores"},
		{Metric: "processor time of the broker", Value: all - alone.cores(), Unit: "cores"},
		{Metric: "broker's share of the machine", Value: 100 * (all - alone.cores()) / float64(runtime.NumCPU()), Unit: "%"},
		{Metric: "processor time per reading", Value: (busy.Seconds() - alone.cores()*took.Seconds()) / float64(sent) * 1e6, Unit: "us"},
	} {
		r.Case = name
		report(r)
	}
	return nil
}

// send has the robots give scans, spread evenly over each period, and returns
// how many, and how many of them are near.
func send(ctx context.Context, fleet *benchtest.Fleet, v Values) (sent, near uint64, err error) {
	const slot = time.Millisecond
	perSecond := v.Float("rate") * float64(fleet.Len())
	n := uint64(perSecond * v.Duration("robots-time").Seconds())
	tick := time.NewTicker(slot)
	defer tick.Stop()
	for began := time.Now(); sent < n; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return sent, near, ctx.Err()
		}
		due := min(n, uint64(time.Since(began).Seconds()*perSecond)+1)
		for ; sent < due; sent++ {
			robot, round := int(sent)%fleet.Len(), int(sent)/fleet.Len()
			isNear := (robot+round)%oneIn == 0
			if isNear {
				near++
			}
			fleet.Publish(robot, isNear, 1+float64(round)/v.Float("rate"))
		}
	}
	return sent, near, nil
}

// load is processor time used over some time.
type load struct{ busy, over time.Duration }

func (l load) cores() float64 { return l.busy.Seconds() / l.over.Seconds() }

// controlRun sends what the robots send to readers that skip it.
func controlRun(ctx context.Context, v Values) (load, error) {
	fleet, err := benchtest.NewFleet(v.Int("robots"), v.Int("beams"))
	if err != nil {
		return load{}, err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	group, running := errgroup.WithContext(running)
	group.Go(func() error { return fleet.Run(running) })
	var readers []*reader
	for _, a := range fleet.Addresses() {
		conn, err := fleet.Dial(ctx, a)
		if err != nil {
			return load{}, errors.Join(err, finish(stop, group))
		}
		r := &reader{conn: conn, opened: make(chan struct{})}
		readers = append(readers, r)
		group.Go(func() error {
			defer context.AfterFunc(running, func() { conn.Close() })()
			defer conn.Close()
			if err := r.run(); running.Err() == nil {
				return fmt.Errorf("reading a robot's scans: %w", err)
			}
			return nil
		})
	}
	for _, r := range readers {
		select {
		case <-r.opened:
		case <-running.Done():
			return load{}, finish(stop, group)
		}
	}
	began, used := time.Now(), processorTime()
	sent, _, err := send(running, fleet, v)
	if err == nil {
		err = benchtest.Until(running, fmt.Sprintf("%d scans are skipped", sent), func() (bool, error) {
			skipped := uint64(0)
			for _, r := range readers {
				skipped += r.messages.Load()
			}
			return skipped >= sent, nil
		})
	}
	l := load{busy: processorTime() - used, over: time.Since(began)}
	return l, errors.Join(err, finish(stop, group))
}

// finish ends what was started and waits for it.
func finish(stop context.CancelFunc, group *errgroup.Group) error {
	stop()
	return group.Wait()
}
