package main

import (
	"regexp"
	"strconv"
	"strings"

	"callboard/subscribe/view"
)

// threshold is a number with which a condition compares a value.
type threshold struct {
	condition int
	at        float64
}

// thresholds returns those of a value, where a condition compares just it.
func (d *drawing) thresholds(v drawnValue) (all []threshold) {
	if v.text == "" {
		return nil
	}
	const sign, number = `\s*(?:<=?|>=?|==)\s*`, `(-?\d+(?:\.\d+)?)`
	word := regexp.QuoteMeta(v.text)
	after := regexp.MustCompile(`(?:^|[^\w.+*/\s-])\s*` + word + sign + number + `\s*(?:$|[^\w.+*/\s-])`)
	before := regexp.MustCompile(`(?:^|[^\w.+*/\s-])\s*` + number + sign + word + `\s*(?:$|[^\w.(+*/\s-])`)
	for i, text := range d.texts {
		text = strings.NewReplacer(" and ", " && ", " or ", " || ").Replace(text)
		for _, m := range append(after.FindAllStringSubmatch(text, -1), before.FindAllStringSubmatch(text, -1)...) {
			if at, err := strconv.ParseFloat(m[1], 64); err == nil {
				all = append(all, threshold{i, at})
			}
		}
	}
	return all
}

// unitOf returns the unit of a field, as laser.min, "" of any other expression.
func unitOf(text string) string {
	name, field, _ := strings.Cut(text, ".")
	for k := range view.Kind(view.NumKinds) {
		if k.String() != name {
			continue
		}
		for _, f := range k.Fields() {
			if f.Name == field {
				return f.Unit
			}
		}
	}
	return ""
}
