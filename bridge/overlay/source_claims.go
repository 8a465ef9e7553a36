package overlay

import "slices"

// A broker stores which robots it reads, and since when. The older claim to a name counts
// (D4). And a robot that it does not read any more when it begins again is away: nobody
// else may remember it. For that, one that was withdrawn is remembered for the session
// time, too.

// claim notes that this broker reads a robot, from now on if it did not.
func (b *source) claim(name string) {
	if b.claimed[name] <= 0 {
		b.setClaim(name, max(b.now, 1))
	}
}

// disclaim notes that it does not any more.
func (b *source) disclaim(name string) { b.setClaim(name, -max(b.now, 1)) }

func (b *source) setClaim(name string, since Instant) {
	b.claimed[name] = since
	b.record(&ClaimRecord{Robot: name, Since: since})
}

func (b *source) restoreClaim(r *ClaimRecord) {
	if b.claimed[r.Robot] = r.Since; r.Since == 0 {
		delete(b.claimed, r.Robot)
	}
}

// startClaims has the robots be away that this broker has read, until it reads them
// again. Those that go on in the place of another side's were never away.
func (b *source) startClaims() {
	b.began = b.now
	for _, name := range sortedKeys(b.claimed) {
		if slices.Contains(b.goOn, name) {
			continue
		}
		gone := b.now
		if since := b.claimed[name]; since < 0 {
			gone = min(-since, b.now)
		}
		b.own.put(&Availability{Robot: name, Since: gone, Changed: b.own.version, Gone: b.own.version})
	}
}

// forgetClaims forgets the robots that this broker has not read for the session time.
func (b *source) forgetClaims() {
	if len(b.claimed) == len(b.robots.named) {
		return
	}
	before := b.now - Instant(b.cfg.Inbox.Keep)
	for _, name := range sortedKeys(b.claimed) {
		until := b.began
		if since := b.claimed[name]; since < 0 {
			until = -since
		}
		if b.robots.named[name] == nil && until <= before {
			delete(b.claimed, name)
			b.record(&ClaimRecord{Robot: name})
		}
	}
}
