package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"callboard/bridge/node"
	"callboard/subscribe/protocol"
)

// brokerTable lists the brokers; of one that did not answer little is known.
func brokerTable(brokers []node.Broker) table {
	t := table{headings: []string{"ID", "URL", "ROBOTS", "UP", "CLIENTS", "ATTACHED", "SUBSCRIPTIONS", "ROUTES", "WAITING", "LOST", "MEMORY", "DISK", "LINKS", "NOTE"}, right: numbers(2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
		spare: []int{7, 11, 5, 10, 12, 3, 6, 1}}
	for _, b := range brokers {
		linked := dash(strings.Join(b.Links, ","))
		if b.Source == "" {
			t.add(b.ID, dash(b.URL), "-", "-", "-", "-", "-", "-", "-", "-", "-", "-", linked, cmp.Or(b.Error, "does not answer"))
			continue
		}
		var notes []string
		if b.Here {
			notes = append(notes, "here")
		}
		if b.Registry == b.ID && len(b.Neighbours) > 0 {
			notes = append(notes, "registry")
		}
		if b.GaveWay > 0 {
			notes = append(notes, "inboxes gave way")
		}
		t.add(b.ID, b.URL, strconv.Itoa(b.Robots), strconv.Itoa(b.Up), strconv.Itoa(b.Clients), strconv.Itoa(b.Attached),
			strconv.Itoa(b.Subscriptions), strconv.Itoa(b.RouteCount), strconv.Itoa(b.Waiting), strconv.FormatUint(b.Lost, 10), share(b.Memory, b.MemoryLimit), share(b.Disk, b.DiskLimit), linked, dash(strings.Join(notes, ",")))
	}
	t.sort()
	return t
}

// multicast says whether a neighbour gets what others want, too, by multicast: since
// when, or why not.
func multicast(now time.Time, s *node.Segment) string {
	switch {
	case s == nil:
		return "-"
	case s.Multicast:
		return "for " + ago(now, s.Since)
	}
	return "no: " + s.Why
}

// sendings words what a link costs; a dash if it was given no cost.
func sendings(cost float64) string {
	if cost == 0 {
		return "-"
	}
	return strconv.FormatFloat(cost, 'f', -1, 64)
}

// linkTable lists each link once, as the first broker that tells of it sees it.
func linkTable(brokers []node.Broker, now time.Time) table {
	t := table{headings: []string{"LINK", "STATE", "FOR", "SENT", "RECEIVED", "WAITING", "COMPRESSED", "COST", "MULTICAST", "PROBLEM"}, right: numbers(2, 3, 4, 5, 7), spare: []int{6, 5}}
	seen := map[[2]string]bool{}
	for _, b := range brokers {
		for _, n := range b.Neighbours {
			if seen[[2]string{n.ID, b.ID}] {
				continue
			}
			seen[[2]string{b.ID, n.ID}] = true
			state := "down"
			if n.Up {
				state = "up"
			}
			t.add(b.ID+"-"+n.ID, state, ago(now, n.Since), size(n.Sent), size(n.Received), size(uint64(n.Waiting)), strconv.FormatBool(n.Compressed), sendings(n.Cost), multicast(now, n.Segment), dash(n.Problem))
		}
	}
	t.sort()
	return t
}

// queueTable lists the queues of tasks, each at the broker where it lives.
func queueTable(brokers []node.Broker) table {
	t := table{headings: []string{"QUEUE", "BROKER", "KIND", "WAITING", "OLDEST", "IN_HAND", "SERVERS", "AWAY", "ACCEPTED", "ENDED"}, right: numbers(3, 4, 5, 6, 7, 8, 9), spare: []int{9, 8, 7, 2}}
	for _, b := range brokers {
		for _, q := range b.Queues {
			kind, oldest := "passing", "-"
			if q.Declared {
				kind = "declared"
			}
			if q.Waiting > 0 {
				oldest = strconv.FormatFloat(q.Oldest, 'f', 1, 64) + "s"
			}
			t.add(q.Name, b.ID, kind, strconv.Itoa(q.Waiting), oldest, strconv.Itoa(q.InHand), strconv.Itoa(q.Servers), strconv.Itoa(q.Away),
				strconv.FormatUint(q.Accepted, 10), strconv.FormatUint(q.Ended, 10))
		}
	}
	t.sort()
	return t
}

// share words how much of a limit is used; a dash if it is not told.
func share(used, limit int64) string {
	if limit == 0 {
		return "-"
	}
	return size(uint64(max(used, 0))) + "/" + size(uint64(max(limit, 0)))
}

// size words a number of bytes.
func size(n uint64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	v, i := float64(n), 0
	for v >= 1000 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	if i == 0 || v >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64) + units[i]
	}
	return strconv.FormatFloat(v, 'f', 1, 64) + units[i]
}

