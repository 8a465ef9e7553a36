// Drive serves orders to drive a robot ahead; who asks is told how far it is, and when it
// is there:
//
//	go run ./clients/go/examples/drive ws://127.0.0.1:8800/ws r0
//	callboard request r0/drive '{"metres": 1.5}' --progress
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"

	callboard "callboard/clients/go"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: drive BROKER ROBOT")
	}
	broker, robot := os.Args[1], os.Args[2]
	client, err := callboard.Dial(context.Background(), callboard.Config{Brokers: []string{broker}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Subscribe(context.Background(), callboard.Subscription{
		ID: "where", Condition: "position.time >= 0", Robots: []string{robot}, MinInterval: 0.1, Keep: "latest",
	}); err != nil {
		log.Fatal(err)
	}
	places := make(chan callboard.Position) // where the robot is, for who wants to know
	_, err = client.Serve(robot+"/drive", func(ctx context.Context, t *callboard.Task) (any, error) {
		var order struct{ Metres float64 }
		if err := json.Unmarshal(t.Body, &order); err != nil {
			return nil, err
		}
		return drive(ctx, client, robot, places, order.Metres, t)
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("serves %s/drive\n", robot)
	for event := range client.Events() {
		n, ok := event.(*callboard.Notification)
		if !ok {
			continue
		}
		if place, ok := n.Position(); ok {
			select {
			case places <- place:
			default: // nobody wants to know
			}
		}
	}
	log.Fatal(client.Err())
}

type driven struct {
	Driven float64 `json:"driven"`
}

func drive(ctx context.Context, client *callboard.Client, robot string, places <-chan callboard.Position, metres float64, t *callboard.Task) (any, error) {
	command := func(name string, args ...any) error {
		_, err := client.Command(context.Background(), callboard.Command{Robot: robot, Name: name, Args: args, TTL: 1})
		return err
	}
	defer command("stop") // also if the order is cancelled
	var far driven
	for begin := <-places; far.Driven < metres; t.Progress(far) {
		if err := command("velocity", 0.4, 0, 0, 1); err != nil { // for a second at most
			return nil, err
		}
		select {
		case now := <-places:
			far.Driven = math.Hypot(now.X-begin.X, now.Y-begin.Y)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return far, nil
}
