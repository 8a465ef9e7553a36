package web_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"callboard/subscribe/protocol"
)

// three are the robots of most tests: r2 has no scanner.
func three() []robot {
	return []robot{
		{name: "r0", x: -3, y: 1, yaw: 0.3, scanner: true, state: protocol.RobotUp},
		{name: "r1", x: 3, y: 2, yaw: 2, scanner: true, state: protocol.RobotUp},
		{name: "r2", x: 0, y: -2, yaw: -1, state: protocol.RobotUp},
	}
}

// attached waits until the page's own subscriptions are in force.
func (b *broker) attached() {
	b.t.Helper()
	b.wait("the page's own subscriptions", func() bool {
		s := b.viewer()
		return b.one().conn != nil && s.conn != nil && s.subs["page.position"].Condition != "" && s.subs["page.laser"].Condition != "" && s.subs["page.sonar"].Condition != ""
	})
}

// subscribe writes a condition and waits until it is the n-th in force, and the box empty again.
func (p *page) subscribe(b *broker, condition string, n int) {
	p.t.Helper()
	p.condition(condition)
	b.subscribed(n)
	p.until(`document.querySelector("#condition").value === ""`)
}

// subscribed waits until so many subscriptions of the user are in force.
func (b *broker) subscribed(n int) {
	b.t.Helper()
	b.wait(fmt.Sprintf("%d subscriptions", n), func() bool { return len(b.one().subs) == n })
}

// TestPage runs the page in Chromium against a scripted broker.
func TestPage(t *testing.T) {
	chromium := browser(t)
	for name, test := range map[string]func(*testing.T, context.Context){
		"robots appear and move":         testRobots,
		"an error at its column":         testConditionError,
		"notifications come":             testNotifications,
		"several subscriptions":          testSeveral,
		"a program roams":                testRoam,
		"brokers on robots":              testField,
		"resume after a lost connection": testResume,
		"resume after a reload":          testReload,
		"a silent broker":                testSilent,
		"another takes over":             testTakenOver,
		"gaps and states":                testGapsAndStates,
		"driving":                        testDrive,
		"a robot's panel":                testPanel,
		"completion":                     testCompletion,
		"a draft":                        testDraft,
		"the time line":                  testTimeLine,
		"zones":                          testZones,
		"what the brokers do":            testFleet,
		"a pair of brokers":              testPair,
		"an address":                     testAddress,
		"search":                         testSearch,
		"keys":                           testKeys,
		"stick and motors":               testCommands,
		"a bounded list":                 testBounded,
		"on a phone":                     testPhone,
		"sensors where they sit":         testSensors,
		"a crowd":                        testCrowd,
		"a map of its own":               testViewer,
		"a real broker killed":           testRealBroker,
		"at another broker":              testLeave,
		"a replay in its world":          testReplay,
		"a replay is controlled":         testReplayBar,
		"screen readers and contrast":    testAccessible,
		"pictures":                       testPictures,
		"modules":                        testModules,
	} {
		t.Run(name, func(t *testing.T) { test(t, chromium) })
	}
}

