package bench

// Workloads lists all workloads, by name.
func Workloads() []Workload {
	return []Workload{match(), push(), roam(), simulation()}
}
