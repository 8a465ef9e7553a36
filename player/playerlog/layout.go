package playerlog

import (
	"reflect"

	"callboard/player"
	"callboard/player/iface"
)

// layout is how a message stands in a line.
type layout struct {
	typ  reflect.Type // of the pointer to the struct
	make func() any
	do   func(*text, any)
}

// of makes a layout of a function for one struct.
func of[T any](do func(*text, *T)) layout {
	return layout{reflect.TypeFor[*T](), func() any { return new(T) }, func(l *text, p any) { do(l, p.(*T)) }}
}

// key of the table: interface, type and subtype in one word.
func key(i player.Interface, t player.Type, subtype uint8) uint32 {
	return uint32(i)<<16 | uint32(t)<<8 | uint32(subtype)
}

// layouts has every message that a log may hold. It never changes.
var layouts = map[uint32]layout{
	key(player.InterfaceLaser, player.Data, iface.DataLaserScan):                of(laserScan),
	key(player.InterfaceLaser, player.Data, iface.DataLaserScanpose):            of(laserScanpose),
	key(player.InterfaceLaser, player.Data, iface.DataLaserScanangle):           of(laserScanangle),
	key(player.InterfaceLaser, player.Ack, iface.ReqLaserGetGeom):               of(laserGeom),
	key(player.InterfaceRanger, player.Data, iface.DataRangerRange):             of(rangerRange),
	key(player.InterfaceRanger, player.Data, iface.DataRangerIntns):             of(rangerIntns),
	key(player.InterfaceRanger, player.Data, iface.DataRangerRangestamped):      of(rangerRangestamped),
	key(player.InterfaceRanger, player.Data, iface.DataRangerIntnsstamped):      of(rangerIntnsstamped),
	key(player.InterfaceRanger, player.Ack, iface.ReqRangerGetGeom):             of(rangerGeom),
	key(player.InterfaceRanger, player.Ack, iface.ReqRangerGetConfig):           of(rangerConfig),
	key(player.InterfaceSonar, player.Data, iface.DataSonarRanges):              of(sonarRanges),
	key(player.InterfaceSonar, player.Data, iface.DataSonarGeom):                of(sonarGeom),
	key(player.InterfaceSonar, player.Ack, iface.ReqSonarGetGeom):               of(sonarGeom),
	key(player.InterfacePosition2D, player.Data, iface.DataPosition2DState):     of(position2DState),
	key(player.InterfacePosition2D, player.Ack, iface.ReqPosition2DGetGeom):     of(position2DGeom),
	key(player.InterfacePosition3D, player.Data, iface.DataPosition3DState):     of(position3DState),
	key(player.InterfacePosition3D, player.Data, iface.DataPosition3DGeometry):  of(position3DGeom),
	key(player.InterfacePosition3D, player.Ack, iface.ReqPosition3DGetGeom):     of(position3DGeom),
	key(player.InterfacePTZ, player.Data, iface.DataPTZState):                   of(ptzState),
	key(player.InterfaceLocalize, player.Data, iface.DataLocalizeHypoths):       of(localizeHypoths),
	key(player.InterfaceLocalize, player.Ack, iface.ReqLocalizeGetParticles):    of(localizeParticles),
	key(player.InterfaceGPS, player.Data, iface.DataGPSState):                   of(gpsState),
	key(player.InterfaceIMU, player.Data, iface.DataIMUState):                   of(imuState),
	key(player.InterfaceIMU, player.Data, iface.DataIMUCalib):                   of(imuCalib),
	key(player.InterfaceIMU, player.Data, iface.DataIMUQuat):                    of(imuQuat),
	key(player.InterfaceIMU, player.Data, iface.DataIMUEuler):                   of(imuEuler),
	key(player.InterfaceIMU, player.Data, iface.DataIMUFullstate):               of(imuFullstate),
	key(player.InterfaceFiducial, player.Data, iface.DataFiducialScan):          of(fiducialScan),
	key(player.InterfaceFiducial, player.Ack, iface.ReqFiducialGetGeom):         of(fiducialGeom),
	key(player.InterfaceBlobfinder, player.Data, iface.DataBlobfinderBlobs):     of(blobfinderBlobs),
	key(player.InterfaceBumper, player.Data, iface.DataBumperState):             of(bumperState),
	key(player.InterfaceBumper, player.Data, iface.DataBumperGeom):              of(bumperGeom),
	key(player.InterfaceBumper, player.Ack, iface.ReqBumperGetGeom):             of(bumperGeom),
	key(player.InterfaceIR, player.Data, iface.DataIRRanges):                    of(irRanges),
	key(player.InterfaceIR, player.Ack, iface.ReqIRPose):                        of(irPoses),
	key(player.InterfacePower, player.Data, iface.DataPowerState):               of(powerState),
	key(player.InterfaceDIO, player.Data, iface.DataDIOValues):                  of(dioValues),
	key(player.InterfaceAIO, player.Data, iface.DataAIOState):                   of(aioState),
	key(player.InterfaceJoystick, player.Data, iface.DataJoystickState):         of(joystickState),
	key(player.InterfaceWifi, player.Data, iface.DataWifiState):                 of(wifiState),
	key(player.InterfaceOpaque, player.Data, iface.DataOpaqueState):             of(opaqueState),
	key(player.InterfacePointcloud3D, player.Data, iface.DataPointcloud3DState): of(pointcloud3DState),
	key(player.InterfaceActarray, player.Data, iface.DataActarrayState):         of(actarrayState),
	key(player.InterfaceWSN, player.Data, iface.DataWSNState):                   of(wsnState),
	key(player.InterfaceRFID, player.Data, iface.DataRFIDTags):                  of(rfidTags),
	key(player.InterfaceCamera, player.Data, iface.DataCameraState):             of(cameraState),
}

// interfaces by name: all that may stand in a line.
var interfaces = byName()

func byName() map[string]player.Interface {
	all := map[string]player.Interface{}
	for code := player.Interface(1); code < 256; code++ {
		if _, ok := player.ParseInterface(code.String()); ok {
			all[code.String()] = code
		}
	}
	return all
}
