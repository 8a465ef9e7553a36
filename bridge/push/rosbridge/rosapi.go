package rosbridge

import (
	"encoding/json"
	"slices"
	"strings"

	"callboard/bridge/push/ros"
	"callboard/bridge/push/rosgraph"
)

// api is one of rosapi's services, with which clients look around.
type api struct {
	kind   string // of its type
	answer func(c *client, args ros.Message) (any, error)
}

// object is what an answer has.
type object map[string]any

// newRosapi returns them by their names behind /rosapi/.
func newRosapi() map[string]*api {
	return map[string]*api{
		"topics": {"rosapi/Topics", func(c *client, _ ros.Message) (any, error) { return c.listTopics(false), nil }},
		"topics_and_raw_types": {"rosapi/TopicsAndRawTypes", func(c *client, _ ros.Message) (any, error) {
			return c.listTopics(true), nil
		}},
		"topic_type":      {"rosapi/TopicType", topicType},
		"topics_for_type": {"rosapi/TopicsForType", topicsForType},
		"publishers":      {"rosapi/Publishers", publishers},
		"subscribers":     {"rosapi/Subscribers", subscribers},
		"services": {"rosapi/Services", func(c *client, _ ros.Message) (any, error) {
			return object{"services": c.serviceNames("")}, nil
		}},
		"services_for_type": {"rosapi/ServicesForType", func(c *client, args ros.Message) (any, error) {
			return object{"services": c.serviceNames(args.Text("type"))}, nil
		}},
		"service_type": {"rosapi/ServiceType", func(c *client, args ros.Message) (any, error) {
			return object{"type": c.services(true)[absolute(args.Text("service"))].kind}, nil
		}},
		"service_providers": {"rosapi/ServiceProviders", serviceProviders},
		"service_node": {"rosapi/ServiceNode", func(c *client, args ros.Message) (any, error) {
			return object{"node": c.services(true)[absolute(args.Text("service"))].node}, nil
		}},
		"service_host": {"rosapi/ServiceHost", func(c *client, args ros.Message) (any, error) { return object{"host": "callboard"}, nil }},
		"nodes":        {"rosapi/Nodes", func(c *client, _ ros.Message) (any, error) { return object{"nodes": c.nodes()}, nil }},
		"node_details": {"rosapi/NodeDetails", nodeDetails},
		"message_details": {"rosapi/MessageDetails", func(_ *client, args ros.Message) (any, error) {
			return details(args.Text("type"), ros.Lookup(args.Text("type")))
		}},
		"service_request_details": {"rosapi/ServiceRequestDetails", func(_ *client, args ros.Message) (any, error) {
			return details(args.Text("type"), request(args.Text("type")))
		}},
		"service_response_details": {"rosapi/ServiceResponseDetails", func(_ *client, args ros.Message) (any, error) {
			return details(args.Text("type"), response(args.Text("type")))
		}},
		"action_servers":  {"rosapi/GetActionServers", func(*client, ros.Message) (any, error) { return object{"action_servers": []string{}}, nil }},
		"get_time":        {"rosapi/GetTime", func(*client, ros.Message) (any, error) { return object{"time": stamp(rosgraph.Now())}, nil }},
		"get_param_names": {"rosapi/GetParamNames", func(c *client, _ ros.Message) (any, error) { return object{"names": rosgraph.Params}, nil }},
		"get_param":       {"rosapi/GetParam", getParam},
		"has_param": {"rosapi/HasParam", func(c *client, args ros.Message) (any, error) {
			return object{"exists": slices.Contains(rosgraph.Params, absolute(args.Text("name")))}, nil
		}},
		"search_param": {"rosapi/SearchParam", searchParam},
		"set_param":    {"rosapi/SetParam", readOnly},
		"delete_param": {"rosapi/DeleteParam", readOnly},
	}
}

func absolute(name string) string { return "/" + strings.TrimPrefix(name, "/") }

func stamp(t ros.Stamp) object { return object{"secs": t.Sec, "nsecs": t.Nsec} }

// topics returns the topics that the client may see.
func (c *client) topics() []*rosgraph.Topic { return c.member.Snapshot().Seen(c.member.Grant) }

func (c *client) listTopics(raw bool) object {
	names, kinds, texts := []string{}, []string{}, []string{}
	for _, t := range c.topics() {
		names, kinds = append(names, t.Name), append(kinds, t.Type)
		if raw {
			texts = append(texts, ros.Lookup(t.Type).Text())
		}
	}
	out := object{"topics": names, "types": kinds}
	if raw {
		out["typedefs_full_text"] = texts
	}
	return out
}

