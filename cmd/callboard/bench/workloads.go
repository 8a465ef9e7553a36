package bench

// Workloads lists all workloads, by name.
func Workloads() []Workload {
	return []Workload{adhoc(), first(), match(), multicast(), push(), roam(), simulation(), standby(), tasks()}
}
