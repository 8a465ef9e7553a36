package iface_test

import (
	"slices"

	"callboard/player"
	"callboard/player/iface"
)

// What the client library and the server print of the further interfaces; see
// values_test.go and sent_test.go.

func orient(o iface.Orientation3D) any { return nums(o.Proll, o.Ppitch, o.Pyaw) }
func point3(p iface.Point3D) any       { return nums(p.Px, p.Py, p.Pz) }

// text is a text as the library prints it.
func text(s string) string { return iface.GoString(s) }

// further is what the client library keeps of a DATA message; state is what it
// kept before.
func further(state fields, payload any) fields {
	switch p := payload.(type) {
	case *iface.PowerData:
		return fields{"valid": u32(p.Valid), "charge": f32(p.Volts), "percent": f32(p.Percent), "joules": f32(p.Joules),
			"watts": f32(p.Watts), "charging": i32(p.Charging)}
	case *iface.GripperData:
		return fields{"state": u8(p.State), "beams": u32(p.Beams), "stored": u8(p.Stored)}
	case *iface.BlobfinderData:
		return fields{"width": u32(p.Width), "height": u32(p.Height), "blobs_count": float64(len(p.Blobs)), "blobs": blobs(p.Blobs)}
	case *iface.PTZData:
		return fields{"pan": f32(p.Pan), "tilt": f32(p.Tilt), "zoom": f32(p.Zoom)} // its status comes by request
	case *iface.FiducialData:
		return fields{"fiducials_count": float64(len(p.Fiducials)), "fiducials": fiducials(p.Fiducials)}
	case *iface.GPSData:
		return fields{"utc_time": float64(p.TimeSec) + float64(p.TimeUsec)*1e-6, "lat": float64(p.Latitude) / 1e7,
			"lon": float64(p.Longitude) / 1e7, "alt": float64(p.Altitude) / 1e3, "speed": p.Speed, "course": p.Course,
			"utm_e": p.UTME / 100, "utm_n": p.UTMN / 100, // it takes them for cm
			"hdop": float64(p.HDOP) / 10, "vdop": float64(p.VDOP) / 10,
			"err_horz": p.ErrHorz, "err_vert": p.ErrVert, "quality": float64(int32(p.Quality)), "sat_count": u32(p.NumSats)}
	case *iface.BumperData:
		return fields{"bumper_count": float64(len(p.Bumpers)), "bumpers": list(p.Bumpers, u8)}
	case *iface.DIOData:
		return fields{"count": u32(p.Count), "digin": u32(p.Bits)}
	case *iface.AIOData:
		return fields{"voltages_count": float64(len(p.Voltages)), "voltages": list(p.Voltages, f32)}
	case *iface.IRData:
		return fields{"ranges": list(p.Ranges, f32), "voltages": list(p.Voltages, f32)}
	case *iface.WifiData:
		return fields{"link_count": float64(len(p.Links)), "links": links(p.Links)}
	case *iface.LocalizeData:
		return fields{"pending_count": u32(p.PendingCount), "pending_time": p.PendingTime,
			"hypoth_count": float64(len(p.Hypoths)), "hypoths": hypoths(p.Hypoths)}
	case *iface.Position3DData:
		return fields{"pos": pose3(p.Pos), "vel": pose3(p.Vel), "stall": u8(p.Stall)}
	case *iface.Position1DData:
		return fields{"pos": f32(p.Pos), "vel": f32(p.Vel), "stall": u8(p.Stall), "status": u8(p.Status)}
	case *iface.CameraData:
		return fields{"width": u32(p.Width), "height": u32(p.Height), "bpp": u32(p.BPP), "format": u32(p.Format),
			"fdiv": u32(p.Fdiv), "compression": u32(p.Compression), "image_count": float64(len(p.Image))}
	case *iface.PlannerData:
		return fields{"path_valid": u8(p.Valid), "path_done": u8(p.Done), "px": p.Pos.Px, "py": p.Pos.Py, "pa": p.Pos.Pa,
			"gx": p.Goal.Px, "gy": p.Goal.Py, "ga": p.Goal.Pa, "wx": p.Waypoint.Px, "wy": p.Waypoint.Py, "wa": p.Waypoint.Pa,
			"curr_waypoint": i32(p.WaypointIdx)}
	case *iface.JoystickData:
		return fields{"axes_count": u32(p.AxesCount), "buttons": u32(p.Buttons), "pos": list(p.Pos[:p.AxesCount], i32)}
	case *iface.OpaqueData:
		return fields{"data": list(p.Data, u8)}
	case *iface.ActarrayData:
		return fields{"motor_state": u8(p.MotorState), "actuators": actuators(p.Actuators)}
	case *iface.Pointcloud3DData:
		return fields{"points_count": float64(len(p.Points))}
	}
	return imu(state, payload)
}

