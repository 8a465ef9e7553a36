package run_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"testing"

	"callboard/player/run"
)

// TestUntil: a reader that finds nothing to give for gigabytes ends with the
// context all the same.
func TestUntil(t *testing.T) {
	var part bytes.Buffer
	z := gzip.NewWriter(&part)
	for range 1 << 20 {
		if _, err := z.Write([]byte("# nothing happens in this line, nor in the next\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	all := bytes.Repeat(part.Bytes(), 100)
	f, err := run.New(run.Config{R: bytes.NewReader(all), Size: int64(len(all)), Name: "endless.log.gz"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.Until(ctx)
	r, err := f.Reader(run.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	if _, err := r.Next(); !errors.Is(err, context.Canceled) {
		t.Errorf("reading ended with %v", err)
	}
}
