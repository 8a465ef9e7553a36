package iface

import "callboard/player"

// Subtypes of the localize interface (code 25).
const (
	DataLocalizeHypoths     uint8 = 1
	ReqLocalizeSetPose      uint8 = 1
	ReqLocalizeGetParticles uint8 = 2
)

// LocalizeHypoth is a pose that the robot may have. Cov is xx, yy, aa, xy, ya,
// xa.
type LocalizeHypoth struct {
	Mean  Pose2D     // m, m, rad
	Cov   [6]float64 // m², m², rad², m², m·rad, m·rad
	Alpha float64    // weight
}

// LocalizeData is the poses that the robot may have, and how far behind the
// estimate is.
type LocalizeData struct {
	PendingCount uint32  // observations that are not yet used
	PendingTime  float64 // s, of the last that is used
	Hypoths      []LocalizeHypoth
}

// LocalizeSetPose tells the localizer where the robot is. Cov is as in a
// LocalizeHypoth.
type LocalizeSetPose struct {
	Mean Pose2D     // m, m, rad
	Cov  [6]float64 // m², m², rad², m², m·rad, m·rad
}

// LocalizeParticle is a particle of the filter.
type LocalizeParticle struct {
	Pose  Pose2D  // m, m, rad
	Alpha float64 // weight
}

// LocalizeGetParticles is the particles of the filter, with their mean.
type LocalizeGetParticles struct {
	Mean      Pose2D // m, m, rad
	Variance  float64
	Particles []LocalizeParticle
}

var localizeMessages = []entry{
	{player.Data, DataLocalizeHypoths, "HYPOTHS", body[LocalizeData]},
	{player.Request, ReqLocalizeSetPose, "SET_POSE", body[LocalizeSetPose]},
	{player.Request, ReqLocalizeGetParticles, "GET_PARTICLES", body[LocalizeGetParticles]},
}
