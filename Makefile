# berth: everything a person does goes through here; meson and ninja do the work. `make help` lists it.

T ?=
FUZZ_SECONDS ?= 60
VECTORS ?= tests/vectors/data
PREFIX ?= /usr/local
DESTDIR ?=

# Where scripts/setup builds the libraries that the distribution has no package for.
export PKG_CONFIG_PATH := $(CURDIR)/.deps/lib/pkgconfig:$(PKG_CONFIG_PATH)
export PYTHONDONTWRITEBYTECODE := 1

# In CI a warning is an error; elsewhere a newer compiler's new warning stops nobody.
WERROR := $(if $(CI),-Dwerror=true,)

.DEFAULT_GOAL := all

# $(call configure,DIR,OPTIONS): a build folder, made once.
configure = @test -f $(1)/build.ninja || meson setup $(1) $(WERROR) $(2) >$(1).log 2>&1 || { cat $(1).log; rm -rf $(1); exit 1; }; rm -f $(1).log

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  T=name          one test (test, asan, tsan, debug) or fuzz target"
	@echo "  FUZZ_SECONDS=N  time for each fuzz target (default 60)"
	@echo "  VECTORS=DIR     folder with recorded decisions (default $(VECTORS))"
	@echo "  N= SEED= FILES=  of mutants"
	@echo "  SHORT= SOAK= ONLY= SEED= SCHEDULER=  of test-peers"
	@echo "  PREFIX= DESTDIR=  of install"

.PHONY: setup
setup: ## install what is missing (packages by name; says what it does)
	@scripts/setup

.PHONY: build-setup
build-setup:
	@scripts/setup --build

# Where no browser can be installed, the tests that need it fail and say so; the others still run.
.PHONY: browser-setup
browser-setup:
	@scripts/setup --browser || true

.PHONY: all
all: build-setup ## release build: build/berth
	$(call configure,build,)
	@ninja -C build --quiet

.PHONY: run
run: all ## build and show a control plane at work: nodes, a shop on them, and why one of its pods goes nowhere
	@scripts/tour build/berth

.PHONY: test
test: all browser-setup ## build and run all tests
	@scripts/test build $(T)

# The page's tests in a browser need no sanitizer: what they run of C, others run, too.
.PHONY: asan
asan: build-setup ## all tests but the browser's under AddressSanitizer and UndefinedBehaviorSanitizer
	$(call configure,build-asan,-Dbuildtype=debugoptimized -Db_sanitize=address$(comma)undefined -Db_lundef=false)
	@ninja -C build-asan --quiet
	@TEST_SLOWDOWN=10 TEST_SKIP=browser scripts/test build-asan $(T)

.PHONY: tsan
tsan: build-setup ## the same under ThreadSanitizer
	$(call configure,build-tsan,-Dbuildtype=debugoptimized -Db_sanitize=thread -Db_lundef=false -Db_pie=true)
	@ninja -C build-tsan --quiet
	@TEST_SLOWDOWN=10 TEST_SKIP=browser scripts/test build-tsan $(T)

.PHONY: debug
debug: build-setup ## the same without optimization, and with the queue checked after every operation
	$(call configure,build-debug,-Dbuildtype=debug)
	@ninja -C build-debug --quiet
	@TEST_SLOWDOWN=10 TEST_SKIP=browser scripts/test build-debug $(T)

.PHONY: fuzz
fuzz: build-setup ## run every fuzz target for FUZZ_SECONDS, from its corpus
	@test -f build-fuzz/build.ninja || CC=clang meson setup build-fuzz $(WERROR) -Dbuildtype=debugoptimized \
		-Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true -Darena_malloc=true >/dev/null
	@ninja -C build-fuzz --quiet fuzzers
	@scripts/fuzz build-fuzz $(FUZZ_SECONDS) $(T)

.PHONY: vectors
vectors: all ## compare with recorded outcomes of the real components
	@build/tests/vectors $(VECTORS)

# SCHEDULER=real plays the same with the real kube-scheduler: what holds for it is what can be asked of berth.
.PHONY: test-peers
test-peers: all ## berth scheduler on the real API server, beside the real kube-scheduler, and faults (SHORT=1, SOAK=1)
	@tests/peers/run $(if $(SHORT),--short) $(if $(SOAK),--soak) $(if $(OPTIONAL),--optional) $(if $(ONLY),--only '$(ONLY)') \
		$(if $(SCHEDULER),--scheduler '$(SCHEDULER)') $(if $(filter command line environment,$(origin SEED)),--seed $(SEED))
	@$(if $(ONLY)$(SOAK),true,tests/peers/test_live_commands.py build/berth || test $$? = 77)

.PHONY: bench
bench: all ## benchmarks, beside the real Go code where Go is there
	@bench/codec/run
	@bench/engine/run
	@bench/http/run
	@bench/simulate/run
	@bench/store/run

# Apart from the others: it needs the real etcd and kube-apiserver, and most of an hour.
.PHONY: bench-live
bench-live: all ## berth's scheduler and the real one in turns, on the real API server and on a stand-in (PEERS_BIN=DIR)
	@bench/live/run

.PHONY: bench-e2e
bench-e2e: all ## berth up beside etcd, kube-apiserver and kube-scheduler: from a pod's creation to its node (PEERS_BIN=DIR)
	@bench/e2e/run

.PHONY: bench-apiserver
bench-apiserver: all ## berth's API server and the real etcd and kube-apiserver in turns, then 150,000 pods (PEERS_BIN=DIR)
	@bench/apiserver/run
	@bench/apiserver/run --large

# How many changes of the code to try, which ones, and of which files (patterns or names, separated by commas).
N ?= 300
SEED ?= 1
FILES ?= src/sched/*.c,src/plugins/*.c
.PHONY: mutants
mutants: build-setup ## change the code in N small ways and report which of them no test notices (SEED=, FILES=)
	@tools/mutants.py -n $(N) --seed $(SEED) --files '$(FILES)'

.PHONY: deps
deps: ## print wrong includes, files that comments name and that are not here, limits told wrongly; fail on any
	@tools/check_deps.py
	@tools/check_citations.py
	@tools/check_limits.py

.PHONY: install
install: all ## install berth below PREFIX
	@install -D -m 755 build/berth $(DESTDIR)$(PREFIX)/bin/berth
	@install -D -m 644 include/berth/plugin.h $(DESTDIR)$(PREFIX)/include/berth/plugin.h

.PHONY: clean
clean: ## remove what was built
	@rm -rf build build-asan build-debug build-fuzz build-mutants build-tsan

comma := ,
