package view

import (
	"math"

	"callboard/player"
	"callboard/player/iface"
)

// Wifi is the radio stations that are heard, the strongest link, and the own
// interface.
type Wifi struct {
	Count      int       `expr:"count" doc:"how many stations"`
	Qual       float64   `expr:"qual" doc:"the quality of the best link; no number if there is none, as the next three"`
	Level      float64   `expr:"level" doc:"the best link's signal"`
	Noise      float64   `expr:"noise" doc:"the best link's noise"`
	Freq       float64   `expr:"freq" unit:"MHz" doc:"the best link's frequency"`
	ESSID      string    `expr:"essid" doc:"the best link's network"`
	Throughput int       `expr:"throughput" doc:"of the own interface, in the unit of the driver"`
	Bitrate    int       `expr:"bitrate" doc:"of the own interface, in the unit of the driver"`
	Mode       int       `expr:"mode" doc:"1: auto, 2: ad hoc, 3: managed, 4: master, 5: repeater, 6: secondary"`
	QualType   int       `expr:"qual_type" doc:"the unit of levels and noises, 1: dBm, 2: relative to the greatest, 3: unknown"`
	MaxQual    int       `expr:"maxqual" doc:"the greatest quality"`
	MaxLevel   int       `expr:"maxlevel" doc:"the greatest level"`
	MaxNoise   int       `expr:"maxnoise" doc:"the greatest noise"`
	AP         string    `expr:"ap" doc:"the access point"`
	Quals      []float64 `expr:"quals" doc:"the quality of each"`
	Levels     []float64 `expr:"levels" doc:"the signal of each"`
	Noises     []float64 `expr:"noises" doc:"the noise of each"`
	Freqs      []float64 `expr:"freqs" unit:"MHz" doc:"the frequency of each"`
	ESSIDs     []string  `expr:"essids" doc:"the network of each"`
	MACs       []string  `expr:"macs" doc:"the hardware address of each"`
	IPs        []string  `expr:"ips" doc:"the IP address of each"`
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
