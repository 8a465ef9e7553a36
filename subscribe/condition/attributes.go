package condition

import "callboard/subscribe/view"

// Scalars lists the attributes of a kind of view that are one value each, as
// conditions name them: laser.min.
func Scalars(k view.Kind) (names []string) {
	for i := range interfaces {
		if interfaces[i].Kind != k {
			continue
		}
		for _, a := range interfaces[i].Attributes {
			switch a.Type {
			case Float, Int, Bool, String:
				names = append(names, interfaces[i].Name()+"."+a.Name)
			}
		}
	}
	return names
}
