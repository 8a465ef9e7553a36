package config

import (
	"crypto/x509"
	"fmt"
	"maps"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"callboard/player/problem"
	"callboard/player/regular"
)

// checks collects what is wrong with a configuration.
type checks struct {
	c        *Config
	problems problem.List
}

// Validate returns everything that is wrong with a completed configuration.
// Load and Parse have done it.
func (c *Config) Validate() problem.List {
	k := &checks{c: c}
	k.broker()
	k.tls()
	k.limits()
	k.players()
	k.neighbours()
	k.beacon()
	k.adhoc()
	k.segments()
	k.ports()
	k.zones()
	k.tokens()
	k.standby()
	k.queues()
	return k.problems
}

// say notes a problem unless text is "".
func (k *checks) say(key, text string) {
	if text != "" {
		k.problems = append(k.problems, k.c.source.problem(key, text))
	}
}

func (k *checks) warn(key, text string) {
	p := k.c.source.problem(key, text)
	p.Warning = true
	k.problems = append(k.problems, p)
}

func (k *checks) broker() {
	b := k.c.Broker
	k.say("broker.id", idProblem(b.ID))
	if what := addressProblem(b.Listen, true); what != "" {
		k.say("broker.listen", what)
	} else if host, _, _ := net.SplitHostPort(b.Listen); !isLoopback(host) && len(k.c.Tokens) == 0 && !b.Insecure {
		k.say("broker.listen", fmt.Sprintf("%q can be reached from other machines, and without tokens everyone may do everything; expected a loopback address, a [[token]], or insecure = true", b.Listen))
	}
	if b.URL != "" {
		k.url(b.URL)
	}
	if b.Links != "" {
		if what := addressProblem(b.Links, true); what != "" {
			k.say("broker.links", what)
		} else if host, _, _ := net.SplitHostPort(b.Links); !isLoopback(host) && k.c.TLS.ClientCA == "" && k.c.Adhoc == nil && !b.Insecure {
			k.say("broker.links", fmt.Sprintf("%q can be reached from other machines, and nothing proves who connects: any program could be a neighbour, get readings and drive robots; expected tls.client_ca, a loopback address, or insecure = true", b.Links))
		}
	}
	if b.Data == "" {
		k.say("broker.data", "there is no home directory to keep it in; expected a directory")
	}
	if b.Origins != nil {
		k.each("broker.origins", b.Origins, originProblem)
	}
	if !(b.Heartbeat >= 0.01 && b.Heartbeat <= 3600) {
		k.say("broker.heartbeat", fmt.Sprintf("is %v; expected 0.01 to 3600 s", b.Heartbeat))
	}
}

func (k *checks) url(text string) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "ws" && u.Scheme != "wss" {
		k.say("broker.url", fmt.Sprintf("%q is no WebSocket address; expected ws://HOST/ws or wss://HOST/ws", text))
	} else if u.Scheme == "ws" && k.c.TLS.Cert != "" {
		k.warn("broker.url", "is not encrypted though a certificate is given; expected wss://")
	}
}

// originProblem returns what is wrong with the origin of a page, as browsers write it.
func originProblem(text string) string {
	u, err := url.Parse(text)
	if err == nil && strings.EqualFold(u.Scheme+"://"+u.Host, text) && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && !strings.Contains(u.Host, "*") {
		return ""
	}
	return fmt.Sprintf("%q is no origin of a page; expected https://HOST or https://HOST:PORT", text)
}

