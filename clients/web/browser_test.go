package web_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// shots is where screenshots go, for people to look at.
var shots = flag.String("shots", "", "folder for screenshots of the page; none are made without it")

// patience is how long a test waits for what must happen: it only ends what
// would never come, since a busy machine may take minutes. stuck is for the
// browser's answer, which has the last word of a wait that fails.
const (
	patience = 3 * time.Minute
	stuck    = patience + time.Minute
)

// browser starts a headless Chromium with a profile of its own.
func browser(t testing.TB) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no Chromium found; CI must have one (apt-get install chromium)")
		}
		t.Skip("no Chromium found, so the page is not tested (apt-get install chromium)")
	}
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.WSURLReadTimeout(patience), chromedp.UserDataDir(t.TempDir()), chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.Flag("disable-software-rasterizer", true),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-background-timer-throttling", true), chromedp.Flag("disable-backgrounding-occluded-windows", true), chromedp.Flag("disable-renderer-backgrounding", true),
	}
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, stop := chromedp.NewContext(allocator)
	t.Cleanup(stop)
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	return ctx
}

// page is the page in the browser's tab.
type page struct {
	t   testing.TB
	ctx context.Context

	mu       sync.Mutex
	problems []string // what the page's console and the browser complained of
}

// open opens the page of a broker and waits until it is attached.
func open(t testing.TB, browser context.Context, url string) *page {
	t.Helper()
	p := visit(t, browser, url+"/")
	p.look(1100, 640, 1, false)
	p.until(`window.callboard?.connection === "attached"`)
	return p
}

// visit opens any page. All tests share one tab, one after the other: a tab
// costs more than most tests do, and each broker is an origin of its own, with
// nothing stored.
func visit(t testing.TB, browser context.Context, url string) *page {
	t.Helper()
	ctx, cancel := context.WithCancel(browser)
	t.Cleanup(cancel) // of listening, not of the tab
	p := &page{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatal(err)
	}
	p.run(chromedp.Navigate(url))
	t.Cleanup(func() {
		p.run(chromedp.Navigate("about:blank"))
		for _, problem := range p.complaints() {
			t.Errorf("the browser complains: %s", problem)
		}
	})
	return p
}

func (p *page) listen(event any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		p.problems = append(p.problems, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			var parts []string
			for _, a := range e.Args {
				parts = append(parts, string(a.Value)+a.Description)
			}
			p.problems = append(p.problems, strings.Join(parts, " "))
		}
	case *log.EventEntryAdded:
		// A lost connection is the tests' doing.
		if e.Entry.Level == log.EntryLevelError && !strings.Contains(e.Entry.Text, "WebSocket connection to") {
			p.problems = append(p.problems, e.Entry.Text)
		}
	}
}

func (p *page) complaints() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.problems...)
}

// run carries out actions; none may take longer than a test may.
func (p *page) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, stuck)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.t.Fatalf("%v; the browser says %q", err, p.complaints())
	}
}

// until waits until a JavaScript expression is true.
func (p *page) until(expression string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, stuck)
	defer cancel()
	_, err := chromedp.Run(ctx, chromedp.Poll[bool]("("+expression+") === true", chromedp.WithPollingInterval(25*time.Millisecond), chromedp.WithPollingTimeout(patience)))
	if errors.Is(err, chromedp.ErrPollingTimeout) {
		p.t.Fatalf("waited too long for: %s\nthe page: %s\nthe browser says %q", expression, p.text(), p.complaints())
	}
	if err != nil {
		p.t.Fatalf("%s: %v; the browser says %q", expression, err, p.complaints())
	}
}

// value returns the value of a JavaScript expression.
func value[T any](p *page, expression string) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, stuck)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.t.Fatalf("%s: %v; the browser says %q", expression, err, p.complaints())
	}
	return v
}

// do carries out a JavaScript statement.
func (p *page) do(statement string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void]("{ " + statement + " } 0"))
}

// text is what the page says.
func (p *page) text() string {
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return v
}

