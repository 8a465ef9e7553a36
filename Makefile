# The front door. `make` alone lists the targets.
# Everything is pure Go: no C compiler is needed.
export CGO_ENABLED = 0

GO      ?= go
FUZZTIME ?= 30s
SOAK     ?= 1000000
SEEDS_FOR ?= 60s
SEED     ?= 1
BIN     := build/callboard
SOURCES := Makefile go.mod go.sum bridge clients cmd player sim subscribe worlds

.DEFAULT_GOAL := help
PLATFORMS := linux/amd64 linux/arm64 linux/arm windows/amd64 darwin/arm64 darwin/amd64
DEB_ARCH ?= $(shell dpkg --print-architecture 2>/dev/null)
DEB      ?= build/callboard_$(DEB_ARCH).deb

.PHONY: help demo quick build binaries deb test bench fuzz soak lint setup

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

demo: ## robots, a broker and a page in one process
	@[ -x $(BIN) ] && [ -z "$$(find $(SOURCES) -newer $(BIN) -print -quit)" ] || $(MAKE) --no-print-directory quick
	@exec $(BIN) demo

# Half the time of a build where nothing has been compiled yet: not optimized,
# and without the packages that only the benchmarks and plots need. As many
# packages at a time as there are processors, each compiled by one thread, takes
# a tenth less than what go build does by itself.
quick:
	@echo "building $(BIN); the first time takes up to a minute" >&2
	GOMAXPROCS=1 $(GO) build -p "$$(getconf _NPROCESSORS_ONLN)" -trimpath -tags quick,nethttpomithttp2,urfave_cli_no_docs -gcflags='all=-N -l' -ldflags='-s -w' -o $(BIN) ./cmd/callboard

build: ## build/callboard
	$(GO) build -trimpath -buildvcs=auto -o $(BIN) ./cmd/callboard

binaries: ## build/callboard-OS-ARCH, static, for each platform
	@set -e; for platform in $(PLATFORMS); do \
		os=$${platform%/*}; arch=$${platform#*/}; case $$os in windows) suffix=.exe;; *) suffix=;; esac; \
		echo build/callboard-$$os-$$arch$$suffix; \
		GOOS=$$os GOARCH=$$arch $(GO) build -trimpath -buildvcs=auto -ldflags='-s -w' -o build/callboard-$$os-$$arch$$suffix ./cmd/callboard; \
	done

deb: build ## build/callboard_ARCH.deb, for DEB_ARCH (amd64, arm64, armhf)
	@cmd/callboard/debian/build $(BIN) $(DEB_ARCH) $(DEB)

# Packages with properties (rapid) draw from SEED here, so that a change is judged by
# itself and not by chance; go test alone draws anew each time, and make soak draws more.
PROPERTIES = $(shell $(GO) list -f '{{$$p := .ImportPath}}{{range .Imports}}{{if eq . "pgregory.net/rapid"}}{{$$p}} {{end}}{{end}}{{range .TestImports}}{{if eq . "pgregory.net/rapid"}}{{$$p}}{{end}}{{end}}{{range .XTestImports}}{{if eq . "pgregory.net/rapid"}} {{$$p}}{{end}}{{end}}' ./...)

test: setup lint build ## everything CI runs: sets up a fresh machine, checks, tests
	$(GO) test -timeout 20m $(filter-out $(PROPERTIES),$(shell $(GO) list ./...))
	CALLBOARD_SEEDS_FOR=$(SEEDS_FOR) $(GO) test -timeout 20m $(PROPERTIES) -args -rapid.seed=$(SEED)

setup: ## what the tests need beyond Go (apt): a browser; node and Python for the client libraries, node for the official MCAP reader
	@.ci/setup chromium nodejs npm python3 python3-websockets python3-pip python3-wheel mypy

lint: ## gofmt and go vet
	@out=$$(gofmt -l .); if [ -n "$$out" ]; then echo "not formatted (run gofmt -w):"; echo "$$out"; exit 1; fi
	$(GO) vet ./...

bench: build ## benchmarks beside the code, then the binary's own
	@.ci/setup mosquitto
	$(GO) build -o build/nats-server github.com/nats-io/nats-server/v2
	$(GO) test -run '^$$' -bench . -benchmem ./...
	$(BIN) bench match
	$(BIN) bench push
	$(BIN) bench multicast
	$(BIN) bench roam
	$(BIN) bench first
	$(BIN) bench sim
	$(BIN) bench tasks

fuzz: ## every fuzz target for FUZZTIME each
	@set -e; for file in $$(grep -rl --include='*_test.go' '^func Fuzz' . | sort); do \
		dir=$$(dirname $$file); \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' $$file); do \
			echo "== $$dir $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$dir; \
		done; \
	done

soak: ## the long runs: a network of processes for 5 minutes, huge worlds, a log of 5 GB, SOAK schedules of each kind, more of the properties
	CALLBOARD_SOAK_NETWORK=5m $(GO) test -timeout 30m -count 1 -v -run TestNetworkSoak ./cmd/callboard
	CALLBOARD_LOG_MB=5000 $(GO) test -timeout 30m -run '^$$' -bench Plain -benchtime 1x ./bridge/search
	CALLBOARD_HUGE=1 $(GO) test -timeout 30m -count 1 -v -run TestHuge ./sim/...
	CALLBOARD_SOAK=$(SOAK) $(GO) test -timeout 0 -count 1 -v -run 'TestSchedules|TestTasks$$' ./bridge/overlay/overlaytest
	CALLBOARD_SOAK_TASKS=$(SOAK) $(GO) test -timeout 0 -count 1 -v -run TestTaskSoak ./cmd/callboard
	for seed in 1 2 3 4 5 6 7 8 9 10; do CALLBOARD_SEED=$$seed $(GO) test -timeout 30m -count 1 -v -run 'TestKills|TestAlike' ./clients/conformance || exit 1; done
	CALLBOARD_SOAK=$$(( $(SOAK) / 100 )) $(GO) test -timeout 0 -count 1 -v -run TestSchedules ./bridge/multicast/multicasttest
	CALLBOARD_DELIVERIES=30000000 $(GO) test -timeout 0 -count 1 -v -run TestNothingIsLost ./bridge/multicast/multicasttest
	CALLBOARD_SOAK=100000 $(GO) test -timeout 0 -count 1 -v -run TestSchedules ./bridge/standby/standbytest
	CALLBOARD_SOAK_STANDBY=30m $(GO) test -timeout 60m -count 1 -v -run TestStandbySoak ./cmd/callboard
	$(GO) test -timeout 0 -count 1 ./bridge/overlay -run 'TestBroker$$' -args -rapid.checks=100000
	$(GO) test -timeout 0 -count 1 $(filter-out %/overlaytest %/cmd/callboard,$(PROPERTIES)) -args -rapid.checks=2000