func testRobots(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	p.until(`document.querySelectorAll("#robots li").length === 3`)
	b.attached()
	b.step()
	p.until(`callboard.robots.every((r) => r.x !== undefined && r.world === "hall")`)
	before := value[[]float64](p, `callboard.robots.map((r) => r.x)`)
	for range 5 {
		b.step()
	}
	p.until(fmt.Sprintf(`Math.abs(callboard.robots[0].x - %v) > 0.15`, before[0]))
	var want robot
	b.do(func() { want = b.robots[0] })
	p.until(fmt.Sprintf(`Math.hypot(callboard.robots[0].x - %v, callboard.robots[0].y - %v) < 1e-9`, want.x, want.y))
	if got := value[[]int](p, `callboard.robots.map((r) => r.scans)`); !cmp.Equal(got, []int{1, 1, 0}) {
		t.Errorf("scans by robot: %v, want 1, 1, 0", got)
	}
	p.until(`callboard.map.world === "hall" && document.querySelector("#world-name").textContent === "hall"`)
	p.until(`document.querySelector("#map").getAttribute("aria-label") === "Map of hall: 3 robots"`)
	// What was drawn: the walls' colour, and the map is not one blank.
	p.until(`(() => { const c = document.querySelector("#map"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
		for (let i = 0; i < d.length; i += 404) seen.add((d[i] << 16) | (d[i + 1] << 8) | d[i + 2]); return seen.size > 5; })()`)
	frames := value[int](p, `callboard.map.frames`)
	b.step()
	p.until(fmt.Sprintf(`callboard.map.frames > %d`, frames))

	scale := value[float64](p, `callboard.map.scale`)
	p.click("#zoom-in")
	p.until(fmt.Sprintf(`callboard.map.scale > %v * 1.3`, scale))
	p.choose("r1")
	p.click("#follow")
	b.step()
	p.until(`callboard.selected === "r1" && callboard.map.following`)
	p.until(`Math.hypot(callboard.map.x - callboard.robots[1].x, callboard.map.y - callboard.robots[1].y) < 0.05`)
	p.run(chromedp.Focus(chromedp.CSS("#map")), chromedp.KeyEvent("0"))
	p.until(fmt.Sprintf(`Math.abs(callboard.map.scale - %v) < 1e-9 && !callboard.map.following`, scale))
}

// testCrowd: of many robots each is drawn, and readings are asked for of those in
// view; of the others a position now and then.
func testCrowd(t *testing.T, chromium context.Context) {
	var crew []robot
	for i := range 150 {
		crew = append(crew, robot{name: fmt.Sprintf("r%d", i), x: -5 + 0.7*float64(i%15), y: -3.5 + 0.7*float64(i/15), state: protocol.RobotUp})
	}
	b := newBroker(t, crew...)
	p := open(t, chromium, b.server.URL)
	b.wait("positions are asked for", func() bool { return b.viewer().conn != nil && b.viewer().subs["page.position"].Condition != "" })
	b.step()
	p.until(`callboard.robots.length === 150 && callboard.robots.every((r) => r.x !== undefined)`)
	p.until(`document.querySelectorAll("#robots li").length === 150 && document.querySelector('#robots li[data-robot="r0"]').dataset.state === "up"`)
	for _, layer := range []string{"trails", "names"} {
		p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("#layer-%s").click(); 0`, layer)))
	}
	var last robot
	b.do(func() { last = b.robots[149] })
	p.seen("ink", last.x, last.y)
	asked := func(what string, check func(near, others protocol.Subscription) bool) {
		t.Helper()
		b.wait(what, func() bool {
			subs := b.viewer().subs
			return check(subs["page.position"], subs["page.others"])
		})
	}
	asked("all are in view", func(near, others protocol.Subscription) bool {
		return len(near.Robots) == 0 && near.Condition != "" && others.Condition == ""
	})
	for range 4 {
		p.click("#zoom-in")
	}
	asked("those in view, and the others seldom", func(near, others protocol.Subscription) bool {
		return len(near.Robots) > 0 && len(near.Robots) < 75 && others.MinInterval == 5 && len(others.Robots) == 0
	})
	p.run(chromedp.Focus(chromedp.CSS("#map")), chromedp.KeyEvent("0"))
	asked("all again", func(near, others protocol.Subscription) bool { return len(near.Robots) == 0 && others.Condition == "" })
}

// testSensors: scans and sonar beams are drawn from where the devices sit.
func testSensors(t *testing.T, chromium context.Context) {
	b := newBroker(t, robot{name: "r0", x: -3, y: 1, yaw: 0.3, scanner: true, state: protocol.RobotUp}, robot{name: "r2", x: 3, y: -2, state: protocol.RobotUp})
	p := open(t, chromium, b.server.URL)
	b.attached()
	b.step()
	p.until(`callboard.robots.length === 2 && callboard.robots[0].scans === 1 && callboard.robots[0].sonars === 1`)
	p.until(`callboard.robots[0].body?.length === 0.6 && callboard.robots[0].body.width === 0.4 && callboard.robots[0].body.x === 0.1 && callboard.robots[1].body === null`)
	for _, layer := range []string{"trails", "names"} {
		p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("#layer-%s").click(); 0`, layer)))
	}
	var r robot
	b.do(func() { r = b.robots[0] })
	at := r.at(scanner.Pose)
	for _, beam := range []float64{-1.2, -0.4, 0, 0.4, 0.8, 1.2} { // rad
		d := wall(at, at.yaw+beam)
		if d < 5 {
			p.seen("scan-hit", at.x+d*math.Cos(at.yaw+beam), at.y+d*math.Sin(at.yaw+beam))
		}
	}
	e := r.at(ring.Pose).at(ring.Elements[1]) // the nearest, 0.8 m, is drawn strongest
	p.seen("sonar", e.x+0.8*math.Cos(e.yaw), e.y+0.8*math.Sin(e.yaw))
	body := r.at(body.Pose)
	for _, side := range [][3]float64{{0.3, 0, 0}, {-0.3, 0, 0}, {0, 0.2, 0}, {0, -0.2, 0}} { // middles of the outline's sides
		edge := body.at([6]float64{side[0], side[1]})
		p.seen("ink", edge.x, edge.y)
	}
	p.shot("sensors")
}

