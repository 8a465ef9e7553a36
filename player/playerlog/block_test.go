package playerlog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
	"callboard/player/problem"
)

// asText words all that a log has in it: messages, oddities and problems.
func asText(l *playerlog.Line) string {
	odd := ""
	if l.Odd != nil {
		odd = l.Odd.Error()
	}
	return fmt.Sprintf("%d %d %+v %v %s", l.Number, l.Offset, l.Header, dereferenced(l.Payload), odd)
}

func dereferenced(p any) string { return strings.TrimPrefix(fmt.Sprintf("%+v", p), "&") }

func byReader(t tester, text io.Reader) (out []string) {
	r, err := playerlog.NewReader(playerlog.ReaderConfig{R: text, Name: "x.log"})
	if err != nil {
		t.Fatal(err)
	}
	for {
		l, err := r.Next()
		switch {
		case err == io.EOF:
			return out
		case errors.As(err, new(*problem.Problem)):
			out = append(out, err.Error())
		case err != nil:
			t.Fatal(err)
		default:
			out = append(out, asText(l))
		}
	}
}

// blocks reads a log by blocks, as a pipeline would, and hands each block to
// take while it is valid.
func blocks(t tester, text io.Reader, choose func(player.Interface) playerlog.Choice, take func(*playerlog.Block)) {
	c, err := playerlog.NewCutter(playerlog.ReaderConfig{R: text, Name: "x.log"})
	if err != nil {
		t.Fatal(err)
	}
	b, line, start := new(playerlog.Block), 1, int64(0)
	for {
		if err := c.Next(b); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		b.Parse(choose)
		line, start = b.Place(line, start)
		take(b)
	}
}

// byBlocks words a log that is read by blocks, problems where they stand.
func byBlocks(t tester, text io.Reader) (out []string) {
	blocks(t, text, nil, func(b *playerlog.Block) {
		problems := b.Problems()
		told := func(before int) {
			for len(problems) > 0 && problems[0].Line < before {
				out = append(out, problems[0].Error())
				problems = problems[1:]
			}
		}
		for i := range b.Messages() {
			told(b.Messages()[i].Number)
			out = append(out, asText(&b.Messages()[i]))
		}
		told(math.MaxInt)
	})
	return out
}

// Blocks return what the Reader returns: of golden logs, compressed ones, and of
// several blocks.
func TestBlocksAsReader(t *testing.T) {
	files, err := filepath.Glob(logs + "/*.log")
	if err != nil || len(files) != 4 {
		t.Fatalf("%d logs: %v", len(files), err)
	}
	var whole bytes.Buffer
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		whole.Write(text)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(whole.Bytes())
	_ = z.Close()
	want := byReader(t, bytes.NewReader(whole.Bytes()))
	if len(want) < 2000 || whole.Len() < 2*playerlog.BlockSize {
		t.Fatalf("%d messages in %d bytes", len(want), whole.Len())
	}
	same := cmpopts.EquateEmpty()
	if diff := cmp.Diff(want, byBlocks(t, &whole), same); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, byBlocks(t, bytes.NewReader(zipped.Bytes())), same); diff != "" {
		t.Error("compressed:", diff)
	}
	torn := byBlocks(t, bytes.NewReader(zipped.Bytes()[:zipped.Len()/2]))
	if len(torn) < 100 || !strings.Contains(torn[len(torn)-1], "ends early") {
		t.Errorf("torn: %d, %s", len(torn), torn[len(torn)-1])
	}
	if diff := cmp.Diff(byReader(t, bytes.NewReader(zipped.Bytes()[:zipped.Len()/2])), torn); diff != "" {
		t.Error("torn:", diff)
	}
}

// Whatever is wrong with lines, Blocks say what the Reader says.
func TestBlocksAsReaderProperty(t *testing.T) {
	text, err := os.ReadFile(logs + "/many-interfaces.log")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	rapid.Check(t, func(t *rapid.T) {
		var log []byte
		for range rapid.IntRange(1, 20).Draw(t, "lines") {
			line := bytes.Clone(rapid.SampledFrom(lines).Draw(t, "line"))
			for range rapid.IntRange(0, 3).Draw(t, "faults") {
				if len(line) > 0 {
					at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
					line[at] = rapid.SampledFrom([]byte(" 0123456789.+-eExna#\r\n\t'")).Draw(t, "byte")
				}
			}
			log = append(log, line...)
		}
		log = log[:rapid.IntRange(0, len(log)).Draw(t, "length")]
		if diff := cmp.Diff(byReader(t, bytes.NewReader(log)), byBlocks(t, bytes.NewReader(log))); diff != "" {
			t.Fatal(diff)
		}
	})
}

// tester is a test or a property.
type tester interface {
	Helper()
	Fatal(...any)
}

