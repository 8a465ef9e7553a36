package mcap_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"callboard/player/mcap"
	"callboard/player/problem"
)

// FuzzRead reads any bytes, from the beginning and by the index: nothing
// panics, and what is told ends.
func FuzzRead(f *testing.F) {
	for _, compression := range []string{mcap.Zstd, mcap.None} {
		file, _ := sample(f, 5, compression, nil)
		f.Add(file)
		f.Add(file[:len(file)/2])
	}
	for _, name := range []string{"official.mcap", "official-lz4.mcap"} {
		file, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		stream(t, file)
		s, err := mcap.ReadSummary(bytes.NewReader(file), int64(len(file)), "x.mcap")
		if err != nil {
			return
		}
		for _, x := range s.Attachments {
			s.Attachment(x)
		}
		for _, x := range s.Metadata {
			s.ReadMetadata(x)
		}
		r := s.Select(mcap.Selection{})
		defer r.Close()
		for {
			_, err := r.Next()
			if err == io.EOF {
				return
			}
			if p := (*problem.Problem)(nil); err != nil && !errors.As(err, &p) {
				t.Fatal(err)
			}
		}
	})
}