func topicType(c *client, args ros.Message) (any, error) {
	kind := ""
	if t := c.member.Find(args.Text("topic")); t != nil {
		kind = t.Type
	}
	return object{"type": kind}, nil
}

func topicsForType(c *client, args ros.Message) (any, error) {
	names, kind := []string{}, ros.Lookup(args.Text("type"))
	for _, t := range c.topics() {
		if kind != nil && ros.Lookup(t.Type) == kind {
			names = append(names, t.Name)
		}
	}
	return object{"topics": names}, nil
}

func publishers(c *client, args ros.Message) (any, error) {
	nodes := []string{}
	if t := c.member.Find(args.Text("topic")); t != nil && !t.Taken() {
		nodes = append(nodes, t.Robot.Node())
	}
	return object{"publishers": nodes}, nil
}

func subscribers(c *client, args ros.Message) (any, error) {
	nodes := []string{}
	if t := c.member.Find(args.Text("topic")); t != nil && t.Taken() {
		nodes = append(nodes, t.Robot.Node())
	}
	return object{"subscribers": nodes}, nil
}

// served is a service as rosapi tells of it.
type served struct{ kind, node string }

// services returns all services that the client may call, by name; those that programs
// offer at this broker only if they are asked for.
func (c *client) services(programs bool) map[string]served {
	all := map[string]served{"/republish_tfs": {"tf2_web_republisher/RepublishTFs", rosgraph.Node}}
	for name, a := range c.dialect.rosapi {
		all["/rosapi/"+name] = served{a.kind, rosgraph.Node}
	}
	for _, s := range c.member.Services() {
		all[s.Name] = served{s.Type, s.Robot.Node()}
	}
	if programs {
		for name, kind := range c.dialect.offers.seen(c) {
			all[name] = served{kind, rosgraph.Node}
		}
	}
	return all
}

// serviceNames returns the services of a type, all of them for "".
func (c *client) serviceNames(kind string) []string {
	names := []string{}
	for name, s := range c.services(true) {
		if kind == "" || kind == s.kind {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func serviceProviders(c *client, args ros.Message) (any, error) {
	nodes := []string{}
	for _, s := range c.services(true) {
		if s.kind == args.Text("service") && !slices.Contains(nodes, s.node) {
			nodes = append(nodes, s.node)
		}
	}
	slices.Sort(nodes)
	return object{"providers": nodes}, nil
}

// nodes returns the broker and the robots.
func (c *client) nodes() []string {
	nodes := []string{rosgraph.Node}
	for _, r := range c.member.Snapshot().Robots {
		if c.member.Grant.Allows(r.Name) {
			nodes = append(nodes, r.Node())
		}
	}
	return nodes
}

func nodeDetails(c *client, args ros.Message) (any, error) {
	name := absolute(args.Text("node"))
	in, out, services := []string{}, []string{}, []string{}
	for _, t := range c.topics() {
		switch {
		case t.Robot.Node() != name:
		case t.Taken():
			in = append(in, t.Name)
		default:
			out = append(out, t.Name)
		}
	}
	for service, s := range c.services(true) {
		if s.node == name {
			services = append(services, service)
		}
	}
	slices.Sort(services)
	return object{"subscribing": in, "publishing": out, "services": services}, nil
}

func request(service string) *ros.Type {
	if s := ros.LookupService(service); s != nil {
		return s.Request
	}
	return nil
}

func response(service string) *ros.Type {
	if s := ros.LookupService(service); s != nil {
		return s.Response
	}
	return nil
}

func details(name string, t *ros.Type) (any, error) {
	if t == nil {
		return nil, wrong("type %q is not known; expected one that rosapi lists", name[:min(len(name), maxName)])
	}
	return object{"typedefs": t.Details()}, nil
}

// getParam answers with JSON in a text: what a client gave as default, if there is
// none.
func getParam(c *client, args ros.Message) (any, error) {
	v := c.member.Param(args.Text("name"))
	if otherwise := args.Text("default"); v == nil && json.Valid([]byte(otherwise)) {
		return object{"value": otherwise}, nil
	}
	text, err := json.Marshal(v)
	return object{"value": string(text)}, err
}

func searchParam(c *client, args ros.Message) (any, error) {
	name := absolute(args.Text("name"))
	for _, known := range rosgraph.Params {
		if known == name || strings.HasPrefix(known, name+"/") {
			return object{"global_name": name}, nil
		}
	}
	return object{"global_name": ""}, nil
}

func readOnly(*client, ros.Message) (any, error) {
	return nil, wrong("parameters cannot be changed here")
}
