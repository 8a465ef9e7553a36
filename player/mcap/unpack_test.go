package mcap

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pierrec/lz4/v4"
)

// An LZ4 chunk unpacks to what it says, neither less nor more, and a byte of it
// that is wrong is an error or does no harm.
func TestLZ4(t *testing.T) {
	content := bytes.Repeat([]byte("callboard "), 20_000)
	var frame bytes.Buffer
	w := lz4.NewWriter(&frame)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	unpack := func(b []byte, size int) ([]byte, error) {
		var u unpacker
		return u.unpack(&packed{compression: LZ4, size: uint64(size), records: b})
	}
	if got, err := unpack(frame.Bytes(), len(content)); err != nil || !bytes.Equal(got, content) {
		t.Errorf("got %d bytes, %v; expected %d", len(got), err, len(content))
	}
	for _, c := range []struct {
		records []byte
		size    int
		want    string
	}{
		{frame.Bytes(), len(content) - 1, "it goes on after 199999 bytes"},
		{frame.Bytes(), len(content) + 1, "unpacks to 200000 bytes, expected 200001"},
		{frame.Bytes()[:frame.Len()/2], len(content), "unpack"},
		{nil, 1, "unpacks to 0 bytes, expected 1"},
		{[]byte("no frame"), 1, "unpacking the chunk"},
		{frame.Bytes(), 1 << 30, "packed into"},
	} {
		if _, err := unpack(c.records, c.size); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, expected an error with %q", err, c.want)
		}
	}
	for at := range min(frame.Len(), 40) {
		damaged := bytes.Clone(frame.Bytes())
		damaged[at] ^= 0x40
		if got, err := unpack(damaged, len(content)); err == nil && !bytes.Equal(got, content) {
			t.Errorf("byte %d is wrong, and nothing is told", at)
		}
	}
}
