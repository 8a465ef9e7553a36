package worldfile

import (
	"callboard/player/problem/lexer"
	"fmt"
)

// decodePNM reads PBM, PGM and PPM pictures, as text (P1 to P3) or bytes (P4
// to P6). ok tells whether data is one of them.
func decodePNM(data []byte) (m *mask, ok bool, err error) {
	if len(data) < 3 || data[0] != 'P' || data[1] < '1' || data[1] > '6' {
		return nil, false, nil
	}
	p := &pnm{data: data, at: 2}
	width, height, most := p.number(), p.number(), 1
	variant := data[1]
	bitmap, plain := variant == '1' || variant == '4', variant <= '3'
	if !bitmap {
		most = p.number()
	}
	if p.bad || width <= 0 || height <= 0 || most <= 0 || most > 65535 {
		return nil, true, fmt.Errorf("is a PNM picture with a faulty head; expected P%c, width, height and maximum", variant)
	}
	if width > maxPixels/height {
		return nil, true, fmt.Errorf("has %d x %d pixels; expected at most %d", width, height, maxPixels)
	}
	channels := 1
	if variant == '3' || variant == '6' {
		channels = 3
	}
	if len(data) < p.least(width, height, channels, most, bitmap, plain) {
		return nil, true, fmt.Errorf("ends before its %d x %d pixels", width, height)
	}
	m = &mask{width: width, height: height, solid: newBits(width * height)}
	if !plain {
		p.at++ // one white space after the head
	}
	for y := 0; y < height; y++ {
		for x := 0; x < width; x++ {
			v := 0
			switch {
			case bitmap && plain:
				v = 1 - p.digit()
			case bitmap:
				v = 1 - int(data[p.at+y*((width+7)/8)+x/8]>>(7-x%8)&1)
			case plain:
				v = p.number()
				for i := 1; i < channels; i++ {
					p.number()
				}
			default:
				bytes := 1 + btoi(most > 255)
				at := p.at + (y*width+x)*channels*bytes
				v = int(data[at])
				if bytes == 2 {
					v = v<<8 | int(data[at+1])
				}
			}
			if v*255/most <= maxSolid {
				m.solid.set(y*width + x)
			}
		}
	}
	if p.bad {
		return nil, true, fmt.Errorf("ends before its %d x %d pixels", width, height)
	}
	return m, true, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// pnm reads the numbers of a PNM picture.
type pnm struct {
	data []byte
	at   int
	bad  bool
}

// least returns the bytes that a picture has at least.
func (p *pnm) least(width, height, channels, most int, bitmap, plain bool) int {
	switch {
	case plain && bitmap:
		return p.at + width*height
	case plain:
		return p.at + 2*width*height*channels - 1
	case bitmap:
		return p.at + 1 + (width+7)/8*height
	}
	return p.at + 1 + width*height*channels*(1+btoi(most > 255))
}

// blanks passes white space and comments.
func (p *pnm) blanks() {
	for p.at < len(p.data) {
		switch b := p.data[p.at]; {
		case b == '#':
			for p.at < len(p.data) && p.data[p.at] != '\n' {
				p.at++
			}
		case b == ' ' || b >= '\t' && b <= '\r':
			p.at++
		default:
			return
		}
	}
}

// number reads a decimal number.
func (p *pnm) number() int {
	p.blanks()
	v, digits := 0, 0
	for p.at < len(p.data) && lexer.IsDigit(p.data[p.at]) && digits < 9 {
		v = v*10 + int(p.data[p.at]-'0')
		p.at++
		digits++
	}
	if digits == 0 {
		p.bad = true
	}
	return v
}

// digit reads a single 0 or 1, which may stand next to others.
func (p *pnm) digit() int {
	p.blanks()
	if p.at >= len(p.data) || p.data[p.at] != '0' && p.data[p.at] != '1' {
		p.bad = true
		return 0
	}
	p.at++
	return int(p.data[p.at-1] - '0')
}
