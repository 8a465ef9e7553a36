package network

import (
	"bufio"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Metric adds up a metric without labels over all brokers.
func (n *Network) Metric(name string) (sum float64, err error) {
	for _, b := range n.brokers {
		v, err := b.metric(name)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

func (b *Broker) metric(name string) (float64, error) {
	resp, err := http.Get(b.HTTP() + "/metrics")
	if err != nil {
		return 0, fmt.Errorf("network: metrics of %s: %w", b.Name, err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("network: %s has no metric %s", b.Name, name)
}
