package bridge_test

import (
	"slices"
	"strings"
	"testing"

	"callboard/player/nodetest"

	"github.com/google/go-cmp/cmp"
)

// TestStockPrograms: the libraries that programs for ROS and Foxglove are written
// with, as npm has them, find a robot, read it and drive it.
func TestStockPrograms(t *testing.T) {
	modules := stockModules(t)
	b := simulated(t, nil, "r0")
	speak(t, b, "/rosbridge", nil).message("/odom", "nav_msgs/Odometry")
	out := nodetest.Run(t, "testdata/dialects.mjs", modules, strings.TrimPrefix(b.URL(), "http://"))
	const ros = `scan ["base_laser_link",9,true]
topics ["/base_scan","/cmd_vel","/map","/odom","/rosout","/tf"]
type "nav_msgs/Odometry"
nodes ["/callboard","/r0"]
service "std_srvs/SetBool"
details ["geometry_msgs/Twist","geometry_msgs/Vector3"]
cbor ["Float32Array",true]
odometry ["base_footprint",36]
map true
condition 9
call {"success":true,"message":"the motors are on"}
no service "Service /none does not exist"
offers [{"sum":3},{"failed":true}]
drives true
transform true
transform true
`
	want := strings.ReplaceAll("\n"+strings.TrimSuffix(ros, "\n"), "\n", "\nroslib1 ")[1:] + strings.ReplaceAll("\n"+strings.TrimSuffix(ros, "\n"), "\n", "\nroslib2 ") + `
foxglove info [true,{"ROS_DISTRO":"noetic"}]
foxglove scan ["base_laser_link",9,true]
foxglove odometry ["base_footprint",36]
foxglove map true
foxglove transforms ["odom","base_footprint","base_link","base_laser_link"]
foxglove condition {"ok":true,"robots":1,"topic":"/callboard/condition/near"}
foxglove values ["r0",true]
foxglove drives true
foxglove statuses []`
	got := slices.DeleteFunc(strings.Split(strings.TrimSpace(string(out)), "\n"), func(line string) bool { return strings.HasPrefix(line, "ROSLib uses") })
	if diff := cmp.Diff(strings.Split(want, "\n"), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
