package player

import "strconv"

// names of Player's interfaces by code. Codes that are missing have no
// interface in Player 3.1.1.
var names = map[Interface]string{
	1: "player", 2: "power", 3: "gripper", 4: "position2d", 5: "sonar", 6: "laser",
	7: "blobfinder", 8: "ptz", 9: "audio", 10: "fiducial", 12: "speech", 13: "gps",
	14: "bumper", 20: "dio", 21: "aio", 22: "ir", 23: "wifi", 25: "localize",
	30: "position3d", 31: "simulation", 33: "blinkenlight", 40: "camera", 42: "map", 44: "planner",
	45: "log", 49: "joystick", 50: "speech_recognition", 51: "opaque", 52: "position1d", 53: "actarray",
	54: "limb", 55: "graphics2d", 56: "rfid", 57: "wsn", 58: "graphics3d", 59: "health",
	60: "imu", 61: "pointcloud3d", 62: "ranger", 63: "vectormap", 64: "blackboard", 65: "stereo",
	66: "coopobject",
}

// String gives the interface's name, or its number if it has none.
func (i Interface) String() string {
	if s, ok := names[i]; ok {
		return s
	}
	return strconv.Itoa(int(i))
}

// ParseInterface gives the code of an interface name.
func ParseInterface(name string) (Interface, bool) {
	for code, s := range names {
		if s == name {
			return code, true
		}
	}
	return 0, false
}
