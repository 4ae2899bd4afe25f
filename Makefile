# make                the tools, static, in build/release/bin
# make pmukit         all tools in one file, build/release/bin/pmukit
# make demo           set up, build, profile a real workload, show the result
# make quick          build, run what needs no root and no half minute
# make check          set up, build, run every test, under sanitizers what parses
# make check-all      set up, build, run everything in every way, for hours:
#                     PARTS='lab fuzz' for some parts, PARTS=help to list them
# make bench          measure against perf, in one run
# make fuzz           every fuzzer, $(FUZZ_SECONDS) each
# make mutants        break the library in COUNT small ways (200): do the tests notice?
# make release        the artefacts of a release, in build/artefacts: doc/releases.md
# make lib            the library, in build/release/lib: pmukit.h, doc/embedding.md
# make install        to $(DESTDIR)$(PREFIX); make uninstall removes that
# make O=DIR ...      build in DIR, not in build/: for sources that cannot be written
# make ARCH=arm64 ... for another architecture, in build/arm64
# make lab            run the pipes on an emulated PMU, with several kernels
# make accuracy       measure profiles against what is known, beside a timer's
# make MUSL=DIR ...   with musl's libc, and the libraries in DIR, in build/musl
# make SANITIZE=1 ... in build/asan, by clang, dynamic, with ASan and UBSan
# make WERROR=1 ...   warnings are errors (CI)
# make V=1 ...        print the commands

VERSION       = 0.1
PREFIX       ?= /usr/local
CFLAGS       ?= $(if $(SANITIZE),-O0 -g1,-O2 -g)
FUZZ_SECONDS ?= 60
OBJCOPY      ?= objcopy

# What each module may include: those before it in this list (tests/layers.sh).  It is the order
# in which data flows.
MODULES = base stats linux record stream resolved elf event process waits locate dwarf cfi \
	  names symbol code unwind target relay labels counters sample counting resolve filter pprof \
	  rows pgo stacks aggregate views branch compare access listing show results flame live survey \
	  host compose push serve library self tool

LDLIBS = -levent -lprotobuf-c -lz -lzstd -ldeflate -llzma -liberty -lpfm -lpthread -lm

