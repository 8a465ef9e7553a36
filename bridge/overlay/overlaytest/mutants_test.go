package overlaytest

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutant is the overlay with one rule switched off or bent. survives says why
// nothing can tell it from the original; "" means that it is to be caught.
type mutant struct {
	rule     string
	in       string // the function or constant that it changes: "network.turn"
	from, to string // what there becomes what
	survives string
}

var mutants = []mutant{
	{rule: "clients of different tokens are different ones", in: "clientWord",
		from: "	return owner + ownerEnd + id\n", to: "	return id\n"},
	{rule: "S1: a stale subscribe is fetched from", in: "network.onSubscribe",
		from: "known && newest.Compare(m.Epoch) > 0 { // S1", to: "known && num > 1<<60 && newest.Compare(m.Epoch) > 0 {"},
	{rule: "S1: a source broker without the route compares with its store", in: "source.epochOf",
		from: "		return e.epoch, e.buf.num, true", to: "		return Epoch{}, e.buf.num, true"},
	{rule: "S1: the client itself is stale", in: "edge.subscribeFar",
		from: "if r != nil && r.epoch.Compare(s.epoch) > 0 { // S1", to: "if r != nil && s.epoch.Attachment == 0 && r.epoch.Compare(s.epoch) > 0 {",
		survives: "hello refuses what is not above the newest attachment of the keys that it lists; of another key the newer edge renews, which takes the route back"},
	{rule: "S2: seen", in: "network.onSubscribe",
		from: "if r := b.routes[k]; r != nil && r.epoch == m.Epoch && m.Missing == nil { // S2", to: "if r := b.routes[k]; r != nil && m.Num > 1<<60 && r.epoch == m.Epoch {",
		survives: "a subscribe that comes twice finds the route turned already, and what is sent again for it the inbox drops"},
	{rule: "S2: but a renewal goes all the way", in: "network.onSubscribe",
		from: " && m.Missing == nil { // S2", to: " {"},
	{rule: "an old store: an edge renews under the stored epoch first", in: "edge.renew",
		from: "	if !in.far.stored {\n", to: "	if in != nil {\n"},
	{rule: "an old store: revisions are stored with what they are of", in: "edge.renew",
		from: "		b.recordSession(s)\n", to: ""},
	{rule: "S3: back at the same edge costs nothing", in: "network.turn",
		from: "	case changed:\n		b.join(r, r.rest, m.Set, nil)\n", to: "	case changed || from == b.cfg.ID:\n		b.join(r, r.rest, m.Set, nil)\n"},
	{rule: "S3: an update goes on to the source", in: "network.turn",
		from: "	case changed:\n		b.join(r, r.rest, m.Set, nil)\n", to: "	case changed && from != b.cfg.ID:\n		b.join(r, r.rest, m.Set, nil)\n"},
	{rule: "S4: a new route is sent on", in: "network.turn",
		from: "		if !source {\n			b.join(r, path, m.Set, m.Missing)\n		}\n", to: ""},
	{rule: "S5: the junction that was the old edge hands over", in: "network.turn",
		from: "b.towards(r.key, b.edge.handOver(r.key, m.Epoch, m.Num), \"\")", to: "b.edge.handOver(r.key, m.Epoch, m.Num)"},
	{rule: "S5: the junction fetches the old branch", in: "network.turn",
		from: "		b.fetch(old, r.key, m.Epoch, m.Num, FetchID{}, \"\")\n	}\n	switch {", to: "	}\n	switch {"},
	{rule: "S5: an edge that is the junction fetches", in: "network.turn",
		from: "	default:\n		b.fetch(old, r.key, m.Epoch", to: "	case from == b.cfg.ID:\n	default:\n		b.fetch(old, r.key, m.Epoch"},
	{rule: "S5: a junction without a way up sends it on", in: "network.turn",
		from: "	case m.Missing != nil || r.up == \"\":\n", to: "	case m.Missing != nil:\n"},
	{rule: "S5: a renewal goes all the way", in: "network.turn",
		from: "	case m.Missing != nil || r.up == \"\":\n", to: "	case r.up == \"\":\n"},
	{rule: "S5: a junction sends a changed set on", in: "network.turn",
		from: "	case changed:\n		b.join(r, r.rest, m.Set, nil)\n", to: "	case changed && from == b.cfg.ID:\n		b.join(r, r.rest, m.Set, nil)\n"},
	{rule: "S6: a renewal is sent again what it misses", in: "network.onSubscribe",
		from: "if source && (made || m.Missing != nil) { // S6", to: "if source && made {"},
	{rule: "S6: a source that lost the route sends again", in: "network.onSubscribe",
		from: "if source && (made || m.Missing != nil) { // S6", to: "if source && m.Missing != nil {"},
	{rule: "S7: a key with another stamp was forgotten", in: "source.takeInFrom",
		from: "forgotten := ended || e == nil && (m.Key.Stamp != b.stamp || m.Known > 0 || home != nil)", to: "forgotten := ended || e == nil && (m.Known > 0 || home != nil)"},
	{rule: "S7: a key with numbers was forgotten", in: "source.takeInFrom",
		from: "forgotten := ended || e == nil && (m.Key.Stamp != b.stamp || m.Known > 0 || home != nil)", to: "forgotten := ended || e == nil && (m.Key.Stamp != b.stamp || home != nil)"},
	{rule: "S7: a change is of the set that it names", in: "source.brings",
		from: "(e.members.hash == m.Set.From || e.members.hash == m.Hash) && len", to: "m.Num < 1<<60 && len"},
	{rule: "S7: an unknown set is answered by broken", in: "source.takeInFrom",
		from: "		b.network.tell(from, &BrokenMessage{Key: m.Key})\n		return false\n	}\n	if e == nil {", to: "		return false\n	}\n	if e == nil {"},
	{rule: "gone: only from up", in: "network.onGone",
		from: "if r == nil || r.up != from {\n		return\n	}\n	delete(b.routes, m.Key)\n	if m.Stamp == 0", to: "if r == nil {\n		return\n	}\n	delete(b.routes, m.Key)\n	if m.Stamp == 0",
		survives: "a key that is gone is so for good, whichever way one hears it"},
	{rule: "gone: passed on", in: "network.onGone",
		from: "	b.sendDown(r, m)\n", to: "	if b.local(r) {\n		b.edge.take(m)\n	}\n"},
	{rule: "S7: a session has one key at a source broker", in: "source.takeInFrom",
		from: " || m.Known > 0 || home != nil)", to: " || m.Known > 0 || home != nil && m.Num > 1<<60)"},
	{rule: "an old store: a subscribe tells of higher numbers", in: "network.onSubscribe",
		from: "	b.source.hearOf(from, k, m.Epoch, m.Known)\n", to: ""},
	{rule: "an old store: a refresh tells of higher numbers", in: "network.onRefresh",
		from: "if b.source.hearOf(\"\", k, m.Epoch, m.Known) {", to: "if m.Known > 1<<60 {"},
	{rule: "an old store: a fetch tells of higher numbers", in: "network.onFetch",
		from: "	b.source.hearOf(from, m.Key, m.Epoch, m.Num)\n", to: "",
		survives: "the edge that the fetch is for has the number in its refreshes, too"},
	{rule: "an old store: what was given since and told nobody is not known", in: "source.hearOf",
		from: "number <= e.outside {", to: "number < e.next {"},
	{rule: "an old store: an edge knows what it has, not only what is processed", in: "inbox.known",
		from: "	known := in.buf.last\n", to: "	known := in.buf.num\n"},
	{rule: "an old store: a broker on the way knows what has passed", in: "network.onNotify",
		from: "			r.known = max(r.known, h.Seq)\n", to: "",
		survives: "the edge that has it tells so too; what it hands over would have to overtake what the source sends"},
	{rule: "an old store: the client's hello tells of higher numbers", in: "edge.resume",
		from: "nums[at].num > in.known():", to: "nums[at].num > in.buf.last:"},
	{rule: "an old store: the present edge is told", in: "source.hearOf",
		from: "		b.network.tell(r.down, &GoneMessage{Key: k, Stamp: b.stamp})\n", to: "",
		survives: "haste only: its next refresh has no route, and its renewal is answered gone"},
	{rule: "subscribed comes before the reply that ends it", in: "edge.unsubscribe",
		from: "		b.settleEnding(s, in.ID)\n", to: ""},
	{rule: "latest: one of a device is out", in: "edge.mayGo",
		from: "	return !b.onlyLatest(in.sequence, it) || !buf.outstanding(it.reading.device())\n", to: "	return true\n",
		survives: "it is about time, which readings here do not have; overlay's TestLatestIsNew looks"},
	{rule: "determinism: of what a routed message carries", in: "registry.sourcesOf",
		from: "for _, id := range slices.Sorted(maps.Keys(w.named)) {", to: "for id := range w.named {"},
	{rule: "determinism: of what an event carries", in: "source.installed",
		from: "for _, id := range slices.Sorted(maps.Keys(in.Robots)) {", to: "_ = slices.Sorted(maps.Keys(in.Robots))\n	for id := range in.Robots {"},
	{rule: "determinism: of records", in: "source.retain",
		from: "	for _, old := range e.members.sorted() {\n		b.record(&EntrySubscription{", to: "	for _, old := range e.members.subs {\n		b.record(&EntrySubscription{"},
	{rule: "restore: an equal set of a later epoch", in: "Broker.restoreEntry",
		from: "		e.sets.touch(r.Epoch)\n", to: ""},
	{rule: "names of other brokers are live as the edge counts", in: "sequence.live",
		from: "!q.own && sub.begun > revision", to: "!q.own && sub.born > revision"},
	{rule: "gone: another key follows", in: "edge.endFar",
		from: "	in.next = stamp\n	b.nextRevision(s)\n	b.recordSession(s)\n	b.follow(in)\n", to: ""},
	{rule: "gone: what follows begins again at an edge that has only what is left", in: "edge.resume",
		from: "		b.follow(in)\n", to: "		_ = in\n"},
	{rule: "gone: what has ended does not begin again", in: "edge.follow",
		from: "in.session.hasEnded(next) || b.network.isDead(next)", to: "b.network.isDead(next)"},
	{rule: "R1: not behind a newer fetch", in: "network.towards",
		from: " && !b.fetchesFrom(r.down, k, r.epoch) {", to: " {"},
	{rule: "R3: in a circle the last one is answered first", in: "network.onReplay",
		from: "range slices.Backward(b.fetches[m.Key]) {", to: "range slices.All(b.fetches[m.Key]) {",
		survives: "one schedule in 400,000 makes such a circle; TestFetchInACircle has it"},
	{rule: "F1: nothing of the old branch", in: "network.onFetch",
		from: "if r == nil || r.epoch.Compare(m.Epoch) >= 0 { // F1", to: "if r == nil {"},
	{rule: "F1: a newer subscribe goes up again", in: "network.onFetch",
		from: "			b.joinAgain(r)\n", to: ""},
	{rule: "F2: the old connection is closed", in: "edge.handOver",
		from: "s != nil && s.epoch.Compare(epoch) < 0 {\n", to: "s != nil && epoch.Attachment == 0 {\n"},
	{rule: "F2: the inbox goes", in: "edge.handOver",
		from: "	b.dropInbox(in)\n	return items\n", to: "	return items\n"},
	{rule: "F2: the inbox is replayed", in: "network.onFetch",
		from: "	b.replay(from, m.Key, items)\n", to: "	_ = items\n"},
	{rule: "F3: the fetch is passed on", in: "network.onFetch",
		from: "		b.fetch(r.down, m.Key, m.Epoch, m.Num, m.ID, from)\n		return\n", to: "		b.tell(from, &ReplayMessage{Key: m.Key, Last: true, ID: m.ID})\n		return\n"},
	{rule: "F3: the route goes", in: "network.onFetch",
		from: "		delete(b.routes, m.Key)\n		b.fetch(r.down", to: "		b.fetch(r.down"},
	{rule: "R1: not back to where it comes from", in: "network.towards",
		from: "	if r != nil && r.down != from && ", to: "	if r != nil && ",
		survives: "links are FIFO, so that without faults no route leads back to where items come from; with them a renewal brings what goes astray, and that it is asked for is no fault then"},
	{rule: "R2: to whoever fetched", in: "network.towards",
		from: "		to = newest.back\n", to: "		return\n"},
	{rule: "R2: the newest fetch", in: "network.towards",
		from: "f.epoch.Compare(newest.epoch) > 0) {", to: "f.epoch.Compare(newest.epoch) < 0) {",
		survives: "two neighbours fetch the same key from one broker only if its path has changed between; then there were faults, and a renewal brings what goes astray"},
	{rule: "R3: the mark waits for older fetches", in: "network.finish",
		from: "if !f.done || awaited != nil && f.epoch.Compare(*awaited) > 0 {", to: "if !f.done {",
		survives: "as R2's: who has the mark early lacks a fetch by which to send items on only if another neighbour has fetched"},
	{rule: "R3: the mark goes back", in: "network.finish",
		from: "			b.tell(f.back, &ReplayMessage{Key: k, Last: true, ID: f.id})\n", to: ""},
	{rule: "U1: a tombstone", in: "network.unsubscribeKey",
		from: "	b.dead[k] = b.lease()\n	r := b.routes[k]", to: "	r := b.routes[k]"},
	{rule: "U1: passed on", in: "network.unsubscribeKey",
		from: "		b.tell(path[1], &UnsubscribeMessage{Key: k, Path: path[1:]})\n", to: ""},
	{rule: "U2: a junction tells the old branch", in: "network.unsubscribeKey",
		from: "		b.tell(r.down, &GoneMessage{Key: k})\n	}\n	b.edge", to: "	}\n	b.edge"},
	{rule: "U3: a subscribe meets a tombstone", in: "network.onSubscribe",
		from: "if b.isDead(k) { // U3", to: "if m.Num > 1<<60 && b.isDead(k) {"},
	{rule: "U3: a refresh meets a tombstone", in: "network.onRefresh",
		from: "	if b.isDead(k) {\n		b.tell(from, &GoneMessage{Key: k})", to: "	if m.Num > 1<<60 && b.isDead(k) {\n		b.tell(from, &GoneMessage{Key: k})",
		survives: "haste only: L2 answers broken, and the subscribe of the renewal meets the tombstone"},
	{rule: "inbox: in sequence", in: "edge.drain",
		from: "for len(f.held) > 0 && f.held[0].From <= in.buf.last+1 {", to: "for len(f.held) > 0 {"},
	{rule: "inbox: once", in: "edge.arrive",
		from: "it.To < it.From || it.To < want ||", to: "it.To < it.From ||",
		survives: "drain drops what is before its turn, too"},
	{rule: "inbox: a gap does not cover what is held", in: "edge.drain",
		from: "if next >= 0 && f.held[next].From <= it.To {", to: "if next >= 0 && want == 0 {"},
	{rule: "inbox: what there is no room for is missing", in: "edge.arrive",
		from: "			f.head = max(f.head, it.To) // no room: renewal brings it\n", to: "",
		survives: "haste only: the next notification shows the gap, and before a silence the source's head (A2)"},
	{rule: "B1: an edge without a way up renews", in: "edge.refreshKeys",
		from: "if r == nil || r.up == \"\" || missing && f.ends >= 3 {", to: "if r == nil || r.up == \"\" {\n			continue\n		}\n		if missing && f.ends >= 3 {"},
	{rule: "B1: at once, when it loses its way", in: "edge.take",
		from: "			b.renewals = append(b.renewals, in)\n		}\n	}\n}", to: "		}\n	}\n}"},
	{rule: "B2: broken is sent down", in: "network.broken",
		from: "		delete(b.routes, r.key)\n	}\n	b.sendDown(", to: "		delete(b.routes, r.key)\n		return\n	}\n	b.sendDown("},
	{rule: "B2: only from up", in: "network.take",
		from: "if r := b.routes[m.Key]; r != nil && r.up == from {", to: "if r := b.routes[m.Key]; r != nil {",
		survives: "it costs a renewal that nobody needs, and broken is sent only where there were faults"},
	{rule: "B2: broken tells the lost link", in: "network.take",
		from: "		b.learn(m.Link, from)\n", to: "",
		survives: "haste only: the link's state is flooded, too"},
	{rule: "a lost link: its routes are broken", in: "network.lostLink",
		from: "			lost = append(lost, r)\n", to: ""},
	{rule: "a lost link: fetches over it have ended", in: "network.lostLink",
		from: "				f.done = true\n			}\n		}\n		b.finish(k)", to: "			}\n		}\n		b.finish(k)"},
	{rule: "L1: keys are refreshed", in: "edge.refreshKeys",
		from: "		b.network.tell(r.up, &RefreshMessage{Key: in.key, Epoch: r.epoch, Num: in.buf.num, Known: max(r.known, in.known())})\n", to: ""},
	{rule: "L1: a refresh renews the lease", in: "network.onRefresh",
		from: "	r.lease = b.lease()\n	if k.Source", to: "	if k.Source"},
	{rule: "L1: and goes up", in: "network.onRefresh",
		from: "		b.tell(r.up, m)\n		return\n	}\n	b.source", to: "		return\n	}\n	b.source"},
	{rule: "L2: a fetch under way settles it", in: "network.onRefresh",
		from: "return f.to == from }): // that", to: "return f.to == from && m.Num > 1<<60 }): // that"},
	{rule: "L2: a refresh without a route is answered by broken", in: "network.onRefresh",
		from: "		case r == nil || r.epoch.Compare(m.Epoch) <= 0:\n			b.tell(from, &BrokenMessage{Key: k})\n", to: "		case r == nil || r.epoch.Compare(m.Epoch) <= 0:\n"},
	{rule: "L2: a refresh of an old branch fetches it", in: "network.onRefresh",
		from: "			b.fetch(from, k, r.epoch, r.num, FetchID{}, \"\")\n", to: "",
		survives: "haste only: a branch that is left over without a fetch under way subscribes again (S1), or its edge learns of the newer attachment (G2) and lets it run out"},
	{rule: "L3: routes run out", in: "network.passLeases",
		from: "if !b.local(r) && r.lease < b.now { // L3", to: "if !b.local(r) && r.lease < 0 {"},
	{rule: "L3: a lease is four periods", in: "leasePeriods",
		from: "const leasePeriods = 4", to: "const leasePeriods = 1"},
	{rule: "L4: the connection is closed", in: "edge.attachedElsewhere",
		from: "	if s.conn != nil {\n		b.conflict(s, epoch.Attachment)", to: "	if s.conn != nil && epoch.Attachment == 0 {\n		b.conflict(s, epoch.Attachment)"},
	{rule: "L4: who is elsewhere is forgotten after a lease", in: "Broker.passTime",
		from: "case s.elsewhere != 0 && s.elsewhere+", to: "case s.elsewhere < 0 && s.elsewhere+"},
	{rule: "L5: a key that nobody refreshes is forgotten", in: "source.forgetKeys",
		from: "if e.seen < before { // L5", to: "if e.seen < -before {"},
	{rule: "L5: then the stamp is another", in: "source.forgetKeys",
		from: "	if forgot {\n		b.newStamp()\n", to: "	if forgot && b.now < 0 {\n		b.newStamp()\n"},
	{rule: "A1: what is acknowledged is dropped", in: "source.refreshed",
		from: "	b.retire(e.sequence, min(m.Num, e.next-1)) // A1\n", to: ""},
	{rule: "A2: a head before a silence", in: "source.refreshed",
		from: "last > m.Num && e.quiet {", to: "last > m.Num && e.quiet && k.Stamp < 0 {"},
	{rule: "A2: only for a key that is silent", in: "source.refreshed",
		from: "last > m.Num && e.quiet {", to: "last > m.Num {"},
	{rule: "renewal: a gap at three periods' ends", in: "edge.refreshKeys",
		from: "missing && f.ends >= 3 {", to: "missing && f.ends >= 1<<30 {"},
	{rule: "renewal: not before", in: "edge.refreshKeys",
		from: "missing && f.ends >= 3 {", to: "missing && f.ends >= 1 {"},
	{rule: "G1: hello asks for source brokers", in: "edge.hello",
		from: "	b.lookUp(s)\n	if s.conn != nil && !s.conn.ready", to: "	if s.conn != nil && !s.conn.ready"},
	{rule: "G1: each period asks again", in: "central.pass",
		from: "	b.edge.lookUpAll()\n", to: ""},
	{rule: "G1: what is named becomes a key", in: "edge.nameSource",
		from: "	b.beginFar(s, k)\n	return true\n}", to: "	return true\n}"},
	{rule: "6: edges learn of new sources at once", in: "registry.nameFresh",
		from: "b.network.route(edge, answers[edge])\n", to: "_ = edge\n"},
	{rule: "G2: the registry knows of a newer attachment", in: "registry.onLookup",
		from: "if w != nil && w.epoch.Compare(epoch) > 0 { // G2", to: "if w != nil && from == \"\" {"},
	{rule: "G2: an edge that learns it closes the connection", in: "edge.onSources",
		from: "			b.attachedAt(c.Client, c.Newest)\n", to: ""},
	{rule: "G3: new subscriptions are told that the registry is away", in: "edge.tellSubscribed",
		from: "	if p.away && !p.hello { // G3", to: "	if p.away && p.hello && s == nil { // G3"},
	{rule: "a reading crosses a link once", in: "joined",
		from: "		if ok && before.Reading == m.Reading {", to: "		if ok && before.Reading == nil {"},
	{rule: "an equal hash is a new set too", in: "source.takeInFrom",
		from: "		e.sets.touch(e.epoch)\n		b.recordEntry(e)\n", to: "		b.recordEntry(e)\n"},
	{rule: "an entry that comes home takes the old branch back", in: "network.begin",
		from: "		b.fetch(old, k, epoch, num, FetchID{}, \"\")\n", to: ""},
	{rule: "what survives: an edge's inboxes have routes again", in: "edge.startSession",
		from: "		case in.far != nil: // B1: it has no way up\n", to: "		case in.far != nil && in.handle == 0:\n"},
	{rule: "what the store has left of a sequence that has ended is given", in: "source.takeInFrom",
		from: "			b.giveRest(from, e, m)\n", to: ""},
	{rule: "a new key's set reaches the source", in: "edge.beginFar",
		from: "		missing = &Missing{}\n", to: ""},
	{rule: "a broker that the registry forgot is named again", in: "registry.nameFresh",
		from: "again := w.named[back]", to: "again := w.named[back] && back == \"\""},
	{rule: "6: a robot that has changed is tested again", in: "directory.advertise",
		from: "if old == nil || !old.matchesAs(one) {", to: "if old == nil && b == nil {",
		survives: "a new robot's name gets a holder, which is news too, and no schedule changes a robot's devices; TestNaming of the overlay catches it"},
	{rule: "G1: what is new in a set is tested", in: "registry.takeWants",
		from: "	b.nameFor(w, fresh, nil)\n", to: "	_ = fresh\n"},
	{rule: "an ended key does not hide the one that follows", in: "edge.nameSource",
		from: "	if s.follower(source.Broker) != nil {", to: "	if slices.ContainsFunc(s.inboxes, func(in *inbox) bool { return in.key.Source == source.Broker }) {",
		survives: "what is left of an ended key begins what follows with the client's hello; this is for one that a tombstone has ended (U3)"},
	{rule: "the registry names only a key that is dead: it is asked again", in: "edge.nameSource",
		from: "	if b.network.isDead(k) {\n		return false\n	}\n	if source.Stamp", to: "	if source.Stamp"},
	{rule: "the registry names only a key that is dead: it answers again", in: "edge.onSources",
		from: "			s.answer = 0 // it is to answer again\n", to: ""},
	{rule: "robots: out of reach after three heartbeats", in: "edge.passRosters",
		from: "case v.missed < outPeriods || v.out:", to: "case v.users > 0:"},
	{rule: "robots: not before", in: "edge.passRosters",
		from: "case v.missed < outPeriods || v.out:", to: "case v.missed < 1 || v.out:"},
	{rule: "robots: back in reach", in: "edge.onRobots",
		from: "	if back {\n		b.tellReach(v)\n", to: "	if back && v == nil {\n		b.tellReach(v)\n"},
	{rule: "robots: an edge that watches is told at once", in: "source.tellWatchers",
		from: "			b.network.route(id, b.robotsSince(w.version))\n", to: ""},
	{rule: "robots: and what was lost is asked for", in: "source.onWatch",
		from: "	answer := b.robotsSince(m.Version)\n", to: "	answer := &Robots{From: m.Version, Version: m.Version}\n"},
	{rule: "robots: who was away meanwhile is told to have been", in: "edge.tellState",
		from: "	case at == v && (seen > 0 && a.Gone > seen || s.missed[a.Robot]):", to: "	case at == nil && (seen > 0 && a.Gone > seen || s.missed[a.Robot]):"},
	{rule: "robots: what is away counts only once", in: "edge.tellState",
		from: "	case up == nil && !away:", to: "	case up == nil:"},
	{rule: "robots: a robot that is withdrawn is away", in: "source.disappear",
		from: "	} else if old.Up {\n		b.own.put(gone)\n", to: "	} else if old.Up {\n		b.own.remove(r.name)\n"},
	{rule: "states: a broker that begins ends what was true", in: "Broker.start",
		from: "				b.source.endStatesOf(e, robot)\n", to: "				_ = robot\n"},
	{rule: "states: known from what is stored", in: "source.restoreGiven",
		from: "		e.trues.note(r.Reading, hit.Names, hit.Seq)\n", to: ""},
	{rule: "states: false in the place of a broker out of reach", in: "edge.settleStates",
		from: "			b.tellInPlace(s, st, id)\n", to: "			_, _ = st, id\n"},
	{rule: "states: that is passed over when the connection ends", in: "edge.detach",
		from: "	b.passInPlace(s)\n", to: ""},
	{rule: "states: and was told if the client says its number", in: "session.hadOver",
		from: "in != nil && in.resumed < st.over {", to: "in != nil && in.resumed < st.over && in.sequence == nil {"},
	{rule: "states: an edge whose client comes from a dead one asks for what is true", in: "edge.askAgain",
		from: "	if doubt && s.anySub(", to: "	if doubt && b == nil && s.anySub("},
	{rule: "states: what has been given as true anew is not given again", in: "source.giveAgain",
		from: "(id != again.ID || st.seq != again.Seq)", to: "id != again.ID"},
	{rule: "states: its own false comes to nobody then", in: "session.tells",
		from: "	return !fresh || st.over == 0 || in == nil || in.buf.num < st.over", to: "	return !fresh || in == nil || in.buf.num < 1<<60"},
	{rule: "states: unless the client may not have had the other", in: "session.tells",
		from: "	return !fresh || st.over == 0 || in == nil || in.buf.num < st.over", to: "	return !fresh || st.over == 0 || in == nil"},
	{rule: "states: what comes counts, not what had come to an edge before", in: "session.tells",
		from: "	if *n.State {\n		again", to: "	if !fresh {\n		return true\n	}\n	if *n.State {\n		again"},
	{rule: "states: true again when it is back", in: "source.onAgain",
		from: "		b.giveAgain(e, again)\n", to: "		_ = again\n"},
	{rule: "states: numbers of a key that has ended are not those of the next", in: "edge.endFar",
		from: "	s.states.renumber(in.key.Source)\n", to: ""},
	{rule: "states: handed over", in: "edge.onTold",
		from: "			s.states.put(h.ID, h.Reading.Robot", to: "			new(farStates).put(h.ID, h.Reading.Robot"},
	{rule: "a roster stays when its users go", in: "edge.passRosters",
		from: "			if v.version == 0 || !b.network.knows(id) {", to: "			if v.version == 0 || b != nil {"},
	{rule: "a stale roster tells nothing", in: "roster.known",
		from: "return v.version > 0 && !v.stale }", to: "return v.version > 0 }"},
	{rule: "who knows nothing of a broker out of reach asks the others", in: "edge.passRosters",
		from: "			b.registry.askOthers(id)\n", to: "			_ = v\n"},
	{rule: "told: handed over", in: "edge.handTold",
		from: "	b.network.route(s.newestEdge, m)\n}", to: "}"},
	{rule: "told: awaited", in: "awaitPeriods",
		from: "const awaitPeriods = 3", to: "const awaitPeriods = 1"},
	{rule: "told: not for ever", in: "edge.passAwaits",
		from: "		if s.awaits[id]--; s.awaits[id] <= 0 {", to: "		if s.awaits[id]--; s.awaits[id] <= -1<<30 {"},
	{rule: "told: an edge that waits itself tells since when", in: "edge.takeTold",
		from: "awaited(x.Broker) && (before == 0 || x.Version < before) {", to: "awaited(x.Broker) && before+1 == 0 {"},
	{rule: "told: a client that is not here is told nothing", in: "edge.passAwaits",
		from: "	if s.conn == nil {\n		return\n	}\n	for _, id := range slices.Sorted(maps.Keys(s.awaits)) {", to: "	for _, id := range slices.Sorted(maps.Keys(s.awaits)) {"},
	{rule: "told: only of what it covers", in: "edge.takeTold",
		from: "awaited(source) && m.covers(source) && !s.listed {", to: "awaited(source) && !s.listed {"},
	{rule: "states: what was told here in a source broker's place counts, not what an edge before says", in: "edge.tellInPlace",
		from: "st.over, st.by, st.handed = seq, in.word, false", to: "st.over, st.by = seq, in.word"},
	{rule: "B2: what has passed goes into the next route", in: "network.turn",
		from: "known: max(m.Known, b.passed[m.Key].number)", to: "known: m.Known"},
	{rule: "told: no states of subscriptions that have ended", in: "edge.onTold",
		from: " || sub.since.Attachment > m.Attachment {", to: " {"},
	{rule: "states: a subscription that has begun since is another one", in: "set.diff",
		from: "		case m.Since.Compare(old.heard) > 0:\n", to: "		case m.Since.Compare(old.heard) > 1:\n"},
	{rule: "begun: handed over", in: "edge.handTold",
		from: "	m.Begun = s.unheard()\n", to: ""},
	{rule: "begun: source brokers are asked to begin anew", in: "edge.takeBegun",
		from: "				b.askFor(v, again)\n", to: ""},
	{rule: "begun: and the one here", in: "edge.takeBegun",
		from: "				b.source.onAgain(&again)\n", to: ""},
	{rule: "begun: what hello does not list has ended", in: "edge.attach",
		from: "		s.endedAt = s.epoch // what", to: "		// what"},
	{rule: "told: of robots of the broker where the client is now, too", in: "edge.onTold",
		from: "	s.before = s.blind\n", to: ""},
	{rule: "told: an edge that has begun again does not know which states it told", in: "edge.onTold",
		from: "	s.blind = s.blind && m.Blind\n", to: "	s.blind = false\n"},
	{rule: "told: the client's own word counts", in: "edge.hello",
		from: "		b.listAway(s, *h.Away)\n", to: ""},
	{rule: "told: stored", in: "session.restoreTold",
		from: "		s.away[r.Robot] = r.Source\n	default:", to: "	default:"},
	{rule: "told: of robots that nothing matches no more", in: "edge.unsubscribe",
		from: "		b.unfollow(s)\n", to: ""},
	{rule: "a broker announces itself again", in: "Broker.passTime",
		from: "		b.network.announce()\n", to: ""},
	{rule: "an edge whose store lost its end leaves keys to their sources", in: "Broker.start",
		from: "if !lost || b.edge.doubt(s) {", to: "if !lost || b != nil {"},
	{rule: "names of subscriptions that began later are left out", in: "set.liveThere",
		from: "return sub != nil && (at == Epoch{} || sub.since.Compare(at) <= 0)", to: "return sub != nil && (at == Epoch{} || at == at)"},
	{rule: "D1: a change travels as a difference", in: "flooded.publish",
		from: "m.From, m.StatesVersion = e.broker, e.stamp, e.version, e.statesVersion", to: "m.From, m.StatesVersion = e.broker, e.stamp, 0, e.statesVersion"},
	{rule: "D1: what is news is passed on", in: "flooded.onBulletin",
		from: "	b.flood(m, from)\n", to: ""},
	{rule: "D1: but not back to where it comes from", in: "flooded.onBulletin",
		from: "	b.flood(m, from)\n", to: "	b.flood(m, \"\")\n"},
	{rule: "D1: who lacks the version before asks", in: "flooded.onBulletin",
		from: "		b.ask(e, from)\n", to: ""},
	{rule: "D1: and takes no difference from another version", in: "flooded.onBulletin",
		from: "m.From != 0 && m.From != e.version", to: "m.From != 0 && e.version == 0"},
	{rule: "D1: a link's ends say what they know", in: "flooded.linkUp",
		from: "	b.network.tell(neighbour, m)\n", to: ""},
	{rule: "D1: who knows less is sent the whole", in: "flooded.onKnown",
		from: "		case e.version > k.Version:\n			b.network.tell(from, b.whole(e))\n", to: ""},
	{rule: "D1: and who knows nothing", in: "flooded.onKnown",
		from: "e.version > 0 && !knows[id] {", to: "e.version > 0 && !knows[id] && b == nil {"},
	{rule: "D1: what is missing is asked for each period", in: "flooded.pass",
		from: "e.version == 0 || e.wanted > e.version", to: "e.version == 0 && e.wanted > e.version"},
	{rule: "D1: a bulletin is said again", in: "flooded.pass",
		from: "if b.now-b.announced >= Instant(b.cfg.Inbox.Keep)/4 {", to: "if b.now-b.announced >= Instant(b.cfg.Inbox.Keep)*4 {"},
	{rule: "D1: it is above that of an earlier life", in: "flooded.outlive",
		from: "	if version > b.own.version {\n", to: "	if version > b.own.version && b == nil {\n",
		survives: "in the simulator time goes on; TestClockSetBack of the overlay catches it"},
	{rule: "D2: an edge looks up what it has", in: "flooded.lookUp",
		from: "range b.edge.untested(s) {", to: "range b.edge.untested(s)[:0] {"},
	{rule: "D2: and again when an advertisement comes", in: "flooded.nameFresh",
		from: "if id := b.holders[name]; id != \"\" {", to: "if id := b.holders[name]; id == b.cfg.ID {"},
	{rule: "D2: what is not settled is looked up again", in: "flooded.lookUpAll",
		from: "		if len(b.edge.untested(s)) > 0 {\n", to: "		if len(b.edge.untested(s)) > 1<<30 {\n"},
	{rule: "D2: a client that comes back missed what appeared", in: "edge.attach",
		from: "		s.lookAgain()\n", to: ""},
	{rule: "D2: states come with the bulletin", in: "flooded.onBulletin",
		from: "e.statesVersion != before && b.network.reaches", to: "e.statesVersion == 0 && b.network.reaches",
		survives: "it is haste: the edge takes what has changed from the bulletin with the period"},
	{rule: "D2: what has become of robots is looked at each period", in: "flooded.watch",
		from: "	b.watches[id] = m.Version\n", to: ""},
	{rule: "D2: not of those out of reach", in: "flooded.endStep",
		from: "e.statesVersion > 0 && b.network.reaches(id) {", to: "e.statesVersion > 0 {"},
	{rule: "D3: an edge that hears of a newer one closes", in: "flooded.place",
		from: "		b.edge.attachedAt(c.Client, epoch)\n", to: "		_ = epoch\n"},
	{rule: "D3: an older attachment changes nothing", in: "flooded.place",
		from: "p.edge.broker}) < 0:\n", to: "p.edge.broker}) < -1:\n"},
	{rule: "D3: a client that attaches is told", in: "edge.attach",
		from: "	b.registry.attached(s)\n", to: ""},
	{rule: "D3: and one whose session ends", in: "edge.dropSession",
		from: "	b.registry.left(s)\n", to: ""},
	{rule: "D3: hello knows the newest attachment", in: "edge.newestAttachment",
		from: "		newest, known = max(newest, elsewhere), true\n", to: "		_ = elsewhere\n"},
	{rule: "D4: the older claim", in: "flooded.holderOf",
		from: "(one.claimed < oldest ||", to: "(one.claimed > oldest || holder == \"\" ||"},
	{rule: "D4: of one time the lower id", in: "flooded.holderOf",
		from: "id < holder)", to: "id > holder)"},
	{rule: "D4: claims are stored", in: "flooded.restore",
		from: "	if r.Since > 0 {\n", to: "	if r.Since < 0 {\n"},
	{rule: "D4: and go with the robot", in: "flooded.changedRobots",
		from: "		b.disclaim(name)\n", to: ""},
	{rule: "D4: the source hears who is refused", in: "flooded.holdAll",
		from: "	if contested {\n		b.refuse(false)\n	}\n", to: "	_ = contested\n"},
	{rule: "D4: also of one that was withdrawn meanwhile", in: "flooded.changedRobots",
		from: "		b.refuse(true) // it", to: "		// it"},
	{rule: "D5: what is out of reach is known for a session time", in: "flooded.pass",
		from: "	before := b.now - Instant(b.cfg.Inbox.Keep)\n", to: "	before := b.now\n"},
	{rule: "D5: not longer", in: "flooded.pass",
		from: "		} else if e.heard < before {\n", to: "		} else if e.heard < -before {\n"},
	{rule: "D5: by all alike: a bulletin has its age", in: "flooded.whole",
		from: "Age: b.age(e), ", to: ""},
	{rule: "D5: by all alike: the younger one counts", in: "flooded.onKnown",
		from: "b.isYounger(e, k.Age):", to: "b.isYounger(e, k.Age) && b == nil:"},
	{rule: "D5: who comes to a part hears what is away", in: "flooded.askOthers",
		from: "e.statesVersion > 0 {", to: "e.statesVersion > 0 && b == nil {"},
	{rule: "D5: once named a source broker stays named, wherever the client goes", in: "edge.handTold",
		from: "	if !b.registry.remembersNamed() {\n", to: "	if b == nil {\n"},
	{rule: "D6: a question goes straight to the broker", in: "flooded.whereIs",
		from: "return b.holders[robot], false }", to: "return b.network.neighbours()[0], true }"},
}