// testViewer: the map has a connection of its own, without a client id. What
// the user's connection carries, or that it carries nothing, is not its concern.
func testViewer(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.subscribe(b, "laser.min < 1", 1)
	b.do(func() {
		if user, viewer := b.one(), b.viewer(); len(user.subs) != 1 || len(viewer.subs) != 3 || viewer.hello.Client != "" {
			t.Errorf("the user's client has %v, the map's %v (client %q); want one and three without an id", user.subs, viewer.subs, viewer.hello.Client)
		}
		b.one().deaf = true
	})
	b.step()
	p.until(`callboard.robots.length === 3 && callboard.robots.every((r) => r.x !== undefined)`)
	if n := value[int](p, `callboard.notifications.total`); n != 0 {
		t.Errorf("%d notifications from a broker that sends none", n)
	}
	b.do(func() { b.one().deaf = false; b.lose(b.viewer()); b.refusing = true })
	p.until(`callboard.viewing === "waiting" && callboard.connection === "attached" && document.querySelector("#connection-text").textContent === "Connected to fake; the map stands still"`)
	b.refuse(false)
	b.attached()
	var before float64
	b.do(func() { before = b.robots[0].x })
	b.step()
	p.until(fmt.Sprintf(`callboard.viewing === "attached" && callboard.robots[0].x > %v && document.querySelector("#connection-text").textContent === "Connected to fake"`, before))
	if n := value[int](p, `callboard.client.attachment`); n != 1 {
		t.Errorf("the user's attachment is %d, want the first", n)
	}
}

func testConditionError(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	cases := []struct {
		condition string
		from, to  int // of the caret, UTF-16
		marked    string
		where     string
	}{
		{"position.x > 0 and lazer.min < 1", 19, 28, "lazer.min", "column 20: "},
		{`robot == "🤖" and lazer.min < 1`, 18, 27, "lazer.min", "column 18: "},
		{"laser.min <", 11, 11, "\u00a0", "column 12: "},
	}
	for _, c := range cases {
		p.condition(c.condition)
		p.until(`!document.querySelector("#condition-error").hidden && document.querySelector("#condition-marks mark") !== null`)
		got := value[[]string](p, `[document.querySelector("#condition-marks mark").textContent, document.querySelector("#condition-error .where").textContent,
			document.querySelector("#condition").getAttribute("aria-invalid"), document.querySelector("#condition").value.slice(0, document.querySelector("#condition").selectionStart)]`)
		want := []string{c.marked, c.where, "true", value[string](p, fmt.Sprintf(`document.querySelector("#condition").value.slice(0, %d)`, c.from))}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.condition, diff)
		}
	}
	p.condition("position.x > 0 and lazer.min < 1")
	p.until(`document.querySelector("#condition-marks mark")?.textContent === "lazer.min"`)
	p.shot("error")
	// The mark lies under the word: where the text before it ends, in a font of fixed width.
	off := value[float64](p, `(() => { const m = document.querySelector("#condition-marks mark").getBoundingClientRect(), box = document.querySelector("#condition"), s = getComputedStyle(box),
		c = document.createElement("canvas").getContext("2d"); c.font = s.font;
		return Math.abs(m.left - (box.getBoundingClientRect().left + parseFloat(s.paddingLeft) + c.measureText(box.value.slice(0, 19)).width)); })()`)
	if off > 1.5 {
		t.Errorf("the mark is %v px beside its word", off)
	}
	if n := value[int](p, `callboard.subscriptions.length`); n != 0 {
		t.Errorf("%d subscriptions after errors, want 0", n)
	}
	p.run(chromedp.SendKeys(chromedp.CSS("#condition"), "x"))
	p.until(`document.querySelector("#condition-error").hidden && document.querySelector("#condition-marks mark") === null`)
	p.fill("#condition", "")
	p.click("#subscribe")
	p.until(`document.querySelector("#condition-error").textContent.startsWith("Write a condition first")`)
}

