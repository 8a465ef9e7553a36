package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// example is the configuration that the documentation shows, whole.
const example = `[broker]
id = "b1"
listen = "127.0.0.1:8800"
url = "wss://b1.example.org/ws"
links = "127.0.0.1:8801"
data = "callboard-data"
heartbeat = 1.0
insecure = false

[tls]
cert = "b1.crt"
key = "b1.key"
client_ca = "brokers.crt"

[limits]
condition_length = 4096
client_subscriptions = 10000
inbox = { count = 10000, bytes = 16_777_216, seconds = 600 }
memory = "2GB"
disk = 4_000_000_000
clients = 2000
connections = 1000
subscription_bytes = 1_048_576

[[player]]
address = "localhost:6665"
robot = "r0"
world = "cave"
devices = ["*"]
[[player]]
address = "lab:6665"
robots = { r1 = ["position2d:0", "laser:0"], r2 = ["position2d:1", "laser:1"] }
[[player]]
cfg = "swarm.cfg"

[[neighbour]]
id = "b2"
address = "10.0.0.2:8801"
compress = true

[registry]
broker = "b1"

[beacon]
announce = false
group = "239.1.2.3:8802"
interfaces = ["eth0"]

[[segment]]
interface = "eth0"
group = "239.1.2.3:8803"
rate = "1.5Gbit"
datagram = 8900
[[segment]]
interface = "eth1"

[gateway]
listen = "127.0.0.1:7000"

[zones]
dock = [[0, 0], [2, 0], [2, 1], [0, 1]]

[[token]]
name = "lab"
secret_file = "lab.token"
robots = ["r*"]
may = ["subscribe", "command", "serve"]
queues = ["docks", "r*"]

[[queue]]
name = "docks"
count = 500
[[queue]]
name = "pictures"
bytes = 1000000
tries = 1
`

const swarm = `driver ( name "stage" plugin "stageplugin" provides [ "6660:simulation:2" ] worldfile "worlds/arena.world" )
driver ( name "stage" provides [ "position2d:0" "ranger:0" "gripper:0" ] model "alpha" )
driver ( name "stage" provides [ "6666:position2d:0" ] model "beta" )
driver ( name "rangertolaser" requires [ "ranger:0" ] provides [ "laser:0" ] )
`

