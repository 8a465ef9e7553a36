package main

import "callboard/subscribe/condition"

// conditionsHelp is the text of callboard help conditions, made from the
// schema of conditions.
func conditionsHelp() string { return condition.Help() }
