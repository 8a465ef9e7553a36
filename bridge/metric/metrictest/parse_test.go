package metrictest

import "testing"

// TestParse takes what is right, and nothing else.
func TestParse(t *testing.T) {
	const up, wait = "# HELP up Up.\n# TYPE up gauge\n", "# HELP w W\n# TYPE w histogram\n"
	for text, right := range map[string]bool{
		up + "up 1\n": true,
		up + `up{a="\\\"\n",b=""} +Inf` + "\ngo_x 1\n" + `go_y{a="", b="x"} 1e-3` + "\n":          true,
		wait + `w_bucket{le="0.1"} 1` + "\n" + `w_bucket{le="+Inf"} 2` + "\nw_sum 7\nw_count 2\n": true,

		up + "up 1":         false, // cut off
		up + "up 1\nup 2\n": false, // twice
		up + "up 1\n" + up + `up{a="b"} 2` + "\n":  false, // a family twice
		up + "up 1\n" + `up{a="b"} 2` + "\n":       false, // other labels
		up + "up 1\nx 1\n" + "up 2\n":              false, // apart
		up:                                         false, // empty
		"# HELP up Up.\nup 1\n":                    false, // no type
		"# TYPE up gauge\nup 1\n":                  false, // no help
		"# HELP up Up.\n# TYPE down gauge\nup 1\n": false,
		"\nx 1\n":                                  false,
		"1x 1\n":                                   false,
		"x one\n":                                  false,
		"x{a=\"\xff\"} 1\n":                        false,
		`x{a="b"c"} 1` + "\n":                      false,
		`x{a="\x"} 1` + "\n":                       false,
		`x{a="1",a="2"} 1` + "\n":                  false,
		`x{a="1"}1` + "\n":                         false,
		wait + `w_bucket{le="+Inf"} 2` + "\nw_sum 7\nw_count 3\n":                                 false,
		wait + `w_bucket{le="0.1"} 2` + "\nw_sum 7\nw_count 2\n":                                  false,
		wait + `w_bucket{le="0.1"} 3` + "\n" + `w_bucket{le="+Inf"} 2` + "\nw_sum 7\nw_count 2\n": false,
		wait + `w_bucket{le="0.2"} 1` + "\n" + `w_bucket{le="0.1"} 2` + "\nw_sum 7\nw_count 2\n":  false,
	} {
		if _, err := Parse(text); err == nil != right {
			t.Errorf("%q: %v", text, err)
		}
	}
}
