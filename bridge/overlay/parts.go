package overlay

import "callboard/subscribe/protocol"

// What the parts of a broker say to each other, and all that they do. Most of it are
// the messages that brokers send each other, to the part that is here. A part has
// nothing else of another: neither its state nor its other methods. Only a route,
// which is the network's, and a sequence, which edge and source share, are looked at
// by others.

// edgeToSource is what an edge says to the source here: as to another broker's, but
// that a sequence and a set are handed over as they are.
type edgeToSource interface {
	// Subscribe, and the fetch that comes with it: a key is made, is changed, or comes
	// home.
	home(Key) (*sequence, Epoch)
	revision(*sequence) uint64
	subscribe(in *inbox, k Key, epoch Epoch, members *set, anonymous bool, tell []*sub)
	update(q *sequence, epoch Epoch, drop []string, put, tell []*sub)
	takeHome(q *sequence, in *inbox, members *set, anonymous bool)
	// Fetch: the client has attached elsewhere.
	retain(*sequence)
	retained(Key) *sequence
	handOver(q *sequence, num uint64) []Item

	refresh(*sequence)
	unsubscribe(*sequence)
	restart(*sequence)

	// Lookup and Register, of the robots that are read here.
	canMatch(*sub) bool
	present() Stamp
	newStamp()
	outlive(Key) Stamp

	// Watch and Told.
	onAgain(*StateAgain)
	statesOf(Key) []HeldState
	givePassing(q *sequence, r *Reading, names []protocol.Matched) (seq uint64, given bool)
}

// sourceToEdge is what a source says to the edge here. What is not about a sequence
// goes down the key's route, as to others.
type sourceToEdge interface {
	pump(*inbox)                                               // Notify
	inForce(*inbox)                                            // behind an Event
	endLocal(*inbox)                                           // Gone
	dropKey(*inbox)                                            // Gone, and nothing is left
	release(*inbox)                                            // Fetch
	beginAgain(*inbox, *sub)                                   // Watch
	hasMoved(*inbox, Epoch) bool                               // Sources, of a newer attachment
	appeared(*robot)                                           // Sources, of a new robot
	tellChange(v *roster, a, old *Availability, before uint64) // Robots
}

// edgeToNetwork is what an edge asks of the network.
type edgeToNetwork interface {
	subscribe(*SubscribeMessage)
	unsubscribeKey(from BrokerID, k Key, path []BrokerID)
	tell(BrokerID, Message)
	route(BrokerID, RegistryMessage)

	begin(k Key, epoch Epoch, num uint64, hash Hash)
	routeOf(Key) *route
	dropRoute(Key)
	newestEpoch(Key) (epoch Epoch, num uint64, known bool)
	isDead(Key) bool

	path(BrokerID) []BrokerID
	reaches(BrokerID) bool
	costly() bool
	dearer(*route) bool
	knows(BrokerID) bool
	linkStates() []LinkState
}

// sourceToNetwork is what a source asks of the network.
type sourceToNetwork interface {
	down(Key, Message)
	towards(k Key, items []Item, from BrokerID)
	replay(to BrokerID, k Key, items []Item)
	tell(BrokerID, Message)
	route(BrokerID, RegistryMessage)

	routeOf(Key) *route
	dropRoute(Key)
}

// networkToEdge is what comes to an edge from other brokers.
type networkToEdge interface {
	take(Message)
	notified(*Reading, *KeyHit)
	handOver(k Key, epoch Epoch, num uint64) []Item // Fetch
	unsubscribed(Key)

	lookUpAll()
	onRobots(BrokerID, *Robots)
	onAskOther(BrokerID, *Watch)
	onTold(*Told)

	setOf(Key) (set *SetChange, known uint64)
	knownOf(Key) uint64
	renewStranded()
}

// networkToSource is what comes to a source from other brokers.
type networkToSource interface {
	takeInFrom(BrokerID, *SubscribeMessage) bool
	fill(Key, Missing) // Subscribe, of a renewal
	refreshed(BrokerID, *RefreshMessage)
	unsubscribe(*sequence)
	hearOf(from BrokerID, k Key, epoch Epoch, number uint64) (ended bool)
	linkForeign(neighbour BrokerID)

	onWatch(BrokerID, *Watch)

	epochOf(Key) (epoch Epoch, num uint64, known bool)
	retained(Key) *sequence
}

