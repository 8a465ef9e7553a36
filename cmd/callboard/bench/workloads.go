package bench

// Workloads lists all workloads, by name.
func Workloads() []Workload {
	return []Workload{match(), mcapWorkload(), playerServer(), push(), queryBench(), replaying(), roam(), simulation()}
}
