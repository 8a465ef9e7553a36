package iface_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/iface"
)

func TestLookup(t *testing.T) {
	for _, test := range []struct {
		interf  player.Interface
		typ     player.Type
		subtype uint8
		want    string // "": not known
	}{
		{player.InterfaceLaser, player.Data, 1, "laser DATA SCAN"},
		{player.InterfaceLaser, player.Request, 1, "laser REQ GET_GEOM"},
		{player.InterfaceLaser, player.Ack, 1, "laser REQ GET_GEOM"},
		{player.InterfaceLaser, player.Nack, 2, "laser REQ SET_CONFIG"},
		{player.InterfaceLaser, player.Ack, 254, "REQ GET_INTPROP"},
		{200, player.Request, 255, "REQ CAPABILITIES"},
		{200, player.Data, 1, ""},
		{player.InterfaceLaser, player.Data, 9, ""},
		{player.InterfaceLaser, player.Data, 255, ""},
		{player.InterfacePlayer, player.Synch, 2, "player SYNCH OVERFLOW"},
	} {
		m, ok := iface.Lookup(test.interf, test.typ, test.subtype)
		got := ""
		if ok {
			got = m.String()
		}
		if got != test.want {
			t.Errorf("%s %s %d is %q, expected %q", test.interf, test.typ, test.subtype, got, test.want)
		}
	}
	if !iface.HasData(player.InterfaceRanger) || iface.HasData(player.InterfacePlayer) || iface.HasData(200) {
		t.Error("HasData is wrong")
	}
}

func TestAppendMessage(t *testing.T) {
	scan := player.Header{Addr: player.Addr{Interf: player.InterfaceLaser}, Type: player.Data, Subtype: iface.DataLaserScan, Size: 77}
	odd := scan
	odd.Interf = 200
	for _, test := range []struct {
		name    string
		header  player.Header
		payload any
		size    uint32
		err     string
	}{
		{name: "pointer", header: scan, payload: &iface.LaserData{}, size: 36},
		{name: "value", header: scan, payload: iface.LaserData{}, size: 36},
		{name: "nil", header: scan},
		{name: "raw", header: odd, payload: &iface.Raw{Body: make([]byte, 8)}, size: 8},
		{name: "raw for a known message", header: scan, payload: &iface.Raw{Body: make([]byte, 8)}, size: 8},
		{name: "unknown message", header: odd, payload: &iface.SonarData{}, size: 8},
		{name: "another struct", header: scan, payload: &iface.SonarData{}, err: "laser DATA SCAN: a *iface.SonarData is not its body"},
		{name: "foreign struct", header: odd, payload: &struct{}{}, err: "cannot encode a *struct {}"},
		{name: "nil pointer", header: scan, payload: (*iface.LaserData)(nil), err: "that is not nil"},
		{name: "too long", header: scan, payload: &iface.Raw{Body: make([]byte, player.MaxMessage)}, err: "a message has at most 33554432"},
	} {
		dst := []byte{1}
		got, err := iface.AppendMessage(dst, test.header, test.payload)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) || len(got) != 1 {
				t.Errorf("%s: %d bytes and error %v, expected %q in it and the byte from before", test.name, len(got), err, test.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		h, err := player.ParseHeader(got[1:])
		want := test.header
		want.Size = test.size
		if err != nil || h != want || len(got) != 1+player.HeaderSize+int(test.size) {
			t.Errorf("%s: header %+v of %d bytes, %v, expected %+v", test.name, h, len(got), err, want)
		}
	}
}

func TestDecodeInto(t *testing.T) {
	raw := &iface.Raw{}
	if err := iface.Decode([]byte{1, 2}, raw); err != nil || len(raw.Body) != 2 {
		t.Errorf("raw has %d bytes, %v", len(raw.Body), err)
	}
	for _, into := range []any{nil, iface.SonarData{}, new(int)} {
		if err := iface.Decode(nil, into); err == nil || !strings.Contains(err.Error(), "expected a pointer to a struct of package iface") {
			t.Errorf("decoding into a %T: error %v", into, err)
		}
	}
	reset, _ := iface.Lookup(player.InterfacePosition2D, player.Request, iface.ReqPosition2DResetOdom)
	if err := reset.Decode([]byte{0, 0, 0, 0}, nil); err == nil || !strings.Contains(err.Error(), "has no body, got 4 bytes") {
		t.Errorf("an empty message took a body: %v", err)
	}
	if _, err := reset.Append(nil, &iface.SonarData{}); err == nil || reset.New() != nil || reset.Struct() != nil {
		t.Errorf("an empty message has a body: %v", err)
	}
}

func TestText(t *testing.T) {
	got := []string{iface.CString("r0"), iface.GoString("r0\x00"), iface.GoString("r0"), iface.GoString("r0\x00junk"), iface.GoString("")}
	if diff := cmp.Diff([]string{"r0\x00", "r0", "r0", "r0", ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
