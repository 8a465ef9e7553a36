package bridge

import (
	"context"
	"time"

	"callboard/bridge/metric"
	"callboard/bridge/pair"
	"callboard/bridge/standby"
)

// sideFamilies are the numbers of a side of a pair.
var sideFamilies = struct{ term, stands, active, lag, asked, stoodStill, terms, voices, snapshots, other, witness, behind *metric.Family }{
	metric.NewFamily("callboard_standby_term", "The newest term of the pair that this side knows."),
	metric.NewFamily("callboard_standby_stands", "1 for how this side stands in the term: both, alone, in or out.", "stands"),
	metric.NewFamily("callboard_standby_active", "1 if this side is active."),
	metric.NewFamily("callboard_standby_lag_batches", "Batches whose outputs wait for the standby."),
	metric.NewFamily("callboard_standby_asked_total", "Times that the other side was silent for a heartbeat and was asked."),
	metric.NewFamily("callboard_standby_stood_still_total", "Times that this process stood still."),
	metric.NewFamily("callboard_standby_terms_total", "Terms that this side has begun, by the way.", "way"),
	metric.NewFamily("callboard_standby_voices_total", "Claims of the other side, by the answer.", "answer"),
	metric.NewFamily("callboard_standby_snapshots_total", "Times that the other side was to be sent all."),
	metric.NewFamily("callboard_standby_other_up", "1 if the other side is heard."),
	metric.NewFamily("callboard_standby_witness_up", "1 if the witness is connected."),
	metric.NewFamily("callboard_standby_robots_unaligned", "Robots of a standby that would begin anew if it took over now."),
}

// measure adds what a side of a pair counts.
func (s *side) measure(to *metric.Set) {
	f := &sideFamilies
	to.Add(func(give *metric.Scrape) {
		now, _ := s.pair.Status()
		give.Give(f.term, float64(now.Term))
		for _, stands := range []standby.Stands{standby.Out, standby.Both, standby.Alone, standby.In} {
			give.Give(f.stands, one(now.Stands == stands), stands.String())
		}
		give.Give(f.active, one(now.Active))
		give.Give(f.lag, float64(now.Waiting))
		give.Give(f.asked, float64(now.Stats.Asked))
		give.Give(f.stoodStill, float64(now.Stats.StoodStill))
		for _, way := range []standby.Kind{standby.TakeOver, standby.GoOn, standby.LostStart, standby.Joined} {
			give.Give(f.terms, float64(now.Stats.Terms[way]), way.String())
		}
		give.Give(f.voices, float64(now.Stats.Given), "given")
		give.Give(f.voices, float64(now.Stats.Refused), "refused")
		give.Give(f.snapshots, float64(now.Stats.Snapshots))
		give.Give(f.other, one(now.Other))
		give.Give(f.behind, float64(s.behind.Load()))
		if s.config.Config.Standby.Witness != "" {
			give.Give(f.witness, one(now.Witness))
		}
	}, f.term, f.stands, f.active, f.lag, f.asked, f.stoodStill, f.terms, f.voices, f.snapshots, f.other, f.witness, f.behind)
}

func one(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// A pair that is not in step for so long, and a witness that is away for so long,
// are told, since one machine may not be lost then. That is looked at so often.
const (
	warnAfter = time.Minute
	warnEach  = 10 * time.Second
)

// warn logs what an operator is to know, until ctx ends.
func (s *side) warn(ctx context.Context) {
	ticks := time.NewTicker(warnEach)
	defer ticks.Stop()
	stepped, answered := time.Now(), time.Now()
	toldStep, toldWitness := false, false
	for {
		select {
		case <-ticks.C:
		case <-ctx.Done():
			return
		}
		now, _ := s.pair.Status()
		if inStep(now) {
			stepped, toldStep = time.Now(), false
		}
		if now.Witness || s.config.Config.Standby.Witness == "" {
			answered, toldWitness = time.Now(), false
		}
		if time.Since(stepped) > warnAfter && !toldStep {
			toldStep = true
			s.log.Warn("the pair is not in step: if this machine is lost now, the other cannot go on, or not without a gap", "stands", now.Stands.String(), "active", now.Active, "other_heard", now.Other)
		}
		if time.Since(answered) > warnAfter && !toldWitness {
			toldWitness = true
			s.log.Warn("the witness does not answer: if a side is lost now, the other cannot go on", "witness", s.config.Config.Standby.Witness)
		}
	}
}

// inStep reports whether the other side can go on without this one, or this one
// without the other.
func inStep(now pair.Status) bool {
	return now.Other && now.Fresh && (now.Active && now.Stands == standby.Both || !now.Active && now.Stands == standby.In)
}
