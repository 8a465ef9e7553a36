package web_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"callboard/clients/web"
)

// nodeProgram tries a broker that is not there, then one that is, and prints what
// becomes of it.
const nodeProgram = `
import { Client } from "./callboard.js";
const c = new Client({ brokers: process.argv.slice(2), backoff: [1, 1] });
c.on("state", (s) => console.log(s.name, s.error?.code ?? "", s.error?.message.startsWith("nothing heard") ? "after a long time" : ""));
const subscribed = c.subscribe({ id: "a", condition: "position.time >= 0" });
c.connect();
console.log("subscribed", (await subscribed).id);
c.close();
`

// TestNode: the library does in node what it does in a browser. node's own
// WebSocket says of an attempt that failed an error alone.
func TestNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node here")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var flags []string
	has := func() bool {
		return exec.CommandContext(ctx, node, append(flags, "-e", "process.exit(typeof WebSocket === 'function' ? 0 : 1)")...).Run() == nil
	}
	if !has() {
		if flags = []string{"--experimental-websocket"}; !has() {
			t.Skip("this node has no WebSocket")
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, web.FS()); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"package.json": `{"type":"module"}`, "program.js": nodeProgram} {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone.Close()
	b := newBroker(t, three()...)
	program := exec.CommandContext(ctx, node, append(flags, "program.js", fmt.Sprintf("ws://%s/ws", gone.Addr()), "ws"+strings.TrimPrefix(b.server.URL, "http")+"/ws")...)
	program.Dir = dir
	output, err := program.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if want := "connecting  \nwaiting unavailable \nconnecting  \nattached  \nsubscribed a\nclosed  \n"; !strings.HasSuffix(string(output), want) {
		t.Errorf("it printed\n%swant\n%s", output, want)
	}
}
