package overlaytest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutant is the overlay with one rule switched off or bent. survives says why
// nothing can tell it from the original; "" means that it is to be caught.
type mutant struct {
	rule, file, from, to string
	survives             string
}

var mutants = []mutant{
	{rule: "clients of different tokens are different ones", file: "owner.go",
		from: "	return owner + ownerEnd + id\n", to: "	return id\n"},
	{rule: "S1: a stale subscribe is fetched from", file: "route.go",
		from: "known && newest.Compare(m.Epoch) > 0 { // S1", to: "known && num > 1<<60 && newest.Compare(m.Epoch) > 0 {"},
	{rule: "S1: a source broker without the route compares with its store", file: "source.go",
		from: "		return e.epoch, e.buf.num, true", to: "		return Epoch{}, e.buf.num, true"},
	{rule: "S1: the client itself is stale", file: "far.go",
		from: "if r != nil && r.epoch.Compare(s.epoch) > 0 { // S1", to: "if r != nil && s.epoch.Attachment == 0 && r.epoch.Compare(s.epoch) > 0 {",
		survives: "hello refuses what is not above the newest attachment of the keys that it lists; of another key the newer edge renews, which takes the route back"},
	{rule: "S2: seen", file: "route.go",
		from: "if r := b.routes[k]; r != nil && r.epoch == m.Epoch { // S2", to: "if r := b.routes[k]; r != nil && m.Num > 1<<60 && r.epoch == m.Epoch {",
		survives: "a subscribe that comes twice finds the route turned already, and what is sent again for it the inbox drops"},
	{rule: "S3: back at the same edge costs nothing", file: "route.go",
		from: "	case changed:\n		b.join(r, r.rest, m.Set, nil)\n", to: "	case changed || from == b.cfg.ID:\n		b.join(r, r.rest, m.Set, nil)\n"},
	{rule: "S3: an update goes on to the source", file: "route.go",
		from: "	case changed:\n		b.join(r, r.rest, m.Set, nil)\n", to: "	case changed && from != b.cfg.ID:\n		b.join(r, r.rest, m.Set, nil)\n"},
	{rule: "S4: a new route is sent on", file: "route.go",
		from: "		if !source {\n			b.join(r, path, m.Set, m.Missing)\n		}\n", to: ""},
	{rule: "S5: the junction that was the old edge hands over", file: "route.go",
		from: "b.towards(r.key, b.edge.handOver(r.key, m.Epoch, m.Num), \"\")", to: "b.edge.handOver(r.key, m.Epoch, m.Num)"},
	{rule: "S5: the junction fetches the old branch", file: "route.go",
		from: "		b.fetch(old, r.key, m.Epoch, m.Num, FetchID{}, \"\")\n	}\n	switch {", to: "	}\n	switch {"},
	{rule: "S5: an edge that is the junction fetches", file: "route.go",
		from: "	default:\n		b.fetch(old, r.key, m.Epoch", to: "	case from == b.cfg.ID:\n	default:\n		b.fetch(old, r.key, m.Epoch"},
	{rule: "S5: a junction without a way up sends it on", file: "route.go",
		from: "	case m.Missing != nil || r.up == \"\":\n", to: "	case m.Missing != nil:\n"},
	{rule: "S5: a renewal goes all the way", file: "route.go",
		from: "	case m.Missing != nil || r.up == \"\":\n", to: "	case r.up == \"\":\n"},
	{rule: "S5: a junction sends a changed set on", file: "route.go",
		from: "	case changed:\n		b.join(r, r.rest, m.Set, nil)\n", to: "	case changed && from == b.cfg.ID:\n		b.join(r, r.rest, m.Set, nil)\n"},
	{rule: "S6: a renewal is sent again what it misses", file: "route.go",
		from: "if source && (made || m.Missing != nil) { // S6", to: "if source && made {"},
	{rule: "S6: a source that lost the route sends again", file: "route.go",
		from: "if source && (made || m.Missing != nil) { // S6", to: "if source && m.Missing != nil {"},
	{rule: "S7: a key with another stamp was forgotten", file: "route.go",
		from: "forgotten := ended || e == nil && (m.Key.Stamp != b.stamp || m.Known > 0 || home != nil)", to: "forgotten := ended || e == nil && (m.Known > 0 || home != nil)"},
	{rule: "S7: a key with numbers was forgotten", file: "route.go",
		from: "forgotten := ended || e == nil && (m.Key.Stamp != b.stamp || m.Known > 0 || home != nil)", to: "forgotten := ended || e == nil && (m.Key.Stamp != b.stamp || home != nil)"},
	{rule: "S7: a change is of the set that it names", file: "route.go",
		from: "e.members.hash == m.Set.From && len", to: "m.Num < 1<<60 && len"},
	{rule: "S7: an unknown set is answered by broken", file: "route.go",
		from: "		b.network.tell(from, &BrokenMessage{Key: m.Key})\n		return false\n	}\n	if e == nil {", to: "		return false\n	}\n	if e == nil {"},
	{rule: "gone: only from up", file: "ending.go",
		from: "if r == nil || r.up != from {\n		return\n	}\n	delete(b.routes, m.Key)\n	if m.Stamp == 0", to: "if r == nil {\n		return\n	}\n	delete(b.routes, m.Key)\n	if m.Stamp == 0",
		survives: "a key that is gone is so for good, whichever way one hears it"},
	{rule: "gone: passed on", file: "ending.go",
		from: "	b.sendDown(r, m)\n", to: "	if b.local(r) {\n		b.edge.take(m)\n	}\n"},
	{rule: "S7: a session has one key at a source broker", file: "route.go",
		from: " || m.Known > 0 || home != nil)", to: " || m.Known > 0 || home != nil && m.Num > 1<<60)"},
	{rule: "an old store: a subscribe tells of higher numbers", file: "route.go",
		from: "	b.source.hearOf(from, k, m.Epoch, m.Known)\n", to: ""},
	{rule: "an old store: a refresh tells of higher numbers", file: "lease.go",
		from: "if b.source.hearOf(\"\", k, m.Epoch, m.Known) {", to: "if m.Known > 1<<60 {"},
	{rule: "an old store: a fetch tells of higher numbers", file: "fetch.go",
		from: "	b.source.hearOf(from, m.Key, m.Epoch, m.Num)\n", to: "",
		survives: "the edge that the fetch is for has the number in its refreshes, too"},
	{rule: "an old store: what was given since and told nobody is not known", file: "ending.go",
		from: "number <= e.outside {", to: "number < e.next {"},
	{rule: "an old store: an edge knows what it has, not only what is processed", file: "inbox.go",
		from: "	known := in.buf.last\n", to: "	known := in.buf.num\n"},
	{rule: "an old store: a broker on the way knows what has passed", file: "far.go",
		from: "			r.known = max(r.known, h.Seq)\n", to: "",
		survives: "the edge that has it tells so too; what it hands over would have to overtake what the source sends"},
	{rule: "an old store: the client's hello tells of higher numbers", file: "hello.go",
		from: "nums[at].num > in.known():", to: "nums[at].num > in.buf.last:"},
	{rule: "an old store: the present edge is told", file: "ending.go",
		from: "		b.network.tell(r.down, &GoneMessage{Key: k, Stamp: b.stamp})\n", to: "",
		survives: "haste only: its next refresh has no route, and its renewal is answered gone"},
	{rule: "subscribed comes before the reply that ends it", file: "set.go",
		from: "		b.settleEnding(s, in.ID)\n", to: ""},
	{rule: "latest: one of a device is out", file: "inbox.go",
		from: "	return !b.onlyLatest(in.sequence, it) || !buf.outstanding(it.reading.device())\n", to: "	return true\n",
		survives: "it is about time, which readings here do not have; overlay's TestLatestIsNew looks"},
	{rule: "determinism: of what a routed message carries", file: "directory.go",
		from: "for _, id := range slices.Sorted(maps.Keys(w.named)) {", to: "for id := range w.named {"},
	{rule: "determinism: of what an event carries", file: "set.go",
		from: "for _, id := range slices.Sorted(maps.Keys(in.Robots)) {", to: "_ = slices.Sorted(maps.Keys(in.Robots))\n	for id := range in.Robots {"},
	{rule: "determinism: of records", file: "source.go",
		from: "	for _, old := range e.members.sorted() {\n		b.record(&EntrySubscription{", to: "	for _, old := range e.members.subs {\n		b.record(&EntrySubscription{"},
	{rule: "restore: an equal set of a later epoch", file: "restore.go",
		from: "		e.sets.touch(r.Epoch)\n", to: ""},
	{rule: "names of other brokers are live as the edge counts", file: "sequence.go",
		from: "!q.own && sub.begun > revision", to: "!q.own && sub.born > revision"},
	{rule: "gone: another key follows", file: "ending.go",
		from: "	in.next = stamp\n	b.nextRevision(s)\n	b.follow(in)\n", to: ""},
	{rule: "gone: what follows begins again at an edge that has only what is left", file: "hello.go",
		from: "		b.follow(in)\n", to: "		_ = in\n"},
	{rule: "gone: what has ended does not begin again", file: "ending.go",
		from: "in.session.hasEnded(next) || b.network.isDead(next)", to: "b.network.isDead(next)"},
	{rule: "R1: not behind a newer fetch", file: "fetch.go",
		from: " && !b.fetchesFrom(r.down, k, r.epoch) {", to: " {"},
	{rule: "R3: in a circle the last one is answered first", file: "fetch.go",
		from: "range slices.Backward(b.fetches[m.Key]) {", to: "range slices.All(b.fetches[m.Key]) {",
		survives: "one schedule in 400,000 makes such a circle; TestFetchInACircle has it"},
	{rule: "F1: nothing of the old branch", file: "fetch.go",
		from: "if r == nil || r.epoch.Compare(m.Epoch) >= 0 { // F1", to: "if r == nil {"},
	{rule: "F1: a newer subscribe goes up again", file: "fetch.go",
		from: "			b.joinAgain(r)\n", to: ""},
	{rule: "F2: the old connection is closed", file: "fetch.go",
		from: "s != nil && s.epoch.Compare(epoch) < 0 {\n", to: "s != nil && epoch.Attachment == 0 {\n"},
	{rule: "F2: the inbox goes", file: "fetch.go",
		from: "	b.dropInbox(in)\n	return items\n", to: "	return items\n"},
	{rule: "F2: the inbox is replayed", file: "fetch.go",
		from: "	b.replay(from, m.Key, items)\n", to: "	_ = items\n"},
	{rule: "F3: the fetch is passed on", file: "fetch.go",
		from: "		b.fetch(r.down, m.Key, m.Epoch, m.Num, m.ID, from)\n		return\n", to: "		b.tell(from, &ReplayMessage{Key: m.Key, Last: true, ID: m.ID})\n		return\n"},
	{rule: "F3: the route goes", file: "fetch.go",
		from: "		delete(b.routes, m.Key)\n		b.fetch(r.down", to: "		b.fetch(r.down"},
	{rule: "R1: not back to where it comes from", file: "fetch.go",
		from: "	if r != nil && r.down != from && ", to: "	if r != nil && ",
		survives: "links are FIFO, so that without faults no route leads back to where items come from; with them a renewal brings what goes astray, and that it is asked for is no fault then"},
	{rule: "R2: to whoever fetched", file: "fetch.go",
		from: "		to = newest.back\n", to: "		return\n"},
	{rule: "R2: the newest fetch", file: "fetch.go",
		from: "f.epoch.Compare(newest.epoch) > 0) {", to: "f.epoch.Compare(newest.epoch) < 0) {",
		survives: "two neighbours fetch the same key from one broker only if its path has changed between; then there were faults, and a renewal brings what goes astray"},
	{rule: "R3: the mark waits for older fetches", file: "fetch.go",
		from: "if !f.done || awaited != nil && f.epoch.Compare(*awaited) > 0 {", to: "if !f.done {",
		survives: "as R2's: who has the mark early lacks a fetch by which to send items on only if another neighbour has fetched"},
	{rule: "R3: the mark goes back", file: "fetch.go",
		from: "			b.tell(f.back, &ReplayMessage{Key: k, Last: true, ID: f.id})\n", to: ""},
	{rule: "U1: a tombstone", file: "ending.go",
		from: "	b.dead[k] = b.lease()\n	r := b.routes[k]", to: "	r := b.routes[k]"},
	{rule: "U1: passed on", file: "ending.go",
		from: "		b.tell(path[1], &UnsubscribeMessage{Key: k, Path: path[1:]})\n", to: ""},
	{rule: "U2: a junction tells the old branch", file: "ending.go",
		from: "		b.tell(r.down, &GoneMessage{Key: k})\n	}\n	b.edge", to: "	}\n	b.edge"},
	{rule: "U3: a subscribe meets a tombstone", file: "route.go",
		from: "if b.isDead(k) { // U3", to: "if m.Num > 1<<60 && b.isDead(k) {"},
	{rule: "U3: a refresh meets a tombstone", file: "lease.go",
		from: "	if b.isDead(k) {\n		b.tell(from, &GoneMessage{Key: k})", to: "	if m.Num > 1<<60 && b.isDead(k) {\n		b.tell(from, &GoneMessage{Key: k})",
		survives: "haste only: L2 answers broken, and the subscribe of the renewal meets the tombstone"},
	{rule: "inbox: in sequence", file: "far.go",
		from: "for len(f.held) > 0 && f.held[0].From <= in.buf.last+1 {", to: "for len(f.held) > 0 {"},
	{rule: "inbox: once", file: "far.go",
		from: "it.To < it.From || it.To < want ||", to: "it.To < it.From ||",
		survives: "drain drops what is before its turn, too"},
	{rule: "inbox: a gap does not cover what is held", file: "far.go",
		from: "if next >= 0 && f.held[next].From <= it.To {", to: "if next >= 0 && want == 0 {"},
	{rule: "inbox: what there is no room for is missing", file: "far.go",
		from: "			f.head = max(f.head, it.To) // no room: renewal brings it\n", to: "",
		survives: "haste only: the next notification shows the gap, and before a silence the source's head (A2)"},
	{rule: "B1: an edge without a way up renews", file: "lease.go",
		from: "if r == nil || r.up == \"\" || missing && f.ends >= 3 {", to: "if r == nil || r.up == \"\" {\n			continue\n		}\n		if missing && f.ends >= 3 {"},
	{rule: "B1: at once, when it loses its way", file: "far.go",
		from: "			b.renewals = append(b.renewals, in)\n		}\n	}\n}\n\n// notified", to: "		}\n	}\n}\n\n// notified"},
	{rule: "B2: broken is sent down", file: "route.go",
		from: "		delete(b.routes, r.key)\n	}\n	b.sendDown(", to: "		delete(b.routes, r.key)\n		return\n	}\n	b.sendDown("},
	{rule: "B2: only from up", file: "topology.go",
		from: "if r := b.routes[m.Key]; r != nil && r.up == from {", to: "if r := b.routes[m.Key]; r != nil {",
		survives: "it costs a renewal that nobody needs, and broken is sent only where there were faults"},
	{rule: "B2: broken tells the lost link", file: "topology.go",
		from: "		b.learn(m.Link, from)\n", to: "",
		survives: "haste only: the link's state is flooded, too"},
	{rule: "a lost link: its routes are broken", file: "topology.go",
		from: "			lost = append(lost, r)\n", to: ""},
	{rule: "a lost link: fetches over it have ended", file: "topology.go",
		from: "				f.done = true\n			}\n		}\n		b.finish(k)", to: "			}\n		}\n		b.finish(k)"},
	{rule: "L1: keys are refreshed", file: "lease.go",
		from: "		b.network.tell(r.up, &RefreshMessage{Key: in.key, Epoch: r.epoch, Num: in.buf.num, Known: max(r.known, in.known())})\n", to: ""},
	{rule: "L1: a refresh renews the lease", file: "lease.go",
		from: "	r.lease = b.lease()\n	if k.Source", to: "	if k.Source"},
	{rule: "L1: and goes up", file: "lease.go",
		from: "		b.tell(r.up, m)\n		return\n	}\n	b.source", to: "		return\n	}\n	b.source"},
	{rule: "L2: a fetch under way settles it", file: "lease.go",
		from: "return f.to == from }): // that", to: "return f.to == from && m.Num > 1<<60 }): // that"},
	{rule: "L2: a refresh without a route is answered by broken", file: "lease.go",
		from: "		case r == nil || r.epoch.Compare(m.Epoch) <= 0:\n			b.tell(from, &BrokenMessage{Key: k})\n", to: "		case r == nil || r.epoch.Compare(m.Epoch) <= 0:\n"},
	{rule: "L2: a refresh of an old branch fetches it", file: "lease.go",
		from: "			b.fetch(from, k, r.epoch, r.num, FetchID{}, \"\")\n", to: "",
		survives: "haste only: a branch that is left over without a fetch under way subscribes again (S1), or its edge learns of the newer attachment (G2) and lets it run out"},
	{rule: "L3: routes run out", file: "lease.go",
		from: "if !b.local(r) && r.lease < b.now { // L3", to: "if !b.local(r) && r.lease < 0 {"},
	{rule: "L3: a lease is four periods", file: "route.go",
		from: "const leasePeriods = 4", to: "const leasePeriods = 1"},
	{rule: "L4: the connection is closed", file: "ending.go",
		from: "	if s.conn != nil {\n		b.conflict(s, epoch.Attachment)", to: "	if s.conn != nil && epoch.Attachment == 0 {\n		b.conflict(s, epoch.Attachment)"},
	{rule: "L4: who is elsewhere is forgotten after a lease", file: "period.go",
		from: "case s.elsewhere != 0 && s.elsewhere+", to: "case s.elsewhere < 0 && s.elsewhere+"},
	{rule: "L5: a key that nobody refreshes is forgotten", file: "lease.go",
		from: "if e.seen < before { // L5", to: "if e.seen < -before {"},
	{rule: "L5: then the stamp is another", file: "lease.go",
		from: "	if forgot {\n		b.newStamp()\n", to: "	if forgot && b.now < 0 {\n		b.newStamp()\n"},
	{rule: "A1: what is acknowledged is dropped", file: "lease.go",
		from: "	b.retire(e.sequence, min(m.Num, e.next-1)) // A1\n", to: ""},
	{rule: "A2: a head before a silence", file: "lease.go",
		from: "last > m.Num && e.quiet {", to: "last > m.Num && e.quiet && k.Stamp < 0 {"},
	{rule: "A2: only for a key that is silent", file: "lease.go",
		from: "last > m.Num && e.quiet {", to: "last > m.Num {"},
	{rule: "renewal: a gap at three periods' ends", file: "lease.go",
		from: "missing && f.ends >= 3 {", to: "missing && f.ends >= 1<<30 {"},
	{rule: "renewal: not before", file: "lease.go",
		from: "missing && f.ends >= 3 {", to: "missing && f.ends >= 1 {"},
	{rule: "G1: hello asks for source brokers", file: "hello.go",
		from: "	b.lookUp(s)\n	if s.conn != nil && !s.conn.ready", to: "	if s.conn != nil && !s.conn.ready"},
	{rule: "G1: each period asks again", file: "period.go",
		from: "		b.edge.lookUpAll()\n", to: ""},
	{rule: "G1: what is named becomes a key", file: "directory.go",
		from: "	b.beginFar(s, k)\n	return true\n}\n", to: "	return true\n}\n"},
	{rule: "6: edges learn of new sources at once", file: "directory.go",
		from: "b.network.route(edge, answers[edge])\n", to: "_ = edge\n"},
	{rule: "G2: the registry knows of a newer attachment", file: "directory.go",
		from: "if w != nil && w.epoch.Compare(epoch) > 0 { // G2", to: "if w != nil && from == \"\" {"},
	{rule: "G2: an edge that learns it closes the connection", file: "directory.go",
		from: "				b.attachedElsewhere(s, c.Newest)\n", to: ""},
	{rule: "G3: new subscriptions are told that the registry is away", file: "set.go",
		from: "	if p.away && !p.hello { // G3", to: "	if p.away && p.hello && s == nil { // G3"},
	{rule: "a reading crosses a link once", file: "topology.go",
		from: "		if ok && before.Reading == m.Reading {", to: "		if ok && before.Reading == nil {"},
	{rule: "an equal hash is a new set too", file: "route.go",
		from: "		e.sets.touch(e.epoch)\n		b.recordEntry(e)\n	case m.Set.Whole:", to: "		b.recordEntry(e)\n	case m.Set.Whole:"},
	{rule: "an entry that comes home takes the old branch back", file: "route.go",
		from: "		b.fetch(old, k, epoch, num, FetchID{}, \"\")\n", to: ""},
	{rule: "what survives: an edge's inboxes have routes again", file: "restore.go",
		from: "		case in.far != nil: // B1: it has no way up\n", to: "		case in.far != nil && in.handle == 0:\n"},
	{rule: "what the store has left of a sequence that has ended is given", file: "route.go",
		from: "			b.giveRest(from, e, m)\n", to: ""},
	{rule: "a new key's set reaches the source", file: "far.go",
		from: "		missing = &Missing{}\n", to: ""},
	{rule: "a broker that the registry forgot is named again", file: "directory.go",
		from: "again := w.named[back]", to: "again := w.named[back] && back == \"\""},
	{rule: "6: a robot that has changed is tested again", file: "refuse.go",
		from: "if old == nil || !old.matchesAs(one) {", to: "if old == nil && b == nil {",
		survives: "a new robot's name gets a holder, which is news too, and no schedule changes a robot's devices; TestNaming of the overlay catches it"},
	{rule: "G1: what is new in a set is tested", file: "directory.go",
		from: "	b.nameFor(w, fresh, nil)\n", to: "	_ = fresh\n"},
	{rule: "an ended key does not hide the one that follows", file: "directory.go",
		from: "	if s.follower(source.Broker) != nil {", to: "	if slices.ContainsFunc(s.inboxes, func(in *inbox) bool { return in.key.Source == source.Broker }) {",
		survives: "what is left of an ended key begins what follows with the client's hello; this is for one that a tombstone has ended (U3)"},
	{rule: "the registry names only a key that is dead: it is asked again", file: "directory.go",
		from: "	if b.network.isDead(k) {\n		return false\n	}\n	if source.Stamp", to: "	if source.Stamp"},
	{rule: "the registry names only a key that is dead: it answers again", file: "directory.go",
		from: "			s.answer = 0 // it is to answer again\n", to: ""},
	{rule: "robots: out of reach after three heartbeats", file: "availability.go",
		from: "case v.missed < outPeriods || v.out:", to: "case v.users > 0:"},
	{rule: "robots: not before", file: "availability.go",
		from: "case v.missed < outPeriods || v.out:", to: "case v.missed < 1 || v.out:"},
	{rule: "robots: back in reach", file: "availability.go",
		from: "	if back {\n		b.tellReach(v)\n", to: "	if back && v == nil {\n		b.tellReach(v)\n"},
	{rule: "robots: an edge that watches is told at once", file: "availability.go",
		from: "			b.network.route(id, b.robotsSince(w.version))\n", to: ""},
	{rule: "robots: and what was lost is asked for", file: "availability.go",
		from: "	answer := b.robotsSince(m.Version)\n", to: "	answer := &Robots{From: m.Version, Version: m.Version}\n"},
	{rule: "robots: who was away meanwhile is told to have been", file: "availability.go",
		from: "	case at == v && (seen > 0 && a.Gone > seen || s.missed[a.Robot]):", to: "	case at == nil && (seen > 0 && a.Gone > seen || s.missed[a.Robot]):"},
	{rule: "robots: what is away counts only once", file: "availability.go",
		from: "	case up == nil && !away:", to: "	case up == nil:"},
	{rule: "robots: a robot that is withdrawn is away", file: "availability.go",
		from: "	} else if old.Up {\n		b.own.put(gone)\n", to: "	} else if old.Up {\n		b.own.remove(r.name)\n"},
	{rule: "states: a broker that begins ends what was true", file: "restore.go",
		from: "				b.source.endStatesOf(e, robot)\n", to: "				_ = robot\n"},
	{rule: "states: known from what is stored", file: "restore.go",
		from: "		e.trues.note(r.Reading, hit.Names, hit.Seq)\n", to: ""},
	{rule: "states: false in the place of a broker out of reach", file: "states.go",
		from: "			b.tellInPlace(s, st, id)\n", to: "			_, _ = st, id\n"},
	{rule: "states: that is passed over when the connection ends", file: "session.go",
		from: "	b.passInPlace(s)\n", to: ""},
	{rule: "states: and was told if the client says its number", file: "states.go",
		from: "in != nil && in.resumed < st.over {", to: "in != nil && in.resumed < st.over && in.sequence == nil {"},
	{rule: "states: an edge whose client comes from a dead one asks for what is true", file: "states.go",
		from: "	if doubt && s.anySub(", to: "	if doubt && b == nil && s.anySub("},
	{rule: "states: what has been given as true anew is not given again", file: "states.go",
		from: "(id != again.ID || st.seq != again.Seq)", to: "id != again.ID"},
	{rule: "states: its own false comes to nobody then", file: "states.go",
		from: "	return st.over == 0 || in == nil || in.buf.num < st.over", to: "	return in == nil || in.buf.num < 1<<60"},
	{rule: "states: unless the client may not have had the other", file: "states.go",
		from: "	return st.over == 0 || in == nil || in.buf.num < st.over", to: "	return st.over == 0 || in == nil"},
	{rule: "states: true again when it is back", file: "states.go",
		from: "		b.giveAgain(e, again)\n", to: "		_ = again\n"},
	{rule: "states: handed over", file: "told.go",
		from: "			s.states.put(h.ID, h.Reading.Robot", to: "			new(farStates).put(h.ID, h.Reading.Robot"},
	{rule: "a roster stays when its users go", file: "availability.go",
		from: "			if v.version == 0 || !b.network.knows(id) {", to: "			if v.version == 0 || b != nil {"},
	{rule: "a stale roster tells nothing", file: "availability.go",
		from: "return v.version > 0 && !v.stale }", to: "return v.version > 0 }"},
	{rule: "who knows nothing of a broker out of reach asks the others", file: "availability.go",
		from: "			b.askOthers(v)\n", to: "			_ = v\n"},
	{rule: "told: handed over", file: "told.go",
		from: "	b.network.route(s.newestEdge, m)\n}\n\n// onTold", to: "}\n\n// onTold"},
	{rule: "told: awaited", file: "told.go",
		from: "const awaitPeriods = 3", to: "const awaitPeriods = 1"},
	{rule: "told: not for ever", file: "told.go",
		from: "		if s.awaits[id]--; s.awaits[id] <= 0 {", to: "		if s.awaits[id]--; s.awaits[id] <= -1<<30 {"},
	{rule: "told: an edge that waits itself tells since when", file: "told.go",
		from: "awaited(x.Broker) && (before == 0 || x.At > at || x.At == at && x.Version < before) {", to: "awaited(x.Broker) && before+at == 1 {"},
	{rule: "told: unless more is known than it knew", file: "told.go",
		from: "before == 0 || x.At > at || x.At == at && x.Version < before", to: "before == 0 || at == at && x.Version < before"},
	{rule: "told: a client that is not here is told nothing", file: "told.go",
		from: "	if s.conn == nil {\n		return\n	}\n	for _, id := range slices.Sorted(maps.Keys(s.awaits)) {", to: "	for _, id := range slices.Sorted(maps.Keys(s.awaits)) {"},
	{rule: "told: only of what it covers", file: "told.go",
		from: "awaited(source) && m.covers(source) && !s.listed {", to: "awaited(source) && !s.listed {"},
	{rule: "states: what was told here in a source broker's place counts, not what an edge before says", file: "states.go",
		from: "st.over, st.by, st.handed = seq, in.word, false", to: "st.over, st.by = seq, in.word"},
	{rule: "B2: what has passed goes into the next route", file: "route.go",
		from: "known: max(m.Known, b.passed[m.Key].number)", to: "known: m.Known"},
	{rule: "told: no states of subscriptions that have ended", file: "told.go",
		from: " || sub.since.Attachment > m.Attachment {", to: " {"},
	{rule: "states: true is given again to a subscription that has begun since", file: "states.go",
		from: "v != nil && sub != nil && sub.since.Compare(it.Set) > 0", to: "v != nil && sub != nil && sub.since.Compare(it.Set) > 1"},
	{rule: "told: passed on to where the client is by now", file: "told.go",
		from: "		b.network.route(s.newestEdge, &onward)\n", to: "		_ = onward\n"},
	{rule: "told: the client's own word counts", file: "hello.go",
		from: "		b.listAway(s, *h.Away)\n", to: ""},
	{rule: "told: stored", file: "told.go",
		from: "		s.away[r.Robot] = r.Source\n	default:", to: "	default:"},
	{rule: "told: of robots that nothing matches no more", file: "set.go",
		from: "		b.unfollow(s)\n", to: ""},
	{rule: "a broker announces itself again", file: "period.go",
		from: "		b.network.announce()\n", to: ""},
	{rule: "an edge whose store lost its end leaves keys to their sources", file: "restore.go",
		from: "if !lost || b.edge.doubt(s) {", to: "if !lost || b != nil {"},
	{rule: "names of subscriptions that began later are left out", file: "session.go",
		from: "return sub != nil && (at == Epoch{} || sub.since.Compare(at) <= 0)", to: "return sub != nil && (at == Epoch{} || at == at)"},
}

