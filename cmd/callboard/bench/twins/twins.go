// Package twins runs a pair of brokers as processes of their own, with programs that
// check what they get: for benchmarks, the demo and soak tests of pairs.
package twins

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"callboard/bridge"
	"callboard/bridge/benchtest"
	"callboard/bridge/config"
)

// Config says what pair to run.
type Config struct {
	Dir       string          // for configurations and data; required
	Players   []config.Player // that both sides read
	Heartbeat time.Duration   // T; default 10 ms
	Witness   bool            // a third broker votes
	Single    bool            // one broker alone, to compare with
	More      string          // TOML that both sides have beside
	// Places are where the sides run, and the witness; default on loopback.
	Places []Place
	// Command makes the process that serves a configuration file and prints the
	// broker's address. Default: this program as callboard serve.
	Command func(config string) (*exec.Cmd, error)
	Log     func(line string) // what they say on stderr; default: nobody hears
}

// Place is where a broker runs.
type Place struct {
	Listen string   // of programs
	Inner  string   // of the other side; of the witness: of links
	Within []string // a command that runs the rest of its arguments elsewhere; nil: here
}

// Names of the sides and the witness, in the order of Config.Places.
var Names = []string{"A", "B", "witness"}

// Twins are a pair that runs.
type Twins struct {
	Sides   []*Side // A, B, and the witness if there is one
	config  Config
	clients http.Client
}

// Side is a broker of it in a process of its own.
type Side struct {
	Name  string
	twins *Twins
	place Place
	file  string
	data  string
	now   *exec.Cmd // nil: it does not run
}

// Start starts the pair.
func Start(c Config) (*Twins, error) {
	if c.Dir == "" {
		return nil, errors.New("twins: Dir is required")
	}
	if c.Heartbeat <= 0 {
		c.Heartbeat = 10 * time.Millisecond
	}
	if c.Command == nil {
		c.Command = serving
	}
	for i := len(c.Places); i < len(Names); i++ {
		var p Place
		var err error
		for _, address := range []*string{&p.Listen, &p.Inner} {
			if *address, err = benchtest.FreeAddress(); err != nil {
				return nil, err
			}
		}
		c.Places = append(c.Places, p)
	}
	t := &Twins{config: c, clients: http.Client{Timeout: 2 * time.Second}}
	t.clients.Transport = &http.Transport{DisableKeepAlives: true}
	n := 2
	switch {
	case c.Single:
		n = 1
	case c.Witness:
		n = 3
	}
	for i := range n {
		s := &Side{Name: Names[i], twins: t, place: c.Places[i], file: filepath.Join(c.Dir, Names[i]+".toml"), data: filepath.Join(c.Dir, Names[i])}
		if err := os.WriteFile(s.file, []byte(t.toml(i)), 0o600); err != nil {
			return nil, err
		}
		t.Sides = append(t.Sides, s)
	}
	for i := range t.Sides {
		s := t.Sides[len(t.Sides)-1-i] // the witness first
		if err := s.Start(); err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	return t, nil
}

// toml is the configuration of a side.
func (t *Twins) toml(i int) string {
	var b strings.Builder
	c, p := &t.config, t.config.Places
	id := "pair"
	if i == 2 {
		id = "witness"
	}
	fmt.Fprintf(&b, "[broker]\nid = %q\nlisten = %q\ndata = %q\ninsecure = true\n", id, p[i].Listen, Names[i])
	if i == 2 {
		fmt.Fprintf(&b, "links = %q\n[registry]\nbroker = \"witness\"\n[beacon]\nannounce = false\n[[neighbour]]\nid = \"pair\"\naddress = %q\n", p[2].Inner, p[2].Inner)
		return b.String()
	}
	fmt.Fprintf(&b, "[beacon]\nannounce = false\n")
	if c.Witness {
		fmt.Fprintf(&b, "[registry]\nbroker = \"witness\"\n[[neighbour]]\nid = \"witness\"\naddress = %q\n", p[2].Inner)
	}
	for _, player := range c.Players {
		fmt.Fprintf(&b, "[[player]]\naddress = %q\n", player.Address)
		if player.Robot != "" {
			fmt.Fprintf(&b, "robot = %q\n", player.Robot)
		} else {
			fmt.Fprintf(&b, "robots = {")
			separator := " "
			for name, devices := range player.Robots {
				text, _ := json.Marshal(devices) // texts
				fmt.Fprintf(&b, "%s%q = %s", separator, name, text)
				separator = ", "
			}
			fmt.Fprintf(&b, " }\n")
		}
		if player.World != "" {
			fmt.Fprintf(&b, "world = %q\n", player.World)
		}
	}
	if c.Single {
		return b.String() + c.More
	}
	fmt.Fprintf(&b, "[standby]\nside = %q\ninner = [%q, %q]\nouter = %q\nheartbeat = %v\n", Names[i], p[i].Inner, p[1-i].Inner, p[1-i].Listen, c.Heartbeat.Seconds())
	if c.Witness {
		fmt.Fprintf(&b, "witness = \"witness\"\n")
	}
	return b.String() + c.More
}

// serving is this program as a broker.
func serving(config string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return &exec.Cmd{Path: program, Args: []string{"callboard", "serve", "--config", config, "--log-level", "warn"}}, nil
}

// Start starts the process, and waits until it serves.
func (s *Side) Start() error {
	cmd, err := s.twins.config.Command(s.file)
	if err != nil {
		return err
	}
	if w := s.place.Within; len(w) > 0 {
		inner := append([]string{cmd.Path}, cmd.Args[1:]...)
		env := cmd.Env
		cmd = exec.Command(w[0], append(w[1:len(w):len(w)], inner...)...)
		cmd.Env = env
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	said, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("twins: starting side %s: %w", s.Name, err)
	}
	s.now = cmd
	last := make(chan string, 1)
	go func() { last <- s.drain(said) }()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		_ = s.Kill() // it has ended, or is of no use
		return fmt.Errorf("twins: side %s does not serve: %s", s.Name, <-last)
	}
	return nil
}

