package protocol

import (
	"strings"
	"testing"
)

// BenchmarkTasks decodes and encodes the messages of one task.
func BenchmarkTasks(b *testing.B) {
	body := []byte(`"` + strings.Repeat("x", 254) + `"`)
	ttl := 299.99
	for _, m := range []any{
		&Request{ID: "~t123456", Queue: "docks", Body: body, TTL: &ttl, Key: "0123456789abcdef01234567"},
		&Done{Task: "~1765000000000001.b1", Body: body},
		&Ack{Key: "0123456789abcdef01234567"},
	} {
		text := AppendMessage(nil, m)
		b.Run("decode/"+Operation(m), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, problem := Decode(text); problem != nil {
					b.Fatal(problem)
				}
			}
		})
	}
	for _, m := range []any{
		&Accepted{ID: "~t123456", Key: "0123456789abcdef01234567", Ahead: 3},
		&Task{ID: "~ts1", Task: "~1765000000000001.b1", Queue: "docks", From: "asker", Body: body, Left: ttl},
		&Reply{ID: "~t123456", Key: "0123456789abcdef01234567", OK: true, Result: RawResult(body)},
	} {
		var text []byte
		b.Run("encode/"+Operation(m), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				text = AppendMessage(text[:0], m)
			}
		})
	}
}

// BenchmarkLarge decodes a request of 10 kB as a broker does.
func BenchmarkLarge(b *testing.B) {
	text := AppendMessage(nil, &Request{ID: "~t123456", Queue: "docks", Body: []byte(`"` + strings.Repeat("x", 10<<10) + `"`)})
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if Guard(text, 10) != nil {
			b.Fatal("refused")
		}
		if _, problem := Decode(text); problem != nil {
			b.Fatal(problem)
		}
	}
}