// TestMutantsFit: each mutant changes one place of the overlay as it is now.
func TestMutantsFit(t *testing.T) {
	for _, m := range mutants {
		text, err := os.ReadFile(filepath.Join("..", m.file))
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(text, []byte(m.from)); n != 1 {
			t.Errorf("%s: %q is in %s %d times, expected once", m.rule, m.from, m.file, n)
		}
	}
}

// TestMutants sees that schedules or transcripts catch each mutant.
// CALLBOARD_MUTANTS says how many schedules of each kind to try ("2000"), or
// that and a part of the rules' names ("2000 L2").
func TestMutants(t *testing.T) {
	schedules, only, _ := strings.Cut(os.Getenv("CALLBOARD_MUTANTS"), " ")
	if schedules == "" {
		t.Skip("CALLBOARD_MUTANTS is not set")
	}
	for i, m := range mutants {
		if !strings.Contains(m.rule, only) {
			continue
		}
		t.Run(m.rule, func(t *testing.T) {
			by, says := hunt(t, i, m, schedules)
			switch {
			case by == "" && m.survives == "":
				t.Error("nothing catches it")
			case by != "" && m.survives != "":
				t.Errorf("%s catches it, but it is said to survive: %s", by, m.survives)
			}
			t.Logf("caught by %q: %s", by, says)
		})
	}
}

