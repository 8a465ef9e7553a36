// Fleet watches a fleet: which robots move or stand, are blocked, away or back.
//
//	go run ./clients/go/examples/fleet ws://127.0.0.1:8800/ws 'r*'
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	callboard "callboard/clients/go"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: fleet BROKER ROBOTS")
	}
	ctx := context.Background()
	client, err := callboard.Dial(ctx, callboard.Config{Brokers: os.Args[1:2]})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	// With trigger change a robot's state comes once, and when it is another.
	for id, condition := range map[string]string{"moves": "position.speed > 0.01", "blocked": "position.stall"} {
		_, err = client.Subscribe(ctx, callboard.Subscription{
			ID: id, Condition: condition, Robots: os.Args[2:], Trigger: "change",
			Select: map[string]string{"x": "position.x", "y": "position.y"},
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	words := map[string]map[bool]string{"moves": {true: "moves", false: "stands"}, "blocked": {true: "is blocked", false: "is free"}}
	for event := range client.Events() {
		switch e := event.(type) {
		case *callboard.Notification:
			for _, m := range e.Subscriptions {
				at := e.Values(m.ID)
				fmt.Printf("%s %s at %.2f %.2f\n", e.Robot, words[m.ID][*m.State], at["x"], at["y"])
			}
		case *callboard.Robot:
			fmt.Printf("%s is %s\n", e.Name(), e.State)
		case *callboard.Gap:
			fmt.Printf("something was missed: %s\n", e.Why)
		case *callboard.Attached:
			fmt.Printf("attached to %s\n", e.Broker)
		}
	}
	log.Fatal(client.Err())
}
