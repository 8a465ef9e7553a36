package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"callboard/bridge/config"

	"github.com/urfave/cli/v2"
)

func (p *program) initCommand() command {
	return command{
		name: "init", summary: "write a broker's configuration, by asking or from Player servers", args: "[FILE.toml]",
		about: `Writes a commented configuration for callboard serve --config, callboard.toml
unless FILE names another. --player asks a running Player server what it has:
robots get names, and for each device there is the name that conditions know it
by. Without --player and --player-cfg it asks whoever sits in front.`,
		examples: []string{
			"callboard init",
			"callboard init --player localhost:6665",
			"callboard init lab.toml --player r0=lab:6665 --player r1=lab:6666",
			"callboard init --player-cfg worlds/cave.cfg",
		},
		flags: []cli.Flag{
			repeated("player", "a running Player server to ask, `[NAME=]HOST:PORT` (repeat)"),
			repeated("player-cfg", "a Player configuration `FILE.cfg` whose robots to read (repeat)"),
			&cli.StringFlag{Name: "listen", Value: defaultListen, Usage: "`HOST:PORT` for programs and the page; with a token if others reach it"},
			&cli.StringFlag{Name: "gateway", Usage: "`HOST:PORT` where Player programs find the robots (default none)"},
			&cli.BoolFlag{Name: "force", Usage: "write over a file that is there"},
		},
		run: func(ctx context.Context, c *cli.Context) error {
			args, err := arguments(c, 0, 1, "")
			if err != nil {
				return err
			}
			file := "callboard.toml"
			if len(args) > 0 {
				file = args[0]
			}
			if _, err := os.Stat(file); err == nil && !c.Bool("force") {
				return fmt.Errorf("%s: there is such a file; expected a new one, or --force to write over it", file)
			}
			players, err := playerFlags(c)
			if err != nil {
				return err
			}
			plan := &plan{file: file, listen: c.String("listen"), gateway: c.String("gateway")}
			for _, player := range players {
				if err := plan.add(ctx, player); err != nil {
					return err
				}
			}
			if len(players) == 0 {
				if err := p.interview(ctx, plan); err != nil {
					return err
				}
			}
			return p.writePlan(plan)
		},
	}
}

// plan is a configuration that is about to be written.
type plan struct {
	file            string
	listen, gateway string
	servers         []plannedServer
	robots          int // that have got a name
}

// plannedServer is a Player server that a plan has, or a Player configuration.
type plannedServer struct {
	player config.Player
	notes  []string // what its devices are
}

// add asks a Player server what it has, and takes it into the plan.
func (l *plan) add(ctx context.Context, player config.Player) error {
	if player.CFG != "" {
		file, err := filepath.Abs(player.CFG) // it is looked for beside the configuration
		if err != nil {
			return err
		}
		if here, err := filepath.Abs(filepath.Dir(l.file)); err == nil {
			if near, err := filepath.Rel(here, file); err == nil {
				file = near
			}
		}
		l.servers = append(l.servers, plannedServer{player: config.Player{CFG: file}})
		return nil
	}
	devices, err := askServer(ctx, player.Address)
	if err != nil {
		return err
	}
	server := plannedServer{player: config.Player{Address: player.Address, Robot: player.Robot}, notes: deviceNotes(devices)}
	if robots := robotsOf(devices); len(robots) > 1 {
		server.player.Robot, server.player.Robots = "", map[string][]string{}
		for _, devices := range robots {
			server.player.Robots[fmt.Sprintf("r%d", l.robots)] = devices
			l.robots++
		}
	}
	l.servers = append(l.servers, server)
	return nil
}

