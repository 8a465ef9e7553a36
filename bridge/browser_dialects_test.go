package bridge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"callboard/bridge/config"
	"callboard/player/nodetest"

	"github.com/chromedp/chromedp"
)

// stockModules are the libraries that programs for ROS and Foxglove are written
// with, as npm has them.
func stockModules(t *testing.T) string {
	t.Helper()
	return nodetest.Install(t, "dialects-1", "roslib1@npm:roslib@1.4.1", "roslib2@npm:roslib@2.1.0",
		"@foxglove/ws-protocol@0.8.0", "@foxglove/rosmsg@5.0.5", "@foxglove/rosmsg-serialization@2.0.4", "ws@8.18.0")
}

// stockPage is a page of somebody else's that reads a robot with roslib.
const stockPage = `<!doctype html><script src="roslib.js"></script><script>
window.read = (address, compression) => new Promise((done, fail) => {
  const ros = new ROSLIB.Ros({ url: 'ws://' + address + '/rosbridge' })
  ros.on('error', () => done('refused'))
  ros.on('connection', () => {
    const topic = new ROSLIB.Topic({ ros, name: '/base_scan', messageType: 'sensor_msgs/LaserScan', compression })
    topic.subscribe(scan => { ros.close(); done(scan.header.frame_id + ' ' + scan.ranges.length + ' ' + scan.ranges[4].toFixed(1)) })
  })
})
</script>`

// TestStockProgramInABrowser: a page of a configured origin reads a robot, also as a
// picture, which browsers unpack; one of another origin is refused.
func TestStockProgramInABrowser(t *testing.T) {
	modules, path := stockModules(t), ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
		}
	}
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("no Chromium found; CI must have one (apt-get install chromium)")
		}
		t.Skip("no Chromium found (apt-get install chromium)")
	}
	pages := http.NewServeMux()
	pages.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, stockPage)
	})
	pages.HandleFunc("/roslib.js", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(modules, "node_modules", "roslib1", "build", "roslib.min.js"))
	})
	known, other := httptest.NewServer(pages), httptest.NewServer(pages)
	t.Cleanup(known.Close)
	t.Cleanup(other.Close)
	b := simulated(t, func(c *config.Config) { c.Broker.Origins = []string{known.URL} }, "r0")
	speak(t, b, "/rosbridge", nil).message("/odom", "nav_msgs/Odometry")

	allocator, cancel := chromedp.NewExecAllocator(context.Background(), chromedp.ExecPath(path), chromedp.WSURLReadTimeout(time.Minute),
		chromedp.UserDataDir(t.TempDir()), chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU)
	t.Cleanup(cancel)
	browser, stop := chromedp.NewContext(allocator)
	t.Cleanup(stop)
	if err := chromedp.Do(browser); err != nil {
		t.Fatalf("starting %s: %v", path, err)
	}
	browser, cancel = context.WithTimeout(browser, 3*time.Minute)
	t.Cleanup(cancel)
	read := func(page, compression string) (got string) {
		t.Helper()
		address, err := json.Marshal(strings.TrimPrefix(b.URL(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if err := chromedp.Do(browser, chromedp.Navigate(page)); err != nil {
			t.Fatal(err)
		}
		got, err = chromedp.Run(browser, chromedp.Evaluate[string](fmt.Sprintf("read(%s, %q)", address, compression), chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	for _, compression := range []string{"none", "cbor", "png"} {
		if got := read(known.URL, compression); got != "base_laser_link 9 2.8" {
			t.Errorf("%s: %q", compression, got)
		}
	}
	if got := read(other.URL, "none"); got != "refused" {
		t.Errorf("a page of another origin: %q", got)
	}
}
