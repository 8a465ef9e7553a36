package push

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"callboard/subscribe/protocol"
)

// offers are lists of extensions that clients may ask for, and what is answered.
var offers = []struct{ offer, answer string }{
	{"", ""},
	{"permessage-deflate", deflateAnswer},
	{"permessage-deflate; client_max_window_bits", deflateAnswer}, // Chrome, Firefox
	{"Permessage-Deflate;Client_Max_Window_Bits=10", deflateAnswer},
	{`permessage-deflate; client_max_window_bits="9"`, deflateAnswer},
	{"permessage-deflate; server_no_context_takeover; client_no_context_takeover", deflateAnswer},
	{"permessage-deflate; server_max_window_bits=15", deflateAnswer + "; server_max_window_bits=15"},
	{"permessage-deflate; server_max_window_bits=10", ""},
	{"permessage-deflate; server_max_window_bits=10, permessage-deflate", deflateAnswer},
	{"permessage-deflate; server_max_window_bits=8; client_max_window_bits, , permessage-deflate; server_max_window_bits=15", deflateAnswer + "; server_max_window_bits=15"},
	{"x-webkit-deflate-frame, permessage-deflate", deflateAnswer},
	{"bbf-usp-protocol; x=\"a,b\\\"\", permessage-deflate", deflateAnswer},
	{"permessage-deflate; server_max_window_bits", ""},
	{"permessage-deflate; server_max_window_bits=16", ""},
	{"permessage-deflate; server_max_window_bits=015", ""},
	{"permessage-deflate; client_max_window_bits=7", ""},
	{"permessage-deflate; client_max_window_bits=", ""},
	{"permessage-deflate; server_no_context_takeover=1", ""},
	{"permessage-deflate; server_no_context_takeover; server_no_context_takeover", ""},
	{"permessage-deflate; mode=fast", ""},
	{"permessage-deflate;", ""},
	{"permessage-bzip2", ""},
	{`"permessage-deflate"`, ""},
	{`x; a="`, ""},
}

const deflateAnswer = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

// TestExtensionOffers: an offer whose window is smaller than ours is declined, the
// next one may be taken, and the answer says what the offer asks for.
func TestExtensionOffers(t *testing.T) {
	s := start(t, Config{})
	for _, tt := range offers {
		r, err := http.NewRequest(http.MethodGet, "http://"+s.addr+"/ws", nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
			"Sec-WebSocket-Extensions": tt.offer,
		} {
			r.Header.Set(name, value)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := response.Header.Get("Sec-WebSocket-Extensions"); got != tt.answer || response.StatusCode != http.StatusSwitchingProtocols {
			t.Errorf("%q: %d, answered %q, expected %q", tt.offer, response.StatusCode, got, tt.answer)
		}
	}
}

// What is agreed on is done.
func TestDeflatedSession(t *testing.T) {
	s := start(t, Config{})
	c := s.dial(t, &websocket.Dialer{EnableCompression: true, Subprotocols: []string{protocol.Subprotocol}}, nil)
	c.send(`{"op":"hello"}`)
	c.expect(welcome)
	s.broker.out(1).Notify(protocol.Notify{Source: "b1", Seq: 1, Reading: bigReading}, time.Time{})
	if got := c.next(); !strings.HasSuffix(got, string(bigReading)+"}") || s.metrics.sentBytes.Get() > uint64(len(bigReading)) {
		t.Errorf("got %d bytes of %d written", len(got), s.metrics.sentBytes.Get())
	}
}

func FuzzExtensionOffers(f *testing.F) {
	for _, tt := range offers {
		f.Add(tt.offer)
	}
	f.Fuzz(func(t *testing.T, header string) {
		h := http.Header{}
		h.Set(extensionsHeader, header)
		answer := chooseDeflate(h)
		if got := h.Get(extensionsHeader); got != "" && got != deflateExtension || got == "" && answer != "" {
			t.Errorf("%q: %q, answer %q", header, got, answer)
		}
	})
}

// A text that is not UTF-8 ends the connection with 1007, also as the reason in a
// close frame.
func TestTextThatIsNotUTF8(t *testing.T) {
	s := start(t, Config{})
	for _, frame := range [][]byte{
		{0x81, 0x83, 0, 0, 0, 0, '"', 0xff, '"'},
		{0x81, 0x84, 0, 0, 0, 0, '"', 0xed, 0xa0, 0x80}, // a surrogate, cut
		{0x88, 0x83, 0, 0, 0, 0, 0x03, 0xe8, 0xff},
	} {
		c := s.greeted(t)
		if _, err := c.NetConn().Write(frame); err != nil {
			t.Fatal(err)
		}
		c.closed(websocket.CloseInvalidFramePayloadData)
	}
	c := s.dial(t, &websocket.Dialer{Subprotocols: []string{protocol.SubprotocolCBOR}}, nil)
	if err := c.WriteMessage(websocket.TextMessage, []byte{0xff}); err != nil {
		t.Fatal(err)
	}
	c.closed(websocket.CloseInvalidFramePayloadData)
}