func (k *checks) tls() {
	t := k.c.TLS
	switch {
	case t.Cert != "" && t.Key == "":
		k.say("tls.cert", "stands without its key; expected tls.key too")
	case t.Cert == "" && t.Key != "":
		k.say("tls.key", "stands without its certificate; expected tls.cert too")
	case t.Cert != "":
		if _, err := regular.KeyPair(t.Cert, t.Key); err != nil {
			k.say("tls.cert", fmt.Sprintf("cannot be used with its key: %v; expected PEM files that belong together", err))
		}
	}
	if t.ClientCA == "" {
		return
	}
	if t.Cert == "" {
		k.say("tls.client_ca", "stands without a certificate of this broker; expected tls.cert and tls.key, since both sides of a link show theirs")
	}
	if text, err := regular.Read(t.ClientCA, regular.MaxPEM); err != nil {
		k.say("tls.client_ca", problem.OfNamedFile(t.ClientCA, err)+"; expected a PEM file")
	} else if !x509.NewCertPool().AppendCertsFromPEM(text) {
		k.say("tls.client_ca", fmt.Sprintf("%s holds no certificate; expected a PEM file", t.ClientCA))
	}
}

func (k *checks) limits() {
	l := k.c.Limits
	k.within("limits.condition_length", l.ConditionLength, 1, 1<<20, "characters")
	k.within("limits.client_subscriptions", l.ClientSubscriptions, 1, 10_000_000, "subscriptions")
	k.within("limits.inbox.count", l.Inbox.Count, 1, math.MaxInt32, "notifications")
	k.within("limits.inbox.bytes", l.Inbox.Bytes, 1024, min(1<<40, math.MaxInt), "bytes")
	if s := l.Inbox.Seconds; !(s > 0 && s <= 1e9) {
		k.say("limits.inbox.seconds", fmt.Sprintf("is %v; expected more than 0 s", s))
	}
	k.within64("limits.memory", l.Memory, 16<<20, 1<<50, "bytes")
	k.within64("limits.disk", l.Disk, 16<<20, 1<<50, "bytes")
	k.within("limits.clients", l.Clients, 1, 10_000_000, "clients")
	k.within("limits.connections", l.Connections, 1, 10_000_000, "connections")
	k.within("limits.subscription_bytes", l.SubscriptionBytes, 1024, 64<<20, "bytes")
}

func (k *checks) within(key string, n, lowest, highest int, unit string) {
	k.within64(key, int64(n), int64(lowest), int64(highest), unit)
}

func (k *checks) within64(key string, n, lowest, highest int64, unit string) {
	if n < lowest || n > highest {
		k.say(key, fmt.Sprintf("is %d; expected %d to %d %s", n, lowest, highest, unit))
	}
}

func (k *checks) neighbours() {
	own, at := k.c.Broker.ID, map[string]string{}
	for i, n := range k.c.Neighbours {
		key := element("neighbour", i)
		id := key + ".id"
		if what := idProblem(n.ID); what != "" {
			k.say(id, what)
		} else if n.ID == own {
			k.say(id, fmt.Sprintf("%q is this broker itself; expected another broker's id", n.ID))
		} else if other, twice := at[n.ID]; twice {
			k.say(id, fmt.Sprintf("%q is a neighbour twice; expected once (the other is %s)", n.ID, other))
		} else {
			at[n.ID] = key
			if n.ID < own && k.c.Broker.Links == "" {
				k.say(id, fmt.Sprintf("%q is lower than %q and so dials this broker, which does not listen for it; expected broker.links", n.ID, own))
			}
		}
		if n.Address == "" {
			k.say(key+".address", "is missing; expected HOST:PORT of the neighbour's links")
		} else {
			k.say(key+".address", addressProblem(n.Address, false))
			k.proven(key+".address", n)
		}
	}
	k.registry()
}

func (k *checks) registry() {
	own, registry := k.c.Broker.ID, k.c.Registry.Broker
	switch mode := k.c.Registry.Mode; {
	case mode != RegistryOne && mode != RegistryEvery:
		k.say("registry.mode", fmt.Sprintf("%q is no mode of the registry; expected %q (one broker holds it) or %q (each broker does)", mode, RegistryOne, RegistryEvery))
		return
	case mode == RegistryEvery && registry != "":
		k.say("registry.broker", fmt.Sprintf("contradicts registry.mode = %q, with which each broker holds the registry; expected either", RegistryEvery))
		return
	case mode == RegistryEvery, registry == own:
		return
	}
	if what := idProblem(registry); what != "" {
		k.say("registry.broker", what)
	} else if len(k.c.Neighbours) == 0 {
		k.say("registry.broker", fmt.Sprintf("%q is unknown: this broker has no neighbour to reach it by; expected %q or a [[neighbour]]", registry, own))
	}
}

