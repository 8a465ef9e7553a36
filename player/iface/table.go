package iface

import (
	"maps"
	"reflect"
	"slices"

	"callboard/player"
	"callboard/player/xdr"
)

// entry is a line of an interface's list of messages.
type entry struct {
	typ     player.Type
	subtype uint8
	name    string
	make    func() any // of the body, nil: none
}

// body is the maker of a message's struct.
func body[T any]() any { return new(T) }

// key of the table: interface, type and subtype in one word.
func key(i player.Interface, t player.Type, subtype uint8) uint32 {
	return uint32(i)<<16 | uint32(t)<<8 | uint32(subtype)
}

// messages has every message by key, plans every struct's plan by type. Both
// are made once and never change.
var (
	messages = makeTable(map[player.Interface][]entry{
		0:                                 universalMessages,
		player.InterfacePlayer:            playerMessages,
		player.InterfacePower:             powerMessages,
		player.InterfaceGripper:           gripperMessages,
		player.InterfacePosition2D:        position2DMessages,
		player.InterfaceSonar:             sonarMessages,
		player.InterfaceLaser:             laserMessages,
		player.InterfaceBlobfinder:        blobfinderMessages,
		player.InterfacePTZ:               ptzMessages,
		player.InterfaceAudio:             audioMessages,
		player.InterfaceFiducial:          fiducialMessages,
		player.InterfaceSpeech:            speechMessages,
		player.InterfaceGPS:               gpsMessages,
		player.InterfaceBumper:            bumperMessages,
		player.InterfaceDIO:               dioMessages,
		player.InterfaceAIO:               aioMessages,
		player.InterfaceIR:                irMessages,
		player.InterfaceWifi:              wifiMessages,
		player.InterfaceLocalize:          localizeMessages,
		player.InterfacePosition3D:        position3DMessages,
		player.InterfaceSimulation:        simulationMessages,
		player.InterfaceBlinkenlight:      blinkenlightMessages,
		player.InterfaceCamera:            cameraMessages,
		player.InterfaceMap:               mapMessages,
		player.InterfacePlanner:           plannerMessages,
		player.InterfaceLog:               logMessages,
		player.InterfaceJoystick:          joystickMessages,
		player.InterfaceSpeechRecognition: speechRecognitionMessages,
		player.InterfaceOpaque:            opaqueMessages,
		player.InterfacePosition1D:        position1DMessages,
		player.InterfaceActarray:          actarrayMessages,
		player.InterfaceLimb:              limbMessages,
		player.InterfaceGraphics2D:        graphics2DMessages,
		player.InterfaceRFID:              rfidMessages,
		player.InterfaceWSN:               wsnMessages,
		player.InterfaceGraphics3D:        graphics3DMessages,
		player.InterfaceHealth:            healthMessages,
		player.InterfaceIMU:               imuMessages,
		player.InterfacePointcloud3D:      pointcloud3DMessages,
		player.InterfaceRanger:            rangerMessages,
		player.InterfaceVectormap:         vectormapMessages,
		player.InterfaceBlackboard:        blackboardMessages,
		player.InterfaceStereo:            stereoMessages,
		player.InterfaceCoopobject:        coopobjectMessages,
	})
	plans = makePlans(messages)
)

// makeTable panics when a struct cannot stand on the wire: that is a mistake
// in this package, found by any of its tests.
func makeTable(lists map[player.Interface][]entry) map[uint32]*Message {
	made := map[reflect.Type]*xdr.Plan{}
	table := map[uint32]*Message{}
	for i, list := range lists {
		for _, e := range list {
			m := &Message{Interface: i, Type: e.typ, Subtype: e.subtype, Name: e.name, make: e.make}
			if e.make != nil {
				t := reflect.TypeOf(e.make()).Elem()
				if made[t] == nil {
					plan, err := xdr.NewPlan(t)
					if err != nil {
						panic(err)
					}
					made[t] = plan
				}
				m.plan = made[t]
			}
			table[key(i, e.typ, e.subtype)] = m
		}
	}
	return table
}

func makePlans(table map[uint32]*Message) map[reflect.Type]*xdr.Plan {
	all := map[reflect.Type]*xdr.Plan{}
	for _, m := range table {
		if m.plan != nil {
			all[m.plan.Type()] = m.plan
		}
	}
	return all
}

// Lookup finds the message of an interface, type and subtype. An ACK or NACK
// is that of its request. The universal requests exist on every interface.
// What is not found is not known here: its body is opaque bytes (Raw).
func Lookup(i player.Interface, t player.Type, subtype uint8) (*Message, bool) {
	if t == player.Ack || t == player.Nack {
		t = player.Request
	}
	m, ok := messages[key(i, t, subtype)]
	if !ok && t == player.Request {
		m, ok = messages[key(0, t, subtype)]
	}
	return m, ok
}

// HasData reports whether the table has data messages of the interface.
func HasData(i player.Interface) bool {
	for _, m := range messages {
		if m.Interface == i && m.Type == player.Data {
			return true
		}
	}
	return false
}

// Messages returns all messages, ordered by interface, type and subtype.
func Messages() []*Message {
	all := make([]*Message, 0, len(messages))
	for _, k := range slices.Sorted(maps.Keys(messages)) {
		all = append(all, messages[k])
	}
	return all
}
