package overlaytest

import (
	"testing"

	"callboard/bridge/mutanttest"
)

// taskMutants are brokers with one rule of tasks switched off or bent.
var taskMutants = []mutanttest.Mutant{
	{Rule: "the same key is the same task", In: "taskHome.onRequest",
		From: "	if t := h.byKey[key]; t != nil {\n", To: "	if t := h.byKey[key]; t != nil && t.answer == nil && t.number == 0 {\n"},
	{Rule: "a request of before its queue began to live here is taken only if its client still waits", In: "taskHome.onRequest",
		From: "	if from != h.cfg.ID && m.Life != q.since &&", To: "	if from != h.cfg.ID && m.Life != q.since && h.now < 0 &&"},
	{Rule: "accepted is stored before it is told", In: "taskHome.onRequest",
		From: "	if q.stored() {\n", To: "	if q.stored() && h.last%5 != 0 {\n"},
	{Rule: "first in, first out", In: "taskQueue.take",
		From: "	if n := len(q.back); n > 0 {\n", To: "	if n := len(q.fresh); n > q.first+1 && q.fresh[n-1].waits {\n		t = q.fresh[n-1]\n	} else if n := len(q.back); n > 0 {\n"},
	{Rule: "what is in hand is nobody else's", In: "taskHome.handBack",
		From: "	h.free(t)\n", To: "	if t.confirmed {\n		h.assign(t, t.server)\n		return\n	}\n	h.free(t)\n"},
	{Rule: "what a server had goes back when nobody has heard of it for three periods", In: "taskHome.pass",
		From: "		case h.now-s.heard >= away:\n			h.endHolder(s)\n", To: "		case h.now < 0:\n			h.endHolder(s)\n"},
	{Rule: "what a server that has come again lacks goes back", In: "taskHome.setHands",
		From: "		case moved || late && (t.server == nil || t.answer != nil):\n", To: "		case late && (t.server == nil || t.answer != nil):\n",
		Survives: "haste only: it is sent again to where the server hangs now"},
	{Rule: "what was lost on its way to a server is sent again", In: "taskHome.setHands",
		From: "		case late:\n			h.give(t)\n", To: ""},
	{Rule: "a task has one answer", In: "taskHome.finish",
		From: "	if t.answer != nil || t.gone {\n		return\n	}\n", To: ""},
	{Rule: "an answer is sent again until it is acknowledged", In: "taskHome.onPoll",
		From: "		if t.answer != nil {\n			h.tellAnswer(t)\n		} else {", To: "		if t.answer == nil {"},
	{Rule: "an answer follows its client", In: "taskHome.onPoll",
		From: "		h.bind(t, binding{m.Attachment, from})\n", To: ""},
	{Rule: "a client is told of an answer once", In: "taskEdge.onAnswer",
		From: "	if w == nil || w.replied ||", To: "	if w == nil ||"},
	{Rule: "answers are their client's", In: "taskEdge.onAnswer",
		From: "	p := e.here(m.Client, m.Attachment)\n", To: "	p := e.here(m.Client, m.Attachment)\n	for _, other := range e.inOrder() {\n		if other.waits[m.Key] == nil {\n			p = other\n			p.waits[m.Key] = &taskWait{key: m.Key}\n			break\n		}\n	}\n"},
	{Rule: "a request that was not accepted is sent again", In: "taskEdge.poll",
		From: "			w.pause = Instant(e.cfg.Heartbeat)\n			e.sendRequest(p, w)\n", To: ""},
	{Rule: "what a server has done is said until its home has it", In: "taskEdge.pass",
		From: "			e.network.route(d.home, d.message)\n", To: ""},
	{Rule: "a restarted broker has all tasks of a declared queue", In: "taskHome.startTask",
		From: "	default:\n		t.queue.push(t)\n", To: ""},
	{Rule: "a restarted broker leaves what was in hand there", In: "taskHome.startTask",
		From: "	case t.heldBy != \"\":\n		s := ", To: "	case t.heldBy != \"\" && t.number == 0:\n		s := "},
	{Rule: "a command that was about to be carried out is not carried out again", In: "taskHome.startTask",
		From: "	case robot != \"\" && t.heldBy != \"\":\n", To: "	case robot != \"\" && t.heldBy != \"\" && t.number == 0:\n"},
	{Rule: "that a command is about to be carried out is stored", In: "taskHome.pumpCommands",
		From: "		h.record(&TaskHeldRecord{Number: t.number, Server: string(h.cfg.ID)})\n", To: ""},
	{Rule: "a passing queue ends with its last server", In: "taskHome.tidy",
		From: "		h.end(q, \"its last server has gone\")\n", To: ""},
	{Rule: "a passing queue yields to a declared one", In: "taskHome.yield",
		From: "		if theirs.before(ours) {\n", To: "		if theirs.before(ours) && q.since < 0 {\n",
		Survives: "haste only: its servers' edges go to the other home, and it ends with its last server"},
	{Rule: "a queue begins only when others have had the time to say which there are", In: "queueDirectory.settled",
		From: "!d.cfg.Neighbours ||", To: "true ||"},
	{Rule: "determinism: of what is told of servers", In: "taskEdge.tellServing",
		From: "	for _, home := range sortedKeys(homes) {\n", To: "	for home := range homes {\n"},
}

// TestTaskMutantsFit sees that each mutant changes the code as it is.
func TestTaskMutantsFit(t *testing.T) { mutanttest.Fit(t, "..", taskMutants) }

// TestTaskMutants sees that schedules of tasks catch each mutant.
func TestTaskMutants(t *testing.T) {
	mutanttest.Hunt(t, "..", taskMutants, mutanttest.Tests{Run: "^Test(Hard)?Tasks$"})
}
