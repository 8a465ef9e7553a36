package playerlog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"callboard/player"
	"callboard/player/iface"
	"callboard/player/playerlog"
	"callboard/player/problem"
)

// told reads a text and writes down what comes: messages, oddities, faults.
func told(t *testing.T, text string) []string {
	t.Helper()
	r := reader(t, "x.log", strings.NewReader(text))
	var out []string
	for {
		l, err := r.Next()
		var p *problem.Problem
		switch {
		case err == io.EOF:
			return out
		case errors.As(err, &p):
			out = append(out, p.Error())
			continue
		case err != nil:
			t.Fatal(err)
		}
		line := fmt.Sprintf("%d: %s at %v", l.Number, l.Header, l.Header.Timestamp)
		if l.Payload != nil {
			line += fmt.Sprintf(" %+v", l.Payload)
		}
		out = append(out, line)
		if l.Odd != nil {
			out = append(out, l.Odd.Error())
		}
	}
}

// Lines as real logs have them, and worse.
func TestLines(t *testing.T) {
	const p2d = "12.5 0 6665 position2d 0 1 1 "
	const prefixed = "; a line is time host robot interface index type subtype …"
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"comments", "# a\n## b\n## File version 0.3.0 \n#\n", nil},
		{"no comment", "#a b\n", []string{`x.log:1:1: "#a" is no number; expected a number as value 1` + prefixed}},
		{"blank", "\n  \n", []string{
			"x.log:1:1: warning: the line is empty; expected a message: time host robot interface index type subtype …",
			"x.log:2:1: warning: the line is empty; expected a message: time host robot interface index type subtype …"}},
		{"short", "12.5 0 6665 position2d\n", []string{`x.log:1:23: the line ends; expected a whole number as value 5` + prefixed}},
		{"CRLF, tabs", "12.5\t0  6665 position2d 0 1 1 1 2 3 4 5 6 1 \r\n",
			[]string{"1: DATA 1 of position2d:0 at 12.5 &{Pos:{Px:1 Py:2 Pa:3} Vel:{Px:4 Py:5 Pa:6} Stall:1}"}},
		{"prefix only", p2d + "\n", []string{"1: DATA 1 of position2d:0 at 12.5",
			"x.log:1:29: warning: a DATA 1 of position2d:0 without payload, as Player writes what it cannot format"}},
		{"too few", p2d + "1 2\n", []string{"x.log:1:33: the line ends; expected a number as value 3, in a DATA 1 of position2d:0"}},
		{"too many", p2d + "1 2 3 4 5 6 1 8 9\n", []string{
			"1: DATA 1 of position2d:0 at 12.5 &{Pos:{Px:1 Py:2 Pa:3} Vel:{Px:4 Py:5 Pa:6} Stall:1}",
			"x.log:1:44: warning: 2 values more than a DATA 1 of position2d:0 has"}},
		{"prefixes of numbers", p2d + "1m 2 3 4 5 6 0x\n", []string{
			"1: DATA 1 of position2d:0 at 12.5 &{Pos:{Px:1 Py:2 Pa:3} Vel:{Px:4 Py:5 Pa:6} Stall:0}",
			`x.log:1:30: warning: "1m" is read as 1; expected a number as value 1`}},
		{"no number", p2d + "1 ü b\n", []string{`x.log:1:32: "ü" is no number; expected a number as value 2, in a DATA 1 of position2d:0`}},
		{"unknown interface", "1 0 6665 hall 0 1 1 5\n", []string{`x.log:1:10: warning: interface "hall" is not known; expected one of Player's`}},
		{"unknown message", "1 0 6665 laser 0 1 9 5\n", []string{"1: DATA 9 of laser:0 at 1", "x.log:1:21: warning: no log format is known for a DATA 9 of laser:0"}},
		{"count above values", "1 0 6665 sonar 0 1 1 3 1 2\n", []string{"x.log:1:23: 2 values follow; expected 3 for 3 elements, in a DATA 1 of sonar:0"}},
		{"hostile count", "1 0 6665 sonar 0 1 1 4294967295 1 2\n", []string{"x.log:1:32: 2 values follow; expected 4294967295 for 4294967295 elements, in a DATA 1 of sonar:0"}},
		{"negative count", "1 0 6665 sonar 0 1 1 -1 1 2\n", []string{"x.log:1:24: 2 values follow; expected 4294967295 for 4294967295 elements, in a DATA 1 of sonar:0"}},
		{"cut off", p2d + "1 2 3 4 5 6 1\n" + p2d + "1 2", []string{
			"1: DATA 1 of position2d:0 at 12.5 &{Pos:{Px:1 Py:2 Pa:3} Vel:{Px:4 Py:5 Pa:6} Stall:1}",
			"x.log:2:33: warning: the line ends; expected a number as value 3, in a DATA 1 of position2d:0; the log ends within this line, as when its writer was stopped"}},
		{"no end of line", "1 0 6665 sonar 0 1 1 1 2.5", []string{"1: DATA 1 of sonar:0 at 1 &{Ranges:[2.5]}"}},
		{"time", "inf 0 6665 sonar 0 1 1 1 2.5\n", []string{"x.log:1:1: time +Inf; expected seconds" + prefixed}},
		{"gps of 14", "1 0 1 gps 0 1 1 1234567890.654 47.3712345 -8.5123456 -12.3450000 465123.250 5246789.500 1.300 2.700 1.750 2.250 2 9 1.25 2.5\n",
			[]string{"1: DATA 1 of gps:0 at 1 &{TimeSec:1234567890 TimeUsec:654000 Latitude:473712345 Longitude:-85123456 Altitude:-12345 Speed:1.25 Course:2.5 UTME:465123.25 UTMN:5.2467895e+06 Quality:2 NumSats:9 HDOP:13 VDOP:27 ErrHorz:1.75 ErrVert:2.25}"}},
		{"gps of 12", "1 0 1 gps 0 1 1 1234569131.568 47.3712345 -8.5123456 -12.3450000 465123.250 5246789.500 1.300 2.700 1.750 2.250 863417189 2\n",
			[]string{"1: DATA 1 of gps:0 at 1 &{TimeSec:1234567897 TimeUsec:0 Latitude:473712345 Longitude:-85123456 Altitude:-12345 Speed:0 Course:0 UTME:465123.25 UTMN:5.2467895e+06 Quality:2 NumSats:0 HDOP:13 VDOP:27 ErrHorz:1.75 ErrVert:2.25}",
				"x.log:1:16: warning: 12 values follow, as Player's writer gives them: the time is exact to the second, satellites, speed and course are missing; expected 14"}},
		{"gps of 12, junk that is small", "1 0 1 gps 0 1 1 10 0 0 0 0 0 0 0 0 0 3 1\n",
			[]string{"1: DATA 1 of gps:0 at 1 &{TimeSec:10 TimeUsec:0 Latitude:0 Longitude:0 Altitude:0 Speed:0 Course:0 UTME:0 UTMN:0 Quality:1 NumSats:0 HDOP:0 VDOP:0 ErrHorz:0 ErrVert:0}",
				"x.log:1:16: warning: 12 values follow, as Player's writer gives them: the time is exact to the second, satellites, speed and course are missing; expected 14"}},
		{"gps of 13", "1 0 1 gps 0 1 1 1 2 3 4 5 6 7 8 9 10 11 12 13\n", []string{"x.log:1:16: 13 values follow; expected 14, or the 12 that Player's writer gives, in a DATA 1 of gps:0"}},
		{"wifi with blanks", "1 0 1 wifi 0 1 1 0001 'a:b' '' 'my 'net 2' 3 2412 0 70 200 90 \n",
			[]string{"1: DATA 1 of wifi:0 at 1 &{Links:[{MAC:a:b IP: ESSID:my 'net 2 Mode:3 Freq:2412 Encrypt:0 Qual:70 Level:200 Noise:90}] Throughput:0 Bitrate:0 Mode:0 QualType:0 MaxQual:0 MaxLevel:0 MaxNoise:0 AP:[0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0]}"}},
		{"wifi without quotes", "1 0 1 wifi 0 1 1 0001 a b c 3 2412 0 70 200 90 \n", []string{"x.log:1:23: no text in single quotes; expected one as value 2, in a DATA 1 of wifi:0"}},
		{"dio", "1 0 1 dio 0 1 1 0004 1 0 1 1 \n", []string{"1: DATA 1 of dio:0 at 1 &{Count:4 Bits:13}"}},
		{"dio of 33", "1 0 1 dio 0 1 1 0033" + strings.Repeat(" 1", 33) + "\n", []string{"x.log:1:21: 33 bits; expected at most 32, in a DATA 1 of dio:0"}},
		{"joystick", "1 0 1 joystick 0 1 1 -1 +2 +3 4 5 6 1F\n", []string{"1: DATA 1 of joystick:0 at 1 &{Pos:[-1 2 3 0 0 0 0 0] Scale:[4 5 6 0 0 0 0 0] Buttons:31 AxesCount:3}"}},
		{"camera", "1 0 1 camera 0 1 1 1 1 24 5 0 3 0A0b0C\n", []string{"1: DATA 1 of camera:0 at 1 &{Width:1 Height:1 BPP:24 Format:5 Fdiv:1 Compression:0 Image:[10 11 12]}"}},
		{"camera, wrong count", "1 0 1 camera 0 1 1 1 1 24 5 0 4 0A0B0C\n", []string{"x.log:1:32: an image of 3 bytes; expected the 4 announced, in a DATA 1 of camera:0"}},
		{"camera, no hex", "1 0 1 camera 0 1 1 1 1 24 5 0 4 0A0\n", []string{`x.log:1:33: "0A0" are no hexadecimal digits, two for each byte, in a DATA 1 of camera:0`}},
		{"stamped ranger as Player writes it", "1 0 1 ranger 0 1 2 0002 1.000 2.000 0 -1.0000 1.0000 0.4000 0.0200 4.0000 0.0010 12.5000 \n",
			[]string{"1: DATA 2 of ranger:0 at 1 &{Data:{Ranges:[1 2]} HaveGeom:0 Geom:{Pose:{Px:0 Py:0 Pz:0 Proll:0 Ppitch:0 Pyaw:0} Size:{Sw:0 Sl:0 Sh:0} ElementPoses:[] ElementSizes:[]} HaveConfig:1 Config:{MinAngle:-1 MaxAngle:1 AngularRes:0.4 MinRange:0.02 MaxRange:4 RangeRes:0.001 Frequency:12.5}}"}},
		{"nan", "1 0 1 aio 0 1 1 0003 nan -inf 1e2 \n", []string{"1: DATA 1 of aio:0 at 1 &{Voltages:[NaN -Inf 100]}"}},
		{"many tokens", "1 0 1 ranger 0 1 1 4089" + strings.Repeat(" 1", 4089) + "\n", []string{
			"1: DATA 1 of ranger:0 at 1 &{Ranges:[" + strings.TrimSpace(strings.Repeat("1 ", 4089)) + "]}",
			"x.log:1:1: the line has 4097 tokens; expected at most 4096: Player's reader would corrupt its memory"}},
	} {
		if diff := cmp.Diff(test.want, told(t, test.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// A scan's payload is where the one before was, also when it is shorter.
func TestPayloadsAreReused(t *testing.T) {
	got := told(t, "1 0 1 laser 0 1 1 7 -1 1 1 8 2 1.5 3 2.5 4\n2 0 1 laser 0 1 1 8 -1 1 1 8 1 0.5 9\n3 0 1 sonar 0 1 2 1 1 2 3\n")
	want := []string{
		"1: DATA 1 of laser:0 at 1 &{MinAngle:-1 MaxAngle:1 Resolution:1 MaxRange:8 Ranges:[1.5 2.5] Intensity:[3 4] ID:7}",
		"2: DATA 1 of laser:0 at 2 &{MinAngle:-1 MaxAngle:1 Resolution:1 MaxRange:8 Ranges:[0.5] Intensity:[9] ID:8}",
		"3: DATA 2 of sonar:0 at 3 &{Poses:[{Px:1 Py:2 Pz:0 Proll:0 Ppitch:0 Pyaw:3}]}",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Reading costs no memory per line, also not from gzip.
func TestConstantMemory(t *testing.T) {
	text, err := os.ReadFile(logs + "/two-robots-laser-sonar.log")
	if err != nil {
		t.Fatal(err)
	}
	endless := reader(t, "x", io.MultiReader(bytes.NewReader(text), bytes.NewReader(text), bytes.NewReader(text), bytes.NewReader(text)))
	for range 700 {
		if _, err := endless.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(1000, func() {
		if _, err := endless.Next(); err != nil {
			t.Fatal(err)
		}
	}); n > 0.1 {
		t.Errorf("%v allocations per line, expected none", n)
	}
}

func TestGzip(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, "## Player version 2.1.2 \n1 0 1 sonar 0 1 1 1 2.5\n")
	_ = z.Close()
	n := 0
	r := reader(t, "x.log.gz", iotest.OneByteReader(bytes.NewReader(packed.Bytes())))
	all(t, r, func(l *playerlog.Line) {
		n++
		if diff := cmp.Diff(&iface.SonarData{Ranges: []float32{2.5}}, l.Payload); diff != "" || l.Number != 2 {
			t.Errorf("line %d: %s", l.Number, diff)
		}
	})
	if _, p := r.Version(); n != 1 || p != "2.1.2" {
		t.Errorf("%d lines, Player %s", n, p)
	}
	cut := reader(t, "x", bytes.NewReader(packed.Bytes()[:packed.Len()-6]))
	var err error
	for err == nil {
		_, err = cut.Next()
	}
	if p := new(problem.Problem); !errors.As(err, &p) || !p.Ends || !strings.Contains(err.Error(), "ends early") {
		t.Errorf("a cut file ends with %v", err)
	}
	if _, err = cut.Next(); err != io.EOF {
		t.Errorf("a cut file ends with %v", err)
	}
	if _, err := playerlog.NewReader(playerlog.ReaderConfig{R: strings.NewReader("\x1f\x8bxx"), Name: "x"}); err == nil {
		t.Error("a broken gzip head passes")
	}
	if _, err := playerlog.NewReader(playerlog.ReaderConfig{}); err == nil {
		t.Error("nothing to read passes")
	}
}

// A line too long is passed over; the next is read.
func TestLongLines(t *testing.T) {
	long := strings.NewReader(strings.Repeat("1 ", playerlog.MaxLine))
	r := reader(t, "x", io.MultiReader(long, strings.NewReader("\n1 0 1 sonar 0 1 1 1 2.5\n")))
	_, err := r.Next()
	if err == nil || err.Error() != fmt.Sprintf("x:1:1: the line has more than %d bytes", playerlog.MaxLine) {
		t.Errorf("error %v", err)
	}
	l, err := r.Next()
	if err != nil || l.Number != 2 || l.Payload == nil {
		t.Errorf("the line after it: %+v, %v", l, err)
	}
	broken := reader(t, "x", iotest.ErrReader(os.ErrPermission))
	if _, err := broken.Next(); !errors.Is(err, os.ErrPermission) {
		t.Errorf("error %v", err)
	}
}

// Numbers are read as C's strtod and strtol read them.
func TestNumbers(t *testing.T) {
	for token, want := range map[string]float64{
		"1": 1, "+1.5": 1.5, "-0.25": -0.25, ".5": 0.5, "5.": 5, "1e3": 1000, "1e": 1, "1e+": 1, "1.5e-3x": 0.0015, "0x1A": 26, "0x": 0,
		"0x8p1": 16, "1.2.3": 1.2, "--1": math.NaN(), "inf": math.Inf(1), "-INFINITY": math.Inf(-1), "nan": math.NaN(), "-nan": math.NaN(),
		"123456789012345678901234567890": 123456789012345678901234567890, "0.1234567890123456789": 0.1234567890123456789, "9007199254740993": 9007199254740992,
		"1e999": math.Inf(1), "0.30000000000000004": 0.30000000000000004, "000123.456": 123.456,
		"0.00000000000000000000000001": 1e-26, "44667375401.9253275": 44667375401.9253275,
	} {
		got := told(t, "1 0 1 imu 0 1 1 0 0 0 0 0 "+token+"\n")
		if token == "--1" {
			if len(got) != 1 || !strings.Contains(got[0], "is no number") {
				t.Errorf("%s: %v", token, got)
			}
			continue
		}
		if s := fmt.Sprintf("Pyaw:%v}", want); len(got) == 0 || !strings.Contains(got[0], s) {
			t.Errorf("%s: %v, expected %s", token, got, s)
		}
	}
	negativeZero := told(t, "1 0 1 imu 0 1 1 0 0 0 0 0 -0.000\n")
	if !strings.Contains(negativeZero[0], "Pyaw:-0}") {
		t.Errorf("-0.000 is %v", negativeZero)
	}
	for token, want := range map[string]string{"12": "12", "+3": "3", "-1": "4294967295", "7x": "7"} {
		r := reader(t, "x", strings.NewReader("1 "+token+" 1 sonar 0 1 1 0\n"))
		l, err := r.Next()
		if err != nil || fmt.Sprint(l.Header.Host) != want {
			t.Errorf("%s: %+v, %v, expected %s", token, l, err, want)
		}
	}
}

// Decimal numbers, also of many digits, are what strconv makes of them.
func TestDecimals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.StringMatching(`[+-]?[0-9]{1,20}(\.[0-9]{0,30})?`).Draw(t, "token")
		want, err := strconv.ParseFloat(token, 64)
		if err != nil {
			t.Skip(err)
		}
		r, err := playerlog.NewReader(playerlog.ReaderConfig{R: strings.NewReader("1 0 1 imu 0 1 1 0 0 0 0 0 " + token + "\n")})
		if err != nil {
			t.Fatal(err)
		}
		l, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if got := l.Payload.(*iface.IMUDataState).Pose.Pyaw; got != want {
			t.Fatalf("%s is read as %v, expected %v", token, got, want)
		}
	})
}

func TestHolds(t *testing.T) {
	for _, test := range []struct {
		i       player.Interface
		t       player.Type
		subtype uint8
		want    bool
	}{
		{player.InterfaceLaser, player.Data, 1, true},
		{player.InterfaceRanger, player.Ack, 5, true},
		{player.InterfaceLaser, player.Command, 1, false},
		{player.InterfaceLocalize, player.Ack, 2, false},
		{player.InterfaceGripper, player.Data, 1, false},
	} {
		if got := playerlog.Holds(test.i, test.t, test.subtype); got != test.want {
			t.Errorf("%s %s %d: %v", test.i, test.t, test.subtype, got)
		}
	}
}
