package overlay

// QueueInfo is a queue that lives at a broker.
type QueueInfo struct {
	Name     string
	Declared bool
	Since    Instant // when it began to live here
	Waiting  int
	Bytes    int // of the bodies that wait
	Limits   QueueConfig
	InHand   int      // tasks that servers have
	Servers  int      // clients' serves, those that are away among them
	Away     int      // of those
	Oldest   Duration // how long the next task has waited; 0: none waits
	Accepted uint64   // in all, of this life of the broker
	Ended    uint64   // of those
}

// TaskInfo is what a broker has of tasks.
type TaskInfo struct {
	Counts   TaskCounts // of queues that live here
	Kept     int        // tasks that are not forgotten, answered ones among them
	Bytes    int64      // of all bodies and answers, about
	Stored   int64      // of those that are stored
	Awaiting int        // answers that clients which hang on this broker wait for
	Pending  int64      // bytes of requests and answers that their home does not have yet
}

// Queues lists the queues that live at this broker, by name.
func (b *Broker) Queues() []QueueInfo {
	h := b.tasks.home
	all := make([]QueueInfo, 0, len(h.queues))
	for _, name := range sortedKeys(h.queues) {
		q := h.queues[name]
		if q.robot != "" {
			continue
		}
		i := QueueInfo{
			Name: name, Declared: q.declared, Since: q.since, Waiting: q.waiting, Bytes: q.bytes, Limits: q.limits,
			InHand: q.inHand, Servers: len(q.servers), Accepted: q.accepted, Ended: q.ended,
		}
		for _, s := range q.servers {
			if s.holder.away || s.listed != s.holder.at {
				i.Away++
			}
		}
		if t := q.oldest(); t != nil {
			i.Oldest = Duration(h.now - t.accepted)
		}
		all = append(all, i)
	}
	return all
}

// Tasks returns what this broker has of tasks.
func (b *Broker) Tasks() TaskInfo {
	h, e := b.tasks.home, b.tasks.edge
	i := TaskInfo{Counts: h.count, Kept: len(h.tasks), Bytes: h.bytes, Stored: h.disk, Pending: e.bytes}
	for _, p := range e.conns { // sums
		i.Awaiting += len(p.waits)
	}
	return i
}
