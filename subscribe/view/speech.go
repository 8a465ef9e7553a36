package view

import (
	"callboard/player"
	"callboard/player/iface"
)

// SpeechRecognition is what was heard.
type SpeechRecognition struct {
	Text string `expr:"text"`
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

var speechFields = with(
	text("text", "the words, up to 1024 bytes", func(s *SpeechRecognition) string { return s.Text }),
)

// AppendJSON appends the view as a JSON object.
func (s *SpeechRecognition) AppendJSON(dst []byte) []byte { return appendFields(dst, s, speechFields) }