// TestMutantsFit: each mutant changes one place of the overlay as it is now.
func TestMutantsFit(t *testing.T) {
	places := declarations(t)
	for _, m := range mutants {
		p, found := places[m.in]
		if !found {
			t.Errorf("%s: there is no %s", m.rule, m.in)
		} else if n := strings.Count(p.text, m.from); n != 1 {
			t.Errorf("%s: %q is in %s %d times, expected once", m.rule, m.from, m.in, n)
		}
	}
}

// declaration is where something is declared: in a file of the overlay, from a byte
// of it on.
type declaration struct {
	file string
	at   int
	text string
}

// declarations finds the overlay's functions, by receiver and name, and constants.
func declarations(t *testing.T) map[string]declaration {
	all := map[string]declaration{}
	names, err := filepath.Glob(filepath.Join("..", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			from, to := files.Position(d.Pos()).Offset, files.Position(d.End()).Offset
			p := declaration{file: name, at: from, text: string(text[from:to])}
			switch d := d.(type) {
			case *ast.FuncDecl:
				all[nameOf(d)] = p
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						all[v.Names[0].Name] = p
					}
				}
			}
		}
	}
	return all
}

// nameOf returns a function's name behind that of its receiver's type.
func nameOf(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	return of.(*ast.Ident).Name + "." + f.Name.Name
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
	place := declarations(t)[m.in]
	original, err := filepath.Abs(place.file)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	end := place.at + len(place.text)
	text = slices.Concat(text[:place.at], []byte(strings.Replace(place.text, m.from, m.to, 1)), text[end:])
	mutated := filepath.Join(dir, filepath.Base(original))
	if err := os.WriteFile(mutated, text, 0o600); err != nil {
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
