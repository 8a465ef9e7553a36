package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Wifi is the radio stations that are heard, the strongest link, and the own
// interface.
type Wifi struct {
	Count      int       `expr:"count"`
	Qual       float64   `expr:"qual"`
	Level      float64   `expr:"level"`
	Noise      float64   `expr:"noise"`
	Freq       float64   `expr:"freq"`
	ESSID      string    `expr:"essid"`
	Throughput int       `expr:"throughput"`
	Bitrate    int       `expr:"bitrate"`
	Mode       int       `expr:"mode"`
	QualType   int       `expr:"qual_type"`
	MaxQual    int       `expr:"maxqual"`
	MaxLevel   int       `expr:"maxlevel"`
	MaxNoise   int       `expr:"maxnoise"`
	AP         string    `expr:"ap"`
	Quals      []float64 `expr:"quals"`
	Levels     []float64 `expr:"levels"`
	Noises     []float64 `expr:"noises"`
	Freqs      []float64 `expr:"freqs"`
	ESSIDs     []string  `expr:"essids"`
	MACs       []string  `expr:"macs"`
	IPs        []string  `expr:"ips"`
	Stamp
}

func (w *Wifi) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.WifiData)
	if !ok {
		return false
	}
	w.Count, w.Throughput, w.Bitrate, w.Mode, w.QualType = len(d.Links), int(d.Throughput), int(d.Bitrate), int(d.Mode), int(d.QualType)
	w.MaxQual, w.MaxLevel, w.MaxNoise = int(d.MaxQual), decibel(d.MaxLevel), decibel(d.MaxNoise)
	setText(&w.AP, d.AP[:])
	w.Quals, w.Levels, w.Noises, w.Freqs = w.Quals[:0], w.Levels[:0], w.Noises[:0], w.Freqs[:0]
	w.ESSIDs, w.MACs, w.IPs = w.ESSIDs[:0], w.MACs[:0], w.IPs[:0]
	best := -1
	for i := range d.Links {
		l := &d.Links[i]
		w.Quals, w.Levels = append(w.Quals, float64(l.Qual)), append(w.Levels, float64(decibel(l.Level)))
		w.Noises, w.Freqs = append(w.Noises, float64(decibel(l.Noise))), append(w.Freqs, float64(l.Freq))
		w.ESSIDs, w.MACs, w.IPs = append(w.ESSIDs, iface.GoString(l.ESSID)), append(w.MACs, iface.GoString(l.MAC)), append(w.IPs, iface.GoString(l.IP))
		if best < 0 || l.Qual > d.Links[best].Qual {
			best = i
		}
	}
	w.Qual, w.Level, w.Noise, w.Freq, w.ESSID = math.NaN(), math.NaN(), math.NaN(), math.NaN(), ""
	if best >= 0 {
		w.Qual, w.Level, w.Noise, w.Freq, w.ESSID = w.Quals[best], w.Levels[best], w.Noises[best], w.Freqs[best], w.ESSIDs[best]
	}
	return true
}

// decibel reads a level: those in dBm are mostly negative, although Player
// sends them without a sign.
func decibel(level uint32) int { return int(int32(level)) }

var wifiFields = with(
	whole("count", "", "how many stations", func(w *Wifi) int { return w.Count }),
	number("qual", "", "the quality of the best link; no number if there is none, as the next three", func(w *Wifi) float64 { return w.Qual }),
	number("level", "", "the best link's signal", func(w *Wifi) float64 { return w.Level }),
	number("noise", "", "the best link's noise", func(w *Wifi) float64 { return w.Noise }),
	number("freq", "MHz", "the best link's frequency", func(w *Wifi) float64 { return w.Freq }),
	text("essid", "the best link's network", func(w *Wifi) string { return w.ESSID }),
	whole("throughput", "", "of the own interface, in the unit of the driver", func(w *Wifi) int { return w.Throughput }),
	whole("bitrate", "", "of the own interface, in the unit of the driver", func(w *Wifi) int { return w.Bitrate }),
	whole("mode", "", "1: auto, 2: ad hoc, 3: managed, 4: master, 5: repeater, 6: secondary", func(w *Wifi) int { return w.Mode }),
	whole("qual_type", "", "the unit of levels and noises, 1: dBm, 2: relative to the greatest, 3: unknown", func(w *Wifi) int { return w.QualType }),
	whole("maxqual", "", "the greatest quality", func(w *Wifi) int { return w.MaxQual }),
	whole("maxlevel", "", "the greatest level", func(w *Wifi) int { return w.MaxLevel }),
	whole("maxnoise", "", "the greatest noise", func(w *Wifi) int { return w.MaxNoise }),
	text("ap", "the access point", func(w *Wifi) string { return w.AP }),
	numbers("quals", "", "the quality of each", func(w *Wifi) []float64 { return w.Quals }),
	numbers("levels", "", "the signal of each", func(w *Wifi) []float64 { return w.Levels }),
	numbers("noises", "", "the noise of each", func(w *Wifi) []float64 { return w.Noises }),
	numbers("freqs", "MHz", "the frequency of each", func(w *Wifi) []float64 { return w.Freqs }),
	texts("essids", "the network of each", func(w *Wifi) []string { return w.ESSIDs }),
	texts("macs", "the hardware address of each", func(w *Wifi) []string { return w.MACs }),
	texts("ips", "the IP address of each", func(w *Wifi) []string { return w.IPs }),
)

// AppendText appends the view as the text of an object: see protocol.Seal.
func (w *Wifi) AppendText(dst []byte) []byte { return appendFields(dst, w, wifiFields) }
