package callboard

import (
	"strings"
	"testing"
	"testing/synctest"

	"callboard/subscribe/protocol"
)

// TestMalformed: what the client counts with is checked; what is malformed ends
// the connection with an error that names it, and the client comes back.
func TestMalformed(t *testing.T) {
	for _, test := range []struct{ message, want string }{
		{`{`, `unexpected end`},
		{`{"op":"notify","source":"s1"}`, `notify: seq is 0 or missing; expected a number from 1 to 9007199254740991`},
		{`{"op":"notify","source":"s1","seq":null}`, `seq is 0 or missing`},
		{`{"op":"notify","source":"s1","seq":"1"}`, `notify: `},
		{`{"op":"notify","source":"s1","seq":-1}`, `notify: `},
		{`{"op":"notify","source":"s1","seq":1.5}`, `notify: `},
		{`{"op":"notify","source":"s1","seq":NaN}`, `notify: `},
		{`{"op":"notify","source":"s1","seq":9007199254740992}`, `seq is 9007199254740992 or missing`},
		{`{"op":"notify","seq":1}`, `notify: no source; expected text`},
		{`{"op":"notify","source":"s1","seq":2,"skipped":2}`, `skipped is 2; expected a number below seq, which is 2`},
		{`{"op":"gap","source":"s1","to":2}`, `gap: from is 0 or missing`},
		{`{"op":"gap","source":"s1","from":3,"to":2}`, `to is 2; expected a number from from, which is 3`},
		{`{"op":"gap","source":"s1","from":1,"to":9007199254740992}`, `to is 9007199254740992`},
		{`{"op":"gap","from":1,"to":2}`, `gap: no source`},
		{`{"op":"subscribed","id":"near","sources":[""]}`, `subscribed: no source`},
		{`{"op":"subscribed","sources":["s1"]}`, `subscribed: no id`},
		{`{"op":"robot","source":"s1","state":"up"}`, `robot is "" and state "up"`},
		{`{"op":"error","message":"x"}`, `error: no code`},
		{`{"op":"error","code":"conflict","attachment":9007199254740991}`, `attachment is 9007199254740991`},
	} {
		t.Run(test.message, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeBroker(t)
				r := start(t, f, Config{})
				p := r.attachedTo(f, "one")
				p.send(test.message)
				if d := next[*Detached](r); !strings.Contains(d.Err.Error(), test.want) {
					t.Errorf("%v, want %s", d.Err, test.want)
				}
				p.end()
				p = f.accept()
				p.welcome("one")
				next[*Attached](r)
				p.send(notify("s1", 1, 0))
				if n := next[*Notification](r); n.Seq != 1 {
					t.Errorf("%+v", n)
				}
			})
		})
	}
	for _, welcome := range []string{
		`{"op":"welcome","broker":"b","attachment":1,"heartbeat":1}`,
		`{"op":"welcome","broker":"b","session":"one","attachment":1,"heartbeat":0}`,
		`{"op":"welcome","broker":"b","session":"one","attachment":9007199254740991,"heartbeat":1}`,
	} {
		if err := decode([]byte(welcome), &protocol.Welcome{}, checkWelcome); err == nil {
			t.Errorf("%s passes", welcome)
		}
	}
}
