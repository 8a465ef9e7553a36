package bridge_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"callboard/bridge"
	"callboard/bridge/config"
)

// bare is a broker without robots.
func bare(t *testing.T, change func(*config.Config)) *bridge.Bridge {
	t.Helper()
	c := config.Default()
	c.Broker.ID, c.Broker.Listen, c.Broker.Data = "b1", "127.0.0.1:0", t.TempDir()
	if change != nil {
		change(c)
	}
	return startAs(t, bridge.Config{Config: c})
}

// offers has a program offer a service, and waits until the broker has it.
func (p *dialectProgram) offers(service, kind string) {
	p.t.Helper()
	p.say(fmt.Sprintf(`{"op":"advertise_service","service":%q,"type":%q}`, service, kind))
	if values, ok := p.answer("/rosapi/service_type", fmt.Sprintf(`{"service":%q}`, service)); !ok || at(values, "type") != kind {
		p.t.Fatalf("%s is %v", service, values)
	}
}

// called waits for a call of a service that the program offers, and returns its id and
// arguments.
func (p *dialectProgram) called(service string) (id string, args any) {
	p.t.Helper()
	m := p.hearsText(`"call_service"`, fmt.Sprintf(`"service":%q`, service))
	return m["id"].(string), m["args"]
}

// TestRosbridgeServices: a program that offers a service is called by others, also by
// those that speak callboard.v1; each call has one answer.
func TestRosbridgeServices(t *testing.T) {
	b := bare(t, nil)
	provider, caller := speak(t, b, "/rosbridge", nil), speak(t, b, "/rosbridge", nil)
	provider.offers("/add_two", "rospy_tutorials/AddTwoInts")
	provider.offers("/sets", "std_srvs/SetBool")

	caller.say(`{"op":"call_service","id":"c1","service":"add_two","args":{"a":1,"b":2}}`)
	id, args := provider.called("/add_two")
	if fmt.Sprint(args) != "map[a:1 b:2]" {
		t.Errorf("it is called with %v", args)
	}
	answer := fmt.Sprintf(`{"op":"service_response","id":%q,"service":"/add_two","result":true,"values":{"sum":3}}`, id)
	provider.say(answer)
	provider.say(answer) // a second one is no answer
	if m := caller.hearsText(`"service_response"`, `"c1"`); m["service"] != "add_two" || m["result"] != true || at(m, "values", "sum") != 3.0 {
		t.Errorf("the answer is %v", m)
	}

	// A list is in the order of the type's fields; failures have a text or none.
	for _, tt := range []struct{ values, want string }{{`,"values":"no motors"`, "no motors"}, {"", "the service has failed"}} {
		caller.say(`{"op":"call_service","id":"c2","service":"/sets","args":[true]}`)
		id, args := provider.called("/sets")
		if fmt.Sprint(args) != "map[data:true]" {
			t.Errorf("it is called with %v", args)
		}
		provider.say(fmt.Sprintf(`{"op":"service_response","id":%q,"service":"/sets","result":false%s}`, id, tt.values))
		if m := caller.hearsText(`"service_response"`, `"c2"`); m["result"] != false || m["values"] != tt.want {
			t.Errorf("the answer is %v, expected %q", m, tt.want)
		}
	}

	// Who is slow: the caller waits no longer than it says.
	caller.say(`{"op":"call_service","id":"c3","service":"/sets","args":{"data":true},"timeout":0.05}`)
	if m := caller.hearsText(`"service_response"`, `"c3"`); m["result"] != false {
		t.Errorf("the answer is %v", m)
	}

	// Programs of callboard.v1 request tasks of it, and serve what is called.
	other := speak(t, b, "/ws", nil, "callboard.v1")
	other.say(`{"op":"hello","client":"other"}`)
	other.say(`{"op":"request","id":"q1","queue":"add_two","body":{"a":4,"b":5}}`)
	id, _ = provider.called("/add_two")
	provider.say(fmt.Sprintf(`{"op":"service_response","id":%q,"service":"/add_two","result":true,"values":{"sum":9}}`, id))
	if m := other.hearsText(`"reply"`, `"q1"`); at(m, "result", "sum") != 9.0 {
		t.Errorf("the answer is %v", m)
	}
	other.say(`{"op":"serve","id":"s1","queue":"docks"}`)
	caller.say(`{"op":"call_service","id":"c4","service":"/docks"}`)
	task := other.hearsText(`"task"`, `"s1"`)
	other.say(fmt.Sprintf(`{"op":"done","task":%q,"body":4}`, task["task"]))
	if m := caller.hearsText(`"service_response"`, `"c4"`); at(m, "values", "data") != 4.0 {
		t.Errorf("the answer is %v", m)
	}

	// What nobody offers any more is not there; what is under way when its provider goes has failed.
	caller.say(`{"op":"call_service","id":"c5","service":"/add_two","args":{"a":1,"b":2}}`)
	provider.called("/add_two")
	provider.Close()
	if m := caller.hearsText(`"service_response"`, `"c5"`); m["result"] != false {
		t.Errorf("the answer is %v", m)
	}
	if values, ok := caller.answer("/add_two", `{}`); ok || values != "Service /add_two does not exist" {
		t.Errorf("the answer is %v", values)
	}
	if values, _ := caller.answer("/rosapi/services", `{}`); slices.Contains(at(values, "services").([]any), any("/sets")) {
		t.Errorf("the services are %v", values)
	}
}

