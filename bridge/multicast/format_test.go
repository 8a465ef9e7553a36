package multicast

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var testStream = Stream{ID: StreamID{1, 2, 3, 4}, Key: [16]byte{5, 6, 7}}

// seal returns a datagram of the stream for tests.
func seal(h Head, content []byte) []byte {
	h.Stream = testStream.ID
	return newBox(testStream).seal(append(appendHead(make([]byte, 0, len(content)+64), h), content...), 0, h)
}

// TestDatagramsToTheByte: what is sealed is where the format says.
func TestDatagramsToTheByte(t *testing.T) {
	h := Head{Kind: KindData, Rank: 0x0102, Stream: testStream.ID, Packet: 0x030405060708090a}
	content := append(appendBeat(nil, beat{number: 0x0b, held: 3, width: 40, repair: true}), 0xc0, 2, 'h', 'i')
	if got, want := hex.EncodeToString(content), "000000000000000b"+"00000003"+"28"+"01"+"c0026869"; got != want {
		t.Errorf("content %s; expected %s", got, want)
	}
	datagram := seal(h, content)
	if got, want := hex.EncodeToString(datagram[:16]), "cb"+"11"+"0102"+"01020304"+"030405060708090a"; got != want {
		t.Errorf("head %s; expected %s", got, want)
	}
	if len(datagram) != 16+len(content)+16 || len(content)-4+16+16 != Overhead {
		t.Errorf("%d bytes", len(datagram))
	}
	got, err := ReadHead(datagram)
	if err != nil || got != h {
		t.Errorf("%+v, %v", got, err)
	}
	opened, err := newBox(testStream).open(nil, datagram, h)
	if err != nil || !bytes.Equal(opened, content) {
		t.Errorf("% x, %v", opened, err)
	}
	for at := range datagram { // each bit counts, of the head too
		forged := bytes.Clone(datagram)
		forged[at] ^= 4
		h, err := ReadHead(forged)
		if err != nil {
			continue
		}
		if _, err := newBox(testStream).open(nil, forged, h); err == nil {
			t.Errorf("opens with byte %d forged", at)
		}
	}
	if got := hex.EncodeToString(appendStatus(nil, status{want: 1, room: 2, dropped: 3})); got != "0000000000000001"+"00000002"+"00000003" {
		t.Errorf("status %s", got)
	}
	if got := hex.EncodeToString(appendSpan(nil, span{5, 6})); got != "0000000000000005"+"0006" {
		t.Errorf("span %s", got)
	}
}

func TestWrongDatagrams(t *testing.T) {
	good := seal(Head{Kind: KindStatus}, nil)
	change := func(at int, b byte) []byte {
		d := bytes.Clone(good)
		d[at] = b
		return d
	}
	for _, tt := range []struct {
		datagram []byte
		want     string
	}{
		{good[:31], "a datagram of 31 bytes; expected 32 at least"},
		{change(0, 0xcc), "a datagram that begins with 0xcc; expected 0xcb"},
		{change(1, 0x24), "a datagram of version 2; expected 1"},
		{change(1, 0x10), "a datagram of kind 0; expected 1 to 4"},
		{change(1, 0x15), "a datagram of kind 5; expected 1 to 4"},
	} {
		if _, err := ReadHead(tt.datagram); err == nil || err.Error() != tt.want {
			t.Errorf("%v; expected %s", err, tt.want)
		}
	}
}

