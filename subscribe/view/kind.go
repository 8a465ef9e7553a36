// Package view derives what conditions see from a robot's readings: one view
// for each kind of reading, with derived values, assembled scans, and the
// state of one robot. Each view is derived once per reading and serves
// conditions, JSON and queries alike.
package view

import (
	"reflect"
	"slices"
	"unsafe"

	"callboard/player"
)

// Kind is a kind of view: what a condition calls laser, sonar, position and so
// on.
type Kind uint8

// The kinds of views.
const (
	KindLaser Kind = iota
	KindSonar
	KindPosition
	KindBumper
	KindFiducial
	KindPower
	KindGPS
	KindIMU
	KindBlobfinder
	KindGripper
	KindLocalize
	KindIR
	KindPTZ
	KindAIO
	KindDIO
	KindJoystick
	KindPlanner
	KindPosition1D
	KindActarray
	KindLimb
	KindHealth
	KindWifi
	KindRFID
	KindWSN
	KindSpeechRecognition
	KindBlinkenlight
	KindCoopobject
	NumKinds = iota
)

// kindTable says what each kind is. Cameras, point clouds, maps and what else
// has no scalar values is none: nobody shall open them unasked.
var kindTable = [NumKinds]kindOf{
	KindLaser: describe("laser", "scans: of lasers, and of rangers with one element", func(s *State) **Laser { return &s.Laser },
		player.InterfaceLaser, player.InterfaceRanger),
	KindSonar: describe("sonar", "rings of ranges: of sonars, and of rangers with several elements", func(s *State) **Sonar { return &s.Sonar },
		player.InterfaceSonar, player.InterfaceRanger),
	KindPosition: describe("position", "odometry: where the robot believes to be, and how fast it goes", func(s *State) **Position { return &s.Position },
		player.InterfacePosition2D, player.InterfacePosition3D),
	KindBumper: describe("bumper", "what touches", func(s *State) **Bumper { return &s.Bumper },
		player.InterfaceBumper),
	KindFiducial: describe("fiducial", "marks that are seen; bearings and places are from the finder", func(s *State) **Fiducial { return &s.Fiducial },
		player.InterfaceFiducial),
	KindPower: describe("power", "a battery; what it does not tell is no number", func(s *State) **Power { return &s.Power },
		player.InterfacePower),
	KindGPS: describe("gps", "a fix", func(s *State) **GPS { return &s.GPS },
		player.InterfaceGPS),
	KindIMU: describe("imu", "an inertial unit. Each message is a reading; what it does not tell stands as the\nunit told it last, and is no number until it did", func(s *State) **IMU { return &s.IMU },
		player.InterfaceIMU),
	KindBlobfinder: describe("blobfinder", "patches of colour in an image", func(s *State) **Blobfinder { return &s.Blobfinder },
		player.InterfaceBlobfinder),
	KindGripper: describe("gripper", "a gripper", func(s *State) **Gripper { return &s.Gripper },
		player.InterfaceGripper),
	KindLocalize: describe("localize", "where the robot may be on a map", func(s *State) **Localize { return &s.Localize },
		player.InterfaceLocalize),
	KindIR: describe("ir", "infrared sensors", func(s *State) **IR { return &s.IR },
		player.InterfaceIR),
	KindPTZ: describe("ptz", "a camera head", func(s *State) **PTZ { return &s.PTZ },
		player.InterfacePTZ),
	KindAIO: describe("aio", "analog inputs", func(s *State) **AIO { return &s.AIO },
		player.InterfaceAIO),
	KindDIO: describe("dio", "digital inputs", func(s *State) **DIO { return &s.DIO },
		player.InterfaceDIO),
	KindJoystick: describe("joystick", "a joystick", func(s *State) **Joystick { return &s.Joystick },
		player.InterfaceJoystick),
	KindPlanner: describe("planner", "a path planner", func(s *State) **Planner { return &s.Planner },
		player.InterfacePlanner),
	KindPosition1D: describe("position1d", "a linear or rotary joint", func(s *State) **Position1D { return &s.Position1D },
		player.InterfacePosition1D),
	KindActarray: describe("actarray", "the actuators of an arm, from its base on; linear ones in m, rotary ones in rad", func(s *State) **Actarray { return &s.Actarray },
		player.InterfaceActarray),
	KindLimb: describe("limb", "the end of an arm", func(s *State) **Limb { return &s.Limb },
		player.InterfaceLimb),
	KindHealth: describe("health", "the computer on the robot", func(s *State) **Health { return &s.Health },
		player.InterfaceHealth),
	KindWifi: describe("wifi", "radio stations that are heard; levels in the unit that qual_type tells", func(s *State) **Wifi { return &s.Wifi },
		player.InterfaceWifi),
	KindRFID: describe("rfid", "radio tags in reach", func(s *State) **RFID { return &s.RFID },
		player.InterfaceRFID),
	KindWSN: describe("wsn", "a node of a sensor network, each packet by itself; raw or calibrated, as it is set", func(s *State) **WSN { return &s.WSN },
		player.InterfaceWSN),
	KindSpeechRecognition: describe("speech_recognition", "what was heard", func(s *State) **SpeechRecognition { return &s.SpeechRecognition },
		player.InterfaceSpeechRecognition),
	KindBlinkenlight: describe("blinkenlight", "a light", func(s *State) **Blinkenlight { return &s.Blinkenlight },
		player.InterfaceBlinkenlight),
	KindCoopobject: describe("coopobject", "a cooperating object's health, position, sensors, alarms and whom it heard, each\nmessage by itself; what is none of these gives no reading", func(s *State) **Coopobject { return &s.Coopobject },
		player.InterfaceCoopobject),
}

