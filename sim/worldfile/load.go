package worldfile

import "callboard/player/problem"

// Open opens a file by a name that is relative as the world file's own name is,
// or absolute, and returns its bytes. Only Load calls it, while it runs.
type Open func(name string) ([]byte, error)

// Load reads the world file of that name with all that it includes. The World
// is nil if any of the problems is an Error; Warnings tell what was tolerated,
// put right or left out.
func Load(open Open, name string) (*World, problem.List) {
	f, problems := Parse(open, name)
	if f == nil {
		return nil, problems
	}
	w, more := interpret(f, open)
	problems = append(problems, more...)
	problems.Sort(f.files)
	if problems.First() != nil {
		return nil, problems
	}
	return w, problems
}
