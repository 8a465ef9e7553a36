// Package condition compiles conditions, the expr language over a robot's
// readings, guards against texts that would hurt, and words its own errors.
package condition

// Program is a compiled expression. It is immutable and shared.
type Program struct{}

// Help is the description of the condition language for people, generated
// from the schema.
func Help() string { return "" }

// Example is an expression of the help text, with what it means.
type Example struct{ Condition, Meaning string }
