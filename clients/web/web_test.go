package web_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"

	"callboard/clients/web"
)

// read returns every file of the page, by its path.
func read(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := fs.WalkDir(web.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(web.FS(), name)
		files[name] = string(body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestContentTypes(t *testing.T) {
	want := map[string]string{
		".html": "text/html; charset=utf-8",
		".js":   "text/javascript; charset=utf-8",
		".css":  "text/css; charset=utf-8",
		".svg":  "image/svg+xml",
	}
	server := httptest.NewServer(http.FileServerFS(web.FS()))
	defer server.Close()
	for name := range read(t) {
		url := server.URL + "/" + strings.TrimSuffix(name, "index.html")
		answer, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", name, answer.Status)
		}
		if got := answer.Header.Get("Content-Type"); got != want[path.Ext(name)] {
			t.Errorf("%s: content type %q, want %q", name, got, want[path.Ext(name)])
		}
	}
}

// references finds what a file names of others.
var references = map[string]*regexp.Regexp{
	".html": regexp.MustCompile(`\s(?:src|href)="([^"#]+)"`),
	".js":   regexp.MustCompile(`(?m)^(?:import|export)\s[^;]*?from "([^"]+)"`),
	".css":  regexp.MustCompile(`url\("?([^")]+)"?\)|@import\s+"([^"]+)"`),
}

// TestReferences: every file that another names exists and lies in the page,
// every file is named by another, and every icon that is used is there.
func TestReferences(t *testing.T) {
	files := read(t)
	named := map[string]bool{"index.html": true}
	for name, body := range files {
		pattern := references[path.Ext(name)]
		if pattern == nil {
			continue
		}
		for _, m := range pattern.FindAllStringSubmatch(body, -1) {
			target := path.Join(path.Dir(name), m[1])
			if strings.HasPrefix(target, "api/") {
				continue // the broker's
			}
			if _, ok := files[target]; !ok {
				t.Errorf("%s names %q, which is not in the page", name, m[1])
			}
			named[target] = true
		}
	}
	for name := range files {
		if !named[name] {
			t.Errorf("%s is named by no other file", name)
		}
	}
	for _, m := range regexp.MustCompile(`<use href="#([^"]+)"|[\s(]icon\("([^"]+)"`).FindAllStringSubmatch(strings.Join(bodies(files), "\n"), -1) {
		id := m[1]
		if id == "" {
			id = "i-" + m[2]
		}
		if !strings.Contains(files["index.html"], `<symbol id="`+id+`"`) {
			t.Errorf("icon %q is not in index.html", id)
		}
	}
}

// TestElements: every element that a module asks for by id is in the markup.
func TestElements(t *testing.T) {
	files := read(t)
	for name, body := range files {
		for _, m := range regexp.MustCompile(`byId\("([^"]+)"\)`).FindAllStringSubmatch(body, -1) {
			if !strings.Contains(files["index.html"], ` id="`+m[1]+`"`) {
				t.Errorf("%s asks for element %q, which index.html has not", name, m[1])
			}
		}
	}
	seen := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]+)"`).FindAllStringSubmatch(files["index.html"], -1) {
		if seen[m[1]] {
			t.Errorf("index.html has two elements %q", m[1])
		}
		seen[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`(?:for|aria-labelledby|aria-describedby)="([^"]+)"`).FindAllStringSubmatch(files["index.html"], -1) {
		for id := range strings.FieldsSeq(m[1]) {
			if !seen[id] {
				t.Errorf("index.html refers to element %q, which it has not", id)
			}
		}
	}
}

// TestNothingInlineNorForeign: the page works under policy and
// without any other host.
func TestNothingInlineNorForeign(t *testing.T) {
	bad := map[string]*regexp.Regexp{
		"an inline script":         regexp.MustCompile(`(?is)<script[^>]*>[^<]`),
		"a script without a file":  regexp.MustCompile(`(?is)<script(?:[^>]*\s)?(?:type="[^"]*")?>`),
		"an inline style sheet":    regexp.MustCompile(`(?i)<style[\s>]`),
		"a style attribute":        regexp.MustCompile(`(?i)<[^>]+\sstyle\s*=`),
		"an inline handler":        regexp.MustCompile(`(?i)<[^>]+\son[a-z]+\s*=`),
		"a javascript: address":    regexp.MustCompile(`(?i)javascript:`),
		"a style attribute set":    regexp.MustCompile(`setAttribute\(\s*"style"`),
		"evaluated text":           regexp.MustCompile(`\beval\(|new Function\(|innerHTML|outerHTML|insertAdjacentHTML|document\.write`),
		"something of other hosts": regexp.MustCompile(`(?i)(?:src|href)="(?:https?:)?//|url\(\s*"?(?:https?:)?//|(?:from|import)\s*\(?"https?:`),
	}
	for name, body := range read(t) {
		for what, pattern := range bad {
			if m := pattern.FindString(body); m != "" {
				t.Errorf("%s has %s: %q", name, what, m)
			}
		}
	}
}

func bodies(files map[string]string) []string {
	var out []string
	for _, body := range files {
		out = append(out, body)
	}
	return out
}

// TestText: what people read stands in the markup and in text.js, nowhere else, so that
// there is one place to look for it.
func TestText(t *testing.T) {
	comment := regexp.MustCompile(`(?m)^\s*(?:\*|/\*\*|//).*$|\s//\s.*$`)
	literal := regexp.MustCompile("\"([^\"\\n]*)\"|`([^`\\n]*)`")
	value := regexp.MustCompile(`\$\{[^}]*\}`)
	words := regexp.MustCompile(`\p{L}{2,} \p{L}{2,}|^\p{Lu}\p{Ll}{2,}`)
	known := regexp.MustCompile(`^callboard: |^the page has no element |^no floor plan|^(?:Enter|Escape|Backspace|Arrow\w+)$|^M\$|^(?:client away|below failed|slip event|state is)|^position\.`)
	for name, body := range read(t) {
		if !strings.HasPrefix(name, "page/") || name == "page/text.js" {
			continue
		}
		for _, m := range literal.FindAllStringSubmatch(comment.ReplaceAllString(body, ""), -1) {
			text := m[1] + m[2]
			if words.MatchString(value.ReplaceAllString(text, "")) && !known.MatchString(text) {
				t.Errorf("%s has words of its own: %q; they belong into page/text.js", name, text)
			}
		}
	}
}
