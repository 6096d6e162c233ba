# SPDX-License-Identifier: MIT
# goodfit: one non-recursive makefile. `make help` lists the targets; settings are in config.mk.
include config.mk
# One name for the build folder, however it is given: the files of dependencies hold it.
override B := $(patsubst $(CURDIR)/%,%,$(abspath $(B)))

PKGS := gsl lapacke jansson libzstd zlib libxxhash sqlite3
PKG_CONFIG ?= pkg-config
HDF5_PKG := $(shell $(PKG_CONFIG) --exists hdf5 2>/dev/null && echo hdf5 || echo hdf5-serial)
PKGS += $(HDF5_PKG)

MISSING := $(shell $(PKG_CONFIG) --print-errors --exists $(PKGS) 2>&1 | head -1)
ifneq ($(MISSING),)
ifneq ($(filter-out help clean dist,$(or $(MAKECMDGOALS),all)),)
$(error missing packages ($(MISSING)); run scripts/bootstrap, or see docs/dependencies.md)
endif
endif

# Third-party headers count as system headers: our warnings do not apply to them.
PKG_CFLAGS := $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags $(PKGS) 2>/dev/null))
PKG_LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null) -lcsv -llbfgsb -lglpk -lqhull_r -lm
# HDF5's archive where there is one: as a shared library it pulls in some thirty others, which makes
# every tool start 4 ms later. HDF5_A= on the command line links the shared one.
HDF5_A ?= $(firstword $(wildcard $(addsuffix /libhdf5.a,$(patsubst -L%,%,$(shell \
	$(PKG_CONFIG) --libs-only-L $(HDF5_PKG) 2>/dev/null)) $(shell $(PKG_CONFIG) --variable=libdir $(HDF5_PKG)))))
ifneq ($(HDF5_A),)
PKG_LIBS := $(HDF5_A) $(patsubst -lhdf5%,,$(PKG_LIBS)) -lsz -lz -ldl -lpthread -lm
endif

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion -Wvla \
	-Wformat=2 -Wwrite-strings -Wcast-qual -Wundef -Wpointer-arith -Wdouble-promotion
# Position-independent, so that the same objects make libfit.a, which the tools link, and libfit.so.
REQUIRED := -std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -fPIC -fno-semantic-interposition \
	-I. -include libfit/base/banned.h $(PKG_CFLAGS) $(WARN) $(if $(WERROR),-Werror)
ifneq ($(filter %asan,$(B)),)
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# A program starts a quarter sooner with gcc's archives of the sanitizers; clang has them so anyway.
SAN += $(if $(findstring clang,$(shell $(CC) --version)),,-static-libasan -static-libubsan)
else ifneq ($(filter %fuzz,$(B)),)
SAN := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
ALL_CFLAGS = $(CPPFLAGS) $(CFLAGS) $(REQUIRED) $(SAN)
ALL_LDFLAGS = $(LDFLAGS) $(SAN) -Wl,--as-needed

