package spool

import "callboard/bridge/overlay"

// taskState is what the database has of a task beside itself, or will have.
type taskState struct {
	held, answered bool
	plans          uint64 // how many had been made when it came
}

// task follows what becomes of a task: whose hands it is in until it is answered, and
// then its answer.
func (x *index) task(r overlay.Record) {
	switch r := r.(type) {
	case *overlay.TaskRecord:
		if x.tasks[r.Number] == nil {
			x.tasks[r.Number] = &taskState{plans: x.plans}
			x.put(bucketTasks, number(r.Number), r)
		}
	case *overlay.TaskHeldRecord:
		if t := x.tasks[r.Number]; t != nil && !t.answered {
			t.held = true
			x.put(bucketHeld, number(r.Number), r)
		}
	case *overlay.TaskAnsweredRecord:
		if t := x.tasks[r.Number]; t != nil && !t.answered {
			t.answered = true
			x.put(bucketAnswers, number(r.Number), r)
		}
	case *overlay.TaskEndedRecord:
		if t := x.tasks[r.Number]; t != nil {
			delete(x.tasks, r.Number)
			x.endTask(t, bucketTasks, r.Number)
			if t.held {
				x.endTask(t, bucketHeld, r.Number)
			}
			if t.answered {
				x.endTask(t, bucketAnswers, r.Number)
			}
		}
	}
}

// endTask takes something of a task out. What the database never had needs no change.
func (x *index) endTask(t *taskState, bucket []byte, n uint64) {
	if t.plans == x.plans {
		delete(x.dirty, place{string(bucket), string(number(n))})
	} else {
		x.put(bucket, number(n), nil)
	}
}