TOOLS   := $(patsubst cmd/%.c,%,$(wildcard cmd/*.c))
ifneq (,$(GUESTS))
# The tools that guests run in make check (tests/lab/prepare), and what no such tool has in it.
TOOLS   := pmu-events pmu-sample pmu-stat pmu-symbolize pmu-topprof pmu-unwind
UNUSED  := $(addprefix lib/,access/% branch/% compare/% flame/% host/% listing/% live/% push/% serve/% tool/go-flags% \
		$(addprefix compose/,callgraph% label% pipeline% plan% profiled% view%) \
		$(addprefix show/,access% annotate% bars% diff% ratios% top%))
endif
SOURCES := $(filter-out $(UNUSED) lib/base/version.c,$(foreach m,$(filter-out library self,$(MODULES)),$(wildcard lib/$m/*.c)))
UNITS   := $(patsubst %.c,%,$(wildcard tests/unit/test-*.c))
HELPERS := $(patsubst %.c,%,$(wildcard tests/bin/*.c))
FUZZERS := $(patsubst %.c,%,$(wildcard tests/fuzz/fuzz-*.c))
WHOLE   := $(patsubst %.c,%,$(wildcard tests/whole/*.c))
FUZZED  := pmu-stream pmu-symbolize pmu-topprof pmu-top pmu-flame pmu-annotate pmu-data pmu-branch
PAGES   := $(wildcard man/*.[1357])

# Where everything is built.
O := build
ifneq (1,$(words $O)$(findstring :,$O))
$(error O='$O': make cannot build in a directory that has a space or a colon in its name)
endif
IN_SOURCE := $(filter check check-all mutants lab accuracy bench fuzz fuzz-whole,$(MAKECMDGOALS))
ifneq (build,$O)
ifneq (,$(IN_SOURCE))
$(error make $(IN_SOURCE) writes into build/ in the source: leave out O=$O)
endif
endif
# A path below $O for programs that run elsewhere: a word for the shell
full = '$(subst ','\'',$(if $(filter /%,$1),,$(CURDIR)/)$1)'
B := $O/release
# Defences of ours, before the builder's CFLAGS and LDFLAGS; tests/t015-hardening.sh reads them
# from the files.  glibc's checks need an optimizer.  There is no CET: one library without its
# mark turns it off, and Debian's static libc has none.
HARDENED      = -fstack-protector-strong
HARDENED_LINK = -Wl,-z,relro,-z,now,-z,noexecstack
ifeq (,$(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS)))
HARDENED += $(if $(filter-out -O0,$(filter -O%,$(CFLAGS))),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif
LINKAGE = -static-pie
ifdef SANITIZE
B := $O/asan
STRICT = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# These check more where they see the plain functions.
HARDENED =
LINKAGE =
# clang, which the suite runs for its warnings anyway, and lld take the least time for it.
ifeq ($(origin CC),default)
CC = clang
endif
ifneq (,$(shell command -v ld.lld))
LINKAGE += -fuse-ld=lld
endif
endif
ifdef BUILD
B := $O/$(BUILD)
endif

# Another architecture: Debian's cross compiler, and its static libraries for that
# architecture unpacked below $O/.
ifdef ARCH
# by Debian's names
ifneq ($(ARCH),$(filter amd64 arm64 riscv64 s390x,$(ARCH)))
$(error ARCH=$(ARCH): pmukit can be built for amd64, arm64 and riscv64, and for s390x)
endif
TRIPLET := $(patsubst amd64-%,x86_64-%,$(patsubst arm64-%,aarch64-%,$(ARCH)-linux-gnu))
B       := $O/$(ARCH)$(if $(GUESTS),-guests)
SYSROOT := $O/sysroot-$(ARCH)
CC      := $(TRIPLET)-gcc
AR      := $(TRIPLET)-ar
OBJCOPY := $(TRIPLET)-objcopy
CPPFLAGS += -isystem $(SYSROOT)/root/usr/include -isystem $(SYSROOT)/root/usr/include/$(TRIPLET)
LDFLAGS  += -L$(SYSROOT)/root/usr/lib/$(TRIPLET)
SUITE    := bookworm
ifeq ($(ARCH),riscv64)
# Debian 13 is the first with this architecture: its libraries need its C library.
SUITE    := trixie
LIBC     := libc6-dev linux-libc-dev
LDFLAGS  += -B$(SYSROOT)/root/usr/lib/$(TRIPLET)/
# gcc 12 links no static PIE for it, and binutils 2.40 cannot read that C library: lld 19 can.
LINKAGE   = -static
LLD      := $(shell command -v ld.lld-19)
LDFLAGS  += $(if $(LLD),-B$(SYSROOT)/bin/ -fuse-ld=lld)
endif
ifeq ($(ARCH),s390x)
# Its C library has no rcrt1.o, with which -static-pie starts.
LINKAGE   = -static
endif
endif
# musl's C library, with other libraries that were built for it: MUSL/include and MUSL/lib.  The
# kernel's headers are found after musl's own.
ifdef MUSL
B        := $O/musl
CC       := musl-gcc
CPPFLAGS += -isystem $(MUSL)/include -idirafter /usr/include \
	    -idirafter /usr/include/$(shell uname -m)-linux-gnu
LDFLAGS  += -L$(MUSL)/lib
LINKAGE   = -static
endif
ifdef WERROR
STRICT += -Werror
endif

# No file says where it was built.
WITHOUT_PATHS = '-ffile-prefix-map=$(subst ','\'',$(CURDIR))=.' \
	$(if $(filter-out build,$O),'-ffile-prefix-map=$(subst ','\'',$O)/=build/')
# Ours, whatever CFLAGS the builder chose.
OURS = -std=gnu11 -fPIE -D_FILE_OFFSET_BITS=64 $(WITHOUT_PATHS) -I. -Ilib -I$O/proto \
       -include base/banned.h \
       -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
       -Wformat=2 -Wpointer-arith -Wwrite-strings $(STRICT)

ifeq ($V,1)
SAY = @:
else ifneq (,$(findstring s,$(firstword -$(MAKEFLAGS))))
SAY = @:
Q   = @
else
SAY = @printf '  %-5s %s\n'
Q   = @
endif

all: $(TOOLS:%=$B/bin/%) $(PAGE_LINKS)

# All that a build needs is there; or one line says what is not, and how to install it.
READY := $B/ready
$(READY): LINKAGE := $(LINKAGE)
$(READY): tests/needs $(if $(ARCH),$(SYSROOT)/ready)
	@tests/needs find $@ '$(LINKAGE)' '$(LDLIBS)' $(CC) $(CPPFLAGS) -Ilib -include base/banned.h \
		-fPIE $(CFLAGS) $(LDFLAGS) $(STRICT)

$B/%.o: %.c Makefile | $(READY)
	$(SAY) CC $@
	@mkdir -p $(@D)
	$Q$(CC) $(CPPFLAGS) $(OURS) $(HARDENED) $(CFLAGS) $(LAST) -MMD -MP -c -o $@ $<
# objcopy gives other names to what is in these, which it cannot where the linker makes the code.
$(TOOLS:%=$B/cmd/%.o): LAST = $(if $(findstring -flto,$(CFLAGS)),-fno-lto)

# The profile format's code is generated; only lib/pprof uses it.
$O/proto/profile.pb-c.c: proto/profile.proto | $(READY)
	$(SAY) PROTO $@
	@mkdir -p $(@D)
	$Qprotoc-c --c_out=$O/proto -Iproto proto/profile.proto
$B/proto/profile.pb-c.o: $O/proto/profile.pb-c.c | $(READY)
	$(SAY) CC $@
	@mkdir -p $(@D)
	$Q$(CC) $(CPPFLAGS) -fPIE $(WITHOUT_PATHS) $(HARDENED) $(CFLAGS) $(STRICT) -c -o $@ $<
$(patsubst %.c,$B/%.o,$(wildcard lib/pprof/*.c)): $O/proto/profile.pb-c.c

# The script and the style of pmu-flame's pages, and the style of pmu-annotate's.
SCRIPT := $(addprefix lib/flame/flame-,$(addsuffix .js,data text name weights boxes search colour \
		draw table heat print source page))
$O/show/flame_script.c: $(SCRIPT)
$O/show/flame_style.c: lib/flame/flame.css
$O/show/annotate_style.c: lib/show/annotate.css
$O/show/%.c: lib/show/embed
	$(SAY) EMBED $@
	@mkdir -p $(@D)
	$Qlib/show/embed $* $(filter-out $<,$^) >$@
# What runs on a host before our program does.
$O/host/prepare_script.c: lib/host/prepare.sh
	$(SAY) EMBED $@
	@mkdir -p $(@D)
	$Q{ echo '#include "host/internal.h"'; echo 'const char host_prepare_script[] = {'; \
		grep -Ev '^	*#( |$$)' $< | sed 's/^	*//' | od -An -v -td1 | \
		sed 's/  *\([0-9][0-9]*\)/\1,/g'; \
		echo '}; const size_t host_prepare_size = sizeof(host_prepare_script);'; } >$@
EMBEDDED := $(if $(GUESTS),,$(patsubst %,$O/show/%.c,flame_script flame_style annotate_style) \
		$O/host/prepare_script.c)
$(EMBEDDED:$O/%.c=$B/%.o): $B/%.o: $O/%.c | $(READY)
	$(SAY) CC $@
	@mkdir -p $(@D)
	$Q$(CC) $(CPPFLAGS) $(OURS) $(HARDENED) $(CFLAGS) -c -o $@ $<

# The makers' names and codes of events.
TABLES := $O/event/maker_tables.c
$(TABLES): $(addprefix lib/event/tables/,generate models.tsv events.tsv)
	$(SAY) EMBED $@
	@mkdir -p $(@D)
	$Qlib/event/tables/generate >$@
$(TABLES:$O/%.c=$B/%.o): $(TABLES) | $(READY)
	$(SAY) CC $@
	@mkdir -p $(@D)
	$Q$(CC) $(CPPFLAGS) $(OURS) $(HARDENED) $(CFLAGS) -c -o $@ $<

# The version and the commit.  They are in an object of their own: after a commit, only the tools
# are linked again.  VERSION on the command line is printed as it is.
VERSIONED := $B/lib/base/version.o
EXACT     := $(if $(findstring command,$(origin VERSION)),'$(VERSION)')
$B/version.h: FORCE | $(READY)
	@mkdir -p $(@D)
	@SYSROOT=$(if $(ARCH),$(SYSROOT)/root) packaging/version --header $(EXACT) >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(VERSIONED): $B/version.h
$(VERSIONED): OURS += -include $B/version.h

ifdef SANITIZE
# What each record, symbol or DIE goes through is optimized: without, the tests would take longer.
# The rest is not: its build would.
BUSY := base record stream resolved elf dwarf cfi names code unwind symbol process waits labels resolve \
	pprof stacks aggregate
$(patsubst %.c,$B/%.o,$(foreach m,$(BUSY),$(wildcard lib/$m/*.c))): CFLAGS += -O1
# It reads its own debug information, all of it.
$B/tests/unit/test-elf.o: CFLAGS += -g
endif
$B/libsampler.a: $(SOURCES:%.c=$B/%.o) $B/proto/profile.pb-c.o $(EMBEDDED:$O/%.c=$B/%.o) \
		$(TABLES:$O/%.c=$B/%.o)
	$(SAY) AR $@
	$Qrm -f $@ && $(AR) rcsD $@ $^
$B/bin/%: $B/cmd/%.o $(VERSIONED) $B/libsampler.a
	$(SAY) LINK $@
	@mkdir -p $(@D)
	$Q$(CC) $(LINKAGE) $(HARDENED_LINK) $(CFLAGS) $(LDFLAGS) $(STRICT) -o $@ $^ $(LDLIBS)
ifndef SANITIZE
# At a fixed address: libpfm4's tables have 42,900 pointers, on 280 pages.  To relocate them at
# each start would take 0.75 ms of CPU time, beside 0.4 ms for all else.  Packed relocations
# (-z pack-relative-relocs) save 1 MB of file, but no time: that goes into the pages.
$B/bin/pmu-events $B/bin/pmu-sample $B/bin/pmu-stat: LINKAGE = -static
endif
# libevent would look up names: lib/serve/no-lookup.c comes first.
$B/bin/pmu-serve $B/tests/unit/test-push $B/tests/unit/test-post: HARDENED_LINK += -Wl,-u,getaddrinfo
$B/tests/%: $B/tests/%.o $B/libsampler.a | $(VERSIONED)
	$(SAY) LINK $@
	$Q$(CC) $(LINKAGE) $(HARDENED_LINK) $(CFLAGS) $(LDFLAGS) $(STRICT) -o $@ $^ $(VERSIONED) $(LDLIBS)
# Calls that fail, or return another time, when the test says so.
$B/tests/unit/test-replace: LDFLAGS += -Wl,--wrap=write,--wrap=fsync,--wrap=close,--wrap=renameat
$B/tests/unit/test-report: LDFLAGS += -Wl,--wrap=clock_gettime
$B/tests/unit/test-settings: LDFLAGS += -Wl,--wrap=event_open
$B/tests/unit/test-watch: LDFLAGS += -Wl,--wrap=work_watch,--wrap=work_is_drained
$B/tests/unit/test-rotation: LDFLAGS += -Wl,--wrap=renameat2
# The fuzzer of whole tools has their main() in it, by other names.
$B/whole/%.o: $B/cmd/%.o
	@mkdir -p $(@D)
	$Q$(OBJCOPY) --redefine-sym main=main_of_$(subst -,_,$*) $< $@
$B/tests/bin/fuzz-tools: $(WHOLE:%=$B/%.o) $(FUZZED:%=$B/whole/%.o) $B/libsampler.a | $(VERSIONED)
	$(SAY) LINK $@
	@mkdir -p $(@D)
	$Q$(CC) $(LINKAGE) $(CFLAGS) $(LDFLAGS) $(STRICT) -o $@ $^ $(VERSIONED) $(LDLIBS)
# All tools in one file: each main() gets another name, and each table of options has a name, too.
# As most of them read files of strangers, it is a PIE, in spite of libpfm4's tables.
kit_name = $(subst -,_,$1)
%/pmukit/pmukit.o %/pmukit/pmukit.ok: \
	OURS += '-DTOOLS=$(foreach t,$(TOOLS),TOOL($(call kit_name,$t)))'
$B/cmd/pmukit/pmukit.o: $(TOOLS:%=cmd/%.c)
rename = --redefine-sym $1=$2 --globalize-symbol=$2
$B/pmukit/%.o: $B/cmd/%.o
	@mkdir -p $(@D)
	$Q$(OBJCOPY) $(call rename,main,main_of_$(call kit_name,$*)) \
		$(call rename,command,command_of_$(call kit_name,$*)) \
		$(call rename,drop_in,command_of_perf_to_profile) $< $@
$B/bin/pmukit: $B/cmd/pmukit/pmukit.o $(TOOLS:%=$B/pmukit/%.o) $(VERSIONED) $B/libsampler.a
	$(SAY) LINK $@
	@mkdir -p $(@D)
	$Q$(CC) $(LINKAGE) $(HARDENED_LINK) $(CFLAGS) $(LDFLAGS) $(STRICT) -o $@ $^ $(LDLIBS)
# Packed relocations save 1 MB of 7, where the linker has them, and glibc applies them.
packed = $(shell printf '\043%s\n' 'include <features.h>' 'if !__GLIBC_PREREQ(2, 36)' error endif | \
	sed '$$a int main(void) { return 0; }' | $(CC) $(CPPFLAGS) $(LINKAGE) $(LDFLAGS) -x c - \
	-Wl,--fatal-warnings,-z,pack-relative-relocs -o $B/pmukit/packed 2>/dev/null && \
	echo -Wl,-z,pack-relative-relocs)
$B/bin/pmukit: HARDENED_LINK += -Wl,-u,getaddrinfo $(packed)
pmukit: $B/bin/pmukit
# pmu-serve with another time of day.
$B/tests/bin/serve-clock: $B/whole/pmu-serve.o
$B/tests/bin/serve-clock: LDFLAGS += -Wl,--wrap=clock_gettime,--wrap=time,-u,getaddrinfo
$B/tests/bin/serve-clock: LDLIBS := $B/libsampler.a $(LDLIBS)
$O/fuzz/%: %.c $(SOURCES) lib/base/version.c $O/proto/profile.pb-c.c $(EMBEDDED) $(TABLES)
	$(SAY) FUZZ $@
	@mkdir -p $(@D)
	$Qclang $(OURS) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $^ $(LDLIBS)

# The fuzzers of the library call it: all of it is built for them.
LIBRARY_FUZZ = CC=clang CPPFLAGS=-fsanitize=fuzzer-no-link SANITIZE=1 BUILD=fuzz/library CFLAGS='-O1 -g'
$O/fuzz/tests/fuzz/fuzz-library-%: tests/fuzz/fuzz-library-%.c $(SOURCES) $(wildcard lib/library/* lib/self/*)
	$(SAY) FUZZ $@
	@mkdir -p $(@D)
	+$Q$(MAKE) --no-print-directory -s $(LIBRARY_FUZZ) $O/fuzz/library/pic/kit.o
	$Qclang $(OURS) -Iinclude -O1 -g -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -o $@ $< $O/fuzz/library/pic/kit.o $(KIT_LIBS)

# Workloads keep frame pointers, for callchains through them, and are optimized in each build.  Tests
# look for their sources, wherever the tests run.
$(HELPERS:%=$B/%.o): WITHOUT_PATHS =
$(HELPERS:%=$B/%.o): CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls \
		-O2 -g

ifeq ($(ARCH),arm64)
# A leaf without a frame would hide its caller: its return address is in a register only.
$(HELPERS:%=$B/%.o): CFLAGS += -mno-omit-leaf-frame-pointer
endif

include lib/library/build.mk

# What the tests run: tools, unit tests, helpers.
tests: all lib pmukit $(UNITS:%=$B/%) $(HELPERS:%=$B/%) $B/tests/bin/fuzz-tools
# What make check runs of each build: unit tests with sanitizers, tools by their records without.
ifdef SANITIZE
checked: all $(UNITS:%=$B/%) $(HELPERS:%=$B/%)
else
checked: all pmukit $(HELPERS:%=$B/%) $B/tests/bin/fuzz-tools
endif

# The libraries we link, for $(ARCH).
ifdef ARCH
$(SYSROOT)/ready: tests/setup
	@BUILDS=$(call full,$O) tests/lab/archive $(SUITE) $(ARCH) $(SYSROOT) $(LIBC) \
		libprotobuf-c-dev zlib1g-dev libzstd-dev libdeflate-dev liblzma-dev libiberty-dev \
		libpfm4-dev libevent-dev
	@$(if $(LLD),mkdir -p $(SYSROOT)/bin && ln -sf $(LLD) $(SYSROOT)/bin/ld.lld)
	@touch $@
sysroot: $(SYSROOT)/ready
endif

demo:
	@tests/setup build
	@+$(MAKE) --no-print-directory -s -j2 all $B/tests/bin/compress
	@BIN=$(call full,$B/bin) tests/demo $O/demo.pb.gz

quick:
	@+$(MAKE) --no-print-directory -s -j2 tests
	@$(if $(filter-out build,$O),BUILDS=$(call full,$O)) tests/run quick
check:
	@tests/setup check
	@+$(MAKE) --no-print-directory -s -j2 WERROR=1 checked
	@+$(MAKE) --no-print-directory -s -j2 WERROR=1 lib
	@# by clang, so that its warnings are errors, too
	@+$(MAKE) --no-print-directory -s -j2 WERROR=1 SANITIZE=1 CC=clang checked
	@+$(MAKE) --no-print-directory -s -j2 WERROR=1 short-ways
	@# where guests cannot run, the tests that want them say why
	@tests/lab/prepare >$O/lab-prepare.log 2>&1 || :
	@tests/run user release asan alone
# The tools that make profiles, without short ways (lib/base/short-ways.h).
short-ways:
	@+$(MAKE) --no-print-directory -s BUILD=long CPPFLAGS=-DSHORT_WAYS=0 CFLAGS=-O1 \
		$(patsubst %,$O/long/bin/%,pmu-stream pmu-symbolize pmu-topprof pmu-unwind)
check-all:
	@tests/setup check
	@+tests/parts $(PARTS)

# Small breaks of the library, drawn by SEED, each with the tests of its file (tests/mutants.py).
mutants:
	@tests/setup check
	@nice python3 tests/mutants.py

# All that is compiled, for the warnings of other compilers (tests/compilers).
objects: $(VERSIONED) $(patsubst %.c,$B/%.o,$(SOURCES) $(TOOLS:%=cmd/%.c) cmd/pmukit/pmukit.c) \
	$B/proto/profile.pb-c.o $(patsubst %,$B/%.o,$(UNITS) $(HELPERS) $(WHOLE)) \
	$(EMBEDDED:$O/%.c=$B/%.o)

# What clang warns of, at once: the build with sanitizers stops at the same.
clang-warnings: $(patsubst %.c,$O/clang-warnings/%.ok,$(SOURCES) $(TOOLS:%=cmd/%.c) \
		cmd/pmukit/pmukit.c)
$O/clang-warnings/%.ok: %.c Makefile $O/proto/profile.pb-c.c
	$Qclang $(OURS) -Werror -fsyntax-only $<
	@mkdir -p $(@D) && touch $@

lab:
	@tests/setup check
	@+$(MAKE) --no-print-directory -s -j2 tests
	@LAB=all TESTS='tests/t7*-lab*.sh' tests/run release
accuracy:
	@tests/setup check
	@+$(MAKE) --no-print-directory -s -j2 tests
	@$B/bin/pmu-events --doctor --report $B/this-machine.txt && \
		doc/machines/table $B/this-machine.txt | tail -n 3
	@+$(MAKE) --no-print-directory -s -j2 ARCH=arm64 tests
	@LAB=all tests/lab/accuracy

bench:
	@tests/setup check
	@+$(MAKE) --no-print-directory -s -j2 tests
	@BIN=$(call full,$B/bin) tests/bench/run
fuzz: $(FUZZERS:%=$O/fuzz/%) fuzz-whole
	@tests/fuzz/seeds $O/fuzz/seeds
	@set -e; for f in $(FUZZERS:%=$O/fuzz/%); do \
		mkdir -p $$f.corpus; \
		$$f -max_total_time=$(FUZZ_SECONDS) -verbosity=0 -rss_limit_mb=512 -max_len=16384 \
			$$f.corpus $$(ls -d $$(tests/fuzz/corpora $${f##*/fuzz-} $O/fuzz/seeds) \
				2>/dev/null); done
# Whole tools, with their coverage: under sanitizers, and as they are, for time and memory.
FUZZ_WHOLE = CC=clang CPPFLAGS=-fsanitize-coverage=inline-8bit-counters
fuzz-whole:
	+@$(MAKE) --no-print-directory -s all
	+@$(MAKE) --no-print-directory -s $(FUZZ_WHOLE) SANITIZE=1 BUILD=fuzz/asan CFLAGS='-O1 -g' \
		$O/fuzz/asan/tests/bin/fuzz-tools
	+@$(MAKE) --no-print-directory -s $(FUZZ_WHOLE) BUILD=fuzz/plain CFLAGS='-O2 -g' \
		$O/fuzz/plain/tests/bin/fuzz-tools
	@tests/whole/fuzz $(FUZZ_SECONDS) $O/fuzz/asan/tests/bin/fuzz-tools \
		$O/fuzz/plain/tests/bin/fuzz-tools

# A page of section 3 has several functions: each of the others is a page that names the first.
PAGE_LINKS = $(filter-out $(PAGES:man/%=$O/man/%),$(patsubst %,$O/man/%.3,$(shell \
	sed -n 's/^\.Nm \(pmukit_[a-z_]*\)\( ,\)*$$/\1/p' $(filter %.3,$(PAGES)))))
$O/man/%.3: $(filter %.3,$(PAGES))
	@mkdir -p $(@D)
	@echo ".so man3/$$(basename $$(grep -lx '\.Nm $*\( ,\)*' $^))" >$@

# What is installed, as MODE:DIRECTORY:FILE (packaging/install).  The one file with all tools
# is what pmu-prof --host copies to a host, so it must be static.
ONE_FILE := $(if $(findstring static,$(LINKAGE)),$B/bin/pmukit)
put = $(3:%=$1:$2:%)
INSTALLED = $(call put,755,bin,$(TOOLS:%=$B/bin/%)) drop-in:bin:pmu-topprof \
	$(call put,755,libexec/pmukit,$(ONE_FILE)) \
	$(foreach n,1 3 5 7,$(call put,644,share/man/man$n,$(filter %.$n,$(PAGES)))) \
	$(call put,644,share/man/man3,$(PAGE_LINKS)) \
	$(call put,644,share/bash-completion/completions,$(wildcard completions/bash/*)) \
	$(call put,644,share/zsh/site-functions,$(wildcard completions/zsh/*)) \
	$(call put,644,share/fish/vendor_completions.d,$(wildcard completions/fish/*)) \
	$(call put,644,share/doc/pmukit,LICENSE) \
	$(call put,644,share/doc/pmukit/LICENSES,$(wildcard LICENSES/*)) \
	$(call put,755,bin,fleet/pmu-query) \
	$(foreach f,$(wildcard fleet/*/*.* fleet/*/*/*.*),$(call put,644,share/pmukit/$(f:%/$(notdir $f)=%),$f))
quoted = '$(subst ','\'',$1)'
# The library, unless LIBRARY= is empty; for other C libraries and machines it is not tested.
LIBRARY ?= $(if $(ARCH)$(MUSL)$(SANITIZE),,lib)
ifneq (,$(LIBRARY))
INSTALLED += 644:include:include/pmukit.h $(call put,755,$(LIBDIR),$B/lib/$(SO)) \
	link:$(LIBDIR):$B/lib/libpmukit.so $(call put,644,$(LIBDIR),$B/lib/libpmukit.a) \
	$(call put,644,$(LIBDIR)/pkgconfig,$B/lib/pmukit.pc)
