package spool

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/bridge/overlay"
	"callboard/subscribe/protocol"
)

// TestTasks: what was stored of tasks comes back from tails and from the database, by
// their numbers; of those that have ended nothing does.
func TestTasks(t *testing.T) {
	waits := &overlay.TaskRecord{Number: 1, Queue: "docks", Client: "x", Key: "k1", Body: []byte("1")}
	held := &overlay.TaskRecord{Number: 2, Queue: "docks", Client: "x", Key: "k2", Body: []byte("2")}
	answered := &overlay.TaskRecord{Number: 3, Robot: "r0", Client: "x", Key: "k3"}
	first := &overlay.TaskHeldRecord{Number: 2, Server: "y"}
	again := &overlay.TaskHeldRecord{Number: 2, Server: "z", Tries: 1}
	answer := &overlay.TaskAnsweredRecord{Number: 3, Code: protocol.Unknown, Message: "it may have been"}
	ended := []overlay.Record{
		&overlay.TaskRecord{Number: 4, Queue: "docks", Client: "x", Key: "k4"}, &overlay.TaskHeldRecord{Number: 4, Server: "y"},
		&overlay.TaskAnsweredRecord{Number: 4}, &overlay.TaskEndedRecord{Number: 4},
	}
	for _, split := range []bool{false, true} { // with a commit between what begins and what ends
		dir := t.TempDir()
		s := open(t, dir)
		s.Append(append([]overlay.Record{waits, held, answered, first}, ended[:3]...))
		if split {
			if err := s.commit(); err != nil {
				t.Fatal(err)
			}
		}
		s.Append([]overlay.Record{again, answer, ended[3]})
		if n := len(s.index.tasks); n != 3 {
			t.Errorf("%d tasks are kept in memory, expected 3", n)
		}
		s.Close()
		for range 2 {
			s = open(t, dir)
			if diff := cmp.Diff([]overlay.Record{waits, held, answered, again, answer}, s.Restored().Records); diff != "" {
				t.Errorf("with a commit between: %v\n%s", split, diff)
			}
			if n := len(s.index.tasks); n != 3 {
				t.Errorf("%d tasks in the index, expected 3", n)
			}
			s.Close()
		}
	}
}
