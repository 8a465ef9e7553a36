package iface

import "callboard/player"

// Subtypes of the audio interface (code 9).
const (
	DataAudioWavRec           uint8 = 1
	DataAudioSeq              uint8 = 2
	DataAudioMixerChannel     uint8 = 3
	DataAudioState            uint8 = 4
	CmdAudioWavPlay           uint8 = 1
	CmdAudioWavStreamRec      uint8 = 2
	CmdAudioSamplePlay        uint8 = 3
	CmdAudioSeqPlay           uint8 = 4
	CmdAudioMixerChannel      uint8 = 5
	ReqAudioWavRec            uint8 = 1
	ReqAudioSampleLoad        uint8 = 2
	ReqAudioSampleRetrieve    uint8 = 3
	ReqAudioSampleRec         uint8 = 4
	ReqAudioMixerChannelList  uint8 = 5
	ReqAudioMixerChannelLevel uint8 = 6
)

// Bits of an AudioState.
const (
	AudioStateStopped   uint32 = 0
	AudioStatePlaying   uint32 = 1
	AudioStateRecording uint32 = 2
)

// Format of an AudioWav: a container, and for AudioFormatRaw also the width of
// a sample, the number of channels and the sampling rate.
const (
	AudioFormatBits uint32 = 0xff00 // which bits hold the container
	AudioFormatNull uint32 = 0x0000
	AudioFormatRaw  uint32 = 0x0100
	AudioFormatMP3  uint32 = 0x0200
	AudioFormatOGG  uint32 = 0x0300
	AudioFormatFLAC uint32 = 0x0400
	AudioFormatAAC  uint32 = 0x0500

	AudioDescriptionBits uint32 = 0x00ff // which bits hold the rest
	AudioBits            uint32 = 0x0003 // which bits hold the width
	Audio8Bit            uint32 = 0x0000
	Audio16Bit           uint32 = 0x0001
	Audio24Bit           uint32 = 0x0002
	AudioMono            uint32 = 0x0000
	AudioStereo          uint32 = 0x0004
	AudioFreq            uint32 = 0x0018 // which bits hold the rate
	AudioFreq44k         uint32 = 0x0000
	AudioFreq11k         uint32 = 0x0008
	AudioFreq22k         uint32 = 0x0010
	AudioFreq48k         uint32 = 0x0018
)

// Bits of an AudioMixerChannelDetail's Caps.
const (
	AudioMixerChannelTypeInput   uint8 = 1
	AudioMixerChannelTypeOutput  uint8 = 2
	AudioMixerChannelTypeSpecial uint8 = 4
)

// AudioWav is a piece of sound.
type AudioWav struct {
	Data   []uint8
	Format uint32 // for example AudioFormatRaw|Audio16Bit|AudioMono|AudioFreq44k
}

// AudioSeqItem is a tone.
type AudioSeqItem struct {
	Freq      float32 // Hz
	Duration  float32 // s
	Amplitude float32 // 0 to 1
	Link      Bool    // 1: joined to the next without a break
}

// AudioSeq is tones, one after the other.
type AudioSeq struct {
	Tones []AudioSeqItem
}

// AudioMixerChannel is how loud a channel of the mixer is.
type AudioMixerChannel struct {
	Amplitude float32 // 0 to 1
	Active    Bool    // 1: not muted
	Index     uint32
}

// AudioMixerChannelList is channels of the mixer.
type AudioMixerChannelList struct {
	Channels []AudioMixerChannel
}

// AudioMixerChannelDetail is what a channel of the mixer is.
type AudioMixerChannelDetail struct {
	Name string
	Caps uint8 // bits: AudioMixerChannelTypeInput and so on
}

// AudioMixerChannelListDetail is all channels of the mixer; the defaults are
// their numbers.
type AudioMixerChannelListDetail struct {
	Details       []AudioMixerChannelDetail
	DefaultOutput int32
	DefaultInput  int32
}

// AudioSample is a sound that the driver keeps (SAMPLE_LOAD, SAMPLE_RETRIEVE).
type AudioSample struct {
	Sample AudioWav
	Index  int32 // -1: the next that is free
}

// AudioSampleItem names a sound that the driver keeps.
type AudioSampleItem struct {
	Index int32
}

// AudioState is what the driver does: AudioStatePlaying and so on.
type AudioState struct {
	State uint32 // bits: AudioStatePlaying and so on
}

var audioMessages = []entry{
	{player.Data, DataAudioWavRec, "WAV_REC", body[AudioWav]},
	{player.Data, DataAudioSeq, "SEQ", body[AudioSeq]},
	{player.Data, DataAudioMixerChannel, "MIXER_CHANNEL", body[AudioMixerChannelList]},
	{player.Data, DataAudioState, "STATE", body[AudioState]},
	{player.Command, CmdAudioWavPlay, "WAV_PLAY", body[AudioWav]},
	{player.Command, CmdAudioWavStreamRec, "WAV_STREAM_REC", body[Bool]},
	{player.Command, CmdAudioSamplePlay, "SAMPLE_PLAY", body[AudioSampleItem]},
	{player.Command, CmdAudioSeqPlay, "SEQ_PLAY", body[AudioSeq]},
	{player.Command, CmdAudioMixerChannel, "MIXER_CHANNEL", body[AudioMixerChannelList]},
	{player.Request, ReqAudioWavRec, "WAV_REC", body[AudioWav]},
	{player.Request, ReqAudioSampleLoad, "SAMPLE_LOAD", body[AudioSample]},
	{player.Request, ReqAudioSampleRetrieve, "SAMPLE_RETRIEVE", body[AudioSample]},
	{player.Request, ReqAudioSampleRec, "SAMPLE_REC", body[AudioSampleItem]},
	{player.Request, ReqAudioMixerChannelList, "MIXER_CHANNEL_LIST", body[AudioMixerChannelListDetail]},
	{player.Request, ReqAudioMixerChannelLevel, "MIXER_CHANNEL_LEVEL", body[AudioMixerChannelList]},
}