func TestWrongContents(t *testing.T) {
	beat := func(hexed string) []byte { return unhex("0000000000000005" + "00000002" + hexed) }
	data := func(hexed string) error { _, _, err := readData(beat("0000" + hexed)); return err }
	heartbeat := func(b []byte) error { _, err := readHeartbeat(b); return err }
	nack := func(hexed string) error { _, err := readNACK(nil, unhex(hexed)); return err }
	stat := func(b []byte) error { _, err := readStatus(b); return err }
	for _, tt := range []struct {
		err  error
		want string
	}{
		{data(""), "data without a fragment"},
		{data("c0"), "byte 0 of the fragments: a fragment's head is cut"},
		{data("c000"), "byte 0 of the fragments: a fragment of 0 bytes where 0 are left"},
		{data("c00201"), "byte 0 of the fragments: a fragment of 2 bytes where 1 are left"},
		{data("c00101c00201"), "byte 3 of the fragments: a fragment of 2 bytes where 1 are left"},
		{data("c0010180"), "byte 3 of the fragments: a fragment's head is cut"},
		{heartbeat(beat("00")), "a content of 13 bytes; expected 14 at least"},
		{heartbeat(beat("000000")), "a heartbeat of 15 bytes; expected 14"},
		{heartbeat(beat("4100")), "a turn of width 65; expected up to 64"},
		{heartbeat(beat("0001")), "the flags 0x01; expected none but 0x00"},
		{heartbeat(unhex("0000000000000005" + "00000005" + "0000")), "number 5 with 5 held before it"},
		{heartbeat(unhex("0000000000000000" + "00000000" + "0000")), "number 0 with 0 held before it"},
		{nack(""), "a NACK of 0 bytes; expected 1 to 100 ranges of 10"},
		{nack("00"), "a NACK of 1 bytes; expected 1 to 100 ranges of 10"},
		{nack(strings.Repeat("00", 1010)), "a NACK of 1010 bytes; expected 1 to 100 ranges of 10"},
		{nack("00000000000000050000"), "a NACK of 0 numbers from 5 on, behind those up to 0"},
		{nack("00000000000000000001"), "a NACK of 1 numbers from 0 on, behind those up to 0"},
		{nack("ffffffffffffffff0002"), "a NACK of 2 numbers from 18446744073709551615 on, behind those up to 0"},
		{nack("00000000000000050002" + "00000000000000070001"), "a NACK of 1 numbers from 7 on, behind those up to 7"},
		{stat(make([]byte, 15)), "a status of 15 bytes; expected 16"},
	} {
		if tt.err == nil || tt.err.Error() != tt.want {
			t.Errorf("%v; expected %s", tt.err, tt.want)
		}
	}
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// each is one message of each kind.
func each() []Message {
	return []Message{
		&Offer{Group: netip.MustParseAddrPort("239.255.67.66:8803"), Port: 4000, Stream: testStream, Datagram: 1400, Window: 2048},
		&Join{testStream.ID, 100},
		&Start{testStream.ID, 7, Place{1, 3}, 12, 5},
		&Placed{testStream.ID, Place{0, 2}},
		&Ask{testStream.ID, 5, 9},
		&Fill{testStream.ID, 5, []byte{0xc0, 2, 'h', 'i'}},
		&Off{testStream.ID, 8, WhyLossy},
	}
}

func TestMessages(t *testing.T) {
	for _, m := range each() {
		b := m.Append(nil)
		if len(b)-1 != lengths[m.kind()] && m.kind() != kindFill {
			t.Errorf("%T takes %d bytes; expected %d", m, len(b)-1, lengths[m.kind()])
		}
		got, err := ReadMessage(b)
		if diff := cmp.Diff(m, got, cmpopts.EquateComparable(netip.AddrPort{})); diff != "" || err != nil {
			t.Errorf("%T: %v %s", m, err, diff)
		}
		for n := range b {
			if _, err := ReadMessage(b[:n]); err == nil {
				t.Errorf("%T: %d of %d bytes are read", m, n, len(b))
			}
		}
		if _, err := ReadMessage(append(b, 0)); err == nil {
			t.Errorf("%T: is read with a byte more", m)
		}
	}
}

func TestWrongMessages(t *testing.T) {
	offer := func(change func(*Offer)) []byte {
		m := *each()[0].(*Offer)
		change(&m)
		return m.Append(nil)
	}
	for _, tt := range []struct {
		b    []byte
		want string
	}{
		{nil, "an empty message of a stream"},
		{[]byte{0}, "a message of a stream of kind 0; expected 1 to 7"},
		{[]byte{8}, "a message of a stream of kind 8; expected 1 to 7"},
		{[]byte{2, 1}, "a message of a stream of kind 2 with 1 bytes; expected 8"},
		{append([]byte{6}, make([]byte, 9000)...), "a message of a stream of kind 6 with 9000 bytes; expected 15"},
		{offer(func(m *Offer) { m.Group = netip.MustParseAddrPort("10.0.0.1:5") }), "an offer for the group 10.0.0.1:5; expected a multicast address and a port"},
		{offer(func(m *Offer) { m.Datagram = 511 }), "an offer with datagrams of 511 bytes; expected 512 to 8900"},
		{offer(func(m *Offer) { m.Window = 15 }), "an offer with a window of 15 datagrams; expected 16 to 2048"},
		{(&Start{Rank: 0, Place: Place{0, 1}}).Append(nil), "a start with rank 0, which is the sender's"},
		{(&Placed{Place: Place{2, 2}}).Append(nil), "place 2 of 2"},
		{(&Ask{From: 0, To: 5}).Append(nil), "it asks for 0 to 5; expected up to 2048 numbers"},
		{(&Ask{From: 5, To: 4}).Append(nil), "it asks for 5 to 4; expected up to 2048 numbers"},
		{(&Ask{From: 1, To: 2049}).Append(nil), "it asks for 1 to 2049; expected up to 2048 numbers"},
		{(&Fill{Number: 0, Fragments: []byte{0xc0, 1, 1}}).Append(nil), "a fill of number 0"},
		{(&Fill{Number: 1, Fragments: []byte{0xc0, 2, 1}}).Append(nil), "byte 0 of the fragments: a fragment of 2 bytes where 1 are left"},
		{(&Off{Why: 9}).Append(nil), "the reason 9 for going over TCP; expected 1 to 5"},
	} {
		if _, err := ReadMessage(tt.b); err == nil || err.Error() != tt.want {
			t.Errorf("%v; expected %s", err, tt.want)
		}
	}
}

func someSeries() Series {
	return Series{
		Readings: [][]byte{[]byte("shared"), {}, []byte("also")},
		Sections: []Section{{2, 10, []byte("to two")}, {3, 1 << 31, []byte{}}, {300, 7, []byte("to 300")}},
	}
}

func TestSeries(t *testing.T) {
	s := someSeries()
	b := s.Append(nil)
	if len(b) != s.Size() {
		t.Errorf("%d bytes; expected %d", len(b), s.Size())
	}
	for _, want := range s.Sections {
		got, readings, found, err := ReadSeries(nil, b, want.Rank)
		if diff := cmp.Diff(want, got) + cmp.Diff(s.Readings, readings); diff != "" || !found || err != nil {
			t.Error(diff, found, err)
		}
	}
	if _, _, found, err := ReadSeries(nil, b, 4); found || err != nil {
		t.Error(found, err)
	}
	swapped := Series{Sections: []Section{{3, 1, nil}, {3, 1, nil}}}
	for _, tt := range []struct {
		b    []byte
		want string
	}{
		{nil, "a series of 0 bytes; expected 4 at least"},
		{[]byte{0, 1, 0, 0}, "a series of 4 bytes with 1 readings and 0 sections"},
		{[]byte{0, 1, 0, 0, 0, 0, 0, 1}, "reading 0 of a series takes 1 bytes where 0 are left"},
		{swapped.Append(nil), "section 1 of a series is rank 3's, behind rank 3's"},
		{b[:len(b)-1], "section 2 of a series takes 6 bytes where 5 are left"},
		{append(bytes.Clone(b), 0), "1 bytes behind the last section of a series"},
	} {
		if _, _, _, err := ReadSeries(nil, tt.b, 3); err == nil || err.Error() != tt.want {
			t.Errorf("%v; expected %s", err, tt.want)
		}
	}
}

func FuzzContents(f *testing.F) {
	f.Add(append(appendBeat(nil, beat{number: 5, held: 2}), 0xc0, 1, 1))
	f.Add(appendBeat(nil, beat{number: 5}))
	f.Add(appendSpan(appendSpan(nil, span{1, 2}), span{9, 1}))
	f.Add(appendStatus(nil, status{1, 2, 3}))
	f.Fuzz(func(t *testing.T, content []byte) {
		if b, fragments, err := readData(content); err == nil {
			if again := append(appendBeat(nil, b), fragments...); !bytes.Equal(again, content) {
				t.Errorf("data % x is read as % x", content, again)
			}
			var a assembler
			_ = a.take(fragments, func([]byte) error { return nil })
		}
		if b, err := readHeartbeat(content); err == nil {
			if again := appendBeat(nil, b); !bytes.Equal(again, content) || b.low() == 0 || b.low() > b.number {
				t.Errorf("a heartbeat % x is read as % x", content, again)
			}
		}
		if spans, err := readNACK(nil, content); err == nil {
			var again []byte
			for _, s := range spans {
				again = appendSpan(again, s)
			}
			if !bytes.Equal(again, content) {
				t.Errorf("a NACK % x is read as % x", content, again)
			}
		}
		if st, err := readStatus(content); err == nil && !bytes.Equal(appendStatus(nil, st), content) {
			t.Errorf("a status % x is read as %+v", content, st)
		}
	})
}

func FuzzMessages(f *testing.F) {
	for _, m := range each() {
		f.Add(m.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := ReadMessage(b); err == nil && !bytes.Equal(m.Append(nil), b) {
			t.Errorf("% x is read as %+v", b, m)
		}
	})
}

func FuzzSeries(f *testing.F) {
	s := someSeries()
	f.Add(s.Append(nil), uint16(3))
	f.Add([]byte{0, 0, 0, 0}, uint16(1))
	f.Fuzz(func(t *testing.T, b []byte, rank uint16) {
		section, readings, found, err := ReadSeries(nil, b, rank)
		if err == nil && found && (section.Rank != rank || len(section.Frame) > len(b)) || len(readings) > len(b) {
			t.Errorf("% x has %+v", b, section)
		}
	})
}

// TestPackets: of each rank's packet numbers each is taken once, whatever their
// order, unless it is too old.
func TestPackets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p packets
		seen, top := map[uint64]bool{}, uint64(0)
		at := rapid.Uint64Range(1, 1<<40).Draw(t, "from")
		for range 300 {
			step := rapid.OneOf(rapid.Int64Range(-50, 60), rapid.Int64Range(-maxBehind-3, maxBehind+100)).Draw(t, "step")
			n := uint64(max(1, int64(at)+step))
			want := !seen[n] && (n > top || top-n <= maxBehind)
			if got := p.new(n); got != want {
				t.Fatalf("%d is new: %v; the highest is %d, it was seen: %v", n, got, top, seen[n])
			}
			if want {
				p.take(n)
				seen[n], top = true, max(top, n)
			}
			at = top
		}
	})
}

