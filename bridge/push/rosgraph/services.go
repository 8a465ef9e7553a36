package rosgraph

import (
	"context"
	"strings"

	"callboard/bridge/push/ros"
	"callboard/subscribe/protocol"
)

// Service is something that clients may ask for.
type Service struct {
	Name, Type string
	Robot      *Robot // whose it is; nil: of no single one
	call       func(ctx context.Context, m *Member, args ros.Message, done Response) error
}

// Response takes what comes of a service: what writes the fields of its response,
// or an error.
type Response func(write func(*ros.Encoder), err error)

// Services returns the services that the member may call, by name.
func (m *Member) Services() []*Service {
	var all []*Service
	s := m.Snapshot()
	placed := false
	for _, r := range s.Robots {
		if !m.Grant.Allows(r.Name) {
			continue
		}
		placed = placed || r.Start != nil
		if r.Moves() {
			all = append(all, &Service{Name: r.Prefix + "motors", Type: "std_srvs/SetBool", Robot: r, call: motors(r)})
		}
	}
	if placed {
		all = append(all, &Service{Name: "/reset_positions", Type: "std_srvs/Empty", call: resetPositions})
	}
	for _, t := range s.Seen(m.Grant) {
		if t.Use == Map {
			all = append(all, &Service{Name: strings.TrimSuffix(t.Name, "map") + "static_map", Type: "nav_msgs/GetMap", call: staticMap(t.Map)})
		}
	}
	return all
}

// FindService finds a service by its name, or another one of its robot's names, as
// Find does; nil: there is none.
func (m *Member) FindService(name string) *Service {
	name = "/" + strings.TrimPrefix(name, "/")
	if r, rest := m.Snapshot().named(name); r != nil {
		name = r.Prefix + rest
	}
	for _, s := range m.Services() {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Call calls a service. The error says that it was not called at all: done is not
// called then.
func (m *Member) Call(ctx context.Context, s *Service, args ros.Message, done Response) error {
	return s.call(ctx, m, args, done)
}

func nothing(*ros.Encoder) {}

// motors switches a robot's motors.
func motors(r *Robot) func(context.Context, *Member, ros.Message, Response) error {
	return func(ctx context.Context, m *Member, args ros.Message, done Response) error {
		word := "off"
		if args.Bool("data") {
			word = "on"
		}
		return m.Conn.Command(ctx, protocol.Command{Robot: r.Name, Name: "motor_power", Args: []any{word}}, func(_ any, err error) {
			message := "the motors are " + word
			if err != nil {
				message = protocol.ProblemOf(err).Message
			}
			done(func(e *ros.Encoder) {
				e.Bool("success", err == nil)
				e.String("message", message)
			}, nil)
		})
	}
}

// resetPositions puts the robots back to where the simulation had them when this
// broker first saw them, one after the other.
func resetPositions(ctx context.Context, m *Member, _ ros.Message, done Response) error {
	var left []*Robot
	for _, r := range m.Snapshot().Robots {
		if r.Start != nil && r.Up && m.Grant.Allows(r.Name) {
			left = append(left, r)
		}
	}
	var next func(error) error
	next = func(err error) error {
		if err != nil || len(left) == 0 {
			done(nothing, err)
			return nil
		}
		r := left[0]
		left = left[1:]
		command := protocol.Command{Robot: r.Name, Name: "set_pose", Args: []any{r.Start.X, r.Start.Y, r.Start.Yaw}}
		return m.Conn.Command(ctx, command, func(_ any, err error) {
			if err = next(err); err != nil {
				done(nil, err)
			}
		})
	}
	return next(nil)
}

// staticMap answers with a map.
func staticMap(p *Plan) func(context.Context, *Member, ros.Message, Response) error {
	return func(_ context.Context, _ *Member, _ ros.Message, done Response) error {
		done(func(e *ros.Encoder) {
			e.Begin("map")
			p.Grid.Write(e)
			e.End()
		}, nil)
		return nil
	}
}
