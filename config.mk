# SPDX-License-Identifier: MIT
# Settings that are yours to change, here or on the command line (make CC=clang PREFIX=/opt/goodfit).
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
CFLAGS ?= -O2 -g
LDFLAGS ?=
# WERROR=1 turns warnings into errors (developers, CI); a release build leaves it empty.
WERROR ?=
# Build folder; B=build/asan (or msan-like names ending in asan) adds the sanitizers.
B ?= build
# Checks that need a slow tool run it on this many processes.
JOBS ?= 2
# How long make fuzz-smoke runs each target.
FUZZ_SECONDS ?= 5
