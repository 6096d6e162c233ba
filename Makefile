# goodfit: one non-recursive makefile. `make help` lists the targets; settings are in config.mk.
include config.mk

PKGS := gsl lapacke jansson libzstd zlib libxxhash sqlite3
PKG_CONFIG ?= pkg-config
HDF5_PKG := $(shell $(PKG_CONFIG) --exists hdf5 && echo hdf5 || echo hdf5-serial)
PKGS += $(HDF5_PKG)

MISSING := $(shell $(PKG_CONFIG) --print-errors --exists $(PKGS) 2>&1 | head -1)
ifneq ($(MISSING),)
ifeq ($(filter help clean,$(MAKECMDGOALS)),)
$(error missing packages ($(MISSING)); run scripts/bootstrap, or see docs/dependencies.md)
endif
endif

# Third-party headers count as system headers: our warnings do not apply to them.
PKG_CFLAGS := $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null))
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null) -lhdf5_hl -lcsv -llbfgsb -lglpk -lqhull_r -lm

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion -Wvla \
	-Wformat=2 -Wwrite-strings -Wcast-qual -Wundef -Wpointer-arith -Wdouble-promotion
REQUIRED := -std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -I. -include libfit/base/banned.h \
	$(PKG_CFLAGS) $(WARN) $(if $(WERROR),-Werror)
ifneq ($(filter %asan,$(B)),)
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
ALL_CFLAGS = $(CFLAGS) $(REQUIRED) $(SAN)
ALL_LDFLAGS = $(LDFLAGS) $(SAN) -Wl,--as-needed

LIB_SRC := $(sort $(wildcard libfit/*/*.c)) $(sort $(wildcard traces/*.c)) tools/common/cli.c
TOOL_SRC := $(sort $(wildcard tools/gf-*.c))
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
HEADERS := $(sort $(wildcard libfit/*/*.h traces/*.h tools/common/*.h))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
TOOLS := $(TOOL_SRC:tools/%.c=$(B)/%)
UNITS := $(UNIT_SRC:tests/unit/%.c=$(B)/unit/%)
LIB := $(B)/libfit.a

.PHONY: all help check check-unit check-cli check-golden check-asan check-valgrind check-clang lint \
	check-headers check-man check-untracked fuzz-smoke bless install uninstall dist clean FORCE
.SECONDARY:

all: $(TOOLS)

help:
	@sed -n 's/^## //p' Makefile

## all            build the tools into $B (default build/)
## check          all tests that need no special build
## check-asan     the unit and command-line tests under AddressSanitizer and UBSan
## check-valgrind the unit tests under valgrind
## check-clang    build everything with clang, warnings as errors
## lint           cppcheck, shellcheck, include rule, man pages
## fuzz-smoke     each libFuzzer target for a few seconds
## install        tools and man pages under $(DESTDIR)$(PREFIX)
## clean          remove the build folder

# A change of compiler or flags rebuilds everything.
$(B)/flags.stamp: FORCE
	@mkdir -p $(B)
	@echo '$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)' > $@

$(B)/%.o: %.c $(B)/flags.stamp
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(LIB): $(LIB_OBJ)
	@rm -f $@
	$(AR) rcsD $@ $(LIB_OBJ)

$(TOOLS): $(B)/%: $(B)/tools/%.o $(LIB)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $< $(LIB) $(PKG_LIBS) -o $@

$(UNITS): $(B)/unit/%: $(B)/tests/unit/%.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $< $(LIB) $(PKG_LIBS) -lcmocka -o $@

-include $(LIB_OBJ:.o=.d) $(TOOL_SRC:%.c=$(B)/%.d) $(UNIT_SRC:%.c=$(B)/%.d)

check: all $(UNITS)
	B=$(B) tests/run

clean:
	rm -rf $(B)
