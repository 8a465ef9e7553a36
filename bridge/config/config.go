// Package config is a broker's configuration: the structs, their defaults,
// reading them from TOML with all problems at once, and the checks that also
// hold for what comes from flags. See DESIGN.md.
package config

// Config is a broker's configuration, complete after Load or Complete. Paths
// are absolute or relative to the working directory.
type Config struct {
	Broker     Broker
	TLS        TLS
	Limits     Limits
	Players    []Player
	Neighbours []Neighbour
	Registry   Registry
	Beacon     Beacon
	Adhoc      *Adhoc // nil: neighbours are configured
	Segments   []Segment
	Gateway    Gateway
	Zones      map[string][][2]float64 // polygons by name, m
	Tokens     []Token
	Standby    Standby
	Queues     []Queue

	source *source // where keys stand in the file; nil without one
}

// Broker is the table [broker].
type Broker struct {
	ID        string   // default: the host's name
	Listen    string   // HTTP; default 127.0.0.1:8800
	URL       string   // what clients are told, ws:// or wss://; "" means from the address that serves
	Links     string   // other brokers connect here; "" means none
	Data      string   // directory; default $XDG_STATE_HOME/callboard/<id> or ~/.local/state/callboard/<id>
	Heartbeat float64  // s; default 1
	Insecure  bool     // listen beyond loopback without tokens, and for links without TLS.ClientCA
	Origins   []string // of pages of others that may use the WebSocket and the API: https://HOST[:PORT]
}

// TLS is the table [tls]: paths of PEM files, "" if not given.
type TLS struct {
	Cert, Key string
	ClientCA  string // for links: both sides show certificates
}

// Limits is the table [limits].
type Limits struct {
	ConditionLength     int // characters; default 4096
	ClientSubscriptions int // of one client; default 10,000
	Inbox               Inbox

	// Of the whole broker: who would exceed them is refused, or the client
	// that has been absent longest gives way.
	Memory            int64 // bytes of inboxes, sessions, sets and connections together; default half of the machine's
	Disk              int64 // bytes of the data directory; default 8 GB
	Clients           int   // sessions kept, absent ones included; default 100,000
	Connections       int   // at a time; of one address a quarter; default 10,000
	SubscriptionBytes int   // of a client's whole set; default 1 MiB
}

// Inbox bounds what is kept for one client and source broker.
type Inbox struct {
	Count   int     // notifications; default 10,000
	Bytes   int     // default 16 MiB
	Seconds float64 // also how long a session lives without its client; default 600
}

// Player is one [[player]]: a Player server to read. Either CFG is set (all
// robots of a Player configuration; the rest is empty but perhaps World), or
// Address with Robot or Robots.
type Player struct {
	Address string              // host:port
	Robot   string              // default "port-6665", or "host:port" when not local; "" with Robots
	Robots  map[string][]string // several robots behind one connection: name to device patterns
	World   string              // "" if not told
	Devices []string            // which to open: "laser:0", "laser" or path.Match patterns; default ["*"]: all data interfaces that conditions know; nil with Robots
	CFG     string              // path of a Player configuration
	// WorldFile is the path of the file of the world that the CFG names; "": it
	// names none.
	WorldFile string
	// Simulation is the device by which the robots' simulation is asked and told,
	// as the CFG says; nil: it says none.
	Simulation *Simulation
}

// Simulation is a simulation device of a Player server.
type Simulation struct {
	Address string // host:port
	Index   uint16
}

// Neighbour is one [[neighbour]]: another broker.
type Neighbour struct {
	ID, Address string
	Compress    bool // the link, if both sides ask for it
}

// Registry is the table [registry].
type Registry struct {
	Mode   string // RegistryOne or RegistryEvery, the same in a whole network; default RegistryOne
	Broker string // the broker that holds it; default: this one. With RegistryEvery ""
}

// Modes of the registry.
const (
	RegistryOne   = "one"   // one broker holds it
	RegistryEvery = "every" // each broker does
)