// proven checks that a neighbour which this broker dials on another machine can
// prove who it is.
func (k *checks) proven(key string, n Neighbour) {
	host, _, err := net.SplitHostPort(n.Address)
	if err == nil && n.ID > k.c.Broker.ID && !isLoopback(host) && k.c.TLS.ClientCA == "" && k.c.Adhoc == nil && !k.c.Broker.Insecure {
		k.say(key, fmt.Sprintf("%q is on another machine, and nothing proves who answers there; expected tls.client_ca, a loopback address, or insecure = true", n.Address))
	}
}

func (k *checks) beacon() {
	b := k.c.Beacon
	if b.Group != "" {
		if !isGroup(b.Group) {
			k.say("beacon.group", fmt.Sprintf("%q is no IPv4 multicast address with a port; expected one such as 239.255.67.66:8802", b.Group))
		}
	}
	if b.Interfaces != nil {
		k.each("beacon.interfaces", b.Interfaces, interfaceProblem)
	}
}

func interfaceProblem(name string) string {
	if name == "" {
		return "is empty; expected a network interface's name, such as \"eth0\""
	}
	return ""
}

func (k *checks) adhoc() {
	a := k.c.Adhoc
	if a == nil {
		return
	}
	switch {
	case a.Network == "":
		k.say("adhoc.network", "is missing; expected the network's name, the same for all its brokers")
	case len(a.Network) > maxNetwork || strings.ContainsFunc(a.Network, unicode.IsControl):
		k.say("adhoc.network", fmt.Sprintf("%q is no name; expected up to %d bytes without control characters", problem.Short(a.Network), maxNetwork))
	}
	if !isGroup(a.Group) {
		k.say("adhoc.group", fmt.Sprintf("%q is no IPv4 multicast address with a port; expected one such as %s", a.Group, DefaultAdhocGroup))
	} else if a.Group == k.c.Beacon.Group {
		k.say("adhoc.group", fmt.Sprintf("%q is also beacon.group; expected a group of its own", a.Group))
	} else if at := slices.IndexFunc(k.c.Segments, func(s Segment) bool { return s.Group == a.Group }); at >= 0 {
		k.say("adhoc.group", fmt.Sprintf("%q is also %s.group; expected a group of its own", a.Group, element("segment", at)))
	}
	if a.Interfaces != nil {
		k.each("adhoc.interfaces", a.Interfaces, interfaceProblem)
	}
	switch {
	case a.KeyFile == "" && len(a.Key) == 0:
		k.say("adhoc.key_file", "is missing; expected a file that holds the network's key: beacons are sealed with it, links authenticated")
	case len(a.Key) > 0 && len(a.Key) < minKey:
		k.say("adhoc.key_file", fmt.Sprintf("holds a key of %d bytes; expected %d or more", len(a.Key), minKey))
	}
	if k.c.Registry.Mode == RegistryOne {
		k.say("registry.mode", fmt.Sprintf("is %q, but with [adhoc] any broker may be out of reach; expected %q", RegistryOne, RegistryEvery))
	}
	if k.c.Broker.Links == "" {
		k.say("broker.links", "is missing, but with [adhoc] neighbours connect that find this broker; expected HOST:PORT to listen on")
	}
}

