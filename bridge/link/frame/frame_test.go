package frame

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"callboard/bridge/overlay"
)

// exact compares messages to the last bit: nil is not empty, and NaNs are
// equal if their bits are.
var exact = cmp.Options{cmpopts.IgnoreUnexported(overlay.Reading{}, overlay.Subscription{}), cmp.Comparer(sameFloat)}

func roundTrip(t *rapid.T, e *Encoder, d *Decoder, sent []overlay.Message) []byte {
	data, err := e.Append(nil, sent)
	if err != nil {
		t.Fatalf("%v", err)
	}
	got, err := d.Decode(data)
	if err != nil {
		t.Fatalf("%v in % x", err, data)
	}
	if diff := cmp.Diff(sent, got, exact); diff != "" {
		t.Fatalf("what was sent (-) and what arrived (+): %s", diff)
	}
	return data
}

func TestEveryMessageComesAsItWent(t *testing.T) {
	strict, err := cbor.DecOptions{
		IndefLength: cbor.IndefLengthForbidden, TagsMd: cbor.TagsForbidden, MaxNestedLevels: 32, MaxArrayElements: 1 << 20,
	}.DecMode()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		g := newGenerator(t)
		e, d := NewEncoder(), NewDecoder()
		e.texts.limit, d.texts.limit = 5, 5 // so that numbers are used again
		e.epochs.limit, d.epochs.limit = 2, 2
		e.keys.limit, d.keys.limit = 3, 3
		for range rapid.IntRange(1, 4).Draw(t, "frames") {
			g.readings = g.readings[:0]
			sent := make([]overlay.Message, rapid.IntRange(0, 5).Draw(t, "messages"))
			for i := range sent {
				sent[i] = g.message()
			}
			data := roundTrip(t, e, d, sent)
			if err := strict.Wellformed(data); err != nil {
				t.Fatalf("not CBOR: %v in % x", err, data)
			}
			again, err := cbor.CoreDetEncOptions().EncMode()
			if err != nil {
				t.Fatal(err)
			}
			var items any
			if err := strict.Unmarshal(data, &items); err != nil {
				t.Fatalf("%v", err)
			}
			if _, err := again.Marshal(items); err != nil {
				t.Fatalf("%v", err)
			}
		}
	})
}

// Every type that the overlay calls a message has its number here.
func TestAllMessagesHaveANumber(t *testing.T) {
	got := map[string][]string{}
	for method, types := range map[string][]reflect.Type{"message": messageTypes, "registryMessage": registryTypes} {
		for _, t := range types {
			got[method] = append(got[method], t.Name())
		}
		slices.Sort(got[method])
	}
	want := map[string][]string{}
	files, err := filepath.Glob("../../overlay/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("the overlay's files: %v, %v", files, err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if ok && f.Recv != nil && (f.Name.Name == "message" || f.Name.Name == "registryMessage") {
				want[f.Name.Name] = append(want[f.Name.Name], f.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.Ident).Name)
			}
		}
	}
	for _, types := range want {
		slices.Sort(types)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the overlay's (-) and those that have a format (+): %s", diff)
	}
}

func TestNumberedFieldsExist(t *testing.T) {
	for typ, names := range numbered {
		for _, name := range names {
			if f, ok := typ.FieldByName(name); !ok || f.Type.Kind() != reflect.String {
				t.Errorf("%v has no text %s", typ, name)
			}
		}
	}
	if !strings.Contains(messages.shape, "HeadMessage[Key key,Last uint64,]") {
		t.Errorf("the format in words lacks what a head is: %s", messages.shape)
	}
}