// imu is that of the five kinds of data of an imu.
func imu(state fields, payload any) fields {
	calib := func(c iface.IMUDataCalib, more fields) fields {
		more["calib"] = nums(f32(c.AccelX), f32(c.AccelY), f32(c.AccelZ), f32(c.GyroX), f32(c.GyroY), f32(c.GyroZ),
			f32(c.MagnX), f32(c.MagnY), f32(c.MagnZ))
		return more
	}
	switch p := payload.(type) {
	case *iface.IMUDataState:
		return fields{"pose": pose3(p.Pose)}
	case *iface.IMUDataCalib:
		return calib(*p, fields{})
	case *iface.IMUDataQuat:
		return calib(p.CalibData, fields{"q": nums(f32(p.Q0), f32(p.Q1), f32(p.Q2), f32(p.Q3))})
	case *iface.IMUDataEuler:
		pose := append(kept(state, "pose", 3), orient(p.Orientation).([]any)...)
		return calib(p.CalibData, fields{"pose": pose})
	case *iface.IMUDataFullstate:
		acc := pose3(p.Acc).([]any)
		calib := append(slices.Clone(acc[:3]), kept(state, "calib", 9)[3:]...)
		return fields{"pose": pose3(p.Pose), "vel": pose3(p.Vel), "acc": acc, "calib": calib}
	}
	return nil
}

// kept returns the first n numbers of what was kept under a name, zeros at first.
func kept(state fields, name string, n int) []any {
	if before, ok := state[name].([]any); ok {
		return slices.Clone(before[:n])
	}
	return list(make([]float64, n), f64)
}

func blobs(all []iface.BlobfinderBlob) []any {
	out := []any{}
	for _, b := range all {
		out = append(out, map[string]any{"id": u32(b.ID), "color": u32(b.Color), "area": u32(b.Area), "x": u32(b.X), "y": u32(b.Y),
			"left": u32(b.Left), "right": u32(b.Right), "top": u32(b.Top), "bottom": u32(b.Bottom), "range": f32(b.Range)})
	}
	return out
}

func fiducials(all []iface.FiducialItem) []any {
	out := []any{}
	for _, f := range all {
		out = append(out, map[string]any{"id": i32(f.ID), "pose": pose3(f.Pose), "upose": pose3(f.UPose)})
	}
	return out
}

func links(all []iface.WifiLink) []any {
	out := []any{}
	for _, l := range all {
		out = append(out, map[string]any{"mac": text(l.MAC), "ip": text(l.IP), "essid": text(l.ESSID), "mode": u32(l.Mode),
			"freq": u32(l.Freq), "encrypt": u32(l.Encrypt), "qual": u32(l.Qual), "level": u32(l.Level), "noise": u32(l.Noise)})
	}
	return out
}

func hypoths(all []iface.LocalizeHypoth) []any {
	out := []any{}
	for i, h := range all {
		out = append(out, map[string]any{"i": float64(i), "mean": pose2(h.Mean), "cov": nums(h.Cov[:]...), "alpha": h.Alpha})
	}
	return out
}

func actuators(all []iface.ActarrayActuator) []any {
	out := []any{}
	for _, a := range all {
		out = append(out, map[string]any{"state": u8(a.State), "position": f32(a.Position), "speed": f32(a.Speed),
			"acceleration": f32(a.Acceleration), "current": f32(a.Current)})
	}
	return out
}

// entry is a blackboard's entry as the library shows it.
func entry(p any) fields {
	e := p.(*iface.BlackboardEntry)
	return fields{"entry": map[string]any{"key_count": float64(len(e.Key)), "group_count": float64(len(e.Group)),
		"key": text(e.Key), "group": text(e.Group), "type": float64(e.Type), "subtype": float64(e.Subtype),
		"data_count": float64(len(e.Data)), "data": list(e.Data, u8),
		"timestamp_sec": u32(e.TimestampSec), "timestamp_usec": u32(e.TimestampUsec)}}
}

