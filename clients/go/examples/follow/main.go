// Follow has a robot follow another one, whichever brokers read them. It goes on at
// another broker when its own is lost.
//
//	go run ./clients/go/examples/follow r0 r1 ws://127.0.0.1:8800/ws ws://127.0.0.1:8900/ws
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"time"

	callboard "callboard/clients/go"
)

const distance = 1.0 // m, to stay behind the leader

func main() {
	if len(os.Args) < 4 {
		log.Fatal("usage: follow LEADER FOLLOWER BROKER…")
	}
	leader, follower := os.Args[1], os.Args[2]
	ctx := context.Background()
	client, err := callboard.Dial(ctx, callboard.Config{Brokers: os.Args[3:]})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	// Only where they are now matters: what waits is replaced by what is newer.
	_, err = client.Subscribe(ctx, callboard.Subscription{
		ID: "where", Condition: "position.time >= 0", Robots: []string{leader, follower}, MinInterval: 0.1, Keep: "latest",
	})
	if err != nil {
		log.Fatal(err)
	}

	where := map[string]callboard.Position{}
	var told time.Time
	for event := range client.Events() {
		switch e := event.(type) {
		case *callboard.Attached:
			fmt.Printf("attached to %s\n", e.Broker)
		case *callboard.Notification:
			position, ok := e.Position()
			if !ok {
				continue
			}
			where[e.Robot] = position
			if e.Robot != follower || len(where) < 2 {
				continue
			}
			dx, dy := where[leader].X-position.X, where[leader].Y-position.Y
			ahead := math.Hypot(dx, dy)
			turn := math.Remainder(math.Atan2(dy, dx)-position.Yaw, 2*math.Pi)
			speed := max(0, min(0.6, ahead-distance)) * math.Cos(min(math.Abs(turn), math.Pi/2))
			_, err := client.Command(ctx, callboard.Command{
				Robot: follower, Name: "velocity", Args: []any{speed, 0, max(-1, min(1, 2*turn))}, TTL: 0.5,
			})
			if err != nil {
				log.Print(err) // the next one may get through
			}
			if time.Since(told) > time.Second {
				told = time.Now()
				fmt.Printf("%s is %.1f m ahead\n", leader, ahead)
			}
		}
	}
	log.Fatal(client.Err())
}
