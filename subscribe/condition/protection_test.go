package condition

import (
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile are texts of the greatest length that try to cost much.
func hostile() map[string]string {
	fill := func(s string) string { return strings.Repeat(s, DefaultLength/len(s)) }
	within := func(before, s, after string) string {
		return before + strings.Repeat(s, (DefaultLength-len(before)-len(after))/len(s)) + after
	}
	nested := func(open, middle, shut string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(shut, n)
	}
	return map[string]string{
		"brackets":            fill("("),
		"lists":               fill("["),
		"nested lists":        nested("[", "1", "]", 2000),
		"maps":                fill("{a:"),
		"not":                 within("", "!", "true"),
		"not, in words":       within("", "not ", "true"),
		"minus":               within("1 > ", "-", "1"),
		"minus, nested":       "1 > " + nested("-(", "1", ")", MaxDepth),
		"or":                  within("true", "||true", ""),
		"and":                 within("true", " and laser.min<1", ""),
		"chained comparisons": within("1", "<1", ""),
		"chained, with names": within("laser.min", "<laser.min", ""),
		"choices":             within("", "true?1:", "2"),
		"choices, nested":     within("", "true?", "1") + ":1",
		"if":                  fill("if true {1} else "),
		"let":                 within("", "let a=1;", "a==1"),
		"let, of let":         within("let a=laser.min;", "let a=a+a;", "a==1"),
		"pipes":               within("laser.ranges", "|filter(#>1)", ""),
		"loops":               within("", "any(laser.ranges,#<1)||", "true"),
		"loops, nested":       nested("any(laser.ranges,", "#<1", ")", 30),
		"powers":              within("2", "**9", ">1"),
		"numbers":             within("laser.min < ", "9", ""),
		"digits":              within("laser.min < 0.", "1", ""),
		"members":             within("laser", ".a", ""),
		"elements":            within("laser.ranges", "[0]", ""),
		"slices":              within("laser.ranges", "[:]", ""),
		"calls":               within("a", "()", ""),
		"text":                within(`robot == "`, "a", `"`),
		"escapes":             within(`robot == "`, `\u0041`, `"`),
		"texts":               within(`robot == ""`, `+"ab"`, ""),
		"comments":            within("true", "/**/", ""),
		"comment":             "true /*" + strings.Repeat("*", 4000),
		"list":                within("index in [1", ",1", "]"),
		"pattern":             within(`robot matches "`, "(a*)*", `"`),
		"patterns":            within("", `robot matches "a{99}" || `, "true"),
		"pattern, repeated":   `robot matches "((((a{9}){9}){9}){9}){9}"`,
		"pattern, classes":    within(`robot matches "`, `\\pL`, `"`),
		"sums":                within("", "sum(map(laser.ranges,#+1))+", "1 > 0"),
		"sorted counts":       within("", "count(laser.ranges, 1<# && #<2)==3||", "true"),
		"lines":               within("true", "\n", ""),
		"names":               within("", "laser.minn||", "true"),
		"one name":            fill("a"),
		"wide characters":     fill("é"),
		"no characters":       fill("\xff"),
		"quantifier chain":    within("", "!any(laser.ranges,!(#<1))==", "true"),
		"dots":                fill("."),
		"quotes":              fill(`"`),
		"operators":           fill("&|"),
		"optional":            within("laser", "?.min", ""),
		"missing":             within("laser.min", "??1", ""),
		"ranges":              within("1", "..1", ""),
		"texts joined":        within("speech_recognition.text", "+speech_recognition.text", ` == ""`),
		"texts of lists":      within("", "wifi.essid in wifi.essids||", "true"),
		"texts, in loops":     within("", `any(rfid.tags,# contains "a")||`, "true"),
		"further names":       within("", "5 in fiducial.ids&&", "true"),
		"unknown names":       within("", "fiducal.ids.", "x"),
		"remainders":          within("1", "%-1", " == 0"),
	}
}

// Whatever the text, its answer takes a bounded amount of memory, and of steps:
// what is allocated is at most 1 MiB, in at most maxMade pieces. That bounds
// the time, too, and can be counted on a busy machine; BenchmarkHostile
// measures it.
func TestHostileTexts(t *testing.T) {
	c := newCompiler(t)
	for name, text := range hostile() {
		var before, after runtime.MemStats
		for _, compile := range []func(string) (*Program, *Error){c.Condition, c.Expression} {
			runtime.ReadMemStats(&before)
			p, problem := compile(text)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
				t.Errorf("%s takes %d bytes", name, took)
			}
			if made := after.Mallocs - before.Mallocs; made > maxMade {
				t.Errorf("%s allocates %d times", name, made)
			}
			if problem != nil {
				if problem.Message == "" || strings.Contains(problem.Message, "cannot be compiled") || strings.Contains(problem.Message, "does not fit together") {
					t.Errorf("%s: %v", name, problem)
				}
				continue
			}
			p.Test(&Machine{}, testEnv(), nil)
			p.Plan("r1", true)
			p.Robots()
		}
	}
}

// maxMade is how many allocations an answer may take: each is some 100 ns of
// work, so that 5,000 are far from 5 ms.
const maxMade = 5_000

// BenchmarkHostile fails if the answer to a text takes more than 5 ms whenever
// it is asked for: the least of all times, so that it fails on a busy machine
// only if it should.
func BenchmarkHostile(b *testing.B) {
	const most = 5 * time.Millisecond
	c := newCompiler(b)
	for name, text := range hostile() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			least := time.Duration(math.MaxInt64)
			for b.Loop() {
				began := time.Now()
				c.Condition(text)
				least = min(least, time.Since(began))
			}
			b.ReportMetric(float64(least), "least-ns/op")
			if least > most {
				b.Errorf("the answer takes %v, the limit is %v", least, most)
			}
		})
	}
}
