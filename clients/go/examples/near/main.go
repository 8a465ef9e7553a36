// Near drives a robot ahead and stops it when something is near:
//
//	go run ./clients/go/examples/near ws://127.0.0.1:8800/ws r0
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
		log.Fatal("usage: near BROKER ROBOT")
	}
	broker, robot := os.Args[1], os.Args[2]
	ctx := context.Background()
	client, err := callboard.Dial(ctx, callboard.Config{Brokers: []string{broker}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	command := func(name string, args ...any) {
		if _, err := client.Command(ctx, callboard.Command{Robot: robot, Name: name, Args: args, TTL: 1}); err != nil {
			log.Printf("%s: %v", name, err)
		}
	}

	// The broker tests every scan; only the first one that matches comes here.
	_, err = client.Subscribe(ctx, callboard.Subscription{
		ID: "near", Condition: "laser.front < 0.8", Robots: []string{robot},
		Trigger: "rising", Select: map[string]string{"front": "laser.front"},
	})
	if err != nil {
		log.Fatal(err)
	}
	command("velocity", 0.5, 0, 0)
	for event := range client.Events() {
		if n, ok := event.(*callboard.Notification); ok {
			command("stop")
			fmt.Printf("%s stopped, %.2f m ahead\n", n.Robot, n.Values("near")["front"])
			return
		}
	}
	log.Fatal(client.Err())
}