func testNotifications(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.subscribe(b, "laser.min < 1", 1)
	p.until(`document.querySelectorAll("#subscriptions .card").length === 1 && document.querySelector("#condition").value === ""`)
	p.run(chromedp.Evaluate[chromedp.Void](`window.flashed = new Set(); setInterval(() => { for (const r of callboard.robots) if (r.matching) flashed.add(r.name); }, 20); 0`))
	for range 3 {
		b.step()
	}
	p.until(`document.querySelectorAll("#notices .slip").length === 3`)
	p.until(`document.querySelector(".card-counts .number").textContent === "3"`)
	got := value[[]string](p, `[...document.querySelectorAll("#notices .slip")].map((s) => s.dataset.robot + " " + s.querySelector("time").textContent)`)
	if diff := cmp.Diff([]string{"r1 100.30 s", "r1 100.20 s", "r1 100.10 s"}, got); diff != "" {
		t.Errorf("newest first (-want +got):\n%s", diff)
	}
	p.until(`[...flashed].join() === "r1"`)
	p.openSlip(2)
	p.until(`document.querySelector("#notices .reading").textContent.includes("angle_min") && document.querySelector("#notices .reading .polar .hits") !== null`)
	p.until(`callboard.selected === "r1"`)
	b.step() // the list holds still while one is open
	p.until(`document.querySelector("#notices-more").textContent === "1 new" && !document.querySelector("#notices-more").hidden`)
	p.shot("reading")
	if n := value[int](p, `document.querySelectorAll("#notices .slip").length`); n != 3 {
		t.Errorf("%d notifications while one is open, want 3", n)
	}
	p.click("#notices-more")
	p.until(`document.querySelectorAll("#notices .slip").length === 4 && document.querySelector("#notices .reading") === null`)

	p.click(`.card button[aria-label^="Unsubscribe"]`)
	b.subscribed(0)
	p.until(`document.querySelectorAll("#subscriptions .card").length === 0`)
}