// routeTable lists the way of each client's notifications of each source, put
// together of what the brokers on it tell.
func routeTable(brokers []node.Broker) table {
	type key struct{ client, source string }
	type step struct{ from, at, down string }
	steps := map[key][]step{}
	acknowledged := map[key]uint64{}
	for _, b := range brokers {
		for _, r := range b.Routes {
			k := key{r.Client, r.Source}
			steps[k] = append(steps[k], step{r.From, b.ID, r.Down})
			acknowledged[k] = max(acknowledged[k], r.Num)
		}
	}
	t := table{headings: []string{"CLIENT", "SOURCE", "ACKNOWLEDGED", "PATH"}, right: numbers(2)}
	for k, all := range steps {
		path := []string{all[0].from}
		for range all {
			i := slices.IndexFunc(all, func(s step) bool { return s.at == path[len(path)-1] })
			if i < 0 {
				path = append(path, "…") // it is being made, or lost
				break
			}
			if all[i].down == all[i].at {
				break
			}
			path = append(path, all[i].down)
		}
		t.add(dash(k.client), k.source, strconv.FormatUint(acknowledged[k], 10), strings.Join(path, "→"))
	}
	t.sort()
	return t
}

func robotTable(robots []node.Robot, now time.Time) table {
	t := table{headings: []string{"ROBOT", "STATE", "FOR", "BROKER", "PLAYER", "GATEWAY", "WORLD", "READINGS", "MATCHED", "LOST", "DEVICES"}, right: numbers(2, 7, 8, 9),
		spare: []int{6, 5, 8, 4}}
	shared := map[string]int{} // robots on a port
	for _, r := range robots {
		shared[r.Broker+" "+r.Gateway]++
	}
	for _, r := range robots {
		var devices []string
		for _, d := range r.Devices {
			name := d.Interface + ":" + strconv.Itoa(d.Index)
			if d.GatewayIndex != nil && *d.GatewayIndex != d.Index {
				name += " (gateway " + strconv.Itoa(*d.GatewayIndex) + ")"
			}
			if d.Silent > 0 {
				name += " (silent for " + ago(now, d.Silent) + ")"
			}
			devices = append(devices, name)
		}
		about := strings.Join(devices, " ")
		gateway := dash(r.Gateway)
		if r.Gateway != "" && shared[r.Broker+" "+r.Gateway] > 1 {
			gateway += " index " + strconv.Itoa(r.Number)
		}
		state := r.State
		switch {
		case r.Refused:
			state, about = "refused", r.Error
		case r.Warning != "":
			about += " (" + r.Warning + ")"
		case r.State == protocol.RobotAway && r.Error != "":
			about = r.Error
		}
		t.add(r.Robot.Robot, state, ago(now, r.Since), r.Broker, r.Player, gateway, dash(r.World),
			strconv.FormatUint(r.Readings, 10), strconv.FormatUint(r.Matched, 10), strconv.FormatUint(r.Lost, 10), dash(about))
	}
	t.sort()
	return t
}

// clientAway is the state of a client that is not attached.
const clientAway = "away"

// clientName tells a client from others.
type clientName struct{ name, broker, remote string }

// clientTotals is what a client has at its broker.
type clientTotals struct {
	attached               bool
	subscriptions, sources int
	waiting                int
	last, num              uint64 // notifications that it was given, and that it has acknowledged
}

// behind is how many notifications the client has not acknowledged.
func (c *clientTotals) behind() uint64 { return c.last - min(c.num, c.last) }

// state words whether the client is attached.
func (c *clientTotals) state() string {
	if c.attached {
		return "attached"
	}
	return clientAway
}

