package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// SpeechRecognition is what was heard.
type SpeechRecognition struct {
	Text string `expr:"text" doc:"the words, up to 1024 bytes"`
	Stamp
}

func (s *SpeechRecognition) read(m player.Reading, _ View) bool {
	d, ok := m.Payload.(*iface.SpeechRecognitionData)
	if !ok {
		return false
	}
	s.Text = shortened(d.Text)
	return true
}