// edgeToRegistry is what an edge tells the registry of its clients, and asks it. The
// registry is one of two: that of mode one (central), which another broker may hold,
// or this broker's part of that of mode every (flooded).
type edgeToRegistry interface {
	away() bool           // nobody can be asked (G3)
	lookUp(*session)      // Lookup, of a client with its set
	lookUpAll([]*session) // of all, once a period
	attached(*session)    // Whereabouts
	left(*session)        // the session has ended here
	watch(id BrokerID, m *Watch, heardOf bool)
	askOthers(of BrokerID, version uint64) // Watch, of one that is out of reach

	clientWith(id string) string
	newestAttachment(client string) (newest uint64, known bool)
	remembersNamed() bool // source brokers, wherever the client goes (G1)
}

// registryToEdge is what the registry answers, and tells it.
type registryToEdge interface {
	lookUpAll()
	clientLookup(s *session, whole bool) ClientLookup
	onSources(*Sources)

	untested(*session) []*sub // that were not looked up yet
	nameSource(*session, SourceBroker) (settled bool)
	tested(s *session, settled bool, missing func(*sub) bool) // Sources, of those
	appearedAt(SourceBroker, *robot)                          // Sources, of a new robot
	attachedAt(client string, newest Epoch)                   // Sources, of a newer attachment
	onRobots(BrokerID, *Robots)
	onKnown(BrokerID, *Robots) // Robots, as a bulletin has them

	here(client string) *session // whose client is here as far as is known
}

// sourceToRegistry says that something is new: at the end of a step.
type sourceToRegistry interface {
	register()   // of what is read here
	tellStates() // of what has become of it
}

// registryToSource is what the registry tells of it, and is answered.
type registryToSource interface {
	registration(whole bool) *Register
	robotsSince(version uint64) *Robots
	present() Stamp
	tellWatchers()
	hastenRegister()
	onRefusals(*Refusals)
}

// networkToRegistry is what comes to the registry, here or from other brokers.
type networkToRegistry interface {
	take(from BrokerID, m RegistryMessage)
	hear(from BrokerID, m Message) // what is flooded
	linkUp(BrokerID)

	whereIs(robot string) (to BrokerID, passesOn bool)
	answeredFrom(robot string, from BrokerID, found bool) (elsewhere bool)
	readerOf(robot string) (at BrokerID, known bool)
}

// networkToTasks is what other brokers say of tasks, or this one.
type networkToTasks interface {
	take(BrokerID, RegistryMessage)
	hear(BrokerID, *QueuesMessage)
	linkUp(BrokerID)
}

// tasksToNetwork is what tasks ask of the network.
type tasksToNetwork interface {
	route(BrokerID, RegistryMessage)
	routeFor(from, to BrokerID, body RegistryMessage)
	tell(BrokerID, Message)
	neighbours() []BrokerID
	reachable() []BrokerID
	reaches(BrokerID) bool
	knows(BrokerID) bool
	heardOf(BrokerID) Instant
	others() []BrokerID
}

// tasksToEdge is what they ask of the edge: who has said hello on a connection.
type tasksToEdge interface {
	clientOn(Conn) (client string, attachment uint64, anonymous, ok bool)
}

// tasksToRegistry is what they ask of the registry: who reads a robot.
type tasksToRegistry interface {
	whereIs(robot string) (to BrokerID, passesOn bool)
	readerOf(robot string) (at BrokerID, known bool)
	answeredFrom(robot string, from BrokerID, found bool) (elsewhere bool)
}

// tasksToSource is what they ask of the source: whether it reads a robot.
type tasksToSource interface{ readsRobot(string) bool }

// registryToNetwork is what it says to others.
type registryToNetwork interface {
	route(BrokerID, RegistryMessage)
	tell(BrokerID, Message)
	neighbours() []BrokerID

	path(BrokerID) []BrokerID
	reaches(BrokerID) bool
	reachable() []BrokerID
}

// brokersRegistry is the registry as a broker has it.
type brokersRegistry interface {
	edgeToRegistry
	sourceToRegistry
	networkToRegistry

	pass()        // a period has ended
	endStep()     // what is new is told
	due() Instant // when it is to be told, if not now
}
