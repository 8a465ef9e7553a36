package frame

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// keys are those of n clients at one source broker, as brokers make them.
func keys(n int) []overlay.Key {
	all := make([]overlay.Key, n)
	for i := range all {
		all[i] = overlay.Key{
			Client: fmt.Sprintf("client-%d", i), Session: overlay.Session{Attachment: 1_764_460_000_000_000, Edge: "b1", Revision: 1_764_460_000_000_000 + uint64(i)},
			Source: "b4", Stamp: 1_764_450_000_000_000,
		}
	}
	return all
}

// notify is a scan's notification for n keys.
func notify(n int, seq uint64) *overlay.NotifyMessage {
	m := &overlay.NotifyMessage{Reading: &overlay.Reading{
		Robot: "r17", Interface: "ranger", Time: 1234.5678, Arrived: 1_764_460_012_345_678,
		JSON: []byte(`{"ranges":[` + string(bytes.Repeat([]byte("1.234,"), 179)) + `8]}`),
	}}
	for _, k := range keys(n) {
		m.Hits = append(m.Hits, hit(k, seq))
	}
	return m
}

// hit is what one client gets.
func hit(k overlay.Key, seq uint64) overlay.KeyHit {
	return overlay.KeyHit{Key: k, Seq: seq, Names: []protocol.Matched{{ID: "near"}}}
}

// move is what a client's attachment elsewhere sends: one subscribe for each
// of n source brokers, five hops away.
func move(n int) []overlay.Message {
	var all []overlay.Message
	for i := range n {
		source := overlay.BrokerID(fmt.Sprintf("source-broker-%d", i))
		k := overlay.Key{
			Client: "dispatcher", Session: overlay.Session{Attachment: 1_764_460_000_000_000, Edge: "b1", Revision: 1_764_460_000_000_000},
			Source: source, Stamp: 1_764_450_000_000_000 + overlay.Stamp(i),
		}
		all = append(all, &overlay.SubscribeMessage{
			Key: k, Epoch: overlay.Epoch{Attachment: 1_764_460_000_000_001, Edge: "b2", Revision: 1_764_460_100_000_000},
			Num: 123_456 + uint64(i), Hash: overlay.Hash{Hi: 1 << 63, Lo: 1 << 62},
			Path: []overlay.BrokerID{"b3", "b4", "b5", "b6", source},
		})
	}
	return all
}

func cases() map[string][]overlay.Message {
	refreshes := func(n int) []overlay.Message {
		var all []overlay.Message
		for _, m := range move(n) {
			m := m.(*overlay.SubscribeMessage)
			all = append(all, &overlay.RefreshMessage{Key: m.Key, Epoch: m.Epoch, Num: m.Num})
		}
		return all
	}
	return map[string][]overlay.Message{
		"notify/keys=1":   {notify(1, 1000)},
		"notify/keys=100": {notify(100, 1000)},
		"move/keys=50":    move(50),
		"refresh/keys=50": refreshes(50),
	}
}

// BenchmarkEncode measures a frame once names are known, and what the first
// one took. The plain figures are those of the library's own format for the
// same structs.
func BenchmarkEncode(b *testing.B) {
	for name, all := range cases() {
		b.Run(name, func(b *testing.B) {
			e := NewEncoder()
			first, err := e.Append(nil, all)
			if err != nil {
				b.Fatal(err)
			}
			plain, err := cbor.Marshal(all)
			if err != nil {
				b.Fatal(err)
			}
			var data []byte
			b.ReportAllocs()
			for b.Loop() {
				data, _ = e.Append(data[:0], all)
			}
			b.ReportMetric(float64(len(first)), "first-B")
			b.ReportMetric(float64(len(data)), "B")
			b.ReportMetric(float64(len(plain)), "plain-B")
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for name, all := range cases() {
		b.Run(name, func(b *testing.B) {
			e, d := NewEncoder(), NewDecoder()
			first, _ := e.Append(nil, all)
			if _, err := d.Decode(first); err != nil {
				b.Fatal(err)
			}
			data, _ := e.Append(nil, all)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPlainCBOR(b *testing.B) {
	for name, all := range cases() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				cbor.Marshal(all)
			}
		})
	}
}
