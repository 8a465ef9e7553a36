package worldfile

import (
	"callboard/player/problem"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// words makes a table of names.
func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(s) {
		out[w] = true
	}
	return out
}

// The properties that Stage knows. Most of them are read here; the rest has no
// effect on results and needs no warning.
var (
	knownWorld = words(`name interval_sim quit_time resolution threads show_clock show_clock_interval speedup paused
		confirm_on_quit unit_length unit_angle test`)
	knownModel = words(`pose size origin name color color_rgba bitmap noblocks boundary obstacle_return ranger_return
		blob_return fiducial_return fiducial_key gripper_return mass watts joules kjoules joules_capacity
		kjoules_capacity give_watts take_watts map_resolution update_interval stack_children alwayson ctrl say
		trail_length trail_interval gui_nose gui_grid gui_outline gui_move friction event_queue debug drive wheelbase
		velocity velocity_bounds acceleration_bounds localization localization_origin odom_error range_max
		range_max_id range_min fov ignore_zloc image range pan colors_count colors bcount blength paddle_size
		paddle_state autosnatch resolution pantilt axis min_position max_position max_speed start_position type
		period dutycycle enabled points z samples`)
	knownSensor = words(`pose size range fov samples noise color color_rgba`)
	// oldNames have no effect in Stage 4; files are full of them.
	oldNames = words(`interval_real gui_interval gui_menu_interval gui_disable redraw_interval gravity laser_return
		gui_movemask gui_boundary matrix_return max_speed watchdog_timeout odom scount ssize sview sraycount view
		range_max range_min laser_sample_skip sample_skip blobfinder_return audio_return gui_gridlines polygons
		channel_count channels ptz line_count lines power_on size truth power port player_port
		stall_return puck_return obstruct scale shape vision_return sonar_return beacon_return`)
)

// unread warns about properties that nothing has read.
func (in *interpreter) unread(e *Entity, known map[string]bool) {
	for _, p := range e.Properties {
		if p.Used || known[p.Name] {
			continue
		}
		p.Used = true
		base, _, indexed := strings.Cut(p.Name, "[")
		if base, _, dotted := strings.Cut(p.Name, "."); dotted {
			indexed = true
			_ = base
		}
		switch {
		case oldNames[base]:
			in.once("old "+base, p.Pos, "%q has no effect: it is of Stage 3 or older", problem.Short(p.Name))
		case indexed && (base == "spose" || base == "ssize" || base == "sview" || base == "polygon" || base == "point" || base == "line" || base == "bpose" || base == "blength"):
			in.once("old "+base, p.Pos, "%q has no effect here", problem.Short(p.Name))
		default:
			in.once("unknown "+p.Name, p.Pos, "%q is not a property of %s and has no effect%s", problem.Short(p.Name), in.ownerOf(e), didYouMean(p.Name, slices.Sorted(maps.Keys(known))))
		}
	}
}

func (in *interpreter) ownerOf(e *Entity) string {
	if e.Type == "" {
		return "the world"
	}
	return e.Type
}

// didYouMean ends a message with the nearest right name, if one is near.
func didYouMean(name string, names []string) string {
	if near := problem.Nearest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
