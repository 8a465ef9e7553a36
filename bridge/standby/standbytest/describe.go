package standbytest

import (
	"fmt"
	"strings"

	"callboard/bridge/standby"
)

func describe(x any) string {
	switch x := x.(type) {
	case *standby.Batches:
		return fmt.Sprintf("batches in %d behind %v: %d", x.Term, x.Before, len(x.Batches))
	case *standby.Join:
		return fmt.Sprintf("join %d behind %v: %d", x.Term, x.Before, len(x.Batches))
	case *standby.Snapshot:
		return fmt.Sprintf("snapshot in %d to %v", x.Term, x.Last)
	}
	return strings.TrimPrefix(fmt.Sprintf("%T%+v", x, x), "*standby.")
}

func describeInput(in standby.Input) string {
	switch in := in.(type) {
	case *standby.FromOther:
		return fmt.Sprintf("< over line %d: %s", in.Line, describe(in.Message))
	case *standby.FromWitness:
		return "< of W: " + describe(in.Message)
	case *standby.Append:
		return fmt.Sprintf("< append %d", len(in.Records))
	}
	return "< " + describe(in)
}

func describeOutput(o standby.Output) string {
	switch o := o.(type) {
	case *standby.ToOther:
		return fmt.Sprintf("over line %d: %s", o.Line, describe(o.Message))
	case *standby.ToWitness:
		return "to W: " + describe(o.Message)
	case *standby.Write:
		return fmt.Sprintf("write %d, restore %v", len(o.Batches), o.Restore)
	case *standby.Replace:
		return fmt.Sprintf("replace, to %v", o.Last)
	}
	return describe(o)
}

func describeClient(c *client) string {
	return fmt.Sprintf("seen %d, welcomed %v, nums %v, revision %d, confirmed %d", c.seen, c.welcomed, c.nums, c.revision, c.confirmed)
}