endif

install: all $(ONE_FILE) $(PAGE_LINKS) $(LIBRARY)
	$(SAY) INST $(call quoted,$(DESTDIR)$(PREFIX))
	@packaging/install install $(call quoted,$(DESTDIR)) $(call quoted,$(PREFIX)) $(INSTALLED)
uninstall:
	@packaging/install uninstall $(call quoted,$(DESTDIR)) $(call quoted,$(PREFIX)) $(INSTALLED)

# After a change of options; a test fails until this is done.
completions: all pmukit
	for file in $(TOOLS:%=$B/bin/%) $B/bin/pmukit fleet/pmu-query; do tool=$${file##*/}; \
		completions/generate bash $$file >completions/bash/$$tool && \
		completions/generate zsh $$file >completions/zsh/_$$tool && \
		completions/generate fish $$file >completions/fish/$$tool.fish || exit 1; done

dist:
	@packaging/source . $(EXACT) >/dev/null
# The artefacts of a release, in $O/artefacts: doc/releases.md.
release:
	@packaging/release $O/artefacts $(EXACT)
clean:
ifneq (build,$O)
	@echo "make clean removes build/ only: remove $O yourself" >&2; exit 1
endif
	rm -rf build
	rm -f pmukit-*.tar.gz
.PHONY: FORCE all lib pmukit tests checked objects sysroot short-ways mutants demo quick check check-all clang-warnings lab accuracy bench fuzz fuzz-whole install uninstall completions dist release clean
.SECONDARY:
.DELETE_ON_ERROR:

-include $(shell find $B -name '*.d' 2>/dev/null)
