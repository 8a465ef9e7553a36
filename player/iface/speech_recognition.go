package iface

import "callboard/player"

// Subtype of the speech_recognition interface (code 50).
const DataSpeechRecognitionString uint8 = 1

// SpeechRecognitionData is a text that was heard.
type SpeechRecognitionData struct {
	Text string
}

var speechRecognitionMessages = []entry{
	{player.Data, DataSpeechRecognitionString, "STRING", body[SpeechRecognitionData]},
}