func TestWhatWasNamedGoesByNumber(t *testing.T) {
	e, d := NewEncoder(), NewDecoder()
	key := overlay.Key{Client: "dispatcher-with-a-long-name", Session: overlay.Session{Attachment: 1, Edge: "edge-broker", Revision: 1e15}, Source: "source-broker", Stamp: 1e15}
	size := func() int {
		data, err := e.Append(nil, []overlay.Message{&overlay.HeadMessage{Key: key, Last: 7}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := d.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if got := got[0].(*overlay.HeadMessage).Key; got != key {
			t.Errorf("%+v arrived as %+v", key, got)
		}
		return len(data)
	}
	first, second := size(), size()
	if first < 70 || second != 6 {
		t.Errorf("%d bytes at first and %d then; expected more than 70, and 6", first, second)
	}
	notification := func() int {
		m := notify(1, 1)
		m.Reading.JSON = nil
		data, err := e.Append(nil, []overlay.Message{m})
		if err != nil {
			t.Fatal(err)
		}
		return len(data)
	}
	if first, second := notification(), notification(); second > 40 || first < second+60 {
		t.Errorf("a notification takes %d bytes at first and %d then; expected up to 40", first, second)
	}
}

// An epoch is written as one, also where its fields stand by themselves.
func TestEpochsByTheirFields(t *testing.T) {
	type flat struct {
		Before     bool
		Attachment uint64
		Edge       overlay.BrokerID
		Revision   uint64
		After      bool
	}
	p := newPlans().of(reflect.TypeFor[flat]())
	if p.shape != "flat[Before bool,epoch,After bool,]" {
		t.Error(p.shape)
	}
	e, d := NewEncoder(), NewDecoder()
	sent := flat{true, 1 << 40, "b1", 1 << 50, true}
	for _, size := range []int{1 + 1 + 2 + 9 + 5 + 9 + 1, 1 + 1 + 1 + 1} {
		e.b = nil
		p.encode(e, reflect.ValueOf(&sent).Elem())
		if len(e.b) != size {
			t.Errorf("%d bytes; expected %d", len(e.b), size)
		}
		var got flat
		d.input, d.budget = input{data: e.b}, 1000
		p.decode(d, reflect.ValueOf(&got).Elem())
		if got != sent || d.err != nil {
			t.Errorf("%+v, %v", got, d.err)
		}
	}
}

func TestAReadingCrossesOnceAFrame(t *testing.T) {
	r := &overlay.Reading{Robot: "r0", Interface: "laser", JSON: bytes.Repeat([]byte("x"), 5000)}
	sent := []overlay.Message{
		&overlay.NotifyMessage{Reading: r, Hits: []overlay.KeyHit{{Seq: 1}, {Seq: 2}}},
		&overlay.ReplayMessage{Items: []overlay.Item{{Kind: overlay.ItemNotification, Reading: r}, {Kind: overlay.ItemNotification, Reading: r}}},
	}
	data, err := NewEncoder().Append(nil, sent)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, r.JSON); n != 1 || len(data) > 5200 {
		t.Errorf("it is there %d times in %d bytes", n, len(data))
	}
	got, err := NewDecoder().Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if items := got[1].(*overlay.ReplayMessage).Items; items[0].Reading != items[1].Reading || items[0].Reading != got[0].(*overlay.NotifyMessage).Reading {
		t.Error("the same reading arrived as several")
	}
}

// TestSharedReadings: frames of several sessions refer to readings that are written
// once beside them, without any session's numbers.
func TestSharedReadings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGenerator(t)
		e, d := NewEncoder(), NewDecoder()
		for range 2 {
			g.readings = g.readings[:0]
			var sent []overlay.Message
			for range rapid.IntRange(1, 5).Draw(t, "messages") {
				sent = append(sent, g.message())
			}
			var shared []*overlay.Reading
			var beside [][]byte
			for _, r := range g.readings {
				if rapid.Bool().Draw(t, "shared") && !slices.Contains(shared, r) {
					shared = append(shared, r)
					beside = append(beside, NewEncoder().AppendReading(nil, r))
				}
			}
			data, err := e.Append(nil, sent, shared...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Decode(data, beside...)
			if err != nil {
				t.Fatalf("%v in % x beside % x", err, data, beside)
			}
			if diff := cmp.Diff(sent, got, exact); diff != "" {
				t.Fatalf("what was sent (-) and what arrived (+): %s", diff)
			}
		}
	})
	r := notify(1, 5).Reading
	e := NewEncoder()
	beside := e.AppendReading(nil, r)
	data, err := e.Append(nil, []overlay.Message{&overlay.NotifyMessage{Reading: r}}, r)
	if err != nil || bytes.Contains(data, r.JSON) {
		t.Errorf("%v, % x", err, data)
	}
	for _, tt := range []struct {
		beside []byte
		want   string
	}{
		{nil, "a shared reading: byte 0: it ends too early"},
		{beside[:len(beside)-1], "a shared reading: "},
		{append(bytes.Clone(beside), 0), "1 bytes behind a shared reading"},
	} {
		if _, err := NewDecoder().Decode(data, tt.beside); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v; expected %s", err, tt.want)
		}
	}
	if _, err := NewDecoder().Decode(data); err == nil || !strings.Contains(err.Error(), "reading number 0 of the frame was not told") {
		t.Error(err)
	}
}

// The cost that the overlay promises: 50 keys move for some 5 kB.
func TestMovingFiftyKeys(t *testing.T) {
	data, err := NewEncoder().Append(nil, move(50))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes for 50 keys", len(data))
	if len(data) > 5000 {
		t.Errorf("%d bytes for 50 keys; expected up to 5,000", len(data))
	}
}

