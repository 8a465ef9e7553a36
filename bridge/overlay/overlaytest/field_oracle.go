package overlaytest

import (
	"math"

	"callboard/bridge/overlay"
)

// oracle knows all links at any time.
type oracle struct {
	costs   [][]float64         // of the best paths; Inf: there is none
	before  [][]int             // on them
	since   [][]overlay.Instant // since when the best path is the same
	islands []int               // of links that have existed for two periods
	flood   []int               // how often a reading of each crosses a link if it is flooded
}

func newOracle(n int) (o oracle) {
	for range n {
		o.costs, o.before, o.since = append(o.costs, make([]float64, n)), append(o.before, make([]int, n)), append(o.since, make([]overlay.Instant, n))
	}
	o.islands, o.flood = make([]int, n), make([]int, n)
	return o
}

// move has robots go on for the time between two looks.
func (f *field) move() {
	if f.ended {
		return
	}
	for i := range f.places {
		left := f.speed * float64(look) / float64(second)
		for left > 0 {
			dx, dy := f.goals[i][0]-f.places[i][0], f.goals[i][1]-f.places[i][1]
			d := math.Hypot(dx, dy)
			if d <= left {
				f.places[i], f.goals[i] = f.goals[i], f.anywhere()
				left -= d
				continue
			}
			f.places[i][0] += dx / d * left
			f.places[i][1] += dy / d * left
			left = 0
		}
	}
}

// look sees who is in range of whom, and asks the oracle anew.
func (f *field) look() {
	for i := range f.places {
		for j := range i {
			d := math.Hypot(f.places[i][0]-f.places[j][0], f.places[i][1]-f.places[j][1])
			share := 0.0
			switch {
			case d <= nearShare:
				share = 1
			case d <= 1:
				share = 1 - (1-worstShare)*(d-nearShare)/(1-nearShare)
			}
			since := f.near[i][j]
			switch {
			case share > 0 && since == 0:
				since = f.now
			case share == 0 && since > 0:
				f.lives = append(f.lives, float64(f.now-since)/float64(second))
				since = 0
			}
			f.near[i][j], f.near[j][i], f.shares[i][j], f.shares[j][i] = since, since, share, share
			if !f.ended {
				f.pairs[0]++
				if share > 0 {
					f.pairs[1]++
				}
			}
		}
	}
	for i := range f.places {
		f.cheapest(i)
	}
	f.unite()
	if !f.ended && int(f.now/look)%10 == 0 {
		f.stretch()
	}
}

// cheapest finds the best paths from a broker (Dijkstra, on a matrix).
func (f *field) cheapest(from int) {
	o, n := &f.oracle, f.Brokers
	costs, before := make([]float64, n), make([]int, n)
	done := make([]bool, n)
	for i := range costs {
		costs[i], before[i] = math.Inf(1), -1
	}
	costs[from] = 0
	order := make([]int, 0, n)
	for {
		x := -1
		for i, c := range costs {
			if !done[i] && !math.IsInf(c, 1) && (x < 0 || c < costs[x]) {
				x = i
			}
		}
		if x < 0 {
			break
		}
		done[x] = true
		order = append(order, x)
		for y, share := range f.shares[x] {
			if share > 0 && costs[x]+1/share/share < costs[y] {
				costs[y], before[y] = costs[x]+1/share/share, x
			}
		}
	}
	links := 0
	for _, x := range order { // each behind the one before it
		switch {
		case x == from:
		case before[x] != o.before[from][x] || math.IsInf(o.costs[from][x], 1) || o.since[from][before[x]] == f.now && before[x] != from:
			o.since[from][x] = f.now
		}
		for _, share := range f.shares[x] {
			if share > 0 {
				links++
			}
		}
	}
	// Each passes a reading on over all links but the one that it came by first.
	o.flood[from] = links - (len(order) - 1)
	o.costs[from], o.before[from] = costs, before
	if !f.ended {
		f.pairs[2] += float64(len(order)-1) / 2
	}
}

// unite finds who can reach whom by links that have existed for two periods.
func (f *field) unite() {
	islands := f.oracle.islands
	for i := range islands {
		islands[i] = -1
	}
	for i := range islands {
		if islands[i] >= 0 {
			continue
		}
		islands[i] = i
		for todo := []int{i}; len(todo) > 0; todo = todo[1:] {
			for y, since := range f.near[todo[0]] {
				if since > 0 && f.now-since >= 2*second && islands[y] < 0 {
					islands[y] = i
					todo = append(todo, y)
				}
			}
		}
	}
}

// stretch holds the routes in use against the best paths.
func (f *field) stretch() {
	for to, p := range f.clients {
		for _, word := range sortedKeys(p.nums) {
			k := p.key(word)
			from := f.index(k.Source)
			chain := f.chain(k)
			best := f.oracle.costs[from][to]
			if len(chain) < 2 || chain[len(chain)-1] != to || math.IsInf(best, 1) {
				continue
			}
			cost := 0.0
			for i := 1; i < len(chain); i++ {
				share := f.shares[chain[i-1]][chain[i]]
				cost += 1 / share / share // Inf: it is broken, which nobody has noticed
			}
			if math.IsInf(cost, 1) {
				continue
			}
			f.routes[0], f.routes[1] = f.routes[0]+cost/best, f.routes[1]+1
			if f.now-max(f.oracle.since[from][to], f.began) >= 2*second {
				f.routes[2], f.routes[3] = f.routes[2]+cost/best, f.routes[3]+1
			}
		}
	}
}