// clientsOf returns the clients that have subscriptions or a name.
func clientsOf(brokers []node.Broker, subscriptions []node.Subscription) map[clientName]*clientTotals {
	clients := map[clientName]*clientTotals{}
	take := func(k clientName, attached bool, sequences []node.Sequence) *clientTotals {
		c := &clientTotals{attached: attached, sources: len(sequences)}
		clients[k] = c
		for _, q := range sequences { // one for all of a client's subscriptions
			c.last += q.Last
			c.num += q.Num
			c.waiting += q.Waiting
		}
		return c
	}
	told := map[string]bool{} // brokers whose sessions are known
	for _, b := range brokers {
		told[b.ID] = len(b.Sessions) > 0
		for _, s := range b.Sessions {
			if s.Subscriptions > 0 || s.Client != "" {
				take(clientName{s.Client, b.ID, s.Remote}, s.Attached, s.Sequences).subscriptions = s.Subscriptions
			}
		}
	}
	for _, s := range subscriptions {
		k := clientName{s.Client, s.Broker, s.Remote}
		if told[s.Broker] {
			continue
		}
		if clients[k] == nil {
			take(k, s.Attached, s.Sequence)
		}
		clients[k].subscriptions++
	}
	return clients
}

// clientTable lists the clients, and where they are.
func clientTable(clients map[clientName]*clientTotals) table {
	t := table{headings: []string{"CLIENT", "BROKER", "STATE", "ADDRESS", "SUBSCRIPTIONS", "SOURCES", "NOTIFICATIONS", "UNACKNOWLEDGED", "WAITING"}, right: numbers(4, 5, 6, 7, 8),
		spare: []int{3, 5, 6, 7}}
	for k, c := range clients {
		t.add(dash(k.name), dash(k.broker), c.state(), dash(k.remote), strconv.Itoa(c.subscriptions), strconv.Itoa(c.sources),
			strconv.FormatUint(c.last, 10), strconv.FormatUint(c.behind(), 10), strconv.Itoa(c.waiting))
	}
	t.sort()
	return t
}

func subscriptionTable(subscriptions []node.Subscription) table {
	t := table{headings: []string{"CLIENT", "ID", "ROBOTS", "MATCHING", "OPTIONS", "CONDITION"}, right: numbers(3), spare: []int{4}}
	for _, s := range subscriptions {
		robots := "*"
		if len(s.Robots) > 0 {
			robots = strings.Join(s.Robots, ",")
		}
		t.add(dash(s.Client), s.ID, robots, strconv.Itoa(s.Matching), dash(options(s)), s.Condition)
	}
	t.sort()
	return t
}

// options lists what of a subscription is not as by default.
func options(s node.Subscription) string {
	var parts []string
	if len(s.Devices) > 0 {
		parts = append(parts, "devices="+strings.Join(s.Devices, ","))
	}
	if s.Trigger != "" && s.Trigger != protocol.TriggerEvery {
		parts = append(parts, s.Trigger)
	}
	if s.MinInterval > 0 {
		parts = append(parts, "min_interval="+shortNumber(s.MinInterval))
	}
	if s.For > 0 {
		parts = append(parts, "for="+shortNumber(s.For))
	}
	if len(s.Select) > 0 {
		parts = append(parts, "select="+strconv.Itoa(len(s.Select)))
	}
	if s.Keep == protocol.KeepLatest {
		parts = append(parts, "latest")
	}
	if s.Failed {
		parts = append(parts, "failed")
	}
	return strings.Join(parts, ",")
}

// ago words the time since a Unix time in s.
func ago(now time.Time, since float64) string {
	if since <= 0 {
		return "-"
	}
	d := now.Sub(time.Unix(0, int64(since*1e9)))
	switch d = max(d, 0); {
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 48*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	}
	return strconv.Itoa(int(d.Hours()/24)) + "d"
}

// dash stands for nothing.
func dash(text string) string { return cmp.Or(text, "-") }

// numbers are the columns that are set to the right.
func numbers(columns ...int) map[int]bool {
	right := map[int]bool{}
	for _, c := range columns {
		right[c] = true
	}
	return right
}
