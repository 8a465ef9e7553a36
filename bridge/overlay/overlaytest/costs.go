package overlaytest

import "callboard/bridge/overlay"

// cost gives a link a cost, at both ends if it is up.
func (c *cluster) cost(l link, cost overlay.Cost) {
	c.costs[l] = cost
	if c.cut[l] {
		return
	}
	for _, e := range [][2]int{{l.a, l.b}, {l.b, l.a}} {
		c.step(e[0], &overlay.LinkCost{Neighbour: brokerName(e[1]), Session: c.brokers[e[0]].sessions[e[1]], Cost: c.costAt(e[0], l)})
	}
}

// costAt returns what an end of a link takes it to cost. One of the two may have it
// for cheaper than it is.
func (c *cluster) costAt(i int, l link) overlay.Cost {
	if c.ends != nil {
		return c.ends(i, l)
	}
	cost := c.costs[l]
	if at := []int{l.a, l.b}[cost/2%2]; i == at && cost > 0 {
		return max(cost*3/4, overlay.CostOne)
	}
	return cost
}

// costOf adds up what the links of a way cost.
func (c *cluster) costOf(way []int) (sum overlay.Cost) {
	for i := 1; i < len(way); i++ {
		sum += max(c.costs[linkOf(way[i-1], way[i])], overlay.CostOne)
	}
	return sum
}

// best returns what the cheapest way between two brokers costs.
func (c *cluster) best(from, to int) overlay.Cost {
	costs := map[int]overlay.Cost{from: 0}
	for range c.brokers { // Bellman and Ford, unlike the brokers
		for _, l := range c.links {
			if c.cut[l] {
				continue
			}
			for _, e := range [][2]int{{l.a, l.b}, {l.b, l.a}} {
				sum, known := costs[e[0]]
				if old, there := costs[e[1]]; known && (!there || sum+c.costOf([]int{e[0], e[1]}) < old) {
					costs[e[1]] = sum + c.costOf([]int{e[0], e[1]})
				}
			}
		}
	}
	return costs[to]
}