// TestMerge: frames are handed on in order, once, whatever the order in which they
// come; a number that comes again is refused, and so is too much that waits.
func TestMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom([]uint32{0, 5, 1<<32 - 10}).Draw(t, "from")
		m := Merge[uint32]{Limit: 1 << 20, next: from}
		count := uint32(rapid.IntRange(1, 50).Draw(t, "frames"))
		var all []uint32
		for i := range count {
			all = append(all, from+1+i)
		}
		var got []uint32
		for i, n := range rapid.Permutation(all).Draw(t, "order") {
			if err := m.Add(n, n, 10, func(n uint32) { got = append(got, n) }); err != nil {
				t.Fatal(err)
			}
			if len(got)+m.Waiting() != i+1 || m.weight != 10*m.Waiting() {
				t.Fatalf("%d handed on, %d wait with %d bytes; expected %d", len(got), m.Waiting(), m.weight, i+1)
			}
			if err := m.Add(n, n, 10, nil); err == nil {
				t.Fatalf("frame %d is taken twice", n)
			}
		}
		if diff := cmp.Diff(all, got); diff != "" || m.Next() != from+count+1 {
			t.Fatal(diff)
		}
	})
	m := Merge[int]{Limit: 100}
	if err := m.Add(3, 0, 60, nil); err != nil {
		t.Error(err)
	}
	if err := m.Add(4, 0, 41, nil); err == nil || err.Error() != "more waits for frame 1 than may: 60 bytes and 41 more" {
		t.Error(err)
	}
}
