package callboard

// Made of the views of conditions by go test ./clients/conformance -run TestReadings -rewrite.

// Laser is a reading: scans: of lasers, and of rangers with one element.
type Laser struct {
	Ranges      Floats  `json:"ranges"`      // m; the ranges; what is not finite or beyond the maximum is max_range
	Intensities Floats  `json:"intensities"` // the intensities, if the device gives any
	Count       int     `json:"count"`       // how many ranges
	Min         float64 `json:"min"`         // m; the nearest range; max_range for an empty scan
	Max         float64 `json:"max"`         // m; the farthest range; max_range for an empty scan
	Bearing     float64 `json:"bearing"`     // rad; the bearing of the nearest; 0 for an empty scan
	AngleMin    float64 `json:"angle_min"`   // rad; the bearing of the first range
	AngleMax    float64 `json:"angle_max"`   // rad; the bearing of the last range
	Resolution  float64 `json:"resolution"`  // rad; from one bearing to the next
	MaxRange    float64 `json:"max_range"`   // m; the maximum of the device
	Front       float64 `json:"front"`       // m; the nearest within ±30°
	Left        float64 `json:"left"`        // m; the nearest from 30° to 90°
	Right       float64 `json:"right"`       // m; the nearest from -90° to -30°
	Time        float64 `json:"time"`        // s; the time of the reading
	Index       int     `json:"index"`       // the index of the device
}

// Laser returns the reading if it is a Laser.
func (n *Notification) Laser() (r Laser, ok bool) {
	ok = n.read(&r, "angle_min", "laser", "ranger")
	return r, ok
}

// Sonar is a reading: rings of ranges: of sonars, and of rangers with several elements.
type Sonar struct {
	Ranges  Floats  `json:"ranges"`  // m; the ranges, one for each element
	Count   int     `json:"count"`   // how many ranges
	Min     float64 `json:"min"`     // m; the nearest range
	Max     float64 `json:"max"`     // m; the farthest range
	Nearest int     `json:"nearest"` // the number of the nearest element, from 0; -1 if there is none
	Bearing float64 `json:"bearing"` // rad; the bearing of the nearest element
	Time    float64 `json:"time"`    // s; the time of the reading
	Index   int     `json:"index"`   // the index of the device
}

// Sonar returns the reading if it is a Sonar.
func (n *Notification) Sonar() (r Sonar, ok bool) {
	ok = n.read(&r, "nearest", "sonar", "ranger")
	return r, ok
}

// Position is a reading: odometry: where the robot believes to be, and how fast it goes.
type Position struct {
	X      float64 `json:"x"`      // m; position
	Y      float64 `json:"y"`      // m; position
	Yaw    float64 `json:"yaw"`    // rad; heading
	Vx     float64 `json:"vx"`     // m/s; speed forward
	Vy     float64 `json:"vy"`     // m/s; speed to the left
	Vyaw   float64 `json:"vyaw"`   // rad/s; speed of turning
	Speed  float64 `json:"speed"`  // m/s; speed in any direction
	Stall  bool    `json:"stall"`  // the motors are stalled
	Z      float64 `json:"z"`      // m; height, of a position3d; 0 of a position2d, as the next five
	Roll   float64 `json:"roll"`   // rad; how far it leans to the right
	Pitch  float64 `json:"pitch"`  // rad; how far it leans forward
	Vz     float64 `json:"vz"`     // m/s; speed upward
	Vroll  float64 `json:"vroll"`  // rad/s; speed of rolling
	Vpitch float64 `json:"vpitch"` // rad/s; speed of pitching
	Time   float64 `json:"time"`   // s; the time of the reading
	Index  int     `json:"index"`  // the index of the device
}

// Position returns the reading if it is a Position.
func (n *Notification) Position() (r Position, ok bool) {
	ok = n.read(&r, "x", "position2d", "position3d")
	return r, ok
}

// Bumper is a reading: what touches.
type Bumper struct {
	Any     bool    `json:"any"`     // some bumper is pressed
	Pressed int     `json:"pressed"` // how many are pressed
	First   int     `json:"first"`   // the number of the first that is pressed, from 0; -1 if there is none
	Count   int     `json:"count"`   // how many bumpers
	Bumpers Floats  `json:"bumpers"` // what each says: 0 is free; what else is the driver's, as 1 or a corner's number
	Time    float64 `json:"time"`    // s; the time of the reading
	Index   int     `json:"index"`   // the index of the device
}

// Bumper returns the reading if it is a Bumper.
func (n *Notification) Bumper() (r Bumper, ok bool) {
	ok = n.read(&r, "pressed", "bumper")
	return r, ok
}