// condition writes a condition into the box and subscribes.
func (p *page) condition(text string) {
	p.t.Helper()
	p.fill("#condition", "")
	p.run(chromedp.SendKeys(chromedp.CSS("#condition"), text))
	p.click("#subscribe")
}

func (p *page) click(selector string) {
	p.t.Helper()
	p.run(chromedp.Click(chromedp.CSS(selector)))
}

// choose clicks a robot in the list, once that has a row for each: rows that come
// later would move it away under the pointer.
func (p *page) choose(robot string) {
	p.t.Helper()
	p.until(`callboard.robots.length > 0 && document.querySelectorAll("#robots li").length === callboard.robots.length`)
	p.click(fmt.Sprintf(`#robots li[data-robot=%q] .robot`, robot))
	p.until(fmt.Sprintf(`callboard.selected === %q`, robot))
}

// openSlip clicks the n-th notification of the list, once all that came are in it:
// those that come later would move it away under the pointer.
func (p *page) openSlip(n int) {
	p.t.Helper()
	p.until(`callboard.notifications.total > 0 && document.querySelectorAll("#notices .slip[data-seq]").length === Math.min(250, callboard.notifications.total)`)
	p.click(fmt.Sprintf("#notices .slip:nth-child(%d) .slip-head", n))
	p.until(fmt.Sprintf(`document.querySelector("#notices .slip:nth-child(%d) .reading") !== null`, n))
}

// fill writes into a field as a person would: the page is told.
func (p *page) fill(selector, text string) {
	p.t.Helper()
	p.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`{ const e = document.querySelector(%q); e.value = %q; e.dispatchEvent(new Event("input", {bubbles: true})); }`, selector, text)))
}

// key presses a key that writes a character as a keyboard does: a page that takes the
// key down keeps the character out, which chromedp.KeyEvent does not allow.
func (p *page) key(text string) {
	p.t.Helper()
	key := input.DispatchKeyEventParams{Type: "keyDown", Key: text, Text: text, UnmodifiedText: text}
	if text == "\r" {
		key.Key, key.Code, key.WindowsVirtualKeyCode, key.NativeVirtualKeyCode = "Enter", "Enter", 13, 13
	}
	for _, way := range []input.DispatchKeyEventType{"keyDown", "keyUp"} {
		if key.Type = way; way == "keyUp" {
			key.Text, key.UnmodifiedText = "", ""
		}
		if _, err := chromedp.Call(p.ctx, input.DispatchKeyEvent, key); err != nil {
			p.t.Fatal(err)
		}
	}
}

// shot takes a screenshot, if asked for.
func (p *page) shot(name string) {
	p.t.Helper()
	if *shots == "" {
		return
	}
	png, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, name+".png"), png, 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// seen waits until the map shows a colour of the theme, nearly, within 2 px of a place in the world.
func (p *page) seen(colour string, x, y float64) {
	p.t.Helper()
	p.until(fmt.Sprintf(`(() => {
		const c = document.querySelector("#map"), v = callboard.map, box = c.getBoundingClientRect();
		const px = Math.round(box.width / 2 + (%v - v.x) * v.scale), py = Math.round(box.height / 2 - (%v - v.y) * v.scale);
		const one = document.createElement("canvas").getContext("2d"); one.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--floor"); one.fillRect(0, 0, 1, 1);
		one.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--%s"); one.fillRect(0, 0, 1, 1);
		const want = one.getImageData(0, 0, 1, 1).data, got = c.getContext("2d").getImageData(px - 2, py - 2, 5, 5).data;
		for (let i = 0; i < got.length; i += 4) if (Math.abs(got[i] - want[0]) + Math.abs(got[i + 1] - want[1]) + Math.abs(got[i + 2] - want[2]) < 90) return true;
		return false; })()`, x, y, colour))
}

// look sets the window's size and whether it is dark.
func (p *page) look(width, height int64, scale float64, dark bool) {
	p.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	options := []chromedp.EmulateViewportOption{chromedp.EmulateScale(scale)}
	if width < 600 {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	p.run(chromedp.EmulateViewport(width, height, options...))
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, media); err != nil {
		p.t.Fatal(err)
	}
	p.until(fmt.Sprintf("innerWidth === %d", width))
}
