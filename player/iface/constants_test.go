package iface_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"callboard/player"
)

// declared returns the numeric constants that a package's files declare, by
// folded name. Names alone count: the values are in the source as literals.
func declared(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok && len(spec.Names) == 1 && len(spec.Values) == 1 {
				if v, ok := literal(spec.Values[0]); ok {
					out[fold(spec.Names[0].Name)] = v
				}
			}
			return true
		})
	}
	return out
}

func literal(e ast.Expr) (int64, bool) {
	switch e := e.(type) {
	case *ast.UnaryExpr:
		v, ok := literal(e.X)
		return -v, ok && e.Op == token.SUB
	case *ast.BasicLit:
		v, err := strconv.ParseInt(e.Value, 0, 64)
		return v, err == nil
	}
	return 0, false
}

// ours are the constants that are called otherwise here.
var ours = map[string]string{
	"PLAYER_OPEN_MODE": "AccessOpen", "PLAYER_CLOSE_MODE": "AccessClose", "PLAYER_ERROR_MODE": "AccessError",
	"PLAYER_DATAMODE_PUSH": "Push", "PLAYER_DATAMODE_PULL": "Pull",
	"PLAYER_OPAQUE_REQ": "ReqOpaqueData", "PLAYER_OPAQUE_CMD": "CmdOpaqueData",
	"PLAYER_PLAYER_MSG_REPLACE_RULE_ACCEPT":  "ReplaceRuleAccept",
	"PLAYER_PLAYER_MSG_REPLACE_RULE_REPLACE": "ReplaceRuleReplace",
	"PLAYER_PLAYER_MSG_REPLACE_RULE_IGNORE":  "ReplaceRuleIgnore",
}

// Every constant of Player's interfaces, and the subtype of every message, is
// declared with Player's name and value.
func TestConstantsArePlayers(t *testing.T) {
	have := declared(t, ".")
	for name, v := range declared(t, "..") {
		have[name] = v
	}
	expect := func(where, name string, want int64) {
		if got, ok := have[fold(name)]; !ok || got != want {
			t.Errorf("%s: constant %s is %d (declared: %v), expected %d", where, name, got, ok, want)
		}
	}
	p := loadProtocol(t)
	kinds := map[player.Type]string{player.Data: "Data", player.Command: "Cmd", player.Request: "Req"}
	for _, m := range p.Universal {
		expect("universal", "Req"+m.Name, int64(m.Subtype))
	}
	for _, i := range p.Interfaces {
		for _, m := range i.Messages {
			name := kinds[m.Type] + i.Name + m.Name
			switch {
			case m.Type == player.Synch:
				name = "Synch" + m.Name
			case i.Code == player.InterfacePlayer:
				name = "Player" + m.Name
			}
			expect(i.Name, name, int64(m.Subtype))
		}
		expect(i.Name, "Interface"+i.Name, int64(i.Code))
		for name, v := range i.Constants {
			n, ok := v.(float64)
			if !ok || strings.HasPrefix(name, "PLAYER_LASER_MAX_FILTER") {
				continue // text; a limit, which stands in the field's tag
			}
			if own, ok := ours[name]; ok {
				name = own
			}
			expect(i.Name, strings.TrimPrefix(name, "PLAYER_"), int64(n))
		}
	}
}
