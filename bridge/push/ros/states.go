package ros

import (
	"math"
	"strconv"

	"callboard/player"
	"callboard/player/iface"
)

func writeBumper(e *Encoder, r *Reading) bool {
	p := payloadOf[iface.BumperData](r)
	if p == nil {
		return false
	}
	any := false
	for _, b := range p.Bumpers {
		any = any || b != 0
	}
	e.Bool("data", any)
	return true
}

// layout writes the layout of an array of one dimension.
func layout(e *Encoder, n int) {
	e.Begin("layout")
	e.Array("dim", 1)
	e.Begin("")
	e.String("label", "")
	e.Uint32("size", uint32(n))
	e.Uint32("stride", uint32(n))
	e.End()
	e.EndArray()
	e.Uint32("data_offset", 0)
	e.End()
}

func writeBumpers(e *Encoder, r *Reading) bool {
	p := payloadOf[iface.BumperData](r)
	if p == nil {
		return false
	}
	layout(e, len(p.Bumpers))
	e.Uint8s("data", p.Bumpers)
	return true
}

// writeBattery writes a battery. What the device does not know is no number.
func writeBattery(e *Encoder, r *Reading) bool {
	p := payloadOf[iface.PowerData](r)
	if p == nil {
		return false
	}
	has := func(mask uint32, v float64) float32 {
		if p.Valid&mask == 0 {
			return float32(math.NaN())
		}
		return float32(v)
	}
	unknown := float32(math.NaN())
	status := uint8(0)
	if p.Valid&iface.PowerMaskCharging != 0 {
		switch p.Charging {
		case 1:
			status = 1
		case -1:
			status = 2
		case 0:
			status = 3
		}
	}
	r.header(e, FrameBase)
	e.Float32("voltage", has(iface.PowerMaskVolts, float64(p.Volts)))
	e.Float32("temperature", unknown)
	e.Float32("current", has(iface.PowerMaskVolts, 1)*has(iface.PowerMaskWatts, -float64(p.Watts)/float64(p.Volts)))
	e.Float32("charge", unknown)
	e.Float32("capacity", unknown)
	e.Float32("design_capacity", unknown)
	e.Float32("percentage", has(iface.PowerMaskPercent, float64(p.Percent)/100))
	e.Uint8("power_supply_status", status)
	e.Uint8("power_supply_health", 0)
	e.Uint8("power_supply_technology", 0)
	e.Bool("present", true)
	Float32s(e, "cell_voltage", []float32(nil))
	Float32s(e, "cell_temperature", []float32(nil))
	e.String("location", "")
	e.String("serial_number", "")
	return true
}

func writeFix(e *Encoder, r *Reading) bool {
	p := payloadOf[iface.GPSData](r)
	if p == nil {
		return false
	}
	status := int8(-1)
	switch p.Quality {
	case 0:
	case 2:
		status = 2
	default:
		status = 0
	}
	h, v := finite(p.ErrHorz), finite(p.ErrVert)
	known := uint8(0)
	if h > 0 || v > 0 {
		known = 2
	}
	r.header(e, FrameBase)
	e.Begin("status")
	e.Int8("status", status)
	e.Uint16("service", 1)
	e.End()
	e.Float64("latitude", float64(p.Latitude)/1e7)
	e.Float64("longitude", float64(p.Longitude)/1e7)
	e.Float64("altitude", float64(p.Altitude)/1e3)
	e.Float64s("position_covariance", []float64{h * h, 0, 0, 0, h * h, 0, 0, 0, v * v}, true)
	e.Uint8("position_covariance_type", known)
	return true
}

// inertial is what a message of an inertial unit has; nil: it has none.
type inertial struct {
	attitude     *[4]float64
	turn         *[3]float64
	acceleration *[3]float64
	magnetic     *[3]float64
}

func (i *inertial) calibrated(c *iface.IMUDataCalib) {
	i.acceleration = &[3]float64{float64(c.AccelX), float64(c.AccelY), float64(c.AccelZ)}
	i.turn = &[3]float64{float64(c.GyroX), float64(c.GyroY), float64(c.GyroZ)}
	i.magnetic = &[3]float64{float64(c.MagnX), float64(c.MagnY), float64(c.MagnZ)}
}