// hunt builds a mutant and runs the tests against it. It gives which one
// failed first, and how.
func hunt(t *testing.T, i int, m mutant, schedules string) (by, says string) {
	dir := t.TempDir()
	original, err := filepath.Abs(filepath.Join("..", m.file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	mutated := filepath.Join(dir, m.file)
	if err := os.WriteFile(mutated, bytes.Replace(text, []byte(m.from), []byte(m.to), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	replace, _ := json.Marshal(map[string]any{"Replace": map[string]string{original: mutated}})
	list := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(list, replace, 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, fmt.Sprintf("mutant%d.test", i))
	if out, err := exec.Command("go", "test", "-c", "-vet=off", "-overlay", list, "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("it does not compile: %v\n%s", err, out)
	}
	for _, test := range []string{"TestTranscripts", "TestHardSeeds", "TestSchedules", "TestRoaming"} {
		c := exec.Command(binary, "-test.run", "^"+test+"$", "-test.timeout", "30m")
		c.Env = append(os.Environ(), "CALLBOARD_SOAK="+schedules)
		out, err := c.CombinedOutput()
		if err == nil {
			continue
		}
		for _, line := range strings.Split(string(out), "\n") {
			if strings.Contains(line, "seed ") || strings.Contains(line, "panic:") || strings.Contains(line, "_test.go") {
				return test, strings.TrimSpace(line)
			}
		}
		return test, ""
	}
	return "", ""
}
