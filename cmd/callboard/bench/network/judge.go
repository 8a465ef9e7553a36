package network

import "fmt"

// Verdict is what Judge finds.
type Verdict struct {
	Counts    Counts // of all programs
	BeforeAll uint64 // readings that no program got: lost between robot and broker, or while the broker was dead
	Faults    []string
}

// maxFaults bounds how many faults are told.
const maxFaults = 40

// Begin notes that all programs get all that they have asked for: Judge looks
// at the readings from now on.
func (n *Network) Begin() {
	n.from = make([]int, n.Robots.Len())
	for r := range n.from {
		n.from[r] = n.Robots.Given(r)
	}
}

// Judge compares what programs got. What one of them got its broker had
// accepted: then all that asked for the robot must have got it, or have been
// told of a gap. Programs must have come to rest.
func (n *Network) Judge(programs []*Program) Verdict {
	var v Verdict
	type state struct {
		missing map[int]bool // readings of the robot
		p       *Program
	}
	byRobot := map[int][]state{}
	for _, p := range programs {
		p.mu.Lock()
		v.Counts.Add(p.counts)
		v.Faults = append(v.Faults, p.faults...)
		for _, r := range p.Robots {
			missing := map[int]bool{}
			for _, s := range p.missing[r] {
				for i := s.from; i <= s.to; i++ {
					missing[i] = true
				}
			}
			for i := p.last[r] + 1; i <= n.Robots.Given(r); i++ {
				missing[i] = true
			}
			byRobot[r] = append(byRobot[r], state{missing, p})
		}
		p.mu.Unlock()
	}
	declared, first := map[*Program]uint64{}, map[*Program]string{}
	for r := range n.Robots.Len() {
		states := byRobot[r]
		for i := n.from[r] + 1; i <= n.Robots.Given(r) && len(states) > 0; i++ {
			lacking := 0
			for _, s := range states {
				if s.missing[i] {
					lacking++
				}
			}
			switch {
			case lacking == 0:
			case lacking == len(states):
				v.BeforeAll++
			default:
				for _, s := range states {
					if s.missing[i] {
						if declared[s.p]++; declared[s.p] == 1 {
							first[s.p] = fmt.Sprintf("%s #%d", RobotName(r), i)
						}
					}
				}
			}
		}
	}
	for _, p := range programs {
		lacks, told := declared[p], p.Counts().Declared
		if lacks > told {
			v.Counts.Missing += lacks - told
			v.Faults = append(v.Faults, fmt.Sprintf("%s lacks %d readings that others got, the first %s; only %d were declared", p.Name, lacks, first[p], told))
		}
	}
	if len(v.Faults) > maxFaults {
		v.Faults = append(v.Faults[:maxFaults], fmt.Sprintf("and %d more", len(v.Faults)-maxFaults))
	}
	return v
}
