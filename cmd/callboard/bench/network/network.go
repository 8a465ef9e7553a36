// Package network runs a network of brokers as processes of their own on
// loopback, with robots that they read, programs that roam among them and
// check what they get, and all that may happen to a network: brokers are
// killed or stopped, links are cut, stalled or slow. Benchmarks and soak tests
// are made of it.
package network

import (
	"callboard/bridge/benchtest"
	"callboard/bridge/config"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Config says what network to run.
type Config struct {
	Dir     string   // for configurations and data; required
	Brokers int      // b1 … bN; required
	Links   [][2]int // pairs of brokers, from 0; default a row
	// Sources says which broker reads each robot, from 0: the robots are r0, r1, …
	Sources   []int
	Registry  int                // the broker that holds the registry, from 0
	Every     bool               // instead each broker does
	More      func(i int) string // TOML that the configuration of broker i has beside; nil: none
	Heartbeat time.Duration      // default 1 s
	Delay     time.Duration      // of every link, each way; default none
	Inbox     Inbox              // default the brokers' own limits
	Beams     int                // of the robots' scans; default 20
	Mixed     bool               // robots of benchtest.Kinds in turn, instead of scanners
	// PlayerLinks has brokers reach the robots' Player servers over proxies, so that
	// robots can be cut off: Network.Player.
	PlayerLinks bool
	// ConnectTimeout is how long the programs wait for a broker's answer. A
	// program out of reach that has waited so long pauses before it tries again.
	// Default 3 s.
	ConnectTimeout time.Duration
	// Command makes the process that serves a configuration file and prints the
	// broker's address. Default: this program as callboard serve.
	Command func(config string) (*exec.Cmd, error)
	// Log gets what the brokers say on stderr, a line each. Default none.
	Log func(broker, line string)
}

// Inbox are limits of a broker's inboxes; 0 is the broker's default.
type Inbox struct {
	Count   int
	Bytes   int
	Seconds float64
}

// Network is what runs.
type Network struct {
	config  Config
	brokers []*Broker
	proxies map[[2]int]*Proxy
	players []*Proxy // with PlayerLinks, by robot
	Robots  *Robots
	from    []int // by robot, the last reading before Judge looks
}

// Start starts the robots, then the brokers, and waits until all serve.
func Start(ctx context.Context, c Config) (*Network, error) {
	if c.Brokers < 1 || c.Dir == "" {
		return nil, errors.New("network: Brokers and Dir are required")
	}
	if c.Links == nil {
		for i := 1; i < c.Brokers; i++ {
			c.Links = append(c.Links, [2]int{i - 1, i})
		}
	}
	if c.Heartbeat <= 0 {
		c.Heartbeat = time.Second
	}
	if c.Beams <= 0 {
		c.Beams = 20
	}
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = 3 * time.Second
	}
	if c.Command == nil {
		c.Command = serving
	}
	n := &Network{config: c, from: make([]int, len(c.Sources)), proxies: map[[2]int]*Proxy{}}
	if err := n.start(ctx); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (n *Network) start(ctx context.Context) error {
	var err error
	if n.Robots, err = newRobots(len(n.config.Sources), n.config.Beams, n.config.Mixed); err != nil {
		return err
	}
	for i := range n.config.Brokers {
		n.brokers = append(n.brokers, &Broker{network: n, index: i, Name: fmt.Sprint("b", i+1), listen: "127.0.0.1:0"})
	}
	for _, l := range n.config.Links {
		if l[0] > l[1] {
			l[0], l[1] = l[1], l[0]
		}
		p, err := newProxy(n.config.Delay)
		if err != nil {
			return err
		}
		n.proxies[l] = p
	}
	for robot := range n.config.Sources {
		if !n.config.PlayerLinks {
			break
		}
		p, err := newProxy(0)
		if err != nil {
			return err
		}
		p.forward(n.Robots.Address(robot))
		n.players = append(n.players, p)
	}
	for _, b := range n.brokers {
		if err := b.Start(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Brokers returns the brokers, in their order.
func (n *Network) Brokers() []*Broker { return n.brokers }

// Links returns the pairs of brokers that are linked, the lower one first.
func (n *Network) Links() [][2]int {
	var all [][2]int
	for l := range n.proxies {
		all = append(all, l)
	}
	slices.SortFunc(all, func(l, m [2]int) int { return slices.Compare(l[:], m[:]) })
	return all
}

// Link returns what lies between two brokers.
func (n *Network) Link(i, j int) *Proxy { return n.proxies[[2]int{min(i, j), max(i, j)}] }

// Player returns what lies between a robot and the broker that reads it.
func (n *Network) Player(robot int) *Proxy { return n.players[robot] }

// URLs returns where the brokers serve programs.
func (n *Network) URLs() []string {
	urls := make([]string, len(n.brokers))
	for i, b := range n.brokers {
		urls[i] = b.URL()
	}
	return urls
}

// Metric adds up a metric without labels over all brokers.
func (n *Network) Metric(name string) (sum float64, err error) {
	for _, b := range n.brokers {
		v, err := benchtest.Metric(b.HTTP(), name)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

// Close ends all.
func (n *Network) Close() error {
	var errs []error
	for _, b := range n.brokers {
		errs = append(errs, b.Stop())
	}
	for _, l := range n.Links() {
		errs = append(errs, n.proxies[l].Close())
	}
	for _, p := range n.players {
		errs = append(errs, p.Close())
	}
	if n.Robots != nil {
		errs = append(errs, n.Robots.close())
	}
	return errors.Join(errs...)
}

// neighbours returns the brokers that a broker is linked with.
func (n *Network) neighbours(i int) (all []int) {
	for _, l := range n.Links() {
		switch i {
		case l[0]:
			all = append(all, l[1])
		case l[1]:
			all = append(all, l[0])
		}
	}
	return all
}

// toml writes a broker's configuration.
func (n *Network) toml(b *Broker) string {
	var t strings.Builder
	c := &n.config
	fmt.Fprintf(&t, "[broker]\nid = %q\nlisten = %q\nlinks = %q\ndata = %q\nheartbeat = %v\n",
		b.Name, b.listen, b.links, filepath.Join(c.Dir, b.Name), c.Heartbeat.Seconds())
	if c.Every {
		fmt.Fprintf(&t, "[registry]\nmode = %q\n", config.RegistryEvery)
	} else {
		fmt.Fprintf(&t, "[registry]\nbroker = %q\n", n.brokers[c.Registry].Name)
	}
	var inbox []string
	for _, limit := range []struct {
		name  string
		value float64
	}{{"count", float64(c.Inbox.Count)}, {"bytes", float64(c.Inbox.Bytes)}, {"seconds", c.Inbox.Seconds}} {
		if limit.value > 0 {
			inbox = append(inbox, fmt.Sprintf("%s = %v", limit.name, int64(limit.value)))
		}
	}
	if len(inbox) > 0 {
		fmt.Fprintf(&t, "[limits]\ninbox = { %s }\n", strings.Join(inbox, ", "))
	}
	for _, j := range n.neighbours(b.index) {
		address := n.Link(b.index, j).Address() // the lower id dials
		fmt.Fprintf(&t, "[[neighbour]]\nid = %q\naddress = %q\n", n.brokers[j].Name, address)
	}
	for robot, source := range c.Sources {
		if source == b.index {
			address := n.Robots.Address(robot)
			if c.PlayerLinks {
				address = n.Player(robot).Address()
			}
			fmt.Fprintf(&t, "[[player]]\naddress = %q\nrobot = %q\n", address, RobotName(robot))
		}
	}
	if c.More != nil {
		t.WriteString(c.More(b.index))
	}
	return t.String()
}