var furtherReplies = map[string]reply{
	"map_tile": {player.InterfaceMap, iface.ReqMapGetData, func(p any) fields {
		d := p.(*iface.MapData)
		return fields{"col": u32(d.Col), "row": u32(d.Row), "width": u32(d.Width), "height": u32(d.Height),
			"data_range": float64(d.DataRange), "zlib_bytes": float64(len(d.Data))}
	}},
	"map_vector": {player.InterfaceMap, iface.ReqMapGetVector, func(p any) fields {
		d := p.(*iface.MapDataVector)
		segments := []any{}
		for _, s := range d.Segments {
			segments = append(segments, nums(s.X0, s.Y0, s.X1, s.Y1))
		}
		return fields{"extent": nums(f32(d.MinX), f32(d.MinY), f32(d.MaxX), f32(d.MaxY)), "num_segments": float64(len(segments)), "segments": segments}
	}},
	"act_geom": {player.InterfaceActarray, iface.ReqActarrayGetGeom, func(p any) fields {
		out := []any{}
		for _, a := range p.(*iface.ActarrayGeom).Actuators {
			out = append(out, map[string]any{"type": u8(a.Type), "length": f32(a.Length), "orientation": orient(a.Orientation),
				"axis": point3(a.Axis), "min": f32(a.Min), "centre": f32(a.Centre), "max": f32(a.Max), "home": f32(a.Home),
				"config_speed": f32(a.ConfigSpeed), "hasbrakes": u8(a.HasBrakes)})
		}
		return fields{"count": float64(len(out)), "actuators_geom": out}
	}},
	"bump_geom": {player.InterfaceBumper, iface.ReqBumperGetGeom, func(p any) fields {
		out := []any{}
		for _, b := range p.(*iface.BumperGeom).BumperDef {
			out = append(out, map[string]any{"pose": pose3(b.Pose), "length": f32(b.Length), "radius": f32(b.Radius)})
		}
		return fields{"pose_count": float64(len(out)), "poses": out}
	}},
	"fid_geom": {player.InterfaceFiducial, iface.ReqFiducialGetGeom, func(p any) fields {
		g := p.(*iface.FiducialGeom)
		return fields{"pose": pose3(g.Pose), "size": box3(g.Size), "fiducial_size": nums(g.FiducialSize.Sw, g.FiducialSize.Sl)}
	}},
	"grip_geom": {player.InterfaceGripper, iface.ReqGripperGetGeom, func(p any) fields {
		g := p.(*iface.GripperGeom)
		return fields{"pose": pose3(g.Pose), "outer_size": box3(g.OuterSize), "inner_size": box3(g.InnerSize),
			"num_beams": u8(g.NumBeams), "capacity": u8(g.Capacity)}
	}},
	"loc_particles": {player.InterfaceLocalize, iface.ReqLocalizeGetParticles, func(p any) fields {
		g := p.(*iface.LocalizeGetParticles)
		out := []any{}
		for _, q := range g.Particles {
			out = append(out, nums(q.Pose.Px, q.Pose.Py, q.Pose.Pa, q.Alpha))
		}
		return fields{"mean": pose2(g.Mean), "variance": g.Variance, "num_particles": float64(len(out)), "particles": out}
	}},
	"plan_way": {player.InterfacePlanner, iface.ReqPlannerGetWaypoints, func(p any) fields {
		out := []any{}
		for _, w := range p.(*iface.PlannerWaypointsReq).Waypoints {
			out = append(out, pose2(w))
		}
		return fields{"waypoints": out}
	}},
	"p1d_geom": {player.InterfacePosition1D, iface.ReqPosition1DGetGeom, func(p any) fields {
		g := p.(*iface.Position1DGeom)
		return fields{"pose": nums(g.Pose.Px, g.Pose.Py, g.Pose.Pyaw), "size": nums(g.Size.Sl, g.Size.Sw)}
	}},
	"ptz_status": {player.InterfacePTZ, iface.ReqPTZStatus, func(p any) fields {
		return fields{"status": u32(p.(*iface.PTZReqStatus).Status)}
	}},
	"log_state": {player.InterfaceLog, iface.ReqLogGetState, func(p any) fields {
		s := p.(*iface.LogGetState)
		return fields{"type": u8(s.Type), "state": u8(s.State)}
	}},
	"opaque_req": {player.InterfaceOpaque, iface.ReqOpaqueData, func(p any) fields {
		return fields{"reply": list(p.(*iface.OpaqueData).Data, u8)}
	}},
	"bb_get":    {player.InterfaceBlackboard, iface.ReqBlackboardGetEntry, entry},
	"bb_subkey": {player.InterfaceBlackboard, iface.ReqBlackboardSubscribeToKey, entry},
}

