package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	callboard "callboard/clients/go"
	"callboard/player/run"
)

const (
	maxPlan     = 64 << 20         // bytes
	planTimeout = 10 * time.Second // in which a broker is to answer
)

// brokerPlans returns the floor plans that a broker has of its robots' worlds, to be
// kept with what is recorded; nil: there are none.
func brokerPlans(ctx context.Context, client *callboard.Client, config callboard.Config, log *slog.Logger) (*run.World, error) {
	answer, err := client.List(ctx, "robots")
	if err != nil {
		return nil, fmt.Errorf("asking for the robots: %w", err)
	}
	var robots []struct{ World string }
	if err := json.Unmarshal(answer, &robots); err != nil {
		return nil, fmt.Errorf("the list of robots: %w", err)
	}
	var worlds []string
	for _, r := range robots {
		if r.World != "" {
			worlds = append(worlds, r.World)
		}
	}
	slices.Sort(worlds)
	var kept run.World
	for _, world := range slices.Compact(worlds) {
		plan, err := brokerPlan(ctx, config, world)
		switch {
		case err != nil:
			log.Warn("the floor plan of a world is not recorded", "world", world, "err", err)
		case plan != nil:
			kept.Files = append(kept.Files, run.PlanFile(world, plan))
		}
	}
	if len(kept.Files) == 0 {
		return nil, nil
	}
	return &kept, nil
}

// brokerPlan asks brokers, one after the other, for the floor plan of a world; nil:
// the one that answered has none.
func brokerPlan(ctx context.Context, config callboard.Config, world string) (plan []byte, err error) {
	for _, broker := range config.Brokers {
		if plan, err = askPlan(ctx, config, broker, world); err == nil {
			return plan, nil
		}
	}
	return nil, err
}

func askPlan(ctx context.Context, config callboard.Config, broker, world string) ([]byte, error) {
	address, err := callboard.BrokerURL(broker)
	if err != nil {
		return nil, err
	}
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	at.Scheme = strings.Replace(at.Scheme, "ws", "http", 1)
	at = at.ResolveReference(&url.URL{Path: "api/worlds/" + world, RawPath: "api/worlds/" + url.PathEscape(world)})
	ctx, cancel := context.WithTimeout(ctx, planTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	if config.Token != "" {
		r.Header.Set("Authorization", "Bearer "+config.Token)
	}
	transport := http.Transport{TLSClientConfig: config.TLS}
	defer transport.CloseIdleConnections()
	answer, err := (&http.Client{Transport: &transport}).Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, nil
	default:
		return nil, fmt.Errorf("the broker answers %s", answer.Status)
	}
	plan, err := io.ReadAll(io.LimitReader(answer.Body, maxPlan+1))
	if err == nil && len(plan) > maxPlan {
		err = fmt.Errorf("it has more than %d MB", maxPlan>>20)
	}
	return plan, err
}
