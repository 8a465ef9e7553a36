package run_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"callboard/player"
	"callboard/player/problem"
	"callboard/player/run"
)

// toldByBlocks reads a run by blocks and writes down what comes.
func toldByBlocks(t *testing.T, f *run.File, o run.BlockOptions) (out []string) {
	t.Helper()
	blocks, err := f.Blocks(o)
	if err != nil {
		t.Fatal(err)
	}
	defer blocks.Close()
	for b := new(run.Block); ; {
		if err := blocks.Next(b); err == io.EOF {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		b.Parse()
		blocks.Records(b, func(rec *run.Record, p *problem.Problem) {
			if p != nil {
				out = append(out, p.Error())
			} else {
				out = append(out, line(rec))
			}
		})
	}
}

// Blocks return what the Reader returns, of logs and of MCAP files.
func TestBlocksAsReader(t *testing.T) {
	names, err := filepath.Glob("../../testdata/logs/*.log")
	if err != nil || len(names) != 4 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		golden := open(t, name, text)
		for what, f := range map[string]*run.File{
			"golden":  golden,
			"faulty":  open(t, name, []byte(strings.ReplaceAll(string(text), "7 ", "x "))),
			"events":  open(t, "events.log", logOf(t, golden)),
			"mcap":    open(t, "x.mcap", mcapOf(t, golden, run.MCAPConfig{})),
			"cut":     open(t, "x.mcap", mcapOf(t, golden, run.MCAPConfig{})[:40_000]),
			"rotated": open(t, "x.log", append(logOf(t, golden), logOf(t, golden)...)),
		} {
			want := told(t, f, run.Options{})
			if diff := cmp.Diff(want, toldByBlocks(t, f, run.BlockOptions{})); diff != "" {
				t.Errorf("%s, %s: %s", name, what, diff)
			}
			if len(want) < 10 {
				t.Errorf("%s, %s: %d records", name, what, len(want))
			}
		}
	}
}

// What is not chosen is passed over, or comes without payload, unless that
// tells geometry.
func TestBlocksChoose(t *testing.T) {
	text, err := os.ReadFile("../../testdata/logs/alpha-ranger.log")
	if err != nil {
		t.Fatal(err)
	}
	golden := open(t, "alpha.log", text)
	choose := func(i player.Interface) run.Choice {
		switch i {
		case player.InterfacePosition2D:
			return run.Whole
		case player.InterfaceRanger:
			return run.HeaderOnly
		}
		return run.Nothing
	}
	for _, f := range []*run.File{golden, open(t, "x.mcap", mcapOf(t, golden, run.MCAPConfig{}))} {
		whole, headers, others, elements := 0, 0, 0, 0
		blocks, err := f.Blocks(run.BlockOptions{Choose: choose})
		if err != nil {
			t.Fatal(err)
		}
		b := new(run.Block)
		for blocks.Next(b) == nil {
			b.Parse()
			blocks.Records(b, func(rec *run.Record, p *problem.Problem) {
				switch {
				case p != nil:
					t.Error(p)
				case rec.Kind != run.Data:
				case rec.Header.Interf == player.InterfacePosition2D && rec.Payload != nil:
					whole++
				case rec.Header.Interf == player.InterfaceRanger && rec.Payload == nil:
					headers++
					if rec.Device.Geometry != nil {
						elements = max(elements, len(rec.Device.Geometry.Elements))
					}
				default:
					others++
				}
			})
		}
		blocks.Close()
		if whole < 50 || headers < 50 || others != 0 || elements != 8 {
			t.Errorf("%s: %d whole, %d headers, %d others, %d elements", f.Name(), whole, headers, others, elements)
		}
	}
}