func testSeveral(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.subscribe(b, "laser.min < 1", 1)
	p.click("#options summary")
	p.fill("#opt-trigger", "change")
	p.fill("#opt-robots", "r1, r2")
	p.subscribe(b, "position.x > 2", 2)
	p.fill("#opt-interval", "0.5")
	p.fill("#opt-for", "1.5")
	p.fill("#opt-keep", "latest")
	p.fill("#opt-select", "near = laser.min\nfar=laser.max")
	p.subscribe(b, "laser.min < 9", 3)
	b.do(func() {
		want := []protocol.Subscription{
			{ID: "w1", Condition: "laser.min < 1"},
			{ID: "w2", Condition: "position.x > 2", Robots: []string{"r1", "r2"}, Trigger: "change"},
			{ID: "w3", Condition: "laser.min < 9", MinInterval: 0.5, For: 1.5, Keep: "latest", Select: map[string]string{"near": "laser.min", "far": "laser.max"}},
		}
		s := b.one().subs
		if diff := cmp.Diff(want, []protocol.Subscription{s["w1"], s["w2"], s["w3"]}); diff != "" {
			t.Errorf("subscriptions (-want +got):\n%s", diff)
		}
	})
	if got := value[[]int](p, `callboard.subscriptions.map((s) => s.colour)`); !cmp.Equal(got, []int{0, 1, 2}) {
		t.Errorf("colours %v, want 0, 1, 2", got)
	}
	for range 4 {
		b.step()
	}
	// Each step: r0's scan matches w3, r1's matches w1 and w3, as one. The first step also brings the states of w2.
	p.until(`callboard.subscriptions.map((s) => s.count).join() === "4,2,8"`)
	p.until(`document.querySelectorAll("#notices .slip").length === 10`)
	p.until(`document.querySelector("#notices .slip .state.is-true") !== null`)
	if n := value[int](p, `document.querySelector('#notices .slip[data-robot="r1"]').querySelectorAll(".dot").length`); n != 2 {
		t.Errorf("a reading that two match has %d dots, want 2", n)
	}
	p.shot("several")
	p.click(`.card[data-id="w2"] button[aria-label^="Show only"]`)
	p.until(`document.querySelectorAll("#notices .slip:not([hidden])").length === 2`)
	p.click("#notices-filter")
	p.until(`document.querySelectorAll("#notices .slip:not([hidden])").length === 10`)

	// A change: the form shows it, an error changes nothing, a right one does.
	p.click(`.card[data-id="w2"] button[aria-label^="Change"]`)
	p.until(`document.querySelector("#condition").value === "position.x > 2" && document.querySelector("#opt-robots").value === "r1 r2" && document.querySelector("#subscribe").textContent === "Change"`)
	p.condition("position.x > lazer")
	p.until(`document.querySelector("#condition-marks mark")?.textContent === "lazer"`)
	p.condition("laser.min < 1")
	b.wait("the changed condition", func() bool { return b.one().subs["w2"].Condition == "laser.min < 1" })
	p.until(`callboard.subscriptions[1].condition === "laser.min < 1" && document.querySelector("#subscribe").textContent === "Subscribe"`)
}

func testResume(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.subscribe(b, "laser.min < 1", 1)
	b.step()
	b.step()
	p.until(`callboard.notifications.total === 2`)
	b.wait("acknowledgements", func() bool { return len(b.one().kept) == 0 && b.one().acked == b.one().seq })
	var session string
	b.do(func() { session = b.one().id })

	b.refuse(true)
	b.cut()
	p.until(`callboard.connection === "waiting" && document.querySelector("#connection-text").textContent.startsWith("Broker gone since") && document.body.classList.contains("detached")`)
	p.shot("gone")
	b.step() // matches while the page is away
	b.step()
	b.refuse(false)
	p.until(`callboard.connection === "attached" && !document.body.classList.contains("detached")`)
	b.attached()
	b.do(func() {
		s := b.one()
		if s.id != session || s.hello.Session != session || s.attachment != 2 || *s.hello.Attachment != 2 || s.hello.Num[source] == 0 || len(s.hello.Subscriptions) != 1 {
			t.Errorf("hello %+v in session %s (attachment %d), want a resume of %s as attachment 2 with its subscription", s.hello, s.id, s.attachment, session)
		}
	})
	b.step()
	p.until(`callboard.notifications.total === 5`)
	p.until(`document.querySelectorAll("#notices .slip:not(.event)").length === 5`)
	got := value[[]string](p, `[...document.querySelectorAll("#notices .slip:not(.event) time")].map((s) => s.textContent)`)
	if diff := cmp.Diff([]string{"100.50 s", "100.40 s", "100.30 s", "100.20 s", "100.10 s"}, got); diff != "" {
		t.Errorf("each once, in order (-want +got):\n%s", diff)
	}
	b.wait("acknowledgements", func() bool { return b.one().acked == b.one().seq })
	if n := value[int](p, `document.querySelectorAll("#notices .gap").length`); n != 0 {
		t.Errorf("%d faults or gaps in the list, want none", n)
	}
}