LIB_SRC := $(sort $(wildcard libfit/*/*.c)) $(sort $(wildcard traces/*.c))
# What tools share among them.
PART_SRC := $(sort $(wildcard tools/common/*.c) $(filter-out tools/gf-%,$(wildcard tools/*.c)))
TOOL_SRC := $(sort $(wildcard tools/gf-*.c))
UNIT_SRC := $(sort $(wildcard tests/unit/test_*.c))
# Small programs that golden tests and benchmarks use.
AUX_SRC := $(sort $(wildcard tests/golden/*.c tests/bench/*.c))
FUZZ_SRC := $(sort $(wildcard tests/fuzz/fuzz_*.c))
HEADERS := $(sort $(wildcard libfit/*/*.h traces/*.h tools/common/*.h tools/*.h))
MAN1 := $(sort $(wildcard docs/man/*.1))
MAN5 := $(sort $(wildcard docs/man/*.5))
FIGURES := $(sort $(filter-out %.sh,$(wildcard figures/*)))
SCRIPTS := $(sort $(filter-out scripts/debian,$(wildcard scripts/*)) $(filter-out %/control,$(wildcard \
	scripts/debian/tests/*)) $(wildcard tests/cli/*.sh tests/fuzz/*.sh)) tests/run tests/golden/lib.sh tests/bench/lib.sh \
	$(sort $(wildcard figures/*.sh)) $(FIGURES) \
	$(sort $(foreach f,$(wildcard tests/golden/* tests/bench/*),$(if $(suffix $(f)),,$(f))))
LIB_OBJ := $(LIB_SRC:%.c=$(B)/%.o)
PART_OBJ := $(PART_SRC:%.c=$(B)/%.o)
TOOLS := $(TOOL_SRC:tools/%.c=$(B)/%)
UNITS := $(UNIT_SRC:tests/unit/%.c=$(B)/unit/%)
AUX := $(AUX_SRC:tests/%.c=$(B)/%)
FUZZ := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/%)
LIB := $(B)/libfit.a
PARTS := $(B)/tools/parts.a
VERSION := $(shell sed -n 's/.*FIT_VERSION "\(.*\)"/\1/p' libfit/base/version.h)
RUN = B=$(B) JOBS=$(JOBS) tests/run

.PHONY: all help tests program-objects check check-unit check-cli check-golden check-asan check-valgrind check-clang \
	lib completion format-pages lint cppcheck shellcheck check-headers check-man check-untracked fuzz-smoke fuzz-build bless \
	install uninstall dist clean FORCE
.SECONDARY:

all: $(TOOLS)

## all              build the tools into $B (default build/)
## tests            build the tools and the test programs
## check            all tests that need no special build
## check-unit       the unit tests only; also check-cli, check-golden
## check-asan       unit and command-line tests under AddressSanitizer and UBSan, in $B/asan
## check-valgrind   unit tests and the tools' command-line tests under valgrind (slow)
## check-clang      build everything with clang, warnings as errors, in $B/clang
## check-headers    every header compiles alone
## check-man        the man pages: lint, sections, examples
## check-untracked  nothing that git would not keep lies in the checkout
## lint             cppcheck, shellcheck, the include rule, headers, man pages, words
## figures/NAME     a figure of a paper, from the recipe of that name, in out/figures
## fuzz-smoke       each libFuzzer target for FUZZ_SECONDS, built with clang in $B/fuzz
## bless            rewrite the committed expected results (review the difference)
## lib              the shared library and goodfit.pc, in $B/lib
## completion       what completes command lines in bash and zsh, in $B/completion
## format-pages     docs/formats as manual pages of section 5, in $B/man
## install          tools, man pages, libfit with its headers and completion under $(DESTDIR)$(PREFIX);
##                  also uninstall
## dist             goodfit-VERSION.tar.gz from the last commit
## clean            remove the build folder
help:
	@echo 'make [TARGET] [B=folder] [CC=gcc|clang] [WERROR=1] [JOBS=n] [PREFIX=/usr/local] [DESTDIR=]'
	@sed -n 's/^## //p' Makefile

# A change of compiler or flags rebuilds everything; AS_BUILT=1 takes what is there, whatever its flags.
$(B)/flags.stamp: $(if $(AS_BUILT),,FORCE)
	@mkdir -p $(B)
	@echo '$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)' | cmp -s - $@ || \
		echo '$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)' > $@

# affinity is not of POSIX
$(B)/tools/processors.o: ALL_CFLAGS += -D_GNU_SOURCE

$(B)/%.o: %.c $(B)/flags.stamp
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(LIB): $(LIB_OBJ)
	@rm -f $@
	$(AR) rcsD $@ $(LIB_OBJ)

$(PARTS): $(PART_OBJ)
	@rm -f $@
	$(AR) rcsD $@ $(PART_OBJ)

$(TOOLS): $(B)/%: $(B)/tools/%.o $(PARTS) $(LIB)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $< $(PARTS) $(LIB) $(PKG_LIBS) -o $@

$(UNITS): $(B)/unit/%: $(B)/tests/unit/%.o $(PARTS) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $< $(PARTS) $(LIB) $(PKG_LIBS) -lcmocka -o $@

$(AUX): $(B)/%: $(B)/tests/%.o $(PARTS) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $< $(PARTS) $(LIB) $(PKG_LIBS) -o $@

$(FUZZ): $(B)/%: $(B)/tests/fuzz/%.o $(PARTS) $(LIB)
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -fsanitize=fuzzer $< $(PARTS) $(LIB) $(PKG_LIBS) -o $@

-include $(LIB_OBJ:.o=.d) $(PART_OBJ:.o=.d) $(TOOL_SRC:%.c=$(B)/%.d) $(UNIT_SRC:%.c=$(B)/%.d) $(AUX_SRC:%.c=$(B)/%.d) \
	$(FUZZ_SRC:%.c=$(B)/%.d)

# ---- tests ----

tests: all $(UNITS) $(AUX)

# What the library and its parts are not: for a compiler that only has to say what it thinks of them.
program-objects: $(TOOL_SRC:%.c=$(B)/%.o) $(UNIT_SRC:%.c=$(B)/%.o) $(AUX_SRC:%.c=$(B)/%.o)

check: tests
	$(RUN)

check-unit check-cli check-golden: check-%: tests
	$(RUN) $*

check-asan:
	+$(MAKE) B=$(B)/asan tests
	B=$(B)/asan JOBS=$(JOBS) tests/run unit cli

VALGRIND := valgrind -q --error-exitcode=126 --leak-check=full --errors-for-leak-kinds=definite
check-valgrind: tests
	@mkdir -p $(B)/valgrind && rm -rf $(B)/valgrind/* && ln -s ../unit $(B)/valgrind/unit
	@for t in $(notdir $(TOOLS)); do printf '#!/bin/sh\nexec $(VALGRIND) %s "$$@"\n' \
		"$(abspath $(B))/$$t" > $(B)/valgrind/$$t && chmod +x $(B)/valgrind/$$t; done
	B=$(B)/valgrind JOBS=$(JOBS) WRAP='$(VALGRIND)' tests/run unit $(sort $(wildcard tests/cli/gf-*.sh))

check-clang:
	+$(MAKE) CC=clang B=$(B)/clang WERROR=1 tests

check-headers:
	$(RUN) tests/cli/headers.sh

check-man: all
	$(RUN) tests/cli/man.sh

check-untracked:
	@left=$$(git status --porcelain --untracked-files=all); \
	[ -z "$$left" ] || { echo 'changed or not tracked:'; echo "$$left"; exit 1; }

fuzz-build: $(FUZZ)

fuzz-smoke:
	+$(MAKE) CC=clang B=$(B)/fuzz fuzz-build
	B=$(B)/fuzz FUZZ_SECONDS=$(FUZZ_SECONDS) tests/run tests/fuzz/smoke.sh

# cppcheck 2.10 does not parse `c ? (struct x){ … } : …` and gives the file up: no fault of the file.
cppcheck:
	cppcheck -q -j $(JOBS) --std=c11 --enable=warning,performance,portability --inline-suppr \
		--suppress=missingIncludeSystem --suppress=internalAstError --error-exitcode=1 \
		-I. -DFIT_CPPCHECK libfit traces tools

shellcheck:
	shellcheck -x -s sh -S warning $(SCRIPTS)
	shellcheck .ci/run

lint: cppcheck shellcheck all
	$(RUN) tests/cli/include-rule.sh tests/cli/headers.sh tests/cli/man.sh tests/cli/words.sh

bless: tests
	BLESS=1 $(RUN) cli golden

# What the test of the headers compiles with.
print-%:
	@echo '$($*)'

# ---- figures ----

FIGURES_OUT ?= out/figures
$(FIGURES): all FORCE
	B=$(B) JOBS=$(JOBS) $@ $(FIGURES_OUT)

# ---- the library for others, and install ----

BINDIR := $(DESTDIR)$(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
DATADIR := $(DESTDIR)$(PREFIX)/share
MANDIR := $(DATADIR)/man
# libfit/base/linkage.h says what makes a header public.
PUBLIC := libfit/base/linkage.h $(sort $(shell grep -l '^FIT_C_BEGIN$$' libfit/*/*.h traces/*.h))
ABI := 0
SONAME := libfit.so.$(ABI)
SO := $(B)/lib/libfit.so.$(VERSION)
PC := $(B)/lib/goodfit.pc
# L-BFGS-B from its archive where there is one: it prints through libgfortran, and libfit answers those calls in
# its place (libfit/model/lbfgsb.c), which a shared library should not do for a whole program.
LBFGSB_A := $(filter /%,$(shell $(CC) -print-file-name=liblbfgsb.a))
SO_LIBS := $(shell $(PKG_CONFIG) --libs $(PKGS) 2>/dev/null) -lcsv -lglpk -lqhull_r \
	$(if $(LBFGSB_A),$(LBFGSB_A) -llapack -lblas -l:libgfortran.so.5,-llbfgsb) -lm
# Pages of docs/formats as manual pages.
FORMAT_PAGES := $(patsubst docs/formats/%.md,$(B)/man/goodfit-%.5,$(sort $(wildcard docs/formats/*.md)))
COMPLETIONS := $(TOOL_SRC:tools/%.c=$(B)/completion/%) $(TOOL_SRC:tools/%.c=$(B)/completion/_%)
BASH_DIR := $(DATADIR)/bash-completion/completions
ZSH_DIR := $(DATADIR)/zsh/site-functions

lib: $(SO) $(PC)

# What the public headers declare and the library has; nothing else is exported.
$(B)/lib/libfit.map: $(LIB) $(PUBLIC) scripts/symbol-map
	@mkdir -p $(@D)
	scripts/symbol-map $(ABI) $(LIB) $(PUBLIC) > $@.new && mv $@.new $@

$(SO): $(LIB) $(B)/lib/libfit.map
	$(CC) -shared $(ALL_CFLAGS) $(ALL_LDFLAGS) -Wl,-soname,$(SONAME) -Wl,--version-script=$(B)/lib/libfit.map \
		-Wl,--whole-archive $(LIB) -Wl,--no-whole-archive -Wl,-z,defs $(SO_LIBS) -o $@

$(PC): FORCE
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include/goodfit' \
		'libdir=$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))' '' 'Name: goodfit' \
		'Description: traces, models and replays of GPU clusters' 'Version: $(VERSION)' \
		'Requires.private: $(PKGS)' 'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lfit' \
		'Libs.private: -lcsv -llbfgsb -lglpk -lqhull_r -lm' > $@

completion: $(COMPLETIONS)

$(B)/completion/_%: $(B)/%
	@mkdir -p $(@D)
	$(B)/$* --completion zsh > $@.new && mv $@.new $@

$(B)/completion/%: $(B)/%
	@mkdir -p $(@D)
	$(B)/$* --completion bash > $@.new && mv $@.new $@

format-pages: $(FORMAT_PAGES)

$(B)/man/goodfit-%.5: docs/formats/%.md scripts/format-page
	@mkdir -p $(@D)
	scripts/format-page $< > $@.new && mv $@.new $@

install: all lib completion format-pages
	install -d $(BINDIR) $(MANDIR)/man1 $(MANDIR)/man5 $(DESTDIR)$(LIBDIR)/pkgconfig $(BASH_DIR) $(ZSH_DIR)
	install -m 755 $(TOOLS) $(BINDIR)
	install -m 644 $(MAN1) $(MANDIR)/man1
	install -m 644 $(MAN5) $(FORMAT_PAGES) $(MANDIR)/man5
	install -m 644 $(filter-out $(B)/completion/_%,$(COMPLETIONS)) $(BASH_DIR)
	install -m 644 $(filter $(B)/completion/_%,$(COMPLETIONS)) $(ZSH_DIR)
	install -m 644 $(LIB) $(SO) $(DESTDIR)$(LIBDIR)
	ln -sf libfit.so.$(VERSION) $(DESTDIR)$(LIBDIR)/$(SONAME)
	ln -sf $(SONAME) $(DESTDIR)$(LIBDIR)/libfit.so
	install -m 644 $(PC) $(DESTDIR)$(LIBDIR)/pkgconfig
	for h in $(PUBLIC); do install -D -m 644 $$h $(DESTDIR)$(PREFIX)/include/goodfit/$$h || exit 1; done

uninstall:
	rm -f $(addprefix $(BINDIR)/,$(notdir $(TOOLS))) $(addprefix $(MANDIR)/man1/,$(notdir $(MAN1))) \
		$(addprefix $(MANDIR)/man5/,$(notdir $(MAN5) $(FORMAT_PAGES))) \
		$(addprefix $(BASH_DIR)/,$(notdir $(TOOLS))) $(addprefix $(ZSH_DIR)/_,$(notdir $(TOOLS))) \
		$(addprefix $(DESTDIR)$(LIBDIR)/,libfit.a libfit.so $(SONAME) $(notdir $(SO)) pkgconfig/goodfit.pc)
	rm -rf $(DESTDIR)$(PREFIX)/include/goodfit

dist:
	git archive --format=tar --prefix=goodfit-$(VERSION)/ HEAD | gzip -n > goodfit-$(VERSION).tar.gz

clean:
	rm -rf $(B)
