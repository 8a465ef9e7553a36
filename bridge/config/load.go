package config

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"callboard/player/problem"
	"callboard/player/regular"

	"github.com/BurntSushi/toml"
)

// maxFile bounds a configuration file and maxSecret a secret file, in bytes;
// maxProblems the problems that are told of reading a file.
const (
	maxFile     = 4 << 20
	maxSecret   = 64 << 10
	maxProblems = 1_000
)

// Load reads the file at path ("": no file, the defaults), lets override
// (may be nil) put flags in, completes and checks the whole. The Config is
// never nil; it may be used if its List.Err() is nil.
func Load(path string, override func(*Config)) (*Config, problem.List) {
	if path == "" {
		return finish(Default(), nil, override)
	}
	text, err := regular.ReadNamed(path, maxFile)
	if err != nil {
		return finish(Default(), problem.List{{Place: problem.Place{File: path}, Message: problem.OfFile(err) + "; expected a TOML file"}}, override)
	}
	return Parse(path, string(text), override)
}

// Parse does as Load with the text of a file called name; relative paths in
// it are relative to name's directory.
func Parse(name, text string, override func(*Config)) (*Config, problem.List) {
	c, problems := decode(name, text)
	return finish(c, problems, override)
}

// finish puts flags in, completes, validates, and orders all problems.
func finish(c *Config, problems problem.List, override func(*Config)) (*Config, problem.List) {
	if override != nil {
		before := c.Broker
		override(c)
		c.forget(before)
	}
	c.Complete()
	// What could not be read has its default now: of a key that is a problem
	// already, and of the table around it, no more is said.
	unread := slices.Clone(problems)
	for _, p := range c.Validate() {
		if !slices.ContainsFunc(unread, func(u problem.Problem) bool {
			return u.Key == p.Key || strings.HasPrefix(u.Key, p.Key+".")
		}) {
			problems = append(problems, p)
		}
	}
	if problems.Err() == nil {
		problems = append(problems, c.expand()...)
	}
	slices.SortStableFunc(problems, func(a, b problem.Problem) int {
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return c, problems
}

// forget drops the places of keys that flags have overridden, so that no
// problem points at a line that has nothing to do with it.
func (c *Config) forget(before Broker) {
	now := c.Broker
	for key, changed := range map[string]bool{
		"broker.id":       before.ID != now.ID,
		"broker.listen":   before.Listen != now.Listen,
		"broker.url":      before.URL != now.URL,
		"broker.links":    before.Links != now.Links,
		"broker.data":     before.Data != now.Data,
		"broker.insecure": before.Insecure != now.Insecure,
	} {
		if changed {
			c.source.drop(key)
		}
	}
}

// decode reads what can be read of the text.
func decode(name, text string) (*Config, problem.List) {
	c := Default()
	src, excess := scan(name, text)
	c.source = src
	if !utf8.ValidString(text) {
		valid := strings.ToValidUTF8(text, "\x00")
		at := strings.IndexByte(valid, 0)
		return c, problem.List{{Place: problem.Place{File: name, Line: 1 + strings.Count(valid[:at], "\n"), Column: 1 + utf8.RuneCountInString(valid[strings.LastIndexByte(valid[:at], '\n')+1:at])},
			Message: "not UTF-8; expected TOML, which is always UTF-8"}}
	}
	if excess != nil {
		return c, problem.List{{Place: src.place(excess.at), Message: excess.text}}
	}
	var document map[string]any
	if _, err := toml.Decode(text, &document); err != nil {
		return c, problem.List{syntaxProblem(name, err)}
	}
	r := &reader{source: src, dir: filepath.Dir(name)}
	r.table("", document, func(t *table) { r.document(t, c) })
	return c, r.problems
}

// syntaxProblem returns the library's error a place and our form.
func syntaxProblem(name string, err error) problem.Problem {
	p := problem.Problem{Place: problem.Place{File: name}, Message: strings.TrimPrefix(err.Error(), "toml: ")}
	var parse toml.ParseError
	if errors.As(err, &parse) {
		p.Line, p.Column, p.Key = parse.Position.Line, max(parse.Position.Col, 1), parse.LastKey
		if parse.Message != "" {
			p.Message = parse.Message
		}
	}
	p.Message = strings.TrimSuffix(p.Message, ".") + "; expected TOML 1.0"
	return p
}

func (r *reader) document(t *table, c *Config) {
	t.sub("broker", func(t *table) {
		t.text("id", &c.Broker.ID)
		t.text("listen", &c.Broker.Listen)
		t.text("url", &c.Broker.URL)
		t.text("links", &c.Broker.Links)
		t.filePath("data", &c.Broker.Data)
		t.number("heartbeat", &c.Broker.Heartbeat)
		t.boolean("insecure", &c.Broker.Insecure)
		t.texts("origins", &c.Broker.Origins)
	})
	t.sub("tls", func(t *table) {
		t.filePath("cert", &c.TLS.Cert)
		t.filePath("key", &c.TLS.Key)
		t.filePath("client_ca", &c.TLS.ClientCA)
	})
	t.sub("limits", func(t *table) {
		t.integer("condition_length", &c.Limits.ConditionLength)
		t.integer("client_subscriptions", &c.Limits.ClientSubscriptions)
		t.sub("inbox", func(t *table) {
			t.integer("count", &c.Limits.Inbox.Count)
			t.integer("bytes", &c.Limits.Inbox.Bytes)
			t.number("seconds", &c.Limits.Inbox.Seconds)
		})
		t.size("memory", &c.Limits.Memory)
		t.size("disk", &c.Limits.Disk)
		t.integer("clients", &c.Limits.Clients)
		t.integer("connections", &c.Limits.Connections)
		t.integer("subscription_bytes", &c.Limits.SubscriptionBytes)
	})
	t.each("player", func(t *table) { c.Players = append(c.Players, r.player(t)) })
	t.each("neighbour", func(t *table) {
		var n Neighbour
		t.text("id", &n.ID)
		t.text("address", &n.Address)
		t.boolean("compress", &n.Compress)
		c.Neighbours = append(c.Neighbours, n)
	})
	t.sub("registry", func(t *table) {
		t.text("mode", &c.Registry.Mode)
		t.text("broker", &c.Registry.Broker)
	})
	t.sub("beacon", func(t *table) {
		t.boolean("announce", &c.Beacon.Announce)
		t.text("group", &c.Beacon.Group)
		t.texts("interfaces", &c.Beacon.Interfaces)
	})
	t.sub("adhoc", func(t *table) {
		a := Adhoc{Group: DefaultAdhocGroup}
		t.text("network", &a.Network)
		t.text("group", &a.Group)
		t.texts("interfaces", &a.Interfaces)
		t.filePath("key_file", &a.KeyFile)
		if a.KeyFile != "" {
			a.Key = []byte(r.secret(join(t.path, "key_file"), a.KeyFile, "the network's key"))
		}
		c.Adhoc = &a
	})
	t.each("segment", func(t *table) {
		s := Segment{Group: DefaultGroup, Rate: 200e6, Datagram: 1400}
		t.text("interface", &s.Interface)
		t.text("group", &s.Group)
		t.rate("rate", &s.Rate)
		t.integer("datagram", &s.Datagram)
		c.Segments = append(c.Segments, s)
	})
	t.sub("standby", func(t *table) {
		t.text("side", &c.Standby.Side)
		t.texts("inner", &c.Standby.Inner)
		t.text("outer", &c.Standby.Outer)
		t.text("address", &c.Standby.Address)
		t.text("interface", &c.Standby.Interface)
		t.texts("on_active", &c.Standby.OnActive)
		t.text("witness", &c.Standby.Witness)
		t.number("heartbeat", &c.Standby.Heartbeat)
		t.number("take_over_after", &c.Standby.TakeOverAfter)
		if _, given := t.keys["side"]; !given {
			r.problem("standby", "names no side; expected side = %q at one broker of the pair and %q at the other", SideA, SideB)
		}
	})
	t.sub("gateway", func(t *table) { t.text("listen", &c.Gateway.Listen) })
	t.sub("zones", func(t *table) { c.Zones = r.zones(t) })
	t.each("queue", func(t *table) {
		q := Queue{Count: 10_000, Bytes: 64 << 20, Tries: 3}
		t.text("name", &q.Name)
		t.integer("count", &q.Count)
		t.integer("bytes", &q.Bytes)
		t.integer("tries", &q.Tries)
		c.Queues = append(c.Queues, q)
	})
	t.each("token", func(t *table) { c.Tokens = append(c.Tokens, r.token(t)) })
}

func (r *reader) player(t *table) Player {
	var p Player
	t.text("address", &p.Address)
	t.text("robot", &p.Robot)
	t.text("world", &p.World)
	t.texts("devices", &p.Devices)
	t.filePath("cfg", &p.CFG)
	t.sub("robots", func(t *table) {
		p.Robots = map[string][]string{}
		for name := range t.keys {
			// Any name goes; what is wrong with it Validate says.
			v, path, _ := t.get(name)
			devices, _ := r.textList(path, v)
			p.Robots[name] = devices
		}
	})
	return p
}

func (r *reader) zones(t *table) map[string][][2]float64 {
	zones := map[string][][2]float64{}
	for name := range t.keys {
		v, path, _ := t.get(name)
		if polygon, ok := r.polygon(path, v); ok {
			zones[name] = polygon
		}
	}
	return zones
}

func (r *reader) polygon(path string, v any) ([][2]float64, bool) {
	const expected = "an array of points in m, such as [[0, 0], [2, 0], [2, 1]]"
	list, ok := asList(v)
	if !ok {
		r.problem(path, "is %s; expected %s", kind(v), expected)
		return nil, false
	}
	polygon := make([][2]float64, 0, len(list))
	for i, e := range list {
		at := path + "[" + strconv.Itoa(i) + "]"
		point, isPoint := asList(e)
		if !isPoint || len(point) != 2 {
			r.problem(at, "is no point; expected [x, y] in m")
			ok = false
			continue
		}
		x, isX := asFloat(point[0])
		y, isY := asFloat(point[1])
		if !isX || !isY || math.IsNaN(x+y) || math.IsInf(x+y, 0) {
			r.problem(at, "is no point; expected two finite numbers, in m")
			ok = false
			continue
		}
		polygon = append(polygon, [2]float64{x, y})
	}
	return polygon, ok
}

func (r *reader) token(t *table) Token {
	var k Token
	t.text("name", &k.Name)
	t.filePath("secret_file", &k.SecretFile)
	t.texts("robots", &k.Robots)
	t.texts("may", &k.May)
	t.texts("queues", &k.Queues)
	if k.SecretFile != "" {
		k.Secret = r.secret(join(t.path, "secret_file"), k.SecretFile, "the secret")
	}
	return k
}

// secret reads a secret from its file; "" if it cannot be had.
func (r *reader) secret(key, file, what string) string {
	text, err := regular.Read(file, maxSecret)
	if err != nil {
		r.problem(key, "%s; expected a file that holds %s", problem.OfNamedFile(file, err), what)
		return ""
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		r.problem(key, "%s is empty; expected a file that holds %s", file, what)
		return ""
	}
	if info, err := os.Stat(file); err == nil && info.Mode().Perm()&0o004 != 0 {
		p := r.source.problem(key, fmt.Sprintf("%s can be read by everyone on this machine; expected mode 0600", file))
		p.Warning = true
		r.problems = append(r.problems, p)
	}
	return secret
}

// filePath reads a path; a relative one is relative to the file.
func (t *table) filePath(key string, into *string) {
	before := *into
	if t.text(key, into); *into != before && !filepath.IsAbs(*into) {
		*into = filepath.Join(t.r.dir, *into)
	}
}
