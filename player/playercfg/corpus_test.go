package playercfg_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"callboard/player/playercfg"
)

// corpusDir holds configurations as people have them, read from outside the tree.
const corpusDir = "../../../shared/corpus"

// TestCorpus reads wild configurations. Real Player parses all of them; what is
// refused has devices that Player 3.1 does not know, twice or not at all. The
// devices that are provided are those that the corpus counted.
func TestCorpus(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(corpusDir, "MANIFEST.tsv"))
	if err != nil {
		t.Skip("no corpus beside the tree")
	}
	total, loaded := 0, 0
	refused := map[string]int{}
	for _, line := range strings.Split(string(table), "\n") {
		row := strings.Split(line, "\t")
		if len(row) < 5 || row[3] != "cfg" {
			continue
		}
		total++
		c := playercfg.Config{Name: filepath.Join(corpusDir, row[1]), Open: os.ReadFile}
		parsed, problems := playercfg.Parse(c)
		if err := problems.First(); err != nil {
			t.Errorf("%s does not parse: %v", row[1], err)
			continue
		}
		if got, want := provided(parsed), counted(row[4]); want != "" && got != want {
			t.Errorf("%s provides\n%s, expected\n%s", row[1], got, want)
		}
		f, problems := playercfg.Load(c)
		if err := problems.First(); err != nil {
			reason := ""
			for _, r := range []string{"unknown interface", "is provided twice", "no driver provides a device", "has no index"} {
				if strings.Contains(err.Error(), r) {
					reason = r
				}
			}
			refused[reason]++
			if reason == "" {
				t.Errorf("%s: %v", row[1], err)
			}
			continue
		}
		loaded++
		if strings.Contains(row[4], "worldfile") {
			continue
		}
		for _, d := range f.Drivers {
			if d.Name == "stage" && d.Len("model") > 0 && len(f.Robots()) == 0 {
				t.Errorf("%s: model %q is no robot", row[1], d.Text("model", 0, ""))
			}
		}
	}
	t.Logf("%d of %d load; refused: %v", loaded, total, refused)
	if loaded < total*4/5 {
		t.Errorf("%d of %d load, expected at least four of five", loaded, total)
	}
}

// provided counts the interfaces that drivers provide, in the corpus's words:
// "laser x2 sonar".
func provided(f *playercfg.File) string {
	counts := map[string]int{}
	var order []string
	for _, s := range f.Global.Sections {
		field := s.Field("provides")
		if s.Type != "driver" || field == nil {
			continue
		}
		for _, v := range field.Values {
			parts := strings.Split(v.Text, ":")
			name := v.Text
			if len(parts) > 1 {
				name = parts[len(parts)-2]
			}
			if counts[name] == 0 {
				order = append(order, name)
			}
			counts[name]++
		}
	}
	var out []string
	for _, name := range order {
		if counts[name] > 1 {
			name += fmt.Sprintf(" x%d", counts[name])
		}
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// counted is that of a row of the corpus, or "" where the row does not say.
func counted(notes string) string {
	_, list, ok := strings.Cut(notes, "provides: ")
	if !ok {
		return ""
	}
	list, _, _ = strings.Cut(list, ";")
	if strings.HasSuffix(list, " 1 ") {
		return "" // an index with a blank behind it was counted as an interface
	}
	var out []string
	for _, word := range strings.Fields(list) {
		if strings.HasPrefix(word, "x") && len(out) > 0 {
			if _, err := strconv.Atoi(word[1:]); err == nil {
				out[len(out)-1] += " " + word
				continue
			}
		}
		out = append(out, word)
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
