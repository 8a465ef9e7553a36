package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// bucket holds the memories of relays, by client.
const bucket = "callboard-relay"

// errFollowed ends a relay in whose place another one goes on.
var errFollowed = errors.New("another relay goes on with this --client")

// keeper keeps a memory.
type keeper struct {
	bucket   jetstream.KeyValue
	key      string
	revision uint64
}

// openKeeper opens the bucket, and returns what it has of a client.
func openKeeper(ctx context.Context, js jetstream.JetStream, client string, replicas int) (*keeper, *memory, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	kv, err := js.KeyValue(ctx, bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: bucket, Replicas: replicas, Description: "how far each callboard relay has come"})
	}
	if err != nil {
		return nil, nil, fmt.Errorf("bucket %s: %w", bucket, err)
	}
	k := &keeper{bucket: kv, key: key(client)}
	entry, err := kv.Get(ctx, k.key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return k, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("bucket %s, key %s: %w", bucket, k.key, err)
	}
	k.revision = entry.Revision()
	m := &memory{}
	if err := json.Unmarshal(entry.Value(), m); err != nil {
		return nil, nil, fmt.Errorf("bucket %s, key %s: %w; what it says is not of this relay: delete it, or take another --client", bucket, k.key, err)
	}
	return k, m, nil
}

// key is how a bucket names a client: what NATS cannot have there goes as =XX.
func key(client string) string {
	var b strings.Builder
	for i := range len(client) {
		if c := client[i]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "=%02X", c)
		}
	}
	return b.String()
}

// keep keeps a memory in place of the last one.
func (k *keeper) keep(ctx context.Context, m *memory) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	revision, err := k.bucket.Update(ctx, k.key, text, k.revision)
	var refused *jetstream.APIError
	switch {
	case errors.As(err, &refused) && refused.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
		return k.settle(ctx, text)
	case err != nil:
		return err
	}
	k.revision = revision
	return nil
}

// settle finds out who wrote what stands there: this relay, which had no answer, or
// another one.
func (k *keeper) settle(ctx context.Context, text []byte) error {
	entry, err := k.bucket.Get(ctx, k.key)
	if err != nil {
		return err
	}
	if string(entry.Value()) != string(text) {
		return errFollowed
	}
	k.revision = entry.Revision()
	return nil
}

// pause waits a little; false at the end of ctx.
func pause(ctx context.Context) bool {
	timer := time.NewTimer(tryAgain)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