func testReload(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.subscribe(b, "laser.min < 1", 1)
	b.step()
	p.until(`callboard.notifications.total === 1`)
	b.wait("acknowledgements", func() bool { return b.one().acked == b.one().seq })
	var before session
	b.do(func() { before = *b.one() })
	b.refuse(true)
	p.run(chromedp.Reload())
	b.step() // while the page is away
	b.refuse(false)
	p.until(`window.callboard?.connection === "attached"`)
	b.attached()
	p.until(`callboard.subscriptions.length === 1 && callboard.subscriptions[0].live && callboard.notifications.total === 1`)
	b.do(func() {
		if s := b.one(); len(b.sessions) != 2 || s.id != before.id || s.attachment <= before.attachment {
			t.Errorf("%d clients with the map's; session %s, attachment %d after the reload; want the same client and session %s, above %d", len(b.sessions), s.id, s.attachment, before.id, before.attachment)
		}
	})
	p.until(`document.querySelector("#subscriptions .condition").textContent === "laser.min < 1"`)
}

func testSilent(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	b.heartbeat = 0.5
	p := open(t, chromium, b.server.URL)
	b.attached()
	b.do(func() { b.silent = true })
	p.until(`callboard.client.attachment === 2 && callboard.connection === "attached"`)
}

func testTakenOver(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	b.do(func() {
		s := b.one()
		s.takeover(nil)
		s.conn, s.attachment = nil, s.attachment+1
	})
	p.until(`callboard.connection === "taken-over" && document.querySelector("#connection-action").textContent === "Take it back"`)
	p.click("#connection-action")
	p.until(`callboard.connection === "attached" && callboard.client.attachment === 3`)
	// Another has taken over while the connection was lost: that is told, too, and the next number is above its.
	b.do(func() { b.one().attachment = 9 })
	b.cut()
	p.until(`callboard.connection === "taken-over"`)
	p.click("#connection-action")
	p.until(`callboard.connection === "attached" && callboard.client.attachment === 10`)
}

func testGapsAndStates(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	b.step()
	p.until(`callboard.robots.length === 3 && callboard.robots.every((r) => r.x !== undefined)`)
	p.subscribe(b, "laser.min < 9", 1)
	b.step()
	lost := uint64(12)
	b.do(func() {
		s := b.one()
		to := s.seq + 7
		s.send(protocol.Gap{Op: protocol.OpGap, Source: source, From: s.seq + 1, To: &to, Why: "the inbox was full"})
		s.seq = to
		b.tell(protocol.Robot{Op: protocol.OpRobot, Robot: "r1", Source: source, State: protocol.RobotOverflow, Lost: &lost, Since: 1.7e9})
		b.robots[2].state = protocol.RobotAway
		b.tell(protocol.Robot{Op: protocol.OpRobot, Robot: "r2", Source: source, State: protocol.RobotAway, Since: 1.7e9})
	})
	p.until(`document.querySelector("#notices .gap")?.textContent.startsWith("7 notifications could not be kept: the inbox was full")`)
	p.until(`[...document.querySelectorAll("#notices .away .what")].map((e) => e.textContent).join("; ") === "r2 is away; r1: 12 readings lost before the broker"`)
	p.until(`document.querySelector('#robots li[data-robot="r2"]').dataset.state === "away" && document.querySelector('#robots li[data-robot="r1"]').dataset.state === "overflow"`)
	b.wait("the gap's acknowledgement", func() bool { return b.one().acked == b.one().seq })
	b.do(func() {
		b.robots[2].state = protocol.RobotUp
		b.tell(protocol.Robot{Op: protocol.OpRobot, Robot: "r2", Source: source, State: protocol.RobotUp, Since: 1.7e9})
	})
	p.until(`document.querySelector('#robots li[data-robot="r2"]').dataset.state === "up"`)
	// A device that is away is none of its robot's matter.
	b.do(func() {
		b.tell(protocol.Robot{Op: protocol.OpRobot, Robot: "r2", Device: "laser:0", Source: source, State: protocol.RobotAway, Since: 1.7e9})
	})
	p.until(`document.querySelector("#notices .away .what")?.textContent === "laser:0 of r2 is away"`)
	p.until(`document.querySelector('#robots li[data-robot="r2"]').dataset.state === "up"`)
	// A message counts at once, before any list.
	b.do(func() {
		b.unlisted = true
		b.tell(protocol.Robot{Op: protocol.OpRobot, Robot: "r0", Source: source, State: protocol.RobotAway, Since: 1.7e9})
	})
	p.until(`document.querySelector('#robots li[data-robot="r0"]').dataset.state === "away"`)
	b.do(func() {
		b.unlisted = false
		b.tell(protocol.Robot{Op: protocol.OpRobot, Robot: "r0", Source: source, State: protocol.RobotUp, Since: 1.7e9})
	})
	// A jump in the numbers is a fault that is told.
	b.do(func() { b.one().seq += 3 })
	b.step()
	p.until(`[...document.querySelectorAll("#notices .gap")].some((e) => e.textContent.includes("broke the protocol"))`)
	// However many there are, the list does not fill with them.
	for range 5 {
		b.do(func() { b.one().seq += 3 })
		b.step()
	}
	b.wait("acknowledgements", func() bool { return b.one().acked == b.one().seq })
	if n := value[int](p, `[...document.querySelectorAll("#notices .gap")].filter((e) => e.textContent.includes("broke the protocol")).length`); n > 2 {
		t.Errorf("%d faults in the list, want them counted", n)
	}
	// A robot that the broker no longer lists goes.
	b.do(func() {
		b.robots = b.robots[:2]
		b.tell(protocol.Robot{Op: protocol.OpRobot, Robot: "r0", Source: source, State: protocol.RobotUp, Since: 1.7e9})
	})
	p.until(`callboard.robots.length === 2`)
}