func (r *Reading) inertial() (i inertial, ok bool) {
	attitude := func(p player.Pose) *[4]float64 {
		q := Quaternion(p.Roll, p.Pitch, p.Yaw)
		return &q
	}
	switch p := r.last().(type) {
	case *iface.IMUDataState:
		i.attitude = attitude(p.Pose.Pose())
	case *iface.IMUDataCalib:
		i.calibrated(p)
	case *iface.IMUDataQuat:
		i.calibrated(&p.CalibData)
		i.attitude = &[4]float64{float64(p.Q1), float64(p.Q2), float64(p.Q3), float64(p.Q0)} // Player's first is w
	case *iface.IMUDataEuler:
		i.calibrated(&p.CalibData)
		i.attitude = attitude(player.Pose{Roll: p.Orientation.Proll, Pitch: p.Orientation.Ppitch, Yaw: p.Orientation.Pyaw})
	case *iface.IMUDataFullstate:
		i.attitude = attitude(p.Pose.Pose())
		i.turn = &[3]float64{p.Vel.Proll, p.Vel.Ppitch, p.Vel.Pyaw}
		i.acceleration = &[3]float64{p.Acc.Px, p.Acc.Py, p.Acc.Pz}
	default:
		return i, false
	}
	return i, true
}

// covariance writes one of which nothing is known, or that there is no value.
func covariance(e *Encoder, name string, there bool) {
	var c [9]float64
	if !there {
		c[0] = -1
	}
	e.Float64s(name, c[:], true)
}

func writeIMU(e *Encoder, r *Reading) bool {
	i, ok := r.inertial()
	if !ok {
		return false
	}
	three := func(name string, v *[3]float64) {
		there := v != nil
		if !there {
			v = &[3]float64{}
		}
		vector(e, name, v[0], v[1], v[2])
		covariance(e, name+"_covariance", there)
	}
	r.header(e, FrameBase)
	q := i.attitude
	if q == nil {
		q = &[4]float64{3: 1}
	}
	e.Begin("orientation")
	for n, name := range [4]string{"x", "y", "z", "w"} {
		e.Float64(name, q[n])
	}
	e.End()
	covariance(e, "orientation_covariance", i.attitude != nil)
	three("angular_velocity", i.turn)
	three("linear_acceleration", i.acceleration)
	return true
}

func writeMagnetic(e *Encoder, r *Reading) bool {
	i, ok := r.inertial()
	if !ok || i.magnetic == nil {
		return false
	}
	r.header(e, FrameBase)
	vector(e, "magnetic_field", i.magnetic[0], i.magnetic[1], i.magnetic[2])
	covariance(e, "magnetic_field_covariance", true)
	return true
}

// writeJoints writes what has joints: a camera head, an array of actuators, a
// single one.
func writeJoints(e *Encoder, r *Reading) bool {
	var names []string
	var at, speed []float64
	add := func(name string, position, velocity float32) {
		names, at, speed = append(names, name), append(at, float64(position)), append(speed, float64(velocity))
	}
	switch p := r.last().(type) {
	case *iface.PTZData:
		add("pan", p.Pan, p.PanSpeed)
		add("tilt", p.Tilt, p.TiltSpeed)
	case *iface.Position1DData:
		add("joint_0", p.Pos, p.Vel)
	case *iface.ActarrayData:
		for i := range p.Actuators {
			add("joint_"+strconv.Itoa(i), p.Actuators[i].Position, p.Actuators[i].Speed)
		}
	default:
		return false
	}
	r.header(e, "")
	e.Strings("name", names)
	e.Float64s("position", at, false)
	e.Float64s("velocity", speed, false)
	e.Float64s("effort", nil, false)
	return true
}

// last is the payload of the reading's last message.
func (r *Reading) last() any {
	if len(r.payloads) == 0 {
		return nil
	}
	return r.payloads[len(r.payloads)-1]
}

func writeJoy(e *Encoder, r *Reading) bool {
	p := payloadOf[iface.JoystickData](r)
	if p == nil {
		return false
	}
	n := min(int(p.AxesCount), len(p.Pos))
	axes := make([]float32, n)
	for i := range axes {
		if p.Scale[i] != 0 {
			axes[i] = float32(p.Pos[i]) / float32(p.Scale[i])
		}
	}
	buttons := make([]int32, 32)
	for i := range buttons {
		buttons[i] = int32(p.Buttons >> i & 1)
	}
	r.header(e, FrameBase)
	Float32s(e, "axes", axes)
	e.Int32s("buttons", buttons)
	return true
}

func writeAIO(e *Encoder, r *Reading) bool {
	p := payloadOf[iface.AIOData](r)
	if p == nil {
		return false
	}
	layout(e, len(p.Voltages))
	Float32s(e, "data", p.Voltages)
	return true
}

func writeDIO(e *Encoder, r *Reading) bool {
	p := payloadOf[iface.DIOData](r)
	if p == nil {
		return false
	}
	e.Uint32("data", p.Bits)
	return true
}