// Beacon is the table [beacon]: how the broker is announced on the network.
type Beacon struct {
	Announce   bool     // default true: where programs can come from, so on the loopback only for a broker that listens there
	Group      string   // IPv4 multicast address and port; default 239.255.67.66:8802
	Interfaces []string // names, instead of those that programs can come from
}

// Adhoc is the table [adhoc]: neighbours are found by their beacons, and links are
// made and given up.
type Adhoc struct {
	Network    string   // its name; required
	Group      string   // IPv4 multicast address and port of beacons; default DefaultAdhocGroup
	Interfaces []string // names; default all that can multicast
	KeyFile    string   // required
	Key        []byte   // what the file holds, without blanks around: beacons are sealed with it, links authenticated
}

// DefaultAdhocGroup is where beacons of brokers that move go.
const DefaultAdhocGroup = "239.255.67.66:8804"

// minKey is how long a network's key is at least, maxNetwork how long its name may be,
// in bytes.
const (
	minKey     = 16
	maxNetwork = 128
)

// Segment is one [[segment]]: neighbours on one LAN get what several of them want by
// multicast.
type Segment struct {
	Interface string
	Group     string  // IPv4 multicast address and port; default DefaultGroup
	Rate      float64 // bits/s; default 200 Mbit/s
	Datagram  int     // bytes of the longest; default 1,400
}

// Standby is the table [standby]: this broker is one side of a pair.
type Standby struct {
	Side          string   // SideA or SideB; "": of no pair
	Inner         []string // own and other side's address, HOST:PORT, on the line between the sides
	Outer         string   // HOST:PORT where programs reach the other side
	Address       string   // virtual, as ADDRESS/BITS, which the active side has; "" means none
	Interface     string   // that has it
	OnActive      []string // a command and its arguments that is run when this side becomes active, instead
	Witness       string   // id of the neighbour that votes; "" means none
	Heartbeat     float64  // T, s; default 0.01
	TakeOverAfter float64  // s after which a side that may lack something goes on all the same; 0, the default: never
}

// Sides of a pair.
const (
	SideA = "A"
	SideB = "B"
)

// DefaultGroup is where a segment's brokers multicast.
const DefaultGroup = "239.255.67.66:8803"

// Bounds of a segment's rate (bits/s) and datagrams (bytes).
const (
	minRate, maxRate         = 1e6, 100e9
	minDatagram, maxDatagram = 512, 8900
)

// Gateway is the table [gateway].
type Gateway struct{ Listen string } // first port for Player programs, without host on 127.0.0.1; "" means none

// MaxGatewayPorts is how many robots have a port each behind a gateway; more
// share one.
const MaxGatewayPorts = 256

// Token is one [[token]].
type Token struct {
	Name       string
	SecretFile string
	Secret     string   // what the file holds, without blanks around
	Robots     []string // patterns; default ["*"]
	May        []string // MaySubscribe, MayCommand, MayServe, MayRequest; default all
	Queues     []string // patterns; default ["*"]
}

// Queue is one [[queue]]: it lives at this broker, with or without servers.
type Queue struct {
	Name  string
	Count int // tasks that wait; default 10,000
	Bytes int // of their bodies; default 64 MiB
	Tries int // how often a task may come back from servers; default 3
}

// What a token may.
const (
	MaySubscribe = "subscribe"
	MayCommand   = "command"
	MayServe     = "serve"
	MayRequest   = "request"
)

// Default returns a configuration with the limits and broker settings that do
// not depend on the machine; Complete fills the rest.
func Default() *Config {
	return &Config{
		Broker:  Broker{Listen: "127.0.0.1:8800", Heartbeat: 1},
		Beacon:  Beacon{Announce: true},
		Standby: Standby{Heartbeat: 0.01},
		Limits: Limits{
			ConditionLength:     4096,
			ClientSubscriptions: 10_000,
			Inbox:               Inbox{Count: 10_000, Bytes: 16 << 20, Seconds: 600},
			Disk:                8_000_000_000,
			Clients:             100_000,
			Connections:         10_000,
			SubscriptionBytes:   1 << 20,
		},
	}
}
