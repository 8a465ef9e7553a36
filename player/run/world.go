package run

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/url"
	"path"
	"strings"
	"time"

	"callboard/player/mcap"
	"callboard/player/problem"
	"callboard/player/regular"
)

// maxWorld is how many bytes the files of a world may have.
const maxWorld = 256 << 20

// World is the world that a run was recorded in: a world file with what it
// includes and its bitmaps, and perhaps the Player configuration. Of a run recorded
// from a broker it is the floor plans that the broker had.
type World struct {
	Files []WorldFile // the world file first, then the configuration, if they are there
}

// WorldFile is a file of a World.
type WorldFile struct {
	Name string // with slashes, relative: as the files name each other
	Data []byte
}

// File is the name of the world file, "" if there is none.
func (w *World) File() string {
	for _, f := range w.Files {
		if strings.HasSuffix(f.Name, ".world") {
			return f.Name
		}
	}
	return ""
}

// planSuffix ends the names of files that are floor plans.
const planSuffix = ".plan.json"

// PlanFile makes a file of a floor plan, as a broker serves it at /api/worlds/NAME.
func PlanFile(world string, plan []byte) WorldFile {
	return WorldFile{Name: url.PathEscape(world) + planSuffix, Data: plan}
}

// Plans returns the floor plans, of runs recorded from a broker.
func (w *World) Plans() [][]byte {
	var all [][]byte
	for _, f := range w.Files {
		if strings.HasSuffix(f.Name, planSuffix) {
			all = append(all, f.Data)
		}
	}
	return all
}

// Open returns the bytes of a file, as worldfile.Load asks for them. A name that
// is absolute, as it was where the run was recorded, is looked for by its end.
func (w *World) Open(name string) ([]byte, error) {
	clean := path.Clean(strings.ReplaceAll(name, `\`, "/"))
	absolute := strings.HasPrefix(clean, "/")
	clean = strings.TrimPrefix(clean, "/")
	for {
		for _, f := range w.Files {
			if f.Name == clean {
				return f.Data, nil
			}
		}
		_, rest, more := strings.Cut(clean, "/")
		if !absolute || !more {
			return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
		}
		clean = rest
	}
}

// worldPrefix is before the names of a world's files among the attachments of
// an MCAP file.
const worldPrefix = "world/"

// attach writes the world into an MCAP file.
func (w *World) attach(out *mcap.Writer, now time.Time) error {
	if w == nil {
		return nil
	}
	for _, f := range w.Files {
		media := mime.TypeByExtension(path.Ext(f.Name))
		if media == "" {
			media = "text/plain"
		}
		if err := out.Attach(mcap.Attachment{LogTime: uint64(now.UnixNano()), Name: worldPrefix + f.Name, MediaType: media, Data: f.Data}); err != nil {
			return err
		}
	}
	return nil
}

// WriteZip writes the world as a ZIP archive, what stands beside a log; at is
// when.
func (w *World) WriteZip(to io.Writer, at time.Time) error {
	z := zip.NewWriter(to)
	for _, f := range w.Files {
		out, err := z.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: at})
		if err == nil {
			_, err = out.Write(f.Data)
		}
		if err != nil {
			return fmt.Errorf("run: writing %s of the world: %w", f.Name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("run: writing the world: %w", err)
	}
	return nil
}

// WorldName is the name of the archive with the world of a log: lab.world.zip
// for lab.log, and for lab-2.log of a recording that was begun as lab.log.
func WorldName(log string) string {
	name := strings.TrimSuffix(log, ".gz")
	return strings.TrimSuffix(name, path.Ext(name)) + ".world.zip"
}

// World returns the world that was recorded with the run, nil if none was.
func (f *File) World() (*World, error) {
	if f.format == MCAP {
		return f.attachedWorld()
	}
	for _, name := range []string{WorldName(f.name), WorldName(unnumbered(f.name))} {
		w, err := zippedWorld(name)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid):
			continue
		case err != nil:
			return nil, fmt.Errorf("run: reading the world in %s: %w", name, err)
		}
		return w, nil
	}
	return nil, nil
}

func zippedWorld(name string) (*World, error) {
	in, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	z, err := zip.NewReader(in, info.Size())
	if err != nil {
		return nil, err
	}
	w := &World{}
	left := int64(maxWorld)
	for _, entry := range z.File {
		if strings.HasSuffix(entry.Name, "/") {
			continue
		}
		in, err := entry.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(in, left+1))
		in.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name, err)
		}
		if left -= int64(len(data)); left < 0 {
			return nil, errTooLarge
		}
		w.Files = append(w.Files, WorldFile{entry.Name, data})
	}
	return w, nil
}

var errTooLarge = fmt.Errorf("its files have more than %d bytes", maxWorld)

// attachedWorld collects the world's attachments of an MCAP file: by the index,
// or up to the first message, before which they stand.
func (f *File) attachedWorld() (*World, error) {
	w := &World{}
	left := maxWorld
	add := func(a *mcap.Attachment) error {
		name, ours := strings.CutPrefix(a.Name, worldPrefix)
		if !ours {
			return nil
		}
		if left -= len(a.Data); left < 0 {
			return fmt.Errorf("run: reading the world in %s: %w", f.name, errTooLarge)
		}
		w.Files = append(w.Files, WorldFile{name, append([]byte(nil), a.Data...)})
		return nil
	}
	summary, err := f.summary()
	if err != nil {
		return nil, err
	}
	if summary != nil {
		for _, x := range summary.Attachments {
			a, err := summary.Attachment(x)
			if err == nil {
				err = add(a)
			}
			if err != nil {
				return nil, err
			}
		}
	} else if err := f.streamAttachments(add); err != nil {
		return nil, err
	}
	if len(w.Files) == 0 {
		return nil, nil
	}
	return w, nil
}

func (f *File) streamAttachments(add func(*mcap.Attachment) error) error {
	in, err := f.stream()
	if err != nil {
		return err
	}
	r, err := mcap.NewReader(mcap.ReaderConfig{R: in, Name: f.name, Attachment: add})
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Next()
	if p := (*problem.Problem)(nil); err == io.EOF || errors.As(err, &p) {
		return nil
	}
	return err
}
