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

// AppendText appends the view as the text of an object: see protocol.Seal.
func (s *SpeechRecognition) AppendText(dst []byte) []byte { return appendFields(dst, s, speechFields) }
