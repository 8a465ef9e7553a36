package view

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"callboard/player"
	"callboard/player/iface"

	"pgregory.net/rapid"
)

// retoldTwice are a robot as it is seen live, and as it is seen by who gets the
// messages that are made again of what the first is told.
type retoldTwice struct {
	live, again *Robot
	seen, told  string
	retold      *Retold
	device      *player.Device
}

func newRetoldTwice(t rapid.TB, i player.Interface) *retoldTwice {
	s := &retoldTwice{device: dev(i, 2)}
	s.live = NewRobot(func(a *Arrival) { s.seen += string(a.View.AppendJSON(nil)) })
	s.again = NewRobot(func(a *Arrival) { s.told += string(a.View.AppendJSON(nil)) })
	retold, ok := NewRetold(i)
	if !ok {
		t.Fatalf("%s cannot be retold", i)
	}
	s.retold = retold
	return s
}

// take gives both a message and compares what they see.
func (s *retoldTwice) take(t rapid.TB, subtype uint8, payload any) {
	s.seen, s.told = "", ""
	s.live.Arrive(player.Reading{Device: s.device, Subtype: subtype, Time: 7, Payload: payload})
	if s.seen == "" {
		t.Fatalf("%s is no reading", s.device.Addr)
	}
	again, made, err := s.retold.Message([]byte(s.seen))
	if err != nil {
		t.Fatalf("%s: %v, of %s", s.device.Addr, err, s.seen)
	}
	s.again.Arrive(player.Reading{Device: s.device, Subtype: again, Time: 7, Payload: made})
	if s.told != s.seen {
		t.Fatalf("%s: live\n%s, retold\n%s\nby %+v\nof %+v", s.device.Addr, s.seen, s.told, made, payload)
	}
}

func TestRetold(t *testing.T) {
	for _, tt := range further {
		if _, ok := NewRetold(tt.interf); !ok {
			if tt.interf != player.InterfacePosition2D && tt.interf != player.InterfacePosition3D {
				t.Errorf("%s cannot be retold", tt.interf)
			}
			continue
		}
		newRetoldTwice(t, tt.interf).take(t, tt.subtype, tt.payload)
	}
}

// Whatever a message says, what is made of its reading gives the same reading.
func TestRetoldAny(t *testing.T) {
	kinds := slices.DeleteFunc(slices.Clone(further), func(m furtherMessage) bool { _, ok := NewRetold(m.interf); return !ok })
	rapid.Check(t, func(t *rapid.T) {
		tt := rapid.SampledFrom(kinds).Draw(t, "kind")
		s := newRetoldTwice(t, tt.interf)
		for range rapid.IntRange(1, 3).Draw(t, "messages") {
			payload := reflect.New(reflect.TypeOf(tt.payload).Elem())
			scramble(t, payload.Elem())
			if g, ok := payload.Interface().(*iface.GPSData); ok {
				g.TimeUsec %= 1e6
			}
			s.take(t, tt.subtype, payload.Interface())
		}
	})
}

// scramble fills a message with anything that Player may send, but for numbers
// without end: JSON has them as those that are none.
func scramble(t *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			scramble(t, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			scramble(t, v.Index(i))
		}
		if b, ok := v.Interface().([32]uint8); ok { // a text
			text := bytes.ToValidUTF8(bytes.ReplaceAll(b[:], []byte{0xef}, nil), nil)
			b = [32]uint8{}
			copy(b[:], text)
			v.Set(reflect.ValueOf(b))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rapid.IntRange(0, 4).Draw(t, "length"), 4))
		for i := range v.Len() {
			scramble(t, v.Index(i))
		}
	case reflect.String:
		v.SetString(rapid.StringMatching(`[ -~äöü]{0,16}`).Draw(t, "text"))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(rapid.OneOf(rapid.Float64Range(-100, 100), rapid.SampledFrom([]float64{0, 1, -1.5, math.NaN()})).Draw(t, "number"))
	case reflect.Int64:
		v.SetInt(rapid.Int64Range(-1<<50, 1<<50).Draw(t, "whole"))
	case reflect.Int8, reflect.Int16, reflect.Int32:
		v.SetInt(rapid.Int64Range(math.MinInt32, math.MaxInt32).Draw(t, "whole"))
	default:
		v.SetUint(rapid.Uint64Range(0, math.MaxUint32).Draw(t, "whole"))
	}
}

// An inertial unit sends messages of several kinds: each is found again.
func TestRetoldIMU(t *testing.T) {
	kinds := []any{&iface.IMUDataState{}, &iface.IMUDataCalib{}, &iface.IMUDataQuat{}, &iface.IMUDataEuler{}, &iface.IMUDataFullstate{}}
	rapid.Check(t, func(t *rapid.T) {
		s := newRetoldTwice(t, player.InterfaceIMU)
		for range rapid.IntRange(1, 12).Draw(t, "messages") {
			kind := rapid.IntRange(0, len(kinds)-1).Draw(t, "kind")
			payload := reflect.New(reflect.TypeOf(kinds[kind]).Elem())
			scramble(t, payload.Elem())
			s.take(t, uint8(kind+1), payload.Interface())
		}
	})
}

// Objects of others, or of other versions, give an error or a message, and
// never more than they have.
func FuzzRetold(f *testing.F) {
	for _, tt := range further {
		r := NewRobot(func(a *Arrival) { f.Add(uint16(tt.interf), a.View.AppendJSON(nil)) })
		r.Arrive(player.Reading{Device: dev(tt.interf, 0), Subtype: tt.subtype, Payload: tt.payload})
	}
	f.Add(uint16(player.InterfaceFiducial), []byte(`{"ids":[1,2],"xs":[1e300],"ranges":[1,2],"nearest":7}`))
	f.Add(uint16(player.InterfaceWifi), []byte(`{"quals":[1],"essids":["`+strings.Repeat("x", 99)+`"]}`))
	f.Fuzz(func(t *testing.T, i uint16, object []byte) {
		r, ok := NewRetold(player.Interface(i))
		if !ok {
			return
		}
		for range 2 {
			subtype, payload, err := r.Message(object)
			if err != nil {
				return
			}
			body, err := iface.Append(nil, payload)
			if err != nil {
				t.Fatalf("%T cannot be sent: %v", payload, err)
			}
			if len(body) > 256+64*len(object) {
				t.Fatalf("%d bytes of %d", len(body), len(object))
			}
			NewRobot(func(*Arrival) {}).Arrive(player.Reading{Device: dev(player.Interface(i), 0), Subtype: subtype, Payload: payload})
		}
	})
}