func testDrive(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	b.step()
	p.until(`callboard.robots.length === 3`)
	p.choose("r1")
	p.run(chromedp.WaitVisible(chromedp.CSS("#drive")))
	p.run(chromedp.Focus(chromedp.CSS("#drive-pad")))
	p.until(`document.activeElement.id === "drive-pad"`)
	p.run(chromedp.Evaluate[chromedp.Void](`document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowUp", bubbles: true})); document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft", bubbles: true})); 0`))
	b.wait("three velocity commands", func() bool { return len(b.commands) >= 4 })
	p.run(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); 0`))
	b.wait("a stop", func() bool { return b.commands[len(b.commands)-1].Name == "stop" })
	b.do(func() {
		first, third := b.commands[0], b.commands[2]
		if first.Robot != "r1" || first.Name != "velocity" || !cmp.Equal(first.Args, []any{0.5, 0.0, 0.0, 1.0}) {
			t.Errorf("first command %+v, want velocity 0.5 0 0 for 1 s to r1", first)
		}
		if yaw, _ := third.Args[2].(float64); third.Args[0] != 0.5 || yaw < 0.78 || yaw > 0.79 {
			t.Errorf("third command %+v, want 0.5 m/s and 45°/s", third)
		}
		b.commands, b.forbid = nil, true
	})
	p.until(`document.querySelector("#drive-answer").textContent === "stopped"`)
	p.click("#drive-stop")
	p.until(`document.querySelector("#drive-answer").textContent === "This token may not send commands." && document.querySelector("#drive-forward").disabled`)
	b.do(func() {
		if len(b.commands) != 1 || b.commands[0].Name != "stop" {
			t.Errorf("commands %+v, want one stop", b.commands)
		}
	})
}

func testBounded(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.subscribe(b, "laser.min < 9", 1)
	for range 150 {
		b.step()
	}
	p.until(`callboard.notifications.total === 300`)
	p.until(`document.querySelectorAll("#notices .slip").length === 250`)
	p.until(`callboard.notifications.newest.time > 114.9`)
}

func testPhone(t *testing.T, chromium context.Context) {
	b := newBroker(t, three()...)
	p := open(t, chromium, b.server.URL)
	b.attached()
	p.subscribe(b, "laser.min < 9", 1)
	for range 30 {
		b.step()
	}
	p.until(`callboard.notifications.total === 60`)
	for _, dark := range []bool{false, true} {
		for _, width := range []int64{320, 390, 768, 1024, 1440} {
			p.look(width, 844, 1, dark)
			if wide := value[int](p, `document.documentElement.scrollWidth`); int64(wide) > width {
				t.Errorf("at %d px the page is %d px wide", width, wide)
			}
			p.shot(fmt.Sprintf("width-%d-dark-%v", width, dark))
		}
	}
}

func testModules(t *testing.T, chromium context.Context) {
	b := newBroker(t)
	p := open(t, chromium, b.server.URL)
	p.until(`document.querySelector("#map-empty-text").textContent === "No robots yet"`)
	for _, c := range []struct{ what, expression, want string }{
		{"offset of the first character", `import("/page/condition.js").then((m) => m.offsetOf("abc", {line: 1, column: 1}))`, "0"},
		{"offset in a second line", `import("/page/condition.js").then((m) => m.offsetOf("a\nbc", {line: 2, column: 2}))`, "3"},
		{"offset after an astral character", `import("/page/condition.js").then((m) => m.offsetOf("\u{1F916}x", {line: 1, column: 2}))`, "2"},
		{"offset beyond the end", `import("/page/condition.js").then((m) => m.offsetOf("abc", {line: 9, column: 9}))`, "3"},
		{"the end of a string", `import("/page/condition.js").then((m) => m.wordEnd('robot == "r 1" or x', 9))`, "14"},
		{"a colour fits its text", `import("/page/condition.js").then((m) => { const e = document.createElement("p"); e.append(...m.coloured('sector(laser, -30, 2.5e3) < "a\\"b" && prev.x')); return e.textContent; })`, `sector(laser, -30, 2.5e3) < "a\"b" && prev.x`},
		{"zooming keeps the place", `import("/page/camera.js").then(({Camera: C}) => { const c = new C(); c.resize(800, 600); c.zoom(2.5, 100, 50); const [x, y] = c.toWorld(100, 50); return [x.toFixed(6), y.toFixed(6)].join(); })`, "-7.500000,6.250000"},
		{"a turn across the back", `import("/page/robots.js").then(({Robot: R}) => { const r = new R("r"); r.moved({x: 0, y: 0, yaw: 3.1}, 1, 0); r.moved({x: 0, y: 0, yaw: -3.1}, 1.2, 200); return r.poseAt(1.1).yaw.toFixed(3); })`, "3.142"},
		{"a rate", `import("/page/watches.js").then(({Meter: M}) => { const m = new M(); for (let t = 10000; t < 20000; t += 100) m.add(t); return [m.total, m.rate(20000), m.history(20000).at(-2)].join(); })`, "100,10,10"},
		{"where a scanner of one element sits", `import("/page/robots.js").then(({Robot: R}) => { const r = new R("r"); r.equipped([{interface: "ranger", index: 1, geometry: {pose: [1, 0, 0, 0, 0, Math.PI / 2], size: [0, 0, 0], elements: [[0.5, 0, 0, 0, 0, 0.25]]}}]);
			const s = r.scannerAt("ranger:1", {x: 10, y: 20, yaw: Math.PI}), o = r.scannerAt("ranger:0", {x: 1, y: 2, yaw: 3}); return [s.x, s.y, s.yaw, o.x, o.y, o.yaw].map((v) => v.toFixed(2)).join(); })`, "9.00,19.50,4.96,1.00,2.00,3.00"},
		{"geometry that says nothing", `import("/page/mount.js").then(({Mount: M}) => [M.of(undefined), M.of({}), M.of({pose: [0, null, 0, 0, 0, 0]}), M.of({pose: [0, 0, 0, 0, 0, 0], size: [1e9, 1, 1]}).sized, M.of({pose: [0, 0, 0, 0, 0, 0]}).sized, M.of({pose: [0, 0, 0, 0, 0, 0], size: [0.4, 0.3, 0]}).sized].join())`, ",,,false,false,true"},
		{"an anonymous client has no store", `import("/callboard.js").then(({Client: C}) => { try { new C({brokers: ["ws://x/"], anonymous: true, store: {}}); return "made"; } catch (e) { return e.name; } })`, "TypeError"},
		{"a URL with a password", `import("/page/identity.js").then(({besidePage: u}) => u("http://me:secret@b.example/"))`, "ws://b.example/ws"},
		{"a name that looks like a pattern", `import("/page/identity.js").then(({besidePage: u}) => u("https://b.example/x/?a#b"))`, "wss://b.example/x/ws"},
	} {
		if got := value[any](p, c.expression); fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.what, got, c.want)
		}
	}
}