func (k *checks) segments() {
	at := map[string]string{}
	for i, s := range k.c.Segments {
		key := element("segment", i)
		if s.Interface == "" {
			k.say(key+".interface", "is missing; expected a network interface's name, such as \"eth0\"")
		}
		if !isGroup(s.Group) {
			k.say(key+".group", fmt.Sprintf("%q is no IPv4 multicast address with a port; expected one such as %s", s.Group, DefaultGroup))
		} else if other, twice := at[s.Group]; twice {
			k.say(key+".group", fmt.Sprintf("%q is another segment's; expected a group for each (the other is %s)", s.Group, other))
		} else {
			at[s.Group] = key
		}
		if s.Rate < minRate || s.Rate > maxRate {
			k.say(key+".rate", fmt.Sprintf("is %v bits per second; expected 1Mbit to 100Gbit", s.Rate))
		}
		k.within(key+".datagram", s.Datagram, minDatagram, maxDatagram, "bytes")
	}
}

// isGroup reports whether a text is an IPv4 multicast address with a port.
func isGroup(text string) bool {
	group, err := netip.ParseAddrPort(text)
	return err == nil && group.Addr().Is4() && group.Addr().IsMulticast() && group.Port() != 0
}

// ports checks that no two parts are to listen on one port.
func (k *checks) ports() {
	g := k.c.Gateway.Listen
	if g != "" {
		k.gateway(g)
	}
	taken := map[string]string{}
	for _, p := range [][2]string{{"broker.listen", k.c.Broker.Listen}, {"broker.links", k.c.Broker.Links}, {"gateway.listen", g}} {
		_, port, err := net.SplitHostPort(p[1])
		if n, _ := strconv.Atoi(port); err != nil || n == 0 {
			continue
		}
		if other, twice := taken[p[1]]; twice {
			k.say(p[0], fmt.Sprintf("%q is also %s; expected a port of its own", p[1], other))
		}
		taken[p[1]] = p[0]
	}
}

// gateway checks the address of the first robot, and that the others' ports are
// free for them as far as this configuration goes.
func (k *checks) gateway(address string) {
	if what := addressProblem(address, true); what != "" {
		k.say("gateway.listen", what)
		return
	}
	host, text, _ := net.SplitHostPort(address)
	if host != "" && !isLoopback(host) {
		k.warn("gateway.listen", fmt.Sprintf("%q can be reached from other machines, and Player's protocol knows no tokens: everyone may drive the robots; expected a loopback address", address))
	}
	robots := 0
	for _, p := range k.c.Players {
		robots += len(p.Names())
	}
	first, _ := strconv.Atoi(text)
	if first == 0 || robots < 2 || robots > MaxGatewayPorts {
		return
	}
	last := first + robots - 1
	if last > math.MaxUint16 {
		k.say("gateway.listen", fmt.Sprintf("%q leaves %d ports for %d robots; expected a lower port", address, math.MaxUint16-first+1, robots))
	}
	for _, other := range []struct{ key, address string }{{"broker.listen", k.c.Broker.Listen}, {"broker.links", k.c.Broker.Links}} {
		_, port, err := net.SplitHostPort(other.address)
		if n, _ := strconv.Atoi(port); err == nil && n > first && n <= last {
			k.say("gateway.listen", fmt.Sprintf("takes the ports %d to %d, one for each robot, and %d is %s; expected ports of its own", first, last, n, other.key))
		}
	}
}

func (k *checks) zones() {
	for _, name := range slices.Sorted(maps.Keys(k.c.Zones)) {
		key, polygon := join("zones", name), k.c.Zones[name]
		switch {
		case name == "":
			k.say(key, "has no name; expected one")
		case len(polygon) < 3:
			k.say(key, fmt.Sprintf("has %d points; expected a polygon of 3 or more", len(polygon)))
		case area(polygon) == 0:
			k.say(key, "encloses nothing; expected a polygon with an area")
		}
	}
}

// area returns twice the signed area of a polygon.
func area(polygon [][2]float64) float64 {
	sum := 0.0
	last := polygon[len(polygon)-1]
	for _, p := range polygon {
		sum += last[0]*p[1] - p[0]*last[1]
		last = p
	}
	return sum
}

