package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"callboard/bridge/node"
	callboard "callboard/clients/go"
	"callboard/player"
)

// hint says what robots there are, where none matches: one asks for what they do not
// have, or by another name.
func (w *watcher) hint(ctx context.Context, client *callboard.Client) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var robots []node.Robot
	if list, err := client.List(ctx, "robots"); err != nil || json.Unmarshal(list, &robots) != nil || len(robots) == 0 {
		return
	}
	for _, line := range robotHints(robots, w.subscription.Condition) {
		w.note("%s", line)
	}
}

// robotHints says what robots have, those alike together, and by which names
// conditions know rangers.
func robotHints(robots []node.Robot, condition string) (lines []string) {
	const maxLines = 5
	alike, rangers := map[string][]string{}, false
	for _, r := range robots {
		var devices []string
		for _, d := range r.Devices {
			devices = append(devices, d.Interface+":"+strconv.Itoa(d.Index))
			rangers = rangers || d.Interface == player.InterfaceRanger.String()
		}
		has := cmp.Or(strings.Join(devices, " "), "nothing")
		alike[has] = append(alike[has], r.Robot.Robot)
	}
	for has, names := range alike {
		slices.SortFunc(names, natural)
		have := "has"
		if n := len(names); n > 1 {
			have = "have"
			if n > 3 {
				names = []string{names[0], "…", names[n-1], fmt.Sprintf("(%d)", n)}
			}
		}
		lines = append(lines, strings.Join(names, " ")+" "+have+" "+has)
	}
	slices.SortFunc(lines, natural)
	if n := len(lines); n > maxLines {
		lines = append(lines[:maxLines-1], fmt.Sprintf("%d more kinds of robots; callboard status lists all", n-maxLines+1))
	}
	if rangers && (strings.Contains(condition, "sonar") || strings.Contains(condition, "laser")) {
		lines = append(lines, "a ranger with one element is laser in conditions, one with several is sonar")
	}
	return lines
}
