// Package callboard is the Go client library of Callboard: it subscribes to
// conditions over robots' sensor readings and delivers what matches, in order
// and once.
//
//	client, err := callboard.Dial(ctx, callboard.Config{Brokers: []string{"ws://127.0.0.1:8800/ws"}})
//	…
//	defer client.Close()
//	_, err = client.Subscribe(ctx, callboard.Subscription{ID: "near", Condition: "laser.min < 1"})
//	…
//	for event := range client.Events() {
//		switch e := event.(type) {
//		case *callboard.Notification:
//			if scan, ok := e.Laser(); ok {
//				fmt.Println(e.Robot, e.Time, scan.Min, scan.Bearing)
//			}
//		case *callboard.Gap:
//			fmt.Println("lost:", e.Why)
//		}
//	}
//
// It roams by itself: a broker that is lost is followed by the next one of
// Config.Brokers, of those that the brokers name, or of those heard
// (Config.Heard). Move hands over to a broker on purpose, Config.Choose when
// it knows of a better one, both before the connection in use is let go:
//
//	err = client.Move(ctx, "ws://10.0.0.2:8800/ws")
//
// The library says hello, acknowledges, watches the broker's heartbeats, comes
// back after a lost connection where it was, and checks every sequence number:
// a notification arrives once, in order of its source, or a Gap says what
// could not be kept. The design is in DESIGN.md beside this file.
package callboard
