package problem

import (
	"errors"
	"io/fs"
)

// OfFile returns what is wrong with a file whose name the message has already:
// "no such file", or why it cannot be read.
func OfFile(err error) string {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file"
	case errors.As(err, &path):
		return "cannot be read: " + path.Err.Error()
	}
	return "cannot be read: " + err.Error()
}

// OfNamedFile is OfFile where the message does not have the name: "a.cfg: no such
// file". Other errors name the file themselves.
func OfNamedFile(name string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return name + ": " + OfFile(err)
	}
	return "cannot be read: " + err.Error()
}
