package node

import "callboard/bridge/overlay"

// heldOutputs is how many outputs may wait for the store before the broker takes
// nothing more in: clients and neighbours wait then, and readings find the queue full.
const heldOutputs = 65536

// heldStep is what wants a batch to be kept before it goes out.
type heldStep struct {
	batch   uint64
	outputs []overlay.Output
}

// held are outputs that wait for the store, in order.
type held struct {
	steps []heldStep
	count int // of outputs
}

// full reports whether the broker is to take in nothing more.
func (h *held) full() bool { return h.count >= heldOutputs }

// hold stores records and has outputs wait until they are kept, with all before
// them; also outputs of a step without records, which others may have led to.
// Changes of the matcher tell nobody anything, and do not wait.
func (n *Node) hold(records []overlay.Record, outputs []overlay.Output) {
	beside := n.takeBeside()
	if len(records)+len(outputs)+len(beside) == 0 {
		return
	}
	step := heldStep{}
	if n.terms != nil {
		step.batch = n.terms.AppendBeside(records, beside)
	} else {
		step.batch = n.config.Store.Append(records)
	}
	for _, out := range outputs {
		switch out.(type) {
		case *overlay.Install, *overlay.Uninstall:
			n.do(out, false)
		default:
			step.outputs = append(step.outputs, out)
		}
	}
	if len(step.outputs) > 0 {
		n.held.steps = append(n.held.steps, step)
		n.held.count += len(step.outputs)
	}
	n.release() // Changed tells of a refusal
}

// release carries out what has waited and is kept. It returns why the store
// refuses, if it does.
func (n *Node) release() error {
	kept, refused := n.config.Store.Kept()
	h := &n.held
	for len(h.steps) > 0 && h.steps[0].batch <= kept {
		step := h.steps[0]
		h.steps[0] = heldStep{}
		h.steps = h.steps[1:]
		h.count -= len(step.outputs)
		n.tellTerm(step.batch)
		n.doAll(step.outputs)
	}
	if refused == nil {
		n.tellTerm(kept + 1)
	}
	return refused
}

// storeSays does so when the store has said something new.
func (n *Node) storeSays() error {
	n.stepping.Lock()
	defer n.stepping.Unlock()
	return n.release()
}
