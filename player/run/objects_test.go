package run_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/run"
)

// What a broker told and no message was made of is listed.
func TestObjects(t *testing.T) {
	var b bytes.Buffer
	w, err := run.NewMCAPWriter(run.MCAPConfig{W: &b})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range []run.Record{
		{Kind: run.Data, Robot: "r0", Header: player.Header{Addr: player.Addr{Interf: player.InterfaceOpaque}}, Object: []byte(`{}`)},
		{Kind: run.Data, Robot: "r0", Header: player.Header{Addr: player.Addr{Interf: player.InterfacePower}, Type: player.Data, Subtype: 1}, Payload: &iface.PowerData{}, Object: []byte(`{}`)},
	} {
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := run.New(run.Config{R: bytes.NewReader(b.Bytes()), Size: int64(b.Len())})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/r0/opaque/0/reading"}, f.Objects()); diff != "" {
		t.Error(diff)
	}
}
