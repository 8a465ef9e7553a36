package player

import "strconv"

// Interface codes: all that Player 3.1.1 has.
const (
	InterfacePlayer            Interface = 1
	InterfacePower             Interface = 2
	InterfaceGripper           Interface = 3
	InterfacePosition2D        Interface = 4
	InterfaceSonar             Interface = 5
	InterfaceLaser             Interface = 6
	InterfaceBlobfinder        Interface = 7
	InterfacePTZ               Interface = 8
	InterfaceAudio             Interface = 9
	InterfaceFiducial          Interface = 10
	InterfaceSpeech            Interface = 12
	InterfaceGPS               Interface = 13
	InterfaceBumper            Interface = 14
	InterfaceDIO               Interface = 20
	InterfaceAIO               Interface = 21
	InterfaceIR                Interface = 22
	InterfaceWifi              Interface = 23
	InterfaceLocalize          Interface = 25
	InterfacePosition3D        Interface = 30
	InterfaceSimulation        Interface = 31
	InterfaceBlinkenlight      Interface = 33
	InterfaceCamera            Interface = 40
	InterfaceMap               Interface = 42
	InterfacePlanner           Interface = 44
	InterfaceLog               Interface = 45
	InterfaceJoystick          Interface = 49
	InterfaceSpeechRecognition Interface = 50
	InterfaceOpaque            Interface = 51
	InterfacePosition1D        Interface = 52
	InterfaceActarray          Interface = 53
	InterfaceLimb              Interface = 54
	InterfaceGraphics2D        Interface = 55
	InterfaceRFID              Interface = 56
	InterfaceWSN               Interface = 57
	InterfaceGraphics3D        Interface = 58
	InterfaceHealth            Interface = 59
	InterfaceIMU               Interface = 60
	InterfacePointcloud3D      Interface = 61
	InterfaceRanger            Interface = 62
	InterfaceVectormap         Interface = 63
	InterfaceBlackboard        Interface = 64
	InterfaceStereo            Interface = 65
	InterfaceCoopobject        Interface = 66
)

// names of Player's interfaces by code. Codes that are missing have no
// interface in Player 3.1.1.
var names = map[Interface]string{
	InterfacePlayer:            "player",
	InterfacePower:             "power",
	InterfaceGripper:           "gripper",
	InterfacePosition2D:        "position2d",
	InterfaceSonar:             "sonar",
	InterfaceLaser:             "laser",
	InterfaceBlobfinder:        "blobfinder",
	InterfacePTZ:               "ptz",
	InterfaceAudio:             "audio",
	InterfaceFiducial:          "fiducial",
	InterfaceSpeech:            "speech",
	InterfaceGPS:               "gps",
	InterfaceBumper:            "bumper",
	InterfaceDIO:               "dio",
	InterfaceAIO:               "aio",
	InterfaceIR:                "ir",
	InterfaceWifi:              "wifi",
	InterfaceLocalize:          "localize",
	InterfacePosition3D:        "position3d",
	InterfaceSimulation:        "simulation",
	InterfaceBlinkenlight:      "blinkenlight",
	InterfaceCamera:            "camera",
	InterfaceMap:               "map",
	InterfacePlanner:           "planner",
	InterfaceLog:               "log",
	InterfaceJoystick:          "joystick",
	InterfaceSpeechRecognition: "speech_recognition",
	InterfaceOpaque:            "opaque",
	InterfacePosition1D:        "position1d",
	InterfaceActarray:          "actarray",
	InterfaceLimb:              "limb",
	InterfaceGraphics2D:        "graphics2d",
	InterfaceRFID:              "rfid",
	InterfaceWSN:               "wsn",
	InterfaceGraphics3D:        "graphics3d",
	InterfaceHealth:            "health",
	InterfaceIMU:               "imu",
	InterfacePointcloud3D:      "pointcloud3d",
	InterfaceRanger:            "ranger",
	InterfaceVectormap:         "vectormap",
	InterfaceBlackboard:        "blackboard",
	InterfaceStereo:            "stereo",
	InterfaceCoopobject:        "coopobject",
}

// String returns the interface's name, or its number if it has none.
func (i Interface) String() string {
	if s, ok := names[i]; ok {
		return s
	}
	return strconv.Itoa(int(i))
}

// ParseInterface returns the code of an interface name.
func ParseInterface(name string) (Interface, bool) {
	for code, s := range names {
		if s == name {
			return code, true
		}
	}
	return 0, false
}