// interview asks whoever sits in front what a plan is to have.
func (p *program) interview(ctx context.Context, l *plan) error {
	in := bufio.NewScanner(p.stdin)
	ask := func(question, standard string) string {
		shown := ""
		if standard != "" {
			shown = " [" + standard + "]"
		}
		fmt.Fprintf(p.stderr, "%s%s: ", question, shown)
		if !in.Scan() {
			fmt.Fprintln(p.stderr)
			return standard
		}
		if answer := strings.TrimSpace(in.Text()); answer != "" {
			return answer
		}
		return standard
	}
	for ctx.Err() == nil {
		answer := ask("A Player server to read, [NAME=]HOST:PORT, or a Player configuration, FILE.cfg (empty: no more)", "")
		if answer == "" {
			break
		}
		player := config.Player{CFG: answer}
		var err error
		if filepath.Ext(answer) != ".cfg" {
			player, err = config.ParsePlayer(answer)
		} else if _, wrong := os.Stat(answer); wrong != nil {
			err = fileError(answer, wrong)
		}
		if err == nil {
			err = l.add(ctx, player)
		}
		if err != nil {
			fmt.Fprintln(p.stderr, err)
			continue
		}
		for _, note := range l.servers[len(l.servers)-1].notes {
			fmt.Fprintln(p.stderr, "  "+note)
		}
	}
	l.listen = ask("Where programs and the page find the broker, HOST:PORT", l.listen)
	l.gateway = ask("Where Player programs find the robots, HOST:PORT (empty: nowhere)", l.gateway)
	return errors.Join(ctx.Err(), in.Err())
}

// text is the configuration; token is the file of the token that it names, "" for
// none.
func (l *plan) text(token string) string {
	const column = 35 // of comments
	var b strings.Builder
	fmt.Fprintf(&b, `# A broker's configuration: callboard serve --config %[1]s
# callboard check %[1]s says what is wrong with it.

[broker]
# id = "b1"                         # its name in a network; default: the host's name
%-[2]*[3]s # the page, and ws://%[4]s/ws for programs
data = "callboard-data"             # what must outlive a crash; beside this file
`, filepath.Base(l.file), column, fmt.Sprintf("listen = %q", l.listen), l.listen)
	if len(l.servers) == 0 {
		b.WriteString("\n# [[player]]                        # a Player server to read; repeat\n# address = \"localhost:6665\"\n# robot = \"r0\"\n")
	}
	for _, s := range l.servers {
		b.WriteString("\n[[player]]\n")
		for _, note := range s.notes {
			b.WriteString("# " + note + "\n")
		}
		switch player := s.player; {
		case player.CFG != "":
			fmt.Fprintf(&b, "cfg = %q\n", filepath.ToSlash(player.CFG))
		case player.Robots == nil:
			fmt.Fprintf(&b, "address = %q\nrobot = %q\n", player.Address, player.Robot)
			b.WriteString("# devices = [\"*\"]                   # which to open; default all that conditions know\n")
		default:
			fmt.Fprintf(&b, "address = %q\n\n[player.robots]                     # several behind one server: is each device its robot's?\n", player.Address)
			for _, name := range player.Names() {
				fmt.Fprintf(&b, "%s = [\"%s\"]\n", name, strings.Join(player.Robots[name], `", "`))
			}
		}
	}
	comment := ""
	if l.gateway == "" {
		comment, l.gateway = "# ", "127.0.0.1:7000"
	}
	fmt.Fprintf(&b, "\n%[1]s[gateway]                         # Player programs find the robots here, a port for each from here up\n%[1]slisten = %[2]q\n", comment, l.gateway)
	b.WriteString("\n# [zones]                           # polygons, m: inside(\"dock\") in conditions\n# dock = [[0, 0], [2, 0], [2, 1], [0, 1]]\n")
	if token != "" {
		fmt.Fprintf(&b, "\n[[token]]                           # others reach the broker: who has this token may do everything\nname = \"everyone\"\nsecret_file = %q\n", filepath.Base(token))
	}
	return b.String()
}

// writePlan writes the configuration, and says what to do with it.
func (p *program) writePlan(l *plan) error {
	host, _, err := net.SplitHostPort(l.listen)
	if err != nil {
		return usagef("--listen %q, expected HOST:PORT", l.listen)
	}
	token := ""
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		token = strings.TrimSuffix(l.file, filepath.Ext(l.file)) + ".token"
		if err := os.WriteFile(token, []byte(rand.Text()+"\n"), 0o600); err != nil {
			return fmt.Errorf("writing the token: %w", err)
		}
	}
	if err := os.WriteFile(l.file, []byte(l.text(token)), 0o644); err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	for _, written := range []string{l.file, token} {
		if written != "" {
			if _, err := io.WriteString(p.stdout, written+"\n"); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(p.stderr, "next: callboard serve --config %s\n", l.file)
	return nil
}
