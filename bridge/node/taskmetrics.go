package node

import (
	"callboard/bridge/metric"
	"callboard/bridge/overlay"
)

// maxQueueLabels bounds the queues that metrics tell of, each by its name.
const maxQueueLabels = 200

var (
	queueWaiting  = metric.NewFamily("callboard_tasks_waiting", "Tasks that wait in a queue that lives at this broker.", "queue")
	queueInHand   = metric.NewFamily("callboard_tasks_in_hand", "Tasks of the queue that servers have.", "queue")
	queueOldest   = metric.NewFamily("callboard_tasks_oldest_seconds", "How long the next task of the queue has waited.", "queue")
	queueServers  = metric.NewFamily("callboard_tasks_servers", "Servers of the queue.", "queue")
	queueAccepted = metric.NewFamily("callboard_tasks_accepted_total", "Tasks accepted for the queue.", "queue")
	tasksEnded    = metric.NewFamily("callboard_tasks_ended_total", "Tasks that have ended here, by how.", "outcome")
	tasksAgain    = metric.NewFamily("callboard_tasks_again_total", "Tasks that came back from servers that went away.")
	tasksBytes    = metric.NewFamily("callboard_tasks_bytes", "Memory of tasks and answers that live here, about.")
	tasksAwaiting = metric.NewFamily("callboard_tasks_awaited", "Answers that clients which hang on this broker wait for.")
)

var taskFamilies = []*metric.Family{queueWaiting, queueInHand, queueOldest, queueServers, queueAccepted, tasksEnded, tasksAgain, tasksBytes, tasksAwaiting}

// giveTasks gives what there is of tasks.
func giveTasks(to *metric.Scrape, tasks *overlay.TaskInfo, queues []overlay.QueueInfo) {
	for _, q := range queues[:min(len(queues), maxQueueLabels)] {
		to.Give(queueWaiting, float64(q.Waiting), q.Name)
		to.Give(queueInHand, float64(q.InHand), q.Name)
		to.Give(queueOldest, float64(q.Oldest)/float64(overlay.Second), q.Name)
		to.Give(queueServers, float64(q.Servers), q.Name)
		to.Give(queueAccepted, float64(q.Accepted), q.Name)
	}
	c := &tasks.Counts
	for _, ended := range []struct {
		outcome string
		count   uint64
	}{
		{"answered", c.Answered}, {"failed", c.Failed}, {"expired", c.Expired}, {"cancelled", c.Cancelled}, {"unavailable", c.Unavailable},
		{"unknown", c.Unknown}, {"refused", c.Refused},
	} {
		to.Give(tasksEnded, float64(ended.count), ended.outcome)
	}
	to.Give(tasksAgain, float64(c.Again))
	to.Give(tasksBytes, float64(tasks.Bytes))
	to.Give(tasksAwaiting, float64(tasks.Awaiting))
}
