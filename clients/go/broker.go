package callboard

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// maxBrokers bounds the brokers that a client knows. Those that were only
// heard make room first.
const maxBrokers = 256

// heardFor is how long a broker that was only heard counts as in reach.
const heardFor = 30 * time.Second

// Broker is a broker that the client knows of.
type Broker struct {
	ID         string // "" as long as it is not known
	URL        string
	Configured bool          // in Config.Brokers
	Named      bool          // in the last welcome
	Heard      time.Time     // when its last beacon came; zero: none did
	RoundTrip  time.Duration // how long it took to answer the last time; 0: it never did
	Failed     time.Time     // when it last could not be reached or refused; zero: not since it took this client
	Taken      bool          // it has taken this client before
}

// roster is the brokers that a client knows: configured ones first, then in
// the order in which they became known. It is guarded by Client.mu.
type roster struct {
	list   []*Broker
	secure bool // a token goes over wss only
	vouch  bool // a token goes only to brokers that are configured or named
}

func newRoster(c Config) roster {
	r := roster{vouch: c.Token != "", secure: c.Token != ""}
	for _, url := range c.Brokers {
		if !strings.HasPrefix(url, "wss:") {
			r.secure = false
		}
		r.entry(url).Configured = true
	}
	return r
}

// find returns the broker of a URL, nil if it is not known.
func (r *roster) find(url string) *Broker {
	for _, b := range r.list {
		if b.URL == url {
			return b
		}
	}
	return nil
}

// entry returns the broker of a URL and makes room for it if it is new; nil if
// there is none.
func (r *roster) entry(url string) *Broker {
	if b := r.find(url); b != nil {
		return b
	}
	if len(r.list) >= maxBrokers {
		oldest := -1
		for i, b := range r.list {
			if !b.Configured && !b.Named && (oldest < 0 || b.Heard.Before(r.list[oldest].Heard)) {
				oldest = i
			}
		}
		if oldest < 0 {
			return nil
		}
		r.list = slices.Delete(r.list, oldest, oldest+1)
	}
	b := &Broker{URL: url}
	r.list = append(r.list, b)
	return b
}

// forget drops what nothing speaks for any more.
func (r *roster) forget(now time.Time) {
	r.list = slices.DeleteFunc(r.list, func(b *Broker) bool {
		return !b.Configured && !b.Named && now.Sub(b.Heard) > heardFor
	})
}

// usable reports whether the client may attach to a broker by its own choice.
func (r *roster) usable(b *Broker) bool {
	if b.Configured {
		return true
	}
	if r.secure && !strings.HasPrefix(b.URL, "wss:") {
		return false
	}
	return b.Named || !r.vouch
}

// name takes the brokers of a welcome, which replace those of the one before.
func (r *roster) name(ids, urls []string) {
	for _, b := range r.list {
		b.Named = false
	}
	for i, text := range urls {
		url, err := BrokerURL(text)
		if err != nil {
			continue // of no use to this library
		}
		b := r.entry(url)
		if b == nil {
			return
		}
		b.ID, b.Named = ids[i], true
	}
}

// hear takes a beacon; news: the broker was not in reach before.
func (r *roster) hear(id, text string, now time.Time) (news bool) {
	url, err := BrokerURL(text)
	if err != nil {
		return false
	}
	r.forget(now)
	b := r.entry(url)
	if b == nil {
		return false
	}
	news = now.Sub(b.Heard) > heardFor
	if b.ID == "" {
		b.ID = id
	}
	b.Heard = now
	return news && r.usable(b)
}

// known returns copies of the brokers that may be used.
func (r *roster) known(now time.Time) []Broker {
	r.forget(now)
	list := make([]Broker, 0, len(r.list))
	for _, b := range r.list {
		if r.usable(b) {
			list = append(list, *b)
		}
	}
	return list
}

// order sorts brokers as they are tried: those that answered before by their
// round trips, nearest first, then the others. last is the one that was lost:
// the first to try if it may still be there, else the last.
func order(known []Broker, last string, away bool) []string {
	id := "\x00"
	for _, b := range known {
		if b.URL == last && b.ID != "" {
			id = b.ID
		}
	}
	rank := func(b Broker) int {
		switch {
		case b.URL == last && !away:
			return 0
		case b.ID == id && !away:
			return 1
		case b.URL == last || b.ID == id:
			return 4
		case b.RoundTrip > 0:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(known, func(a, b Broker) int {
		if by := cmp.Compare(rank(a), rank(b)); by != 0 || rank(a) != 2 {
			return by
		}
		return cmp.Compare(a.RoundTrip, b.RoundTrip)
	})
	urls := make([]string, len(known))
	for i, b := range known {
		urls[i] = b.URL
	}
	return urls
}
