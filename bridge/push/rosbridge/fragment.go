package rosbridge

import (
	"bytes"
	"encoding/base64"
	"image"
	pngs "image/png"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"callboard/subscribe/protocol"
)

const (
	minFragment     = 128              // characters: less is not asked for by who wants messages
	maxFragmentSets = 16               // incomplete ones of a client
	maxFragments    = 4096             // in one
	fragmentTime    = 10 * time.Minute // that one may take
)

// fragments puts together what a client sends in parts.
type fragments struct{ sets map[string]*fragmentSet }

type fragmentSet struct {
	parts map[int]string
	total int
	bytes int
	began time.Time
}

// add takes a part and returns the whole when it was the last one.
func (f *fragments) add(id string, num, total int, data string, now time.Time) (whole []byte, err error) {
	if total < 1 || total > maxFragments || num < 0 || num >= total {
		return nil, wrong("fragment %d of %d; expected num from 0 to total - 1, and total at most %d", num, total, maxFragments)
	}
	for id, s := range f.sets {
		if now.Sub(s.began) > fragmentTime {
			delete(f.sets, id)
		}
	}
	s := f.sets[id]
	switch {
	case s == nil && len(f.sets) == maxFragmentSets:
		return nil, wrong("%d messages in fragments are not complete; expected fewer at a time", maxFragmentSets)
	case s == nil:
		if f.sets == nil {
			f.sets = map[string]*fragmentSet{}
		}
		s = &fragmentSet{parts: map[int]string{}, total: total, began: now}
		f.sets[id] = s
	case total != s.total:
		delete(f.sets, id)
		return nil, wrong("total: %d; expected %d, as in the fragments before", total, s.total)
	}
	s.bytes += len(data) - len(s.parts[num])
	s.parts[num] = data
	if f.bytes() > protocol.MaxMessage {
		delete(f.sets, id)
		return nil, wrong("fragments of more than %d bytes; expected less", protocol.MaxMessage)
	}
	if len(s.parts) < total {
		return nil, nil
	}
	delete(f.sets, id)
	for i := range total {
		whole = append(whole, s.parts[i]...)
	}
	return whole, nil
}

// bytes is how much waits.
func (f *fragments) bytes() int {
	n := 0
	for _, s := range f.sets {
		n += s.bytes
	}
	return n
}

// split cuts a message into fragments, each of so many characters at most, and
// yields each as the message that it is.
func split(text []byte, size int, id string, yield func([]byte)) {
	size = max(size, minFragment)
	total := (utf8.RuneCount(text) + size - 1) / size
	for num := range total {
		end := 0
		for n := 0; n < size && end < len(text); n++ {
			_, width := utf8.DecodeRune(text[end:])
			end += width
		}
		b := protocol.AppendText([]byte(`{"op":"fragment","id":`), id)
		b = protocol.AppendText(append(b, `,"data":`...), string(text[:end]))
		b = strconv.AppendInt(append(b, `,"num":`...), int64(num), 10)
		b = strconv.AppendInt(append(b, `,"total":`...), int64(total), 10)
		yield(append(b, '}'))
		text = text[end:]
	}
}

// appendPNG appends the message whose data is a picture whose bytes are another
// message's, row by row, filled up with line ends.
func appendPNG(dst, text []byte) []byte {
	width := max(int(math.Sqrt(float64(len(text))/3)), 1)
	height := (len(text) + 3*width - 1) / (3 * width)
	picture := image.NewNRGBA(image.Rect(0, 0, width, height))
	at := func(i int) byte {
		if i < len(text) {
			return text[i]
		}
		return '\n'
	}
	for i := range width * height {
		picture.Pix[4*i], picture.Pix[4*i+1], picture.Pix[4*i+2], picture.Pix[4*i+3] = at(3*i), at(3*i+1), at(3*i+2), 0xff
	}
	var out bytes.Buffer
	// A buffer takes all, and the size is right.
	_ = (&pngs.Encoder{CompressionLevel: pngs.BestSpeed}).Encode(&out, picture)
	dst = append(dst, `{"op":"png","data":"`...)
	return append(base64.StdEncoding.AppendEncode(dst, out.Bytes()), `"}`...)
}
