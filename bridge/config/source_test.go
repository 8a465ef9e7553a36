package config

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

// selfSigned makes a certificate and its key, in PEM.
func selfSigned(t testing.TB) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})), string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}))
}

func TestScanPlaces(t *testing.T) {
	text := "\ufeff# a comment = [1]\r\n" +
		"top.level = \"a # no comment ] \\\" \"   # one\n" +
		"[a . \"b.c\"]\n" +
		"  x = '''\ny = 1\n'''''\n" +
		"  'é' = [ 1, # one\n    [ 2 ],\n  { k = \"\"\"\n=\\\"\"\"\" } ]; \n"
	text = strings.Replace(text, "; \n", "\n", 1) +
		"[[t]]\nv = 1979-05-27T07:32:00Z\n[t.sub]\nw = 1\n[[t.deep]]\nz = {}\n[[t]]\n[[t.deep]]\nq = { a.b = 1, c = 2 }\n"
	src, excess := scan("f", text)
	if excess != nil {
		t.Fatalf("%v", excess)
	}
	want := map[string]place{
		"top": {2, 1}, "top.level": {2, 1},
		"a": {3, 1}, `a."b.c"`: {3, 1}, `a."b.c".x`: {4, 3},
		`a."b.c"."é"`: {7, 3}, `a."b.c"."é"[0]`: {7, 11}, `a."b.c"."é"[1]`: {8, 5}, `a."b.c"."é"[1][0]`: {8, 7},
		`a."b.c"."é"[2]`: {9, 3}, `a."b.c"."é"[2].k`: {9, 5},
		"t": {11, 1}, "t[0]": {11, 1}, "t[0].v": {12, 1}, "t[0].sub": {13, 1}, "t[0].sub.w": {14, 1},
		"t[0].deep": {15, 1}, "t[0].deep[0]": {15, 1}, "t[0].deep[0].z": {16, 1},
		"t[1]": {17, 1}, "t[1].deep": {18, 1}, "t[1].deep[0]": {18, 1},
		"t[1].deep[0].q": {19, 1}, "t[1].deep[0].q.a": {19, 7}, "t[1].deep[0].q.a.b": {19, 7}, "t[1].deep[0].q.c": {19, 16},
	}
	if diff := cmp.Diff(want, src.places, cmp.AllowUnexported(place{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var document map[string]any
	if _, err := toml.Decode(text, &document); err != nil {
		t.Fatalf("the text is not TOML: %v", err)
	}
}

// everyPath returns all keys of a decoded document as the scanner names them.
func everyPath(path string, v any, found func(string)) {
	if list, ok := asList(v); ok {
		for i, e := range list {
			at := path + "[" + strconv.Itoa(i) + "]"
			found(at)
			everyPath(at, e, found)
		}
	}
	if table, ok := v.(map[string]any); ok {
		for _, k := range slices.Sorted(maps.Keys(table)) {
			found(join(path, k))
			everyPath(join(path, k), table[k], found)
		}
	}
}

func TestScanIsLinear(t *testing.T) {
	src, _ := scan("f", "a = ["+strings.Repeat("1,", 1<<19)+"é, x]")
	if got, want := src.places["a[524288]"], (place{1, 1<<20 + 6}); got != want {
		t.Errorf("place %v, expected %v", got, want)
	}
	if got, want := src.places["a[524289]"], (place{1, 1<<20 + 9}); got != want {
		t.Errorf("place %v, expected %v", got, want)
	}
}

// TestMemory: what a text makes its reader allocate is a small multiple of the text.
func TestMemory(t *testing.T) {
	numbered := func(format string, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"table":           "[" + strings.Repeat("a.", 20_000) + "a]\n",
		"array of tables": "[[" + strings.Repeat("a.", 20_000) + "a]]\n",
		"key":             strings.Repeat("a.", 20_000) + "a = 1\n",
		"inline table":    "x = {" + strings.Repeat("a.", 20_000) + "a = 1}\n",
		"arrays":          "x = " + strings.Repeat("[", 40_000),
		"long table":      "[" + strings.Repeat("a", 990) + "]\n" + numbered("k%d=1\n", 4_000),
		"long array":      strings.Repeat("a", 990) + " = [" + strings.Repeat("1,", 20_000) + "]\n",
		"deep tables":     numbered("["+strings.Repeat("a.", 31)+"k%d]\n", 500),
		"unknown keys":    numbered("[a%d]\n", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, problems := Parse("f.toml", text, nil)
			runtime.ReadMemStats(&after)
			if took, most := after.TotalAlloc-before.TotalAlloc, uint64(400*len(text)); took > most {
				t.Errorf("%d bytes took %d to read, of %d", len(text), took, most)
			}
			if len(problems) == 0 || len(problems) > maxProblems+1 {
				t.Errorf("%d problems", len(problems))
			}
		})
	}
}

// FuzzParse checks that no text panics, that problems lie inside it, and that
// the scanner finds each key that the TOML library finds.
func FuzzParse(f *testing.F) {
	f.Add(example)
	f.Add("a.b = [[1, 2], { c = '''x''' }]\n[[d]]\n[d.e]\nf=1\n[[d]]\n")
	f.Add("[broker]\nid = \n")
	f.Add("zones = " + strings.Repeat("[", 100))
	f.Add("\ufeffx = \"\\u00e9\" # é\n\"\\u00e9\" = 1")
	f.Fuzz(func(t *testing.T, text string) {
		_, problems := Parse("f.toml", text, nil)
		lines := strings.Split(text, "\n")
		for _, p := range problems {
			if p.Line > len(lines) || p.Line > 0 && p.Column < 1 || p.Error() == "" {
				t.Errorf("%q outside of the text", p)
			}
		}
		if len(text) > 2_000 {
			return
		}
		src, excess := scan("f.toml", text)
		var document map[string]any
		if excess != nil {
			return
		}
		if _, err := toml.Decode(text, &document); err != nil {
			return
		}
		everyPath("", document, func(path string) {
			p, ok := src.places[path]
			if !ok {
				t.Fatalf("%s is not found in %q", path, text)
			}
			if line := []rune(lines[p.line-1]); p.column > len(line) {
				t.Errorf("%s is at %v of %q", path, p, text)
			}
		})
	})
}
