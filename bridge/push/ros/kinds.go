package ros

import "callboard/player"

// Kind is a kind of topic on which a device's readings come. It is immutable.
type Kind struct {
	Name    string // of the topic, behind the robot's: base_scan
	Type    string // sensor_msgs/LaserScan
	Object  bool   // it is made of the reading's object, not of its messages
	Latched bool   // whoever subscribes gets the last message at once

	write func(e *Encoder, r *Reading) bool // false: the reading does not tell it
}

// Append appends a reading's message; false if the reading has nothing of what the
// topic is of.
func (k *Kind) Append(b []byte, f Format, r *Reading) ([]byte, bool) {
	r.encoder = Begin(b, f)
	if !k.write(&r.encoder, r) {
		return b, false
	}
	return r.encoder.Bytes(), true
}

// The kinds that several interfaces have.
var (
	scan   = &Kind{Name: "base_scan", Type: "sensor_msgs/LaserScan", write: writeScan}
	ring   = &Kind{Name: "sonar", Type: "sensor_msgs/PointCloud", write: writeRing}
	points = &Kind{Name: "sonar_points", Type: "sensor_msgs/PointCloud2", write: writePoints}
	odom   = &Kind{Name: "odom", Type: "nav_msgs/Odometry", write: writeOdometry}
	joints = &Kind{Name: "joint_states", Type: "sensor_msgs/JointState", write: writeJoints}
)

// kinds are those of interfaces whose readings ROS has messages for.
var kinds = map[player.Interface][]*Kind{
	player.InterfaceLaser:      {scan},
	player.InterfaceSonar:      {ring, points},
	player.InterfacePosition2D: {odom, {Name: "stall", Type: "std_msgs/Bool", write: writeStall}},
	player.InterfacePosition3D: {odom},
	player.InterfaceLocalize:   {{Name: "amcl_pose", Type: "geometry_msgs/PoseWithCovarianceStamped", write: writeLocalized}},
	player.InterfaceFiducial: {
		{Name: "fiducials", Type: "fiducial_msgs/FiducialTransformArray", write: writeFiducials},
		{Name: "fiducial_markers", Type: "visualization_msgs/MarkerArray", write: writeMarkers},
	},
	player.InterfaceBumper: {
		{Name: "bumper", Type: "std_msgs/Bool", write: writeBumper},
		{Name: "bumpers", Type: "std_msgs/UInt8MultiArray", write: writeBumpers},
	},
	player.InterfacePower: {{Name: "battery", Type: "sensor_msgs/BatteryState", Latched: true, write: writeBattery}},
	player.InterfaceGPS:   {{Name: "fix", Type: "sensor_msgs/NavSatFix", write: writeFix}},
	player.InterfaceIMU: {
		{Name: "imu/data", Type: "sensor_msgs/Imu", write: writeIMU},
		{Name: "imu/mag", Type: "sensor_msgs/MagneticField", write: writeMagnetic},
	},
	player.InterfacePTZ:        {joints},
	player.InterfaceActarray:   {joints},
	player.InterfacePosition1D: {joints},
	player.InterfaceJoystick:   {{Name: "joy", Type: "sensor_msgs/Joy", write: writeJoy}},
	player.InterfaceAIO:        {{Name: "aio", Type: "std_msgs/Float32MultiArray", write: writeAIO}},
	player.InterfaceDIO:        {{Name: "dio", Type: "std_msgs/UInt32", write: writeDIO}},
}

// KindsOf returns the kinds of topics that a device's readings come on: of an
// interface that ROS has no message for one of texts, the reading in JSON. A
// ranger's depend on how many elements it has.
func KindsOf(d *player.Device) []*Kind {
	if d.Interf == player.InterfaceRanger {
		switch {
		case d.Geometry == nil || len(d.Geometry.Elements) == 0:
			return nil // nobody knows yet what it is, and it gives no readings
		case len(d.Geometry.Elements) > 1:
			return kinds[player.InterfaceSonar]
		}
		return kinds[player.InterfaceLaser]
	}
	if of := kinds[d.Interf]; of != nil {
		return of
	}
	return []*Kind{{Name: d.Interf.String(), Type: "std_msgs/String", Object: true, write: writeObject}}
}

// Interfaces returns the interfaces whose readings may come on topics of a name.
func Interfaces(name string) []player.Interface {
	switch name {
	case scan.Name:
		return []player.Interface{player.InterfaceLaser, player.InterfaceRanger}
	case ring.Name, points.Name:
		return []player.Interface{player.InterfaceSonar, player.InterfaceRanger}
	}
	var out []player.Interface
	for i, of := range kinds {
		for _, k := range of {
			if k.Name == name {
				out = append(out, i)
			}
		}
	}
	if i, ok := player.ParseInterface(name); ok && len(out) == 0 && kinds[i] == nil {
		out = append(out, i)
	}
	return out
}

func writeObject(e *Encoder, r *Reading) bool {
	if r.Object == nil {
		return false
	}
	e.Text("data", r.Object)
	return true
}
