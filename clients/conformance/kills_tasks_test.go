//go:build linux

package conformance

import (
	"fmt"
	"reflect"
)

// queue declares where the tasks of TestKills live: at a broker that is killed, too.
const queue = `[[queue]]
name = "work"
tries = 100
`

// asks is how many tasks a follower asks for at a time.
const asks = 4

// serve has the program do the tasks of the queue: it answers with what it was asked.
func (f *follower) serve() {
	f.t.Helper()
	f.does("serve", object{"queue": "work", "at_once": 2, "echo": true})
}

// ask asks for tasks whose answers are not waited for yet.
func (f *follower) ask() {
	f.t.Helper()
	for range asks {
		f.asked++
		body := fmt.Sprint(f.library.name, " ", f.asked)
		f.waits = append(f.waits, body)
		f.driver.say(f.t, object{"tag": body, "do": "request", "args": object{"queue": "work", "body": body, "ttl": 600, "key": body}})
	}
}

// answered waits for their answers: each is that to its own task.
func (f *follower) answered() {
	f.t.Helper()
	for _, body := range f.waits {
		m, err := f.driver.result(body, f.kept)
		if err != nil {
			f.t.Fatalf("%s: task %q: %v", f.library.name, body, err)
		}
		if !reflect.DeepEqual(m["value"], any(body)) {
			f.t.Errorf("%s: task %q has the answer %s", f.library.name, body, shown(m))
		}
	}
	f.waits = nil
}