func TestNumbersAreUsedAgain(t *testing.T) {
	table := newNumbers[string](3)
	told := names[string]{limit: 3}
	use := func(name string) bool {
		n, known := table.number(name)
		if known {
			if got, ok := told.get(uint64(n)); !ok || got != name {
				t.Errorf("%s has the number %d, which is %q to the receiver", name, n, got)
			}
		} else if !told.put(uint64(n), name) {
			t.Errorf("%s: the receiver refuses the number %d", name, n)
		}
		return known
	}
	for _, step := range []struct {
		name  string
		known bool
	}{{"a", false}, {"b", false}, {"c", false}, {"a", true}, {"b", true}, {"d", false}, {"a", true}, {"b", true}, {"c", false}, {"a", true}} {
		if got := use(step.name); got != step.known {
			t.Errorf("%s is known: %v; expected %v", step.name, got, step.known)
		}
	}
	if len(table.byName) != 3 || len(told.known) != 3 {
		t.Errorf("%d and %d names; expected 3", len(table.byName), len(told.known))
	}
}

func TestWrongFrames(t *testing.T) {
	good := func(all ...overlay.Message) []byte {
		data, err := NewEncoder().Append(nil, all)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	head := good(&overlay.HeadMessage{Key: overlay.Key{Client: "c", Session: overlay.Session{Edge: "e"}, Source: "s"}, Last: 1})
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "it ends too early"},
		{"cut", head[:len(head)-1], "it ends too early"},
		{"more behind", append(slices.Clone(head), 0), "1 bytes behind the last message"},
		{"no array", []byte{0x01}, "0x01; expected an array"},
		{"too many messages", []byte{0x9b, 0, 0, 0, 1, 0, 0, 0, 0}, "an array of 4294967296 items where 0 bytes are left"},
		{"indefinite", []byte{0x9f, 0xff}, "of a definite length"},
		{"written too long", []byte{0x98, 0x01, 0x00}, "1 is written too long"},
		{"unknown message", []byte{0x81, 0x82, 0x18, 99, 0x80}, "99; expected up to 14"},
		{"too few fields", []byte{0x81, 0x82, 0x02, 0x81, 0x00}, "HeadMessage of 1 fields; expected 2"},
		{"unknown key", []byte{0x81, 0x82, 0x02, 0x82, 0x00, 0x01}, "key number 0 was not told"},
		{"a key's number far off", []byte{0x81, 0x82, 0x02, 0x82, 0x85, 0x05, 0x60, 0x84, 0, 0, 0x60, 0, 0x60, 0, 0x01}, "a key gets the number 5; expected up to 0"},
		{"an unknown epoch", []byte{0x81, 0x82, 0x02, 0x82, 0x85, 0, 0x60, 0x07, 0x60, 0, 0x01}, "epoch number 7 was not told"},
		{"an epoch's number far off", []byte{0x81, 0x82, 0x02, 0x82, 0x85, 0, 0x60, 0x84, 3, 0, 0x60, 0, 0x60, 0, 0x01}, "an epoch gets the number 3; expected up to 0"},
		{"no reading", good(&overlay.NotifyMessage{}), "a notification without a reading"},
		{"no subscription", noSubscription(good), "a Subscription is missing"},
		{"an item of no kind", good(&overlay.ReplayMessage{Items: []overlay.Item{{}}}), "an item of kind 0"},
		{"an item backwards", good(&overlay.ReplayMessage{Items: []overlay.Item{{Kind: overlay.ItemGap, From: 2, To: 1}}}), "an item from 2 to 1"},
		{"an item without reading", good(&overlay.ReplayMessage{Items: []overlay.Item{{Kind: overlay.ItemNotification}}}), "a notification without a reading"},
		{"not UTF-8", bytes.Replace(head, []byte("ac"), []byte("a\xff"), 1), "not UTF-8"},
	} {
		_, err := NewDecoder().Decode(tt.data)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; expected %q", tt.name, err, tt.want)
		}
	}
}

// noSubscription is a set with a member that has none.
func noSubscription(frame func(...overlay.Message) []byte) []byte {
	set := &overlay.SetChange{}
	put := reflect.ValueOf(set).Elem().FieldByName("Put")
	put.Set(reflect.MakeSlice(put.Type(), 1, 1))
	return frame(&overlay.SubscribeMessage{Set: set})
}

func TestWhatHasNoFormat(t *testing.T) {
	for _, all := range [][]overlay.Message{{nil}, {(*overlay.HeadMessage)(nil)}, {&overlay.RoutedMessage{}}} {
		if _, err := NewEncoder().Append(nil, all); err == nil {
			t.Errorf("%v was written", all)
		}
	}
}