// A line that is too long is a problem, and what follows it is read.
func TestBlocksLongLine(t *testing.T) {
	message := "1.000 16777343 6665 position2d 00 001 001 +04.963 -01.939 +2.124 +00.350 +00.000 +00.150 0\n"
	for _, n := range []int{playerlog.BlockSize, 3 * playerlog.BlockSize, playerlog.MaxLine - 10, playerlog.MaxLine, playerlog.MaxLine + playerlog.BlockSize, 2*playerlog.MaxLine + 1} {
		text := message + "## " + strings.Repeat("x", n) + "\n" + message
		want, got := byReader(t, strings.NewReader(text)), byBlocks(t, strings.NewReader(text))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d: %s", n, diff)
		}
	}
}

// What is chosen not to be read is not, and the rest is as ever.
func TestBlocksChoose(t *testing.T) {
	text, err := os.ReadFile(logs + "/two-robots-laser-sonar.log")
	if err != nil {
		t.Fatal(err)
	}
	choose := func(i player.Interface) playerlog.Choice {
		switch i {
		case player.InterfaceLaser:
			return playerlog.Nothing
		case player.InterfaceSonar:
			return playerlog.HeaderOnly
		}
		return playerlog.Whole
	}
	var want, got []string
	r := reader(t, "x", bytes.NewReader(text))
	all(t, r, func(l *playerlog.Line) {
		switch l.Header.Interf {
		case player.InterfaceLaser:
			return
		case player.InterfaceSonar:
			l.Skipped = l.Header.Type == player.Data
			if l.Skipped {
				l.Payload = nil
			}
		}
		want = append(want, asText(l))
	})
	blocks(t, bytes.NewReader(text), choose, func(b *playerlog.Block) {
		for i := range b.Messages() {
			got = append(got, asText(&b.Messages()[i]))
		}
	})
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 100 {
		t.Error(len(got), diff)
	}
}

// Numbers are what strconv makes of them, however they are written.
func TestNumbersAsParseFloat(t *testing.T) {
	number := rapid.OneOf(
		rapid.StringMatching(`[-+]?[0-9]{1,19}(\.[0-9]{0,19})?`),
		rapid.StringMatching(`[0-9]\.[0-9]{3}`),
		rapid.StringMatching(`[0-9]{1,3}\.[0-9]{3}`),
		rapid.StringMatching(`[-+]?[0-9]{1,3}(\.[0-9]{1,3})?e[-+]?[0-9]{1,3}`),
		rapid.Custom(func(t *rapid.T) string { return strconv.FormatFloat(rapid.Float64().Draw(t, "f"), 'g', -1, 64) }),
	)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(number, 0, 30).Draw(t, "numbers")
		line := fmt.Sprintf("1.000 16777343 6665 ranger 00 001 001 %04d %s \n", len(words), strings.Join(words, " "))
		blocks(t, strings.NewReader(line), nil, func(b *playerlog.Block) {
			got := dereferenced(b.Messages()[0].Payload)
			var want struct{ Ranges []float64 }
			for _, w := range words {
				v, err := strconv.ParseFloat(w, 64)
				if err != nil && !math.IsInf(v, 0) {
					t.Fatal(err)
				}
				want.Ranges = append(want.Ranges, v)
			}
			if fmt.Sprintf("%+v", want) != got {
				t.Fatalf("%+v, expected %+v", got, want)
			}
		})
	})
}

// Rays are the nearest float32 of the nearest float64, as in C.
func TestRaysAsParseFloat(t *testing.T) {
	number := rapid.OneOf(rapid.StringMatching(`[0-9]\.[0-9]{3}`), rapid.StringMatching(`[0-9]{1,2}\.[0-9]{2,4}`), rapid.Just("nan"))
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(number, 1, 40).Draw(t, "numbers")
		line := fmt.Sprintf("1.000 16777343 6665 laser 00 001 001 0000 -1 1 .1 8 %04d", len(words))
		want := []string{}
		for _, w := range words {
			intensity := rapid.IntRange(0, 255).Draw(t, "intensity")
			line += fmt.Sprintf(rapid.SampledFrom([]string{" %s %2d", " %s %d", "  %s\t%3d"}).Draw(t, "form"), w, intensity)
			v, _ := strconv.ParseFloat(w, 64)
			want = append(want, fmt.Sprint(float32(v), intensity))
		}
		line += rapid.SampledFrom([]string{"\n", " \n", " \r\n", ""}).Draw(t, "end")
		blocks(t, strings.NewReader(line), nil, func(b *playerlog.Block) {
			got := []string{}
			ranges, intensities := rays(b.Messages()[0].Payload)
			for i := range ranges {
				got = append(got, fmt.Sprint(ranges[i], intensities[i]))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(line, diff)
			}
		})
	})
}

func rays(payload any) ([]float32, []uint8) {
	scan := payload.(*iface.LaserData)
	return scan.Ranges, scan.Intensity
}