// Fiducial is a reading: marks that are seen; bearings and places are from the finder.
type Fiducial struct {
	Count    int     `json:"count"`    // how many marks
	ID       int     `json:"id"`       // the nearest one's number; -1 if there is none, or it is not identified
	Range    float64 `json:"range"`    // m; how far the nearest is; without end if there is none
	Bearing  float64 `json:"bearing"`  // rad; where the nearest is; no number if there is none, as what follows
	X        float64 `json:"x"`        // m; the nearest one's place
	Y        float64 `json:"y"`        // m; the nearest one's place
	Z        float64 `json:"z"`        // m; the nearest one's place
	Roll     float64 `json:"roll"`     // rad; the nearest one's attitude
	Pitch    float64 `json:"pitch"`    // rad; the nearest one's attitude
	Yaw      float64 `json:"yaw"`      // rad; the nearest one's heading
	Nearest  int     `json:"nearest"`  // which one of the lists is nearest, from 0; -1 if there is none
	IDs      Floats  `json:"ids"`      // the number of each
	Ranges   Floats  `json:"ranges"`   // m; how far each is
	Bearings Floats  `json:"bearings"` // rad; where each is
	Xs       Floats  `json:"xs"`       // m; the place of each
	Ys       Floats  `json:"ys"`       // m; the place of each
	Yaws     Floats  `json:"yaws"`     // rad; the heading of each
	Time     float64 `json:"time"`     // s; the time of the reading
	Index    int     `json:"index"`    // the index of the device
}

// Fiducial returns the reading if it is a Fiducial.
func (n *Notification) Fiducial() (r Fiducial, ok bool) {
	ok = n.read(&r, "count", "fiducial")
	return r, ok
}

// Power is a reading: a battery; what it does not tell is no number.
type Power struct {
	Percent  float64 `json:"percent"`  // %; how full it is
	Volts    float64 `json:"volts"`    // V; its voltage
	Watts    float64 `json:"watts"`    // W; what is drawn
	Joules   float64 `json:"joules"`   // J; what it holds
	Charging int     `json:"charging"` // 1: it is charged, -1: it gives, 0: neither
	Valid    int     `json:"valid"`    // what the driver tells: 1 volts + 2 watts + 4 joules + 8 percent + 16 charging
	Time     float64 `json:"time"`     // s; the time of the reading
	Index    int     `json:"index"`    // the index of the device
}

// Power returns the reading if it is a Power.
func (n *Notification) Power() (r Power, ok bool) {
	ok = n.read(&r, "percent", "power")
	return r, ok
}

// GPS is a reading: a fix.
type GPS struct {
	Latitude  float64 `json:"latitude"`  // deg; north of the equator is positive
	Longitude float64 `json:"longitude"` // deg; east of Greenwich is positive
	Altitude  float64 `json:"altitude"`  // m; above the ellipsoid or the sea, as the device has it
	Fix       bool    `json:"fix"`       // the device knows where it is
	Quality   int     `json:"quality"`   // 0: no fix, 1: GPS, 2: differential GPS
	NumSats   int     `json:"num_sats"`  // how many satellites
	Speed     float64 `json:"speed"`     // m/s; over ground
	Course    float64 `json:"course"`    // rad; over ground
	UtmE      float64 `json:"utm_e"`     // m; place on the UTM grid
	UtmN      float64 `json:"utm_n"`     // m; place on the UTM grid
	Hdop      float64 `json:"hdop"`      // horizontal dilution of precision
	Vdop      float64 `json:"vdop"`      // vertical dilution of precision
	ErrHorz   float64 `json:"err_horz"`  // m; horizontal error
	ErrVert   float64 `json:"err_vert"`  // m; vertical error
	UTC       float64 `json:"utc"`       // s; the time of the fix, since 1970
	Time      float64 `json:"time"`      // s; the time of the reading
	Index     int     `json:"index"`     // the index of the device
}

// GPS returns the reading if it is a GPS.
func (n *Notification) GPS() (r GPS, ok bool) {
	ok = n.read(&r, "latitude", "gps")
	return r, ok
}

// IMU is a reading: an inertial unit. Each message is a reading; what it does not tell stands as the unit told it last, and is no number until it did.
type IMU struct {
	Roll       float64 `json:"roll"`        // rad; attitude
	Pitch      float64 `json:"pitch"`       // rad; attitude
	Yaw        float64 `json:"yaw"`         // rad; heading
	Tilt       float64 `json:"tilt"`        // rad; how far its upward axis leans from the vertical
	Accel      float64 `json:"accel"`       // m/s²; acceleration in any direction
	AccelX     float64 `json:"accel_x"`     // m/s²; acceleration
	AccelY     float64 `json:"accel_y"`     // m/s²; acceleration
	AccelZ     float64 `json:"accel_z"`     // m/s²; acceleration
	GyroX      float64 `json:"gyro_x"`      // rad/s; speed of turning about x
	GyroY      float64 `json:"gyro_y"`      // rad/s; speed of turning about y
	GyroZ      float64 `json:"gyro_z"`      // rad/s; speed of turning about z
	MagnX      float64 `json:"magn_x"`      // magnetic field
	MagnY      float64 `json:"magn_y"`      // magnetic field
	MagnZ      float64 `json:"magn_z"`      // magnetic field
	X          float64 `json:"x"`           // m; place
	Y          float64 `json:"y"`           // m; place
	Z          float64 `json:"z"`           // m; place
	Vx         float64 `json:"vx"`          // m/s; speed
	Vy         float64 `json:"vy"`          // m/s; speed
	Vz         float64 `json:"vz"`          // m/s; speed
	AccelRoll  float64 `json:"accel_roll"`  // rad/s²; acceleration of turning
	AccelPitch float64 `json:"accel_pitch"` // rad/s²; acceleration of turning
	AccelYaw   float64 `json:"accel_yaw"`   // rad/s²; acceleration of turning
	Q0         float64 `json:"q0"`          // attitude as a quaternion, the real part
	Q1         float64 `json:"q1"`          // attitude as a quaternion
	Q2         float64 `json:"q2"`          // attitude as a quaternion
	Q3         float64 `json:"q3"`          // attitude as a quaternion
	Time       float64 `json:"time"`        // s; the time of the reading
	Index      int     `json:"index"`       // the index of the device
}

