package callboard

import (
	"strings"
	"testing"

	"callboard/subscribe/protocol"
)

// TestMalformed: what is wrong is named, and what was expected.
func TestMalformed(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{decode([]byte(`{"source":"s1"}`), &protocol.Notify{}, checkNotify), "seq is 0 or missing; expected a number from 1 to 9007199254740991"},
		{decode([]byte(`{"source":"s1","seq":2,"skipped":2}`), &protocol.Notify{}, checkNotify), "skipped is 2; expected a number below seq, which is 2"},
		{decode([]byte(`{"seq":1}`), &protocol.Notify{}, checkNotify), "no source; expected text"},
		{decode([]byte(`{"source":"s1","from":3,"to":2}`), &protocol.Gap{}, checkGap), "to is 2; expected a number from from, which is 3"},
		{decode([]byte(`{"state":"up"}`), &protocol.Robot{}, checkRobot), `robot is "" and state "up"; expected text`},
		{decode([]byte(`{"broker":"b","session":"one"}`), &protocol.Welcome{}, checkWelcome), "heartbeat is 0; expected seconds up to 3600"},
	} {
		if test.err == nil || !strings.HasPrefix(test.err.Error(), test.want) {
			t.Errorf("%v, want %s", test.err, test.want)
		}
	}
	e := &Error{Code: protocol.BadCondition, Message: "unknown name lasr", Position: &protocol.Position{Line: 1, Column: 4}}
	if got := e.Error(); got != "1:4: unknown name lasr (bad_condition)" {
		t.Error(got)
	}
}