// maxTokenName bounds a token's name, in bytes: it goes through the network with
// what belongs to the token's clients.
const maxTokenName = 128

func (k *checks) tokens() {
	names, secrets := map[string]string{}, map[string]string{}
	for i, t := range k.c.Tokens {
		key := element("token", i)
		if t.Name == "" {
			k.say(key+".name", "is missing; expected a name")
		} else if len(t.Name) > maxTokenName || !utf8.ValidString(t.Name) || strings.ContainsFunc(t.Name, unicode.IsControl) {
			k.say(key+".name", fmt.Sprintf("%q is no name for a token: clients and their sessions belong to it; expected up to %d bytes of text without control characters", problem.Short(t.Name), maxTokenName))
		} else if other, twice := names[t.Name]; twice {
			k.say(key+".name", fmt.Sprintf("%q is used twice; expected a name of its own (the other is %s)", t.Name, other))
		}
		names[t.Name] = key
		if t.Secret == "" && t.SecretFile == "" {
			k.say(key+".secret_file", "is missing; expected a file that holds the secret")
		} else if other, twice := secrets[t.Secret]; twice && t.Secret != "" {
			k.say(key+".secret_file", fmt.Sprintf("holds the same secret as that of %s; expected one of its own", other))
		}
		secrets[t.Secret] = key
		k.each(key+".robots", t.Robots, patternProblem)
		k.each(key+".may", t.May, func(may string) string {
			if slices.Contains(mays, may) {
				return ""
			}
			return fmt.Sprintf("%q is nothing that a token may; expected one of %s", may, strings.Join(mays, ", "))
		})
		k.each(key+".queues", t.Queues, patternProblem)
	}
}

// mays are all that a token may.
var mays = []string{MaySubscribe, MayCommand, MayServe, MayRequest}

const (
	maxQueueName = 200 // characters
	maxQueues    = 10_000
	maxTries     = 1000
)

func (k *checks) queues() {
	names := map[string]string{}
	if n := len(k.c.Queues); n > maxQueues {
		k.say(element("queue", maxQueues), fmt.Sprintf("is one of %d queues; expected up to %d", n, maxQueues))
	}
	for i, q := range k.c.Queues {
		key := element("queue", i)
		switch other, twice := names[q.Name]; {
		case q.Name == "":
			k.say(key+".name", "is missing; expected a name")
		case utf8.RuneCountInString(q.Name) > maxQueueName || !utf8.ValidString(q.Name) || strings.ContainsFunc(q.Name, unicode.IsControl):
			k.say(key+".name", fmt.Sprintf("%q is no name for a queue; expected up to %d characters of text without control characters", problem.Short(q.Name), maxQueueName))
		case twice:
			k.say(key+".name", fmt.Sprintf("%q is used twice; expected a name of its own (the other is %s)", q.Name, other))
		}
		names[q.Name] = key
		k.within(key+".count", q.Count, 1, 10_000_000, "tasks")
		k.within64(key+".bytes", int64(q.Bytes), 1, 1<<40, "bytes")
		k.within(key+".tries", q.Tries, 1, maxTries, "times")
	}
}

// each checks the elements of a list that may not be empty.
func (k *checks) each(key string, list []string, problem func(string) string) {
	if len(list) == 0 {
		k.say(key, "is empty; expected at least one, or leave the key out")
	}
	for i, e := range list {
		k.say(element(key, i), problem(e))
	}
}

func element(key string, i int) string { return key + "[" + strconv.Itoa(i) + "]" }

// exists returns what is wrong with a file that is to be read.
func exists(path string) string {
	if info, err := os.Stat(path); err != nil {
		return problem.OfNamedFile(path, err) + "; expected a file"
	} else if info.IsDir() {
		return fmt.Sprintf("%s is a directory; expected a file", path)
	}
	return ""
}