var furtherSends = map[string]sent{
	"act_pos": {player.InterfaceActarray, player.Command, iface.CmdActarrayPos, func(p any) fields {
		c := p.(*iface.ActarrayPositionCmd)
		return fields{"args": nums(i32(c.Joint), f32(c.Position))}
	}},
	"act_home": {player.InterfaceActarray, player.Command, iface.CmdActarrayHome, func(p any) fields {
		return fields{"args": nums(i32(p.(*iface.ActarrayHomeCmd).Joint))}
	}},
	"aio_set": {player.InterfaceAIO, player.Command, iface.CmdAIOState, func(p any) fields {
		c := p.(*iface.AIOCmd)
		return fields{"args": nums(u32(c.ID), f32(c.Voltage))}
	}},
	"dio_set": {player.InterfaceDIO, player.Command, iface.CmdDIOValues, func(p any) fields {
		c := p.(*iface.DIOCmd)
		return fields{"args": nums(u32(c.Count), u32(c.Digout))}
	}},
	"imu_type": {player.InterfaceIMU, player.Request, iface.ReqIMUSetDatatype, func(p any) fields {
		return fields{"args": nums(u8(p.(*iface.IMUDatatypeConfig).Value))}
	}},
	"loc_setpose": {player.InterfaceLocalize, player.Request, iface.ReqLocalizeSetPose, func(p any) fields {
		r := p.(*iface.LocalizeSetPose)
		return fields{"pose": pose2(r.Mean), "cov": nums(r.Cov[:]...)}
	}},
	"opaque_cmd": {player.InterfaceOpaque, player.Command, iface.CmdOpaqueData, func(p any) fields {
		return fields{"data": list(p.(*iface.OpaqueData).Data, u8)}
	}},
	"opaque_req": {player.InterfaceOpaque, player.Request, iface.ReqOpaqueData, func(p any) fields {
		return fields{"data": list(p.(*iface.OpaqueData).Data, u8)}
	}},
	"plan_goal": {player.InterfacePlanner, player.Command, iface.CmdPlannerGoal, func(p any) fields {
		return fields{"args": pose2(p.(*iface.PlannerCmd).Goal)}
	}},
	"plan_enable": {player.InterfacePlanner, player.Request, iface.ReqPlannerEnable, func(p any) fields {
		return fields{"args": nums(u8(p.(*iface.PlannerEnableReq).State))}
	}},
	"p1d_pos": {player.InterfacePosition1D, player.Command, iface.CmdPosition1DPos, func(p any) fields {
		return fields{"args": nums(f32(p.(*iface.Position1DCmdPos).Pos))}
	}},
	"p3d_vel": {player.InterfacePosition3D, player.Command, iface.CmdPosition3DSetVel, func(p any) fields {
		return fields{"args": pose3(p.(*iface.Position3DCmdVel).Vel)}
	}},
	"speech_say": {player.InterfaceSpeech, player.Command, iface.CmdSpeechSay, func(p any) fields {
		return fields{"text": text(p.(*iface.SpeechCmd).String)}
	}},
	"log_read": {player.InterfaceLog, player.Request, iface.ReqLogSetReadState, func(p any) fields {
		return fields{"args": nums(u8(p.(*iface.LogSetReadState).State))}
	}},
	"log_write": {player.InterfaceLog, player.Request, iface.ReqLogSetWriteState, func(p any) fields {
		return fields{"args": nums(u8(p.(*iface.LogSetWriteState).State))}
	}},
	"log_filename": {player.InterfaceLog, player.Request, iface.ReqLogSetFilename, func(p any) fields {
		return fields{"filename": text(p.(*iface.LogSetFilename).Filename)}
	}},
}

// furtherServed shows a body as the server that logged what it decoded did.
func furtherServed(payload any) fields {
	switch p := payload.(type) {
	case *iface.MapData:
		return fields{"col": u32(p.Col), "row": u32(p.Row), "width": u32(p.Width), "height": u32(p.Height)}
	case *iface.ActarrayPositionCmd:
		return fields{"joint": i32(p.Joint), "position": f32(p.Position)}
	case *iface.ActarrayMultiPositionCmd:
		return fields{"positions_count": float64(len(p.Positions))}
	case *iface.ActarrayHomeCmd:
		return fields{"joint": i32(p.Joint)}
	case *iface.AIOCmd:
		return fields{"id": u32(p.ID), "voltage": f32(p.Voltage)}
	case *iface.DIOCmd:
		return fields{"count": u32(p.Count), "digout": u32(p.Digout)}
	case *iface.IMUDatatypeConfig:
		return fields{"value": u8(p.Value)}
	case *iface.LocalizeSetPose:
		return fields{"mean": pose2(p.Mean), "cov": nums(p.Cov[:]...)}
	case *iface.OpaqueData:
		return fields{"data_count": float64(len(p.Data))}
	case *iface.PlannerCmd:
		return fields{"goal": pose2(p.Goal)}
	case *iface.PlannerEnableReq:
		return fields{"state": u8(p.State)}
	case *iface.Position1DCmdPos:
		return fields{"pos": f32(p.Pos), "vel": f32(p.Vel), "state": u8(p.State)}
	case *iface.Position3DCmdVel:
		return fields{"vel": pose3(p.Vel), "state": u8(p.State)}
	case *iface.PTZCmd:
		return fields{"ptz": nums(f32(p.Pan), f32(p.Tilt), f32(p.Zoom), f32(p.PanSpeed), f32(p.TiltSpeed))}
	}
	return nil
}
