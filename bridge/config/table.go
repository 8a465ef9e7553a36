package config

import (
	"callboard/player/problem"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// reader turns a decoded TOML document into a Config and collects problems.
type reader struct {
	source   *source
	dir      string // that relative paths start from
	problems problem.List
}

// problem notes what is wrong with a key.
func (r *reader) problem(key, format string, args ...any) {
	switch n := len(r.problems); {
	case n < maxProblems:
		r.problems = append(r.problems, r.source.problem(key, fmt.Sprintf(format, args...)))
	case n == maxProblems:
		r.problems = append(r.problems, r.source.problem(key, fmt.Sprintf("one of more problems than are shown; expected fewer than %d", maxProblems)))
	}
}

// problem makes a Problem with the key's place.
func (s *source) problem(key, text string) problem.Problem {
	return problem.Problem{Place: s.at(key), Key: key, Message: text}
}

// table reads the keys of one TOML table. Those asked for are known, others
// are problems.
type table struct {
	r     *reader
	path  string
	keys  map[string]any
	known []string
}

// get returns the value of a key that may be there.
func (t *table) get(key string) (any, string, bool) {
	t.known = append(t.known, key)
	v, ok := t.keys[key]
	return v, join(t.path, key), ok
}

func (t *table) wrong(path string, v any, expected string) {
	t.r.problem(path, "is %s; expected %s", kind(v), expected)
}

func (t *table) text(key string, into *string) {
	if v, path, ok := t.get(key); ok {
		if s, isText := v.(string); !isText {
			t.wrong(path, v, "a string")
		} else if s == "" {
			t.r.problem(path, "is empty; expected a value, or leave the key out")
		} else {
			*into = s
		}
	}
}

func (t *table) number(key string, into *float64) {
	if v, path, ok := t.get(key); ok {
		if f, isNumber := asFloat(v); isNumber {
			*into = f
		} else {
			t.wrong(path, v, "a number")
		}
	}
}

func (t *table) integer(key string, into *int) {
	if v, path, ok := t.get(key); ok {
		if i, isInteger := v.(int64); isInteger {
			*into = int(i)
		} else {
			t.wrong(path, v, "an integer")
		}
	}
}

// size reads a number of bytes: a string with a unit, or an integer.
func (t *table) size(key string, into *int64) {
	v, path, ok := t.get(key)
	if !ok {
		return
	}
	switch v := v.(type) {
	case int64:
		if v < 1 {
			t.r.problem(path, "is %d; expected bytes, as \"2GB\"", v)
			return
		}
		*into = v
	case string:
		n, err := ParseSize(v)
		if err != nil {
			t.wrong(path, v, "bytes, as \"2GB\" or \"512MiB\"")
			return
		}
		*into = n
	default:
		t.wrong(path, v, "bytes, as \"2GB\" or \"512MiB\"")
	}
}

// rate reads a number of bits per second, with a unit.
func (t *table) rate(key string, into *float64) {
	v, path, ok := t.get(key)
	if !ok {
		return
	}
	text, isText := v.(string)
	if rate, err := ParseRate(text); isText && err == nil {
		*into = rate
		return
	}
	t.wrong(path, v, "bits per second, as \"200Mbit\"")
}

func (t *table) boolean(key string, into *bool) {
	if v, path, ok := t.get(key); ok {
		if b, isBool := v.(bool); isBool {
			*into = b
		} else {
			t.wrong(path, v, "true or false")
		}
	}
}

// texts reads an array of strings; an empty one is not nil.
func (t *table) texts(key string, into *[]string) {
	v, path, ok := t.get(key)
	if !ok {
		return
	}
	if list, right := t.r.textList(path, v); right {
		*into = list
	}
}

func (r *reader) textList(path string, v any) ([]string, bool) {
	const expected = `an array of strings, such as ["r*"]`
	list, ok := asList(v)
	if !ok {
		r.problem(path, "is %s; expected %s", kind(v), expected)
		return nil, false
	}
	out := make([]string, 0, len(list))
	for i, e := range list {
		s, isText := e.(string)
		if !isText {
			r.problem(path+"["+strconv.Itoa(i)+"]", "is %s; expected a string", kind(e))
			ok = false
		}
		out = append(out, s)
	}
	return out, ok
}

// sub reads a table inside.
func (t *table) sub(key string, read func(*table)) {
	if v, path, ok := t.get(key); ok {
		keys, isTable := v.(map[string]any)
		if !isTable {
			t.wrong(path, v, "a table")
			return
		}
		t.r.table(path, keys, read)
	}
}

// each reads an array of tables.
func (t *table) each(key string, read func(*table)) {
	v, path, ok := t.get(key)
	if !ok {
		return
	}
	list, isList := asList(v)
	if !isList {
		t.r.problem(path, "is %s; expected an array of tables: [[%s]]", kind(v), key)
		return
	}
	for i, e := range list {
		at := path + "[" + strconv.Itoa(i) + "]"
		keys, isTable := e.(map[string]any)
		if !isTable {
			t.r.problem(at, "is %s; expected a table: [[%s]]", kind(e), key)
			continue
		}
		t.r.table(at, keys, read)
	}
}

// table reads one table with read, then reports the keys it did not ask for.
func (r *reader) table(path string, keys map[string]any, read func(*table)) {
	t := &table{r: r, path: path, keys: keys}
	read(t)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if slices.Contains(t.known, key) {
			continue
		}
		if len(r.problems) > maxProblems {
			return
		}
		if near := problem.Nearest(key, t.known); near != "" {
			r.problem(join(path, key), "unknown key; expected perhaps %s", near)
		} else {
			known := slices.Sorted(slices.Values(t.known))
			r.problem(join(path, key), "unknown key; expected one of %s", listed(known))
		}
	}
}

// kind names the TOML type of a value.
func kind(v any) string {
	switch v := v.(type) {
	case string:
		return "the string " + strconv.Quote(problem.Short(v))
	case int64:
		return "the integer " + strconv.FormatInt(v, 10)
	case float64:
		return "the float " + strconv.FormatFloat(v, 'g', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	case time.Time:
		return "a date or time"
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "an array"
	}
	return fmt.Sprintf("a %T", v)
}

func asFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case int64:
		return float64(v), true
	}
	return 0, false
}

// asList returns an array's elements; the library has a type of its own for
// arrays of tables.
func asList(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case []map[string]any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = v[i]
		}
		return out, true
	}
	return nil, false
}