func (s *Side) drain(said io.Reader) (last string) {
	for lines := bufio.NewScanner(said); lines.Scan(); {
		last = lines.Text()
		if s.twins.config.Log != nil {
			s.twins.config.Log(s.Name + ": " + last)
		}
	}
	return last
}

// Signal sends the process a signal.
func (s *Side) Signal(what os.Signal) error {
	if s.now == nil {
		return fmt.Errorf("twins: side %s does not run", s.Name)
	}
	return s.now.Process.Signal(what)
}

// Kill ends the process as kill -9 does.
func (s *Side) Kill() error {
	if s.now == nil {
		return nil
	}
	err := s.now.Process.Kill()
	_ = s.now.Wait() // it was killed
	s.now = nil
	return err
}

// Runs reports whether the process was started and not killed.
func (s *Side) Runs() bool { return s.now != nil }

// Pid is that of its process.
func (s *Side) Pid() int { return s.now.Process.Pid }

// Data is where it stores.
func (s *Side) Data() string { return s.data }

// HTTP is where it serves.
func (s *Side) HTTP() string { return "http://" + s.place.Listen }

// URL is where programs connect.
func (s *Side) URL() string { return "ws://" + s.place.Listen + "/ws" }

// Standing asks how the side stands.
func (s *Side) Standing(ctx context.Context) (x bridge.Standing, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.HTTP()+"/api/standby", nil)
	if err != nil {
		return x, err
	}
	answer, err := s.twins.clients.Do(request)
	if err != nil {
		return x, err
	}
	defer answer.Body.Close()
	return x, json.NewDecoder(answer.Body).Decode(&x)
}

// Switch has the other side go on.
func (s *Side) Switch() error {
	answer, err := s.twins.clients.Post(s.HTTP()+"/api/standby/switch", "", nil)
	if err != nil {
		return err
	}
	text, _ := io.ReadAll(answer.Body)
	if answer.Body.Close(); answer.StatusCode != http.StatusOK {
		return fmt.Errorf("switch: %s: %s", answer.Status, text)
	}
	return nil
}

// Whole waits until the pair is in step and its standby follows all robots. It
// returns which side is active.
func (t *Twins) Whole(ctx context.Context) (active int, err error) {
	err = benchtest.Until(ctx, "the pair is in step", func() (bool, error) {
		var all [2]bridge.Standing
		for i := range all {
			var err error
			if all[i], err = t.Sides[i].Standing(ctx); err != nil {
				return false, nil // it does not answer yet
			}
		}
		for i := range all {
			a, b := all[i], all[1-i]
			if a.InStep && b.InStep && a.Active && !b.Active && a.Term == b.Term && b.Behind == 0 {
				active = i
				return true, nil
			}
		}
		return false, nil
	})
	return active, err
}

// URLs are where programs connect, those of the sides.
func (t *Twins) URLs() (all []string) {
	for _, s := range t.Sides[:min(2, len(t.Sides))] {
		all = append(all, s.URL())
	}
	return all
}

// Close ends all.
func (t *Twins) Close() error {
	var errs []error
	for _, s := range t.Sides {
		errs = append(errs, s.Kill())
	}
	return errors.Join(errs...)
}