// TestRosbridgeServiceMistakes: what cannot be offered, and what a token does not allow,
// is told.
func TestRosbridgeServiceMistakes(t *testing.T) {
	b := bare(t, func(c *config.Config) {
		c.Tokens = []config.Token{
			{Name: "all", Secret: "all", Robots: []string{"*"}, May: []string{"subscribe", "serve", "request"}},
			{Name: "docks", Secret: "docks", Robots: []string{"*"}, May: []string{"serve", "request"}, Queues: []string{"docks"}},
			{Name: "looks", Secret: "looks", Robots: []string{"*"}, May: []string{"subscribe"}},
		}
	})
	as := func(token string) *dialectProgram {
		return speak(t, b, "/rosbridge", http.Header{"Authorization": {"Bearer " + token}})
	}
	all, docks, looks := as("all"), as("docks"), as("looks")
	for _, tt := range []struct {
		p    *dialectProgram
		op   string
		want string
	}{
		{all, `{"op":"advertise_service","id":"x","service":"/rosapi/topics","type":"rosapi/Topics"}`, "is there already"},
		{all, `{"op":"advertise_service","id":"x","service":"/","type":"std_srvs/Empty"}`, "a name of 0 bytes"},
		{all, `{"op":"advertise_service","id":"x","service":"/a"}`, "type: missing"},
		{docks, `{"op":"advertise_service","id":"x","service":"/pictures","type":"std_srvs/Empty"}`, "does not allow queue"},
		{looks, `{"op":"advertise_service","id":"x","service":"/docks","type":"std_srvs/Empty"}`, "does not allow"},
		{all, `{"op":"service_response","id":7,"service":"/docks","result":true}`, "expected a text"},
	} {
		tt.p.say(tt.op)
		tt.p.hearsText(`"status"`, `"error"`, tt.want)
	}
	docks.offers("/docks", "std_srvs/Empty")
	if values, ok := looks.answer("/docks", "{}"); ok || values != "the token does not allow request" {
		t.Errorf("the answer is %v", values)
	}
	if values, _ := looks.answer("/rosapi/service_type", `{"service":"/docks"}`); at(values, "type") != "" {
		t.Errorf("who may not call it sees it: %v", values)
	}
	if values, ok := all.answer("/docks", `[1]`); ok {
		t.Errorf("more arguments than fields are %v", values)
	}
	docks.say(`{"op":"unadvertise_service","service":"/docks"}`)
	docks.say(`{"op":"unadvertise_service","service":"/docks"}`)
	if values, ok := docks.answer("/docks", "{}"); ok || values != "Service /docks does not exist" {
		t.Errorf("the answer is %v", values)
	}
}