// IMU returns the reading if it is a IMU.
func (n *Notification) IMU() (r IMU, ok bool) {
	ok = n.read(&r, "roll", "imu")
	return r, ok
}

// Blobfinder is a reading: patches of colour in an image.
type Blobfinder struct {
	Count   int     `json:"count"`   // how many patches
	ID      int     `json:"id"`      // of the largest, the number of its colour, from the driver; -1 if there is none
	Color   int     `json:"color"`   // of the largest, its colour, 0xRRGGBB; -1 if there is none
	Area    float64 `json:"area"`    // px; of the largest, its area; 0 if there is none
	X       float64 `json:"x"`       // px; of the largest, its centre; no number if there is none, as what follows
	Y       float64 `json:"y"`       // px; of the largest, its centre
	Left    float64 `json:"left"`    // px; of the largest, its border
	Right   float64 `json:"right"`   // px; of the largest, its border
	Top     float64 `json:"top"`     // px; of the largest, its border
	Bottom  float64 `json:"bottom"`  // px; of the largest, its border
	Range   float64 `json:"range"`   // m; of the largest, how far it is, if the driver knows
	Largest int     `json:"largest"` // which one of the lists is the largest, from 0; -1 if there is none
	Width   int     `json:"width"`   // px; of the image
	Height  int     `json:"height"`  // px; of the image
	IDs     Floats  `json:"ids"`     // the number of the colour of each
	Colors  Floats  `json:"colors"`  // the colour of each, 0xRRGGBB
	Areas   Floats  `json:"areas"`   // px; the area of each
	Xs      Floats  `json:"xs"`      // px; the centre of each
	Ys      Floats  `json:"ys"`      // px; the centre of each
	Ranges  Floats  `json:"ranges"`  // m; how far each is
	Time    float64 `json:"time"`    // s; the time of the reading
	Index   int     `json:"index"`   // the index of the device
}

// Blobfinder returns the reading if it is a Blobfinder.
func (n *Notification) Blobfinder() (r Blobfinder, ok bool) {
	ok = n.read(&r, "count", "blobfinder")
	return r, ok
}

// Gripper is a reading: a gripper.
type Gripper struct {
	Open   bool    `json:"open"`   // it is open
	Closed bool    `json:"closed"` // it is closed
	Moving bool    `json:"moving"` // it opens or closes
	Error  bool    `json:"error"`  // it has failed
	State  int     `json:"state"`  // 1: open, 2: closed, 3: moving, 4: error
	Broken int     `json:"broken"` // how many light barriers something breaks
	Beams  int     `json:"beams"`  // the light barriers as bits, 1: broken
	Stored int     `json:"stored"` // how many objects it stores
	Time   float64 `json:"time"`   // s; the time of the reading
	Index  int     `json:"index"`  // the index of the device
}

// Gripper returns the reading if it is a Gripper.
func (n *Notification) Gripper() (r Gripper, ok bool) {
	ok = n.read(&r, "state", "gripper")
	return r, ok
}

// Localize is a reading: where the robot may be on a map.
type Localize struct {
	Count        int     `json:"count"`         // how many poses
	X            float64 `json:"x"`             // m; of the likeliest; no number if there is none, as the next four
	Y            float64 `json:"y"`             // m; of the likeliest
	Yaw          float64 `json:"yaw"`           // rad; of the likeliest
	Alpha        float64 `json:"alpha"`         // its weight
	Spread       float64 `json:"spread"`        // m; how far off it may be, as a standard deviation
	PendingCount int     `json:"pending_count"` // observations that are not used yet
	PendingTime  float64 `json:"pending_time"`  // s; of the last observation that is used
	Cov          Floats  `json:"cov"`           // the likeliest one's covariance: xx, yy, aa, xy, ya, xa
	Xs           Floats  `json:"xs"`            // m; of each
	Ys           Floats  `json:"ys"`            // m; of each
	Yaws         Floats  `json:"yaws"`          // rad; of each
	Alphas       Floats  `json:"alphas"`        // the weight of each
	Time         float64 `json:"time"`          // s; the time of the reading
	Index        int     `json:"index"`         // the index of the device
}

// Localize returns the reading if it is a Localize.
func (n *Notification) Localize() (r Localize, ok bool) {
	ok = n.read(&r, "count", "localize")
	return r, ok
}
