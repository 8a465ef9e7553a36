package player

import "testing"

func TestTwinOf(t *testing.T) {
	for driver, want := range map[string]string{
		TwinDriver(Addr{Interf: InterfaceRanger, Index: 65535, Robot: 6665}): "ranger:65535",
		"twin of laser:0": "laser:0",
		"twin of laser":   "", "twin of laser:": "", "twin of laser:65536": "", "twin of laser:-1": "", "twin of nothing:1": "",
		"twin of ": "", "rangertolaser": "", "": "", "laser:0": "",
	} {
		got := ""
		if of, ok := TwinOf(driver); ok {
			got = of.String()
		}
		if got != want {
			t.Errorf("%q shows %q, expected %q", driver, got, want)
		}
	}
}
