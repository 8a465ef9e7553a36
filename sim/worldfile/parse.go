package worldfile

// Parse reads a world file's syntax. The File is nil if there is an error.
func Parse(open Open, name string) (*File, []Problem) { return nil, nil }

func interpret(f *File, open Open) (*World, []Problem) { return nil, nil }
