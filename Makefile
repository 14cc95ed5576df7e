# berth: everything a person does goes through here; meson and ninja do the work. `make help` lists it.

MESON_OPTIONS ?=
T ?=
FUZZ_SECONDS ?= 60
VECTORS ?= tests/vectors/data
PREFIX ?= /usr/local
export PKG_CONFIG_PATH := $(CURDIR)/.deps/lib/pkgconfig:$(PKG_CONFIG_PATH)
export PYTHONDONTWRITEBYTECODE := 1

.PHONY: all
all: setup build/build.ninja
	@ninja -C build

.PHONY: setup
setup:
	@scripts/setup

build/build.ninja:
	@meson setup build $(MESON_OPTIONS) >/dev/null

.PHONY: vectors
vectors: all
	@build/tests/vectors $(VECTORS)
