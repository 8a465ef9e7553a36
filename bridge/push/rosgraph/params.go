package rosgraph

import "strings"

// Params are the names of the parameters that there are. Nobody can change them.
var Params = []string{useSimTime, robotNames}

const (
	useSimTime = "/use_sim_time"
	robotNames = "/callboard/robots"
)

// Param returns a parameter, nil if there is none of the name. A leading slash may be
// missing.
func (m *Member) Param(name string) any {
	switch "/" + strings.TrimPrefix(name, "/") {
	case useSimTime:
		return m.Find("/clock") != nil
	case robotNames:
		names := []string{}
		for _, r := range m.Snapshot().Robots {
			if m.Grant.Allows(r.Name) {
				names = append(names, r.Name)
			}
		}
		return names
	}
	return nil
}
