//go:build unix

package search_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"

	"callboard/bridge/search"
	"callboard/player/run"
	"callboard/subscribe/protocol"
	"callboard/subscribe/query"
)

// BenchmarkPlain is a condition over a log on one processor and on two, with
// notifications in JSON, beside a plain loop, which splits lines, parses with
// strconv.ParseFloat and runs the same condition in plain expr. times-plain is how
// many times as fast as the loop's last run a search is, max-rss-MB the most
// memory that the process has had.
//
// The log has CALLBOARD_LOG_MB megabytes, 20 if that is not set. Above 1,000
// the loop is left out.
func BenchmarkPlain(b *testing.B) {
	size := int64(20)
	if text := os.Getenv("CALLBOARD_LOG_MB"); text != "" {
		var err error
		if size, err = strconv.ParseInt(text, 10, 64); err != nil {
			b.Fatalf("CALLBOARD_LOG_MB: %v", err)
		}
	}
	name := filepath.Join(b.TempDir(), "run.log")
	if err := writeLog(name, size*1e6); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct{ name, condition string }{
		{"bulk", "laser.min < 0.6005 && position.speed > 0.2"}, // most of the log is lasers
		{"other", "position.speed > 0.55"},                     // of the log's bulk it asks nothing
	} {
		found, plain := uint64(0), 0.0
		one := func(method string, processors int, do func() (uint64, error)) {
			b.Run(c.name+"/"+method, func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
				b.SetBytes(size * 1e6)
				for b.Loop() {
					n, err := do()
					if found == 0 {
						found = n
					}
					if err != nil || n != found || n == 0 {
						b.Fatalf("%d readings are found, expected %d; %v", n, found, err)
					}
				}
				each := b.Elapsed().Seconds() / float64(b.N)
				if method == "plain" {
					plain = each
				} else if plain > 0 {
					b.ReportMetric(plain/each, "times-plain")
				}
				var used syscall.Rusage
				if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
					b.ReportMetric(float64(used.Maxrss)/1e3, "max-rss-MB")
				}
			})
		}
		if size <= 1000 {
			one("plain", 1, func() (uint64, error) { return plainSearch(name, c.condition) })
		}
		for _, processors := range []int{1, 2} {
			one("cores="+strconv.Itoa(processors), processors, func() (uint64, error) { return countMatches(b, name, c.condition) })
		}
	}
}

// countMatches counts the notifications of a condition by a search.
func countMatches(b *testing.B, name, condition string) (uint64, error) {
	f, err := run.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	q, err := query.New(query.Config{Subscriptions: []protocol.Subscription{{ID: "query", Condition: condition}}})
	if err != nil {
		return 0, err
	}
	s, err := search.New(search.Config{
		Sources: []search.Source{{File: f}}, Query: q,
		Format: protocol.AppendNotifyTail, Write: func(uint64, []byte) error { return nil },
	})
	if err != nil {
		return 0, err
	}
	result, err := s.Run(b.Context())
	if n := result.Problems + result.Warnings; n > 0 {
		b.Errorf("%d problems in the log", n)
	}
	return result.Notifications, err
}