// kindOf says what a kind is.
type kindOf struct {
	name       string
	doc        string
	fields     []field
	interfaces []player.Interface

	make func() View
	get  func(*State) View // nil if there is none
	set  func(*State, View)
}

// describe makes the description of a kind whose views stand at a place in a
// state.
func describe[T any, P interface {
	*T
	View
}](name, doc string, at func(*State) *P, interfaces ...player.Interface) kindOf {
	k := kindOf{name: name, doc: doc, interfaces: interfaces}
	k.make = func() View { return P(new(T)) }
	k.get = func(s *State) View {
		if v := *at(s); v != nil {
			return v
		}
		return nil
	}
	k.set = func(s *State, v View) { *at(s) = v.(P) }
	k.fields = fieldsOf(reflect.TypeFor[T](), func(s *State) unsafe.Pointer { return unsafe.Pointer(*at(s)) })
	return k
}

// String returns the name that conditions use.
func (k Kind) String() string { return kindTable[k].name }

// Doc says what it is.
func (k Kind) Doc() string { return kindTable[k].doc }

// Fields are its values.
func (k Kind) Fields() []Field {
	var all []Field
	for _, f := range kindTable[k].fields {
		all = append(all, f.Field)
	}
	return all
}

// Interfaces are the Player interfaces whose readings it is of.
func (k Kind) Interfaces() []player.Interface { return slices.Clone(kindTable[k].interfaces) }

// Kinds is a set of kinds.
type Kinds uint32

// Set is the set of k alone.
func (k Kind) Set() Kinds { return 1 << k }

// Has reports whether all kinds of o are in s.
func (s Kinds) Has(o Kinds) bool { return s&o == o }

// View is one reading as conditions see it: a *Laser, *Sonar, *Position and so
// on.
type View interface {
	// stamp notes whose reading it is.
	stamp(time float64, index int)
}

// single is a view of which each message is a reading.
type single interface {
	View
	// read takes a message; false if it is none of the readings that it is of.
	// last is the device's latest view, nil if there is none.
	read(m player.Reading, last View) bool
}

// State is one view of each kind, nil where there is none.
type State struct {
	Laser             *Laser             `expr:"laser"`
	Sonar             *Sonar             `expr:"sonar"`
	Position          *Position          `expr:"position"`
	Bumper            *Bumper            `expr:"bumper"`
	Fiducial          *Fiducial          `expr:"fiducial"`
	Power             *Power             `expr:"power"`
	GPS               *GPS               `expr:"gps"`
	IMU               *IMU               `expr:"imu"`
	Blobfinder        *Blobfinder        `expr:"blobfinder"`
	Gripper           *Gripper           `expr:"gripper"`
	Localize          *Localize          `expr:"localize"`
	IR                *IR                `expr:"ir"`
	PTZ               *PTZ               `expr:"ptz"`
	AIO               *AIO               `expr:"aio"`
	DIO               *DIO               `expr:"dio"`
	Joystick          *Joystick          `expr:"joystick"`
	Planner           *Planner           `expr:"planner"`
	Position1D        *Position1D        `expr:"position1d"`
	Actarray          *Actarray          `expr:"actarray"`
	Limb              *Limb              `expr:"limb"`
	Health            *Health            `expr:"health"`
	Wifi              *Wifi              `expr:"wifi"`
	RFID              *RFID              `expr:"rfid"`
	WSN               *WSN               `expr:"wsn"`
	SpeechRecognition *SpeechRecognition `expr:"speech_recognition"`
	Blinkenlight      *Blinkenlight      `expr:"blinkenlight"`
	Coopobject        *Coopobject        `expr:"coopobject"`
}

// Of returns the view of a kind, nil if there is none.
func (s *State) Of(k Kind) View { return kindTable[k].get(s) }

// set puts a view where its kind belongs.
func (s *State) set(k Kind, v View) { kindTable[k].set(s, v) }

// Interfaces are the Player interfaces whose readings conditions know: those
// that are worth opening.
func Interfaces() []player.Interface {
	var all []player.Interface
	for _, k := range kindTable {
		for _, i := range k.interfaces {
			if !slices.Contains(all, i) {
				all = append(all, i)
			}
		}
	}
	return all
}

// fieldsByType are the fields of views, by the type of their struct.
var fieldsByType = makeFieldsByType()

func makeFieldsByType() map[reflect.Type][]field {
	all := map[reflect.Type][]field{}
	for k := range kindTable {
		all[reflect.TypeOf(kindTable[k].make()).Elem()] = kindTable[k].fields
	}
	return all
}

// singleKinds are the kinds of interfaces each of whose messages is a reading.
var singleKinds = makeSingleKinds()

func makeSingleKinds() map[player.Interface]Kind {
	all := map[player.Interface]Kind{}
	for k := range kindTable {
		if _, ok := kindTable[k].make().(single); ok {
			for _, i := range kindTable[k].interfaces {
				all[i] = Kind(k)
			}
		}
	}
	return all
}