// folder makes a folder with the files that the example names.
func folder(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	cert, key := selfSigned(t)
	for name, text := range map[string]string{
		"b1.crt": cert, "b1.key": key, "brokers.crt": cert, "swarm.cfg": swarm, "lab.token": "s3cret\n", "blank.token": " \n", "field.key": "the key of the field\n", "short.key": "short",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestExample(t *testing.T) {
	dir := folder(t)
	c, problems := Parse(filepath.Join(dir, "b1.toml"), example, nil)
	if problems != nil {
		t.Fatal(problems)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	simulation := &Simulation{Address: "localhost:6660", Index: 2}
	want := &Config{
		Broker: Broker{ID: "b1", Listen: "127.0.0.1:8800", URL: "wss://b1.example.org/ws", Links: "127.0.0.1:8801", Data: in("callboard-data"), Heartbeat: 1},
		TLS:    TLS{Cert: in("b1.crt"), Key: in("b1.key"), ClientCA: in("brokers.crt")},
		Limits: Limits{ConditionLength: 4096, ClientSubscriptions: 10000, Inbox: Inbox{Count: 10000, Bytes: 16 << 20, Seconds: 600},
			Memory: 2_000_000_000, Disk: 4_000_000_000, Clients: 2000, Connections: 1000, SubscriptionBytes: 1 << 20},
		Players: []Player{
			{Address: "localhost:6665", Robot: "r0", World: "cave", Devices: []string{"*"}},
			{Address: "lab:6665", Robots: map[string][]string{"r1": {"position2d:0", "laser:0"}, "r2": {"position2d:1", "laser:1"}}},
			{Address: "localhost:6665", World: "arena", WorldFile: in("worlds/arena.world"), Robots: map[string][]string{"alpha": {"position2d:0", "ranger:0", "gripper:0", "laser:0"}}, Simulation: simulation},
			{Address: "localhost:6666", World: "arena", WorldFile: in("worlds/arena.world"), Robots: map[string][]string{"beta": {"position2d:0"}}, Simulation: simulation},
		},
		Neighbours: []Neighbour{{ID: "b2", Address: "10.0.0.2:8801", Compress: true}},
		Beacon:     Beacon{Announce: false, Group: "239.1.2.3:8802", Interfaces: []string{"eth0"}},
		Segments:   []Segment{{Interface: "eth0", Group: "239.1.2.3:8803", Rate: 1.5e9, Datagram: 8900}, {Interface: "eth1", Group: "239.255.67.66:8803", Rate: 200e6, Datagram: 1400}},
		Registry:   Registry{Mode: "one", Broker: "b1"},
		Gateway:    Gateway{Listen: "127.0.0.1:7000"},
		Standby:    Standby{Heartbeat: 0.01},
		Zones:      map[string][][2]float64{"dock": {{0, 0}, {2, 0}, {2, 1}, {0, 1}}},
		Tokens:     []Token{{Name: "lab", SecretFile: in("lab.token"), Secret: "s3cret", Robots: []string{"r*"}, May: []string{"subscribe", "command", "serve"}, Queues: []string{"docks", "r*"}}},
		Queues:     []Queue{{"docks", 500, 64 << 20, 3}, {"pictures", 10_000, 1_000_000, 1}},
	}
	if diff := cmp.Diff(want, c, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestAdhoc: links of brokers that have a key may be beyond the loopback without
// certificates.
func TestAdhoc(t *testing.T) {
	dir := folder(t)
	text := "[broker]\nlinks = \"0.0.0.0:8801\"\n[registry]\nmode = \"every\"\n[adhoc]\nnetwork = \"field\"\ninterfaces = [\"wlan0\"]\nkey_file = \"field.key\"\n"
	c, problems := Parse(filepath.Join(dir, "c.toml"), text, nil)
	if problems != nil {
		t.Fatal(problems)
	}
	want := &Adhoc{Network: "field", Group: DefaultAdhocGroup, Interfaces: []string{"wlan0"}, KeyFile: filepath.Join(dir, "field.key"), Key: []byte("the key of the field")}
	if diff := cmp.Diff(want, c.Adhoc); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestDefaults(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/state")
	text := `[[player]]
address = "localhost:6665"
[[player]]
address = "[::1]:7000"
[[player]]
address = "lab:6665"
[[token]]
name = "x"
secret_file = "lab.token"
`
	dir := folder(t)
	c, problems := Parse(filepath.Join(dir, "c.toml"), text, func(c *Config) { c.Broker.ID = "b9" })
	if problems != nil {
		t.Fatal(problems)
	}
	want := Default()
	want.Limits.Memory = machineMemory() / 2
	want.Broker.ID, want.Broker.Data, want.Registry = "b9", "/state/callboard/b9", Registry{Mode: RegistryOne, Broker: "b9"}
	for _, p := range [][2]string{{"localhost:6665", "port-6665"}, {"[::1]:7000", "port-7000"}, {"lab:6665", "lab:6665"}} {
		want.Players = append(want.Players, Player{Address: p[0], Robot: p[1], Devices: []string{"*"}})
	}
	want.Tokens = []Token{{Name: "x", SecretFile: filepath.Join(dir, "lab.token"), Secret: "s3cret", Robots: []string{"*"}, May: []string{"subscribe", "command", "serve", "request"}, Queues: []string{"*"}}}
	if diff := cmp.Diff(want, c, cmpopts.IgnoreUnexported(Config{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}

	t.Setenv("XDG_STATE_HOME", "relative")
	t.Setenv("HOME", "/home/x")
	c, problems = Load("", nil)
	if problems != nil {
		t.Fatal(problems)
	}
	if want := "/home/x/.local/state/callboard/" + c.Broker.ID; c.Broker.ID == "" || c.Broker.Data != want {
		t.Errorf("data is %q, expected %q", c.Broker.Data, want)
	}
	t.Setenv("HOME", "")
	if _, problems = Load("", nil); problems.Err() == nil || !strings.HasPrefix(problems.Err().Error(), "broker.data: there is no home") {
		t.Errorf("without a home: %v", problems)
	}
}

func TestProblems(t *testing.T) {
	dir := folder(t)
	tests := []struct{ name, text, want string }{
		{"everything at once", `[broker]
id = 7
lisen = "127.0.0.1:1"
heartbeat = "1"

[[player]]
adress = "localhost:6665"
[[player]]
address = "localhost"
devices = "laser:0"
[nonsense]
`, `2:1: broker.id: is the integer 7; expected a string
3:1: broker.lisen: unknown key; expected perhaps listen
4:1: broker.heartbeat: is the string "1"; expected a number
7:1: player[0].adress: unknown key; expected perhaps address
9:1: player[1].address: "localhost" is no address; expected HOST:PORT
10:1: player[1].devices: is the string "laser:0"; expected an array of strings, such as ["r*"]
11:1: nonsense: unknown key; expected one of adhoc, beacon, broker, gateway, limits, neighbour, player, queue, registry, segment, standby, tls, token or zones`},
		{"syntax", "[broker]\nid = \n", `2:6: broker.id: expected value but found '\n' instead; expected TOML 1.0`},
		{"key twice", "[broker]\nid = \"a\"\nid = \"b\"\n", `3:10: broker.id: Key 'broker.id' has already been defined; expected TOML 1.0`},
		{"not UTF-8", "[broker]\nid = \"\xff\"\n", `2:7: not UTF-8; expected TOML, which is always UTF-8`},
		{"nested", "zones = " + strings.Repeat("[", 100) + "\n", `1:41: nested too deep; expected at most 32 levels`},
		{"nested table", "[broker]\n[" + strings.Repeat("a.", 32) + "a]\n", `2:1: nested too deep; expected at most 32 levels`},
		{"nested array of tables", "[[" + strings.Repeat("a.", 32) + "a]]\n", `1:1: nested too deep; expected at most 32 levels`},
		{"nested key", "[a.b]\n" + strings.Repeat("c.", 30) + "d = 1\n", `2:1: nested too deep; expected at most 32 levels`},
		{"nested inline table", "x = { " + strings.Repeat("c.", 31) + "d = 1 }\n", `1:7: nested too deep; expected at most 32 levels`},
		{"long key", "[broker]\n" + strings.Repeat("k", 1000) + " = 1\n", `2:1: a key that is too long; expected at most 1000 bytes together with the tables around it`},
		{"id", "broker.id = \"a/b\"", `1:1: broker.id: "a/b" is no id; expected letters, digits, dashes, underscores, dots inside`},
		{"empty", "[broker]\nid = \"\"", `2:1: broker.id: is empty; expected a value, or leave the key out`},
		{"open to the world", "[broker]\nlisten = \":8800\"", `2:1: broker.listen: ":8800" can be reached from other machines, and without tokens everyone may do everything; expected a loopback address, a [[token]], or insecure = true`},
		{"insecure", "[broker]\nlisten = \":8800\"\ninsecure = true", ``},
		{"open with tokens", "[broker]\nlisten = \":8800\"\n[[token]]\nname = \"a\"\nsecret_file = \"lab.token\"", ``},
		{"port", "[broker]\nlisten = \"127.0.0.1:88000\"", `2:1: broker.listen: "127.0.0.1:88000" has no port number; expected 0 to 65535`},
		{"url", "[broker]\nurl = \"http://x/ws\"", `2:1: broker.url: "http://x/ws" is no WebSocket address; expected ws://HOST/ws or wss://HOST/ws`},
		{"heartbeat", "[broker]\nheartbeat = nan", `2:1: broker.heartbeat: is NaN; expected 0.01 to 3600 s`},
		{"cert alone", "[tls]\ncert = \"b1.crt\"", `2:1: tls.cert: stands without its key; expected tls.key too`},
		{"key alone", "[tls]\nkey = \"b1.key\"", `2:1: tls.key: stands without its certificate; expected tls.cert too`},
		{"no certificate", "[tls]\ncert = \"lab.token\"\nkey = \"b1.key\"", `2:1: tls.cert: cannot be used with its key: tls: failed to find any PEM data in certificate input; expected PEM files that belong together`},
		{"client_ca alone", "[tls]\nclient_ca = \"lab.token\"", `2:1: tls.client_ca: stands without a certificate of this broker; expected tls.cert and tls.key, since both sides of a link show theirs
2:1: tls.client_ca: DIR/lab.token holds no certificate; expected a PEM file`},
		{"limits", "[limits]\ncondition_length = 0\nclient_subscriptions = 1.5\ninbox = { count = 0, bytes = 10, seconds = -1, size = 1 }", `2:1: limits.condition_length: is 0; expected 1 to 1048576 characters
3:1: limits.client_subscriptions: is the float 1.5; expected an integer
4:11: limits.inbox.count: is 0; expected 1 to 2147483647 notifications
4:22: limits.inbox.bytes: is 10; expected 1024 to 1099511627776 bytes
4:34: limits.inbox.seconds: is -1; expected more than 0 s
4:48: limits.inbox.size: unknown key; expected one of bytes, count or seconds`},
		{"limits of the broker", "[limits]\nmemory = \"2 cows\"\ndisk = \"1MB\"\nclients = 0\nconnections = \"many\"\nsubscription_bytes = 1", `2:1: limits.memory: is the string "2 cows"; expected bytes, as "2GB" or "512MiB"
3:1: limits.disk: is 1000000; expected 16777216 to 1125899906842624 bytes
4:1: limits.clients: is 0; expected 1 to 10000000 clients
5:1: limits.connections: is the string "many"; expected an integer
6:1: limits.subscription_bytes: is 1; expected 1024 to 67108864 bytes`},
		{"queues", "[[queue]]\ncount = 0\n[[queue]]\nname = \"a\"\nbytes = \"1MB\"\n[[queue]]\nname = \"a\"\ntries = 5000\nlimit = 1", `1:1: queue[0].name: is missing; expected a name
2:1: queue[0].count: is 0; expected 1 to 10000000 tasks
5:1: queue[1].bytes: is the string "1MB"; expected an integer
7:1: queue[2].name: "a" is used twice; expected a name of its own (the other is queue[1])
8:1: queue[2].tries: is 5000; expected 1 to 1000 times
9:1: queue[2].limit: unknown key; expected one of bytes, count, name or tries`},
		{"segments", "[[segment]]\ngroup = \"10.0.0.1:5\"\nrate = \"200\"\ndatagram = 100\n[[segment]]\ninterface = \"eth0\"\nrate = \"1kbit\"\n[[segment]]\ninterface = \"eth1\"\nspeed = 1", `1:1: segment[0].interface: is missing; expected a network interface's name, such as "eth0"
2:1: segment[0].group: "10.0.0.1:5" is no IPv4 multicast address with a port; expected one such as 239.255.67.66:8803
3:1: segment[0].rate: is the string "200"; expected bits per second, as "200Mbit"
4:1: segment[0].datagram: is 100; expected 512 to 8900 bytes
7:1: segment[1].rate: is 1000 bits per second; expected 1Mbit to 100Gbit
8:1: segment[2].group: "239.255.67.66:8803" is another segment's; expected a group for each (the other is segment[1])
10:1: segment[2].speed: unknown key; expected one of datagram, group, interface or rate`},
		{"standby", "[standby]\nside = \"C\"\ninner = [\"10.1.0.1:8805\"]\naddress = \"10.0.0.100\"\nwitness = \"b7\"\nheartbeat = 2\ntake_over_after = 0.1\nspare = 1", `1:1: standby.outer: is missing; expected HOST:PORT where programs reach the other side
2:1: standby.side: "C" is no side of a pair; expected "A" at one broker and "B" at the other
3:1: standby.inner: has 1 addresses; expected two HOST:PORT on the line between the sides: this side's own, and the other's
4:1: standby.address: "10.0.0.100" is no address with the bits of its network; expected one such as 10.0.0.100/24
5:1: standby.witness: "b7" is no [[neighbour]] with an address; expected the id of one, on a third machine
6:1: standby.heartbeat: is 2; expected 0.001 to 1 s
7:1: standby.take_over_after: is 0.1; expected 40 s (20 heartbeats) or more, or nothing: then a side that may lack something waits for the other
8:1: standby.spare: unknown key; expected one of address, heartbeat, inner, interface, on_active, outer, side, take_over_after or witness`},
		{"standby without a side", "[standby]\nouter = \"10.0.0.2:8800\"", `1:1: standby: names no side; expected side = "A" at one broker of the pair and "B" at the other`},
		{"standby both ways", "[standby]\nside = \"A\"\ninner = [\"10.1.0.1:8805\", \"10.1.0.2:8805\"]\nouter = \"10.0.0.2:8800\"\naddress = \"10.0.0.100/24\"\ninterface = \"eth0\"\non_active = [\"x\"]", `7:1: standby.on_active: contradicts standby.address; expected either`},
		{"standby twice the same", "[standby]\nside = \"A\"\ninner = [\"10.1.0.1:8805\", \"10.1.0.1:8805\"]\nouter = \"nowhere\"\ninterface = \"eth0\"\nheartbeat = 0.1\ntake_over_after = 60", `3:1: standby.inner: "10.1.0.1:8805" is this side's own address and the other's; expected two
4:1: standby.outer: "nowhere" is no address; expected HOST:PORT
5:1: standby.interface: stands without an address for it; expected standby.address too`},
		{"standby as it should be", "[standby]\nside = \"B\"\ninner = [\"10.1.0.1:8805\", \"10.1.0.2:8805\"]\nouter = \"10.0.0.2:8800\"\non_active = [\"x\", \"y\"]", ``},
		{"adhoc, empty", "[adhoc]\n", `registry.mode: is "one", but with [adhoc] any broker may be out of reach; expected "every"
broker.links: is missing, but with [adhoc] neighbours connect that find this broker; expected HOST:PORT to listen on
1:1: adhoc.network: is missing; expected the network's name, the same for all its brokers
1:1: adhoc.key_file: is missing; expected a file that holds the network's key: beacons are sealed with it, links authenticated`},
		{"adhoc", "[broker]\nlinks = \"0.0.0.0:8801\"\n[registry]\nmode = \"every\"\n[adhoc]\nnetwork = \"a\\nb\"\ngroup = \"10.0.0.1:5\"\ninterfaces = [\"\"]\nkey_file = \"short.key\"\npower = 3", `6:1: adhoc.network: "a\nb" is no name; expected up to 128 bytes without control characters
7:1: adhoc.group: "10.0.0.1:5" is no IPv4 multicast address with a port; expected one such as 239.255.67.66:8804
8:15: adhoc.interfaces[0]: is empty; expected a network interface's name, such as "eth0"
9:1: adhoc.key_file: holds a key of 5 bytes; expected 16 or more
10:1: adhoc.power: unknown key; expected one of group, interfaces, key_file or network`},
		{"adhoc, groups", "[broker]\nlinks = \":8801\"\n[registry]\nmode = \"every\"\n[adhoc]\nnetwork = \"field\"\nkey_file = \"none.key\"\ngroup = \"239.1.1.1:5\"\n[[segment]]\ninterface = \"eth0\"\ngroup = \"239.1.1.1:5\"", `7:1: adhoc.key_file: DIR/none.key: no such file; expected a file that holds the network's key
8:1: adhoc.group: "239.1.1.1:5" is also segment[0].group; expected a group of its own`},
		{"a size that is none", "[limits]\nmemory = -1\ndisk = 1.5", `2:1: limits.memory: is -1; expected bytes, as "2GB"
3:1: limits.disk: is the float 1.5; expected bytes, as "2GB" or "512MiB"`},
		{"limits as a value", "limits = 3", `1:1: limits: is the integer 3; expected a table`},
		{"player as a table", "[player]\naddress = \"a:1\"", `1:1: player: is a table; expected an array of tables: [[player]]`},
		{"player as numbers", "player = [1]", `1:11: player[0]: is the integer 1; expected a table: [[player]]`},
		{"player of nothing", "[[player]]\nworld = \"cave\"", `1:1: player[0]: has neither address nor cfg; expected one of them`},
		{"robot and robots", `[[player]]
address = "localhost:6665"
robot = "r0"
devices = ["laser"]
robots = { r1 = ["laser:0"] }`, `3:1: player[0].robot: contradicts robots; expected either
4:1: player[0].devices: contradicts robots, which says it for each; expected either`},
		{"robots", `[[player]]
address = "localhost:6665"
robots = { r1 = ["laser:0"], r2 = ["laser:0", "lazer:0", "laser:x", "[", 3], r3 = [], "" = ["laser:1"] }`, `3:36: player[0].robots.r2[0]: device "laser:0" belongs to r1 already; expected one robot for each
3:47: player[0].robots.r2[1]: "lazer:0" is no device: Player has no interface "lazer"; expected perhaps laser
3:58: player[0].robots.r2[2]: "laser:x" has no index; expected interface:index, such as laser:0
3:69: player[0].robots.r2[3]: "[" is no pattern; expected one of path.Match, such as * or ranger:*
3:74: player[0].robots.r2[4]: is the integer 3; expected a string
3:78: player[0].robots.r3: is empty; expected at least one, or leave the key out
3:87: player[0].robots."": is empty; expected a name`},
		{"devices", `[[player]]
address = "localhost:6665"
devices = [
  "laser:0", # the good one
  "lazer:0", "laser:x",
  "[", "", 3, "blob*"]`, `6:12: player[0].devices[5]: is the integer 3; expected a string`},
		{"devices of words", `[[player]]
address = "localhost:6665"
devices = [
  "laser:0", # the good one
  "lazer:0", "laser:x",
  "[", "", "blob*", "laser", "nosuchthing:0"]`, `5:3: player[0].devices[1]: "lazer:0" is no device: Player has no interface "lazer"; expected perhaps laser
5:14: player[0].devices[2]: "laser:x" has no index; expected interface:index, such as laser:0
6:3: player[0].devices[3]: "[" is no pattern; expected one of path.Match, such as * or ranger:*
6:8: player[0].devices[4]: "" is no device; expected interface:index, such as laser:0
6:30: player[0].devices[7]: "nosuchthing:0" is no device; expected interface:index, such as laser:0`},
		{"robot twice", `[[player]]
address = "localhost:6665"
[[player]]
address = "localhost:6666"
robot = "port-6665"
[[player]]
address = "localhost:6667"
robots = { a = ["*:0"], port-6665 = ["*:1"] }`, `5:1: player[1].robot: robot "port-6665" is there twice; expected a name of its own (the other is player[0].robot in line 1)
8:25: player[2].robots.port-6665: robot "port-6665" is there twice; expected a name of its own (the other is player[0].robot in line 1)`},
		{"robot's name", "[[player]]\naddress = \"localhost:6665\"\nrobot = \"r*\"\n[[player]]\naddress = \"localhost:6666\"\nrobot = \"r 1\"", `3:1: player[0].robot: "r*" has a character that means something in patterns; expected a name without * ? [ \ /
6:1: player[1].robot: "r 1" has blanks or control characters; expected a name without`},
		{"cfg and more", "[[player]]\ncfg = \"nosuch.cfg\"\naddress = \"localhost:6665\"", `2:1: player[0].cfg: DIR/nosuch.cfg: no such file; expected a file
3:1: player[0].address: contradicts cfg, which says it for all its robots; expected either`},
		{"neighbours", `broker = { id = "b5", links = "127.0.0.1:1" }
[[neighbour]]
id = "b5"
address = "h:1"
[[neighbour]]
id = "b6"
address = "localhost:1"
[[neighbour]]
id = "b6"`, `3:1: neighbour[0].id: "b5" is this broker itself; expected another broker's id
8:1: neighbour[2].address: is missing; expected HOST:PORT of the neighbour's links
9:1: neighbour[2].id: "b6" is a neighbour twice; expected once (the other is neighbour[1])`},
		{"neighbour cannot dial", "[broker]\nid = \"b5\"\n[[neighbour]]\nid = \"b4\"\naddress = \"h:0\"", `4:1: neighbour[0].id: "b4" is lower than "b5" and so dials this broker, which does not listen for it; expected broker.links
5:1: neighbour[0].address: "h:0" has no port number; expected 1 to 65535`},
		{"links for everyone", "[broker]\nlinks = \"0.0.0.0:8801\"", `2:1: broker.links: "0.0.0.0:8801" can be reached from other machines, and nothing proves who connects: any program could be a neighbour, get readings and drive robots; expected tls.client_ca, a loopback address, or insecure = true`},
		{"links for everyone, on purpose", "[broker]\nlinks = \"0.0.0.0:8801\"\ninsecure = true", ``},
		{"a neighbour that could be anybody", "[broker]\nid = \"b1\"\n[[neighbour]]\nid = \"b2\"\naddress = \"10.0.0.2:8801\"", `5:1: neighbour[0].address: "10.0.0.2:8801" is on another machine, and nothing proves who answers there; expected tls.client_ca, a loopback address, or insecure = true`},
		{"a neighbour that dials", "[broker]\nid = \"b3\"\nlinks = \"127.0.0.1:8801\"\n[[neighbour]]\nid = \"b2\"\naddress = \"10.0.0.2:8801\"", ``},
		{"origins", `broker = { origins = ["https://lab.example.org", "http://localhost:3000", "HTTPS://[::1]:8443", "https://Lab.example.org"] }`, ``},
		{"a token's name", "[[token]]\nname = \"a\\u0000b\"\nsecret_file = \"lab.token\"", `2:1: token[0].name: "a\x00b" is no name for a token: clients and their sessions belong to it; expected up to 128 bytes of text without control characters`},
		{"no origins", "[broker]\norigins = []", `2:1: broker.origins: is empty; expected at least one, or leave the key out`},
		{"wrong origins", "[broker]\norigins = [\"https://lab.example.org/\", \"*\", \"https://*.example.org\", \"lab.example.org\", \"null\", \"https://u@h\", \"ws://h\", \"https://\"]", `2:12: broker.origins[0]: "https://lab.example.org/" is no origin of a page; expected https://HOST or https://HOST:PORT
2:40: broker.origins[1]: "*" is no origin of a page; expected https://HOST or https://HOST:PORT
2:45: broker.origins[2]: "https://*.example.org" is no origin of a page; expected https://HOST or https://HOST:PORT
2:70: broker.origins[3]: "lab.example.org" is no origin of a page; expected https://HOST or https://HOST:PORT
2:89: broker.origins[4]: "null" is no origin of a page; expected https://HOST or https://HOST:PORT
2:97: broker.origins[5]: "https://u@h" is no origin of a page; expected https://HOST or https://HOST:PORT
2:112: broker.origins[6]: "ws://h" is no origin of a page; expected https://HOST or https://HOST:PORT
2:122: broker.origins[7]: "https://" is no origin of a page; expected https://HOST or https://HOST:PORT`},
		{"registry", "[broker]\nid = \"b5\"\n[registry]\nbroker = \"b1\"", `4:1: registry.broker: "b1" is unknown: this broker has no neighbour to reach it by; expected "b5" or a [[neighbour]]`},
		{"registry at every broker", "[registry]\nmode = \"every\"", ``},
		{"registry at every broker and at one", "[registry]\nmode = \"every\"\nbroker = \"b1\"", `3:1: registry.broker: contradicts registry.mode = "every", with which each broker holds the registry; expected either`},
		{"mode", "[registry]\nmode = \"all\"", `2:1: registry.mode: "all" is no mode of the registry; expected "one" (one broker holds it) or "every" (each broker does)`},
		{"mode of another type", "[registry]\nmode = 1", `2:1: registry.mode: is the integer 1; expected a string`},
		{"gateway in the way", "[broker]\nlisten = \"127.0.0.1:7001\"\n[gateway]\nlisten = \"127.0.0.1:7000\"\n[[player]]\naddress = \"a:1\"\n[[player]]\naddress = \"b:1\"", `4:1: gateway.listen: takes the ports 7000 to 7001, one for each robot, and 7001 is broker.listen; expected ports of its own`},
		{"gateway too high", "[gateway]\nlisten = \"127.0.0.1:65535\"\n[[player]]\naddress = \"a:1\"\n[[player]]\naddress = \"b:1\"", `2:1: gateway.listen: "127.0.0.1:65535" leaves 1 ports for 2 robots; expected a lower port`},
		{"gateway for all", "[gateway]\nlisten = \"0.0.0.0:7000\"", `2:1: warning: gateway.listen: "0.0.0.0:7000" can be reached from other machines, and Player's protocol knows no tokens: everyone may drive the robots; expected a loopback address`},
		{"one port", "[broker]\nlisten = \"127.0.0.1:7000\"\n[gateway]\nlisten = \"127.0.0.1:7000\"", `4:1: gateway.listen: "127.0.0.1:7000" is also broker.listen; expected a port of its own`},
		{"zones", `[zones]
line = [[0, 0], [1, 1]]
flat = [[0, 0], [1, 1], [2, 2]]
"my dock" = [[0, 0], [1], ["a", 2], [inf, 0], 5]
odd = 3`, `2:1: zones.line: has 2 points; expected a polygon of 3 or more
3:1: zones.flat: encloses nothing; expected a polygon with an area
4:22: zones."my dock"[1]: is no point; expected [x, y] in m
4:27: zones."my dock"[2]: is no point; expected two finite numbers, in m
4:37: zones."my dock"[3]: is no point; expected two finite numbers, in m
4:47: zones."my dock"[4]: is no point; expected [x, y] in m
5:1: zones.odd: is the integer 3; expected an array of points in m, such as [[0, 0], [2, 0], [2, 1]]`},
		{"tokens", `[[token]]
[[token]]
name = "a"
secret_file = "lab.token"
robots = []
may = ["everything"]
[[token]]
name = "a"
secret_file = "lab.token"
robots = ["["]
[[token]]
name = "b"
secret_file = "blank.token"
[[token]]
name = "c"
secret_file = "nosuch.token"`, `1:1: token[0].name: is missing; expected a name
1:1: token[0].secret_file: is missing; expected a file that holds the secret
5:1: token[1].robots: is empty; expected at least one, or leave the key out
6:8: token[1].may[0]: "everything" is nothing that a token may; expected one of subscribe, command, serve, request
8:1: token[2].name: "a" is used twice; expected a name of its own (the other is token[1])
9:1: token[2].secret_file: holds the same secret as that of token[1]; expected one of its own
10:11: token[2].robots[0]: "[" is no pattern; expected one of path.Match, such as r* or r[0-9]
13:1: token[3].secret_file: DIR/blank.token is empty; expected a file that holds the secret
16:1: token[4].secret_file: DIR/nosuch.token: no such file; expected a file that holds the secret`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			name := filepath.Join(dir, "c.toml")
			_, problems := Parse(name, tt.text, nil)
			var lines []string
			for _, p := range problems {
				lines = append(lines, strings.ReplaceAll(strings.TrimPrefix(p.Error(), name+":"), dir, "DIR"))
			}
			if diff := cmp.Diff(tt.want, strings.Join(lines, "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWorldReadableSecretIsAWarning(t *testing.T) {
	dir := folder(t)
	if err := os.Chmod(filepath.Join(dir, "lab.token"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, problems := Parse(filepath.Join(dir, "c.toml"), "[[token]]\nname = \"a\"\nsecret_file = \"lab.token\"\n", nil)
	if problems.Err() != nil || len(problems.Lines(true)) != 1 || problems[0].Line != 3 {
		t.Errorf("problems %v, expected one warning", problems)
	}
}

func TestFlagsOverride(t *testing.T) {
	_, problems := Parse("c.toml", "[broker]\nlisten = \"127.0.0.1:1\"\n", func(c *Config) {
		c.Broker.Listen = "0.0.0.0:1"
		c.Players = append(c.Players, Player{Address: "localhost:6665"}, Player{Address: "localhost:6665"})
	})
	want := `broker.listen: "0.0.0.0:1" can be reached from other machines, and without tokens everyone may do everything; expected a loopback address, a [[token]], or insecure = true
player[1].robot: robot "port-6665" is there twice; expected a name of its own (the other is player[0].robot)`
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.Error())
	}
	if diff := cmp.Diff(want, strings.Join(lines, "\n")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLoadOfAMissingFile(t *testing.T) {
	_, problems := Load(filepath.Join(t.TempDir(), "nosuch.toml"), nil)
	if problems.Err() == nil || !strings.Contains(problems.Err().Error(), "nosuch.toml: no such file") {
		t.Errorf("problems %v", problems)
	}
}

func TestParsePlayer(t *testing.T) {
	all := []string{"*"}
	for text, want := range map[string]Player{
		"localhost:6665":      {Address: "localhost:6665", Robot: "port-6665", Devices: all},
		"127.9.9.9:6665":      {Address: "127.9.9.9:6665", Robot: "port-6665", Devices: all},
		"r0=localhost:6665":   {Address: "localhost:6665", Robot: "r0", Devices: all},
		"lab:6665":            {Address: "lab:6665", Robot: "lab:6665", Devices: all},
		"r0=[2001:db8::1]:80": {Address: "[2001:db8::1]:80", Robot: "r0", Devices: all},
	} {
		got, err := ParsePlayer(text)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v, -want +got:\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		"":                  `player "": "" is no address; expected HOST:PORT, as in r0=localhost:6665`,
		"localhost":         `player "localhost": "localhost" is no address; expected HOST:PORT, as in r0=localhost:6665`,
		"localhost:0":       `player "localhost:0": "localhost:0" has no port number; expected 1 to 65535, as in r0=localhost:6665`,
		"=localhost:6665":   `player "=localhost:6665": the robot's name is empty; expected a name`,
		"r*=localhost:6665": `player "r*=localhost:6665": the robot's name "r*" has a character that means something in patterns; expected a name without * ? [ \ /`,
		":6665":             `player ":6665": ":6665" has no host; expected HOST:PORT, as in r0=localhost:6665`,
		"a b:1":             `player "a b:1": "a b:1" is no address; expected HOST:PORT, as in r0=localhost:6665`,
		"a:+1":              `player "a:+1": "a:+1" has no port number; expected 1 to 65535, as in r0=localhost:6665`,
	} {
		if _, err := ParsePlayer(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, expected %s", text, err, want)
		}
	}
}

// TestCFG: what is wrong with a Player configuration, or with its robots'
// names among those of others, is told with its place.
func TestCFG(t *testing.T) {
	for _, tt := range []struct{ cfg, toml, want string }{
		{"driver ( name \"stage\" provides [ \"lasr:0\" ] model \"a\" )\n", "", "swarm.cfg:1:"},
		{"driver (", "", "swarm.cfg:1:"},
		{swarm, "[[player]]\naddress = \"localhost:7000\"\nrobot = \"beta\"\n", `player[0].cfg: robot "beta" of `},
		{"driver ( name \"x\" provides [ \"opaque:0\" ] )\n", "", "has no robot"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "swarm.cfg"), []byte(tt.cfg), 0o600); err != nil {
			t.Fatal(err)
		}
		_, problems := Parse(filepath.Join(dir, "b.toml"), "[[player]]\ncfg = \"swarm.cfg\"\n"+tt.toml, nil)
		if err := problems.Err(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s%s\ngave %v, expected %s", tt.cfg, tt.toml, err, tt.want)
		}
	}
}

func TestRobotsOfOnePlayerAreInOrder(t *testing.T) {
	p := Player{Robots: map[string][]string{}}
	want := []string{"R", "a", "r", "r-1", "r0", "r1", "r02", "r2", "r2x", "r10", "r10a2", "r10a10", "r99999999999999999998", "r99999999999999999999", "s"}
	for _, name := range want {
		p.Robots[name] = nil
	}
	if diff := cmp.Diff(want, p.Names()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
