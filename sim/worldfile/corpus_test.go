package worldfile

import (
	"callboard/player/problem"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// corpusDir holds worlds as people have them, read from outside the tree.
const corpusDir = "../../../shared/corpus"

// TestCorpus loads wild worlds and compares models, robots, rangers and bitmaps
// with what the corpus expects of them.
func TestCorpus(t *testing.T) {
	table, err := os.ReadFile(filepath.Join(corpusDir, "EXPECT.tsv"))
	if err != nil {
		t.Skip("no corpus beside the tree")
	}
	loaded, right, refused, total := 0, 0, 0, 0
	for i, line := range strings.Split(strings.TrimSpace(string(table)), "\n") {
		f := strings.Split(line, "\t")
		if i == 0 || len(f) < 10 {
			continue
		}
		total++
		w, problems := Load(func(name string) ([]byte, error) {
			if path.IsAbs(name) {
				return nil, os.ErrNotExist
			}
			return os.ReadFile(filepath.Join(corpusDir, name))
		}, f[0])
		if f[3] == "-" {
			// Stage refuses it, for a fault in the text or an include that the corpus
			// lacks; so do we, with a place.
			err := problems.First()
			if w != nil || err == nil || !strings.HasPrefix(f[2], "refuses") {
				t.Errorf("%s loads, Stage %s (%s)", f[0], f[2], f[9])
			} else if p := err.(problem.Problem); p.Line == 0 {
				t.Errorf("%s: no place in %v", f[0], err)
			}
			refused++
			continue
		}
		if w == nil {
			t.Errorf("%s: %v (%s)", f[0], problems.First(), f[2])
			continue
		}
		loaded++
		faults := faultsOf(w, f)
		if len(faults) == 0 {
			right++
		}
		for _, fault := range faults {
			t.Errorf("%s (%s): %s", f[0], f[1], fault)
		}
	}
	t.Logf("%d worlds: %d load, %d as expected, %d are refused by Stage too", total, loaded, right, refused)
}

// faultsOf returns where a world differs from its row.
func faultsOf(w *World, f []string) []string {
	var faults []string
	differ := func(what, want, got string) {
		if want != got {
			faults = append(faults, fmt.Sprintf("%s\n  want %.300s\n  got  %.300s", what, want, got))
		}
	}
	counts := map[string]int{}
	var robots []string
	for _, m := range w.All() {
		counts[m.Type]++
		if m.Type == "position" {
			g := m.Global()
			robots = append(robots, fmt.Sprintf("%s@%s,%s,%s,%s", m.Name, round(g.X), round(g.Y), round(g.Z), round(g.A*180/math.Pi)))
		}
	}
	var types []string
	for typ, n := range counts {
		types = append(types, fmt.Sprintf("%s:%d", typ, n))
	}
	sort.Strings(types)
	differ("models", f[3], strings.Join(types, " "))
	if fault := robotFault(robots, f[4]); fault != "" {
		faults = append(faults, fault)
	}
	if fault := rangerFault(w, f[5]); fault != "" {
		faults = append(faults, fault)
	}
	return append(faults, bitmapFaults(w, f[6])...)
}

func round(v float64) string {
	s := strconv.FormatFloat(math.Round(v*1000)/1000, 'f', -1, 64)
	if s == "-0" {
		return "0"
	}
	return s
}

// robotFault compares names and poses. Long lists are cut in the table.
func robotFault(got []string, want string) string {
	if want == "(none)" || want == "-" {
		want = ""
	}
	var expect []string
	for _, r := range strings.Split(want, " ; ") {
		if strings.HasSuffix(r, " in all") {
			if n := strings.Fields(r)[1]; n != strconv.Itoa(len(got)) {
				return fmt.Sprintf("%d robots, expected %s", len(got), n)
			}
			got = got[:len(expect)]
		} else if r != "" {
			expect = append(expect, r)
		}
	}
	if len(expect) != len(got) {
		return fmt.Sprintf("robots %v, expected %v", got, expect)
	}
	for i := range got {
		a, b := strings.FieldsFunc(got[i], cut), strings.FieldsFunc(expect[i], cut)
		if len(a) != len(b) || a[0] != b[0] {
			return fmt.Sprintf("robot %s, expected %s", got[i], expect[i])
		}
		for j := 1; j < len(a); j++ {
			x, _ := strconv.ParseFloat(a[j], 64)
			y, _ := strconv.ParseFloat(b[j], 64)
			if d := math.Abs(x - y); d > 0.002 && math.Abs(d-360) > 0.002 {
				return fmt.Sprintf("robot %s, expected %s", got[i], expect[i])
			}
		}
	}
	return ""
}

func abs(v int) int { return max(v, -v) }

func cut(r rune) bool { return r == '@' || r == ',' }

// tenth rounds to a tenth, halves towards 0 as far as they can be told.
func tenth(v float64) string { return strconv.FormatFloat(math.Round(v*10-1e-6)/10, 'f', -1, 64) }

var rangerText = regexp.MustCompile(`(\d+) x (\w+) with (\d+) sensor\(s\) of (\d+) sample\(s\) fov ([\d.]+) deg max ([\d.]+) m`)

// rangerFault compares kinds of rangers and how many there are of each.
func rangerFault(w *World, want string) string {
	got := map[string]int{}
	for _, m := range w.All() {
		if m.Ranger == nil || len(m.Ranger.Sensors) == 0 || m.Type == "sonar" {
			continue
		}
		s := m.Ranger.Sensors[0]
		got[fmt.Sprintf("%s %d sensors %d samples fov %s max %s", m.Type, len(m.Ranger.Sensors), s.Samples,
			tenth(s.FOV*180/math.Pi), round(s.MaxRange))]++
	}
	if strings.Contains(want, " + ") {
		return "" // sensors of several kinds in one ranger
	}
	expect := map[string]int{}
	for _, m := range rangerText.FindAllStringSubmatch(want, -1) {
		n, _ := strconv.Atoi(m[1])
		fov, _ := strconv.ParseFloat(m[5], 64)
		expect[fmt.Sprintf("%s %s sensors %s samples fov %s max %s", m[2], m[3], m[4], tenth(fov), m[6])] += n
	}
	if a, b := fmt.Sprint(expect), fmt.Sprint(got); a != b {
		return fmt.Sprintf("rangers\n  want %.300s\n  got  %.300s", a, b)
	}
	return ""
}

var bitmapText = regexp.MustCompile(`: (\S+) (\d+)x(\d+) px, \d+ channel\(s\), (\d+) dark px in columns (\d+)-(\d+) rows (\d+)-(\d+)`)

func bitmapFaults(w *World, want string) []string {
	var faults []string
	for _, m := range bitmapText.FindAllStringSubmatch(want, -1) {
		n := func(i int) int { v, _ := strconv.Atoi(m[i]); return v }
		found := false
		for _, b := range w.Bitmaps {
			if b.File != m[1] {
				continue
			}
			found = true
			if b.Missing {
				continue
			}
			// Decoders of JPEG differ in single pixels.
			solid := b.Solid
			if path.Ext(b.File) == ".jpg" && abs(solid-n(4)) < 3 {
				solid = n(4)
			}
			if b.Width != n(2) || b.Height != n(3) || solid != n(4) || b.MinX != n(5) || b.MaxX != n(6) || b.MinY != n(7) || b.MaxY != n(8) {
				faults = append(faults, fmt.Sprintf("bitmap %s is %+v", m[0], b))
			}
		}
		if !found {
			faults = append(faults, "no bitmap "+m[1])
		}
	}
	return faults
}
