package player

// Pose is a position in m and an attitude in rad.
type Pose struct{ X, Y, Z, Roll, Pitch, Yaw float64 }

// Size is an extent in m: width (y), length (x), height (z), in Player's order.
type Size struct{ W, L, H float64 }

// Geometry is where a device sits on its robot and, for devices that have
// several elements (sonar rings, rangers), where each of them does.
type Geometry struct {
	Pose         Pose
	Size         Size
	Elements     []Pose
	ElementSizes []Size // of a ranger: as many as it tells
}

// RangerConfig is a ranger's configuration (ranger GET_CONFIG): angles in rad,
// ranges in m, frequency in Hz.
type RangerConfig struct {
	MinAngle, MaxAngle, AngularRes, MinRange, MaxRange, RangeRes, Frequency float64
}

// Device is an opened device of one robot, as known when its session began.
// It is immutable: a session that learns more makes another Device.
type Device struct {
	Addr
	Robot    string        // the robot's name in the network (Addr.Robot is the port)
	World    string        // the world it is in, "" if not known
	Driver   string        // the name of Player's driver
	Geometry *Geometry     // nil until known
	Config   *RangerConfig // rangers only; nil until known
}

// Reading is one data message of a device, decoded. Payload points to the
// message's struct in player/iface (for example *iface.LaserData) and is
// valid only during the call that hands the Reading over: whoever keeps
// values copies them.
type Reading struct {
	Device  *Device
	Subtype uint8
	Time    float64 // s, the message's timestamp
	Payload any
}
