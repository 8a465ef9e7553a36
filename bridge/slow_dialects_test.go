package bridge_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"callboard/bridge"
	"callboard/bridge/config"

	"github.com/gorilla/websocket"
)

// lost returns how many notifications a broker could not keep for its clients.
func lost(t *testing.T, b *bridge.Bridge) float64 {
	t.Helper()
	response, err := http.Get(b.URL() + "/api/brokers")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var brokers []struct{ Lost float64 }
	if err := json.Unmarshal(text, &brokers); err != nil || len(brokers) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	return brokers[0].Lost
}

// TestSlowProgramsOfDialects: of what waits for a program that does not read the
// oldest is dropped, and it is told how much; others are not held up.
func TestSlowProgramsOfDialects(t *testing.T) {
	small := websocket.Dialer{NetDial: func(network, address string) (net.Conn, error) {
		c, err := net.Dial(network, address)
		if err == nil {
			err = c.(*net.TCPConn).SetReadBuffer(4096)
		}
		return c, err
	}}
	for path, slow := range map[string]struct {
		asks func(say func(string), hears func(...string) []byte)
		told string
	}{
		"/rosbridge": {func(say func(string), _ func(...string) []byte) {
			for i := range 5 {
				say(fmt.Sprintf(`{"op":"subscribe","topic":"/callboard/condition/c%d","condition":"true"}`, i))
			}
		}, "readings were dropped"},
		"/foxglove": {func(say func(string), hears func(...string) []byte) {
			var m struct {
				Services []struct {
					ID   float64
					Name string
				}
			}
			if err := json.Unmarshal(hears("advertiseServices", "/callboard/subscribe"), &m); err != nil {
				t.Fatal(err)
			}
			say(`{"op":"advertise","channels":[{"id":1,"topic":"/callboard/subscribe","encoding":"json","schemaName":"x"}]}`)
			say("\x01\x01\x00\x00\x00" + `{"id":"all","condition":"true"}`)
			var advertised struct{ Channels []struct{ ID float64 } }
			if err := json.Unmarshal(hears(`"advertise"`, "/callboard/condition/all"), &advertised); err != nil {
				t.Fatal(err)
			}
			say(fmt.Sprintf(`{"op":"subscribe","subscriptions":[{"id":1,"channelId":%v}]}`, advertised.Channels[0].ID))
		}, "Send buffer limit reached"},
	} {
		t.Run(path[1:], func(t *testing.T) {
			b := simulatedAt(t, 50, func(c *config.Config) { c.Limits.Inbox.Count = 50 }, "r0", "r1")
			small.Subprotocols = []string{"foxglove.sdk.v1"}
			ws, _, err := small.Dial("ws"+strings.TrimPrefix(b.URL(), "http")+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer ws.Close()
			p := &dialectProgram{ws, t}
			slow.asks(func(text string) {
				kind := websocket.TextMessage
				if text[0] < ' ' {
					kind = websocket.BinaryMessage
				}
				if err := ws.WriteMessage(kind, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}, func(words ...string) []byte {
				return p.hears(fmt.Sprint(words), func(_ bool, m []byte) bool {
					for _, w := range words {
						if !bytes.Contains(m, []byte(w)) {
							return false
						}
					}
					return true
				})
			})
			other := speak(t, b, "/rosbridge", nil)
			for end := time.Now().Add(3 * patience); lost(t, b) == 0; {
				other.message("/r1/odom", "nav_msgs/Odometry") // it goes on
				if time.Now().After(end) {
					t.Fatal("nothing is dropped")
				}
			}
			p.hearsText(`"op":"status"`, slow.told)
		})
	}
}
