//go:build !unix

package bench

import (
	"os"
	"time"
)

// processorTime is not known here.
func processorTime() time.Duration { return 0 }

// peakMemoryOf is not known here.
func peakMemoryOf(*os.ProcessState) int64 { return 0 }
