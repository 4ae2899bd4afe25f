# make lib: libpmukit.so.0, libpmukit.a and pmukit.pc, in build/release/lib.
#
# The library is made of the tools' own code, compiled once more (-fPIC), and of lib/library and
# lib/self.  The linker chooses: what these define is not taken from elsewhere, such as
# out_of_memory().
#
#   whole.o   lib/library, lib/self, and what they need of the other modules and of libiberty.  In
#             it, malloc(), open() and the like have the names of our own functions (renamed.txt)
#   kit.o     whole.o and these functions: the library itself
#   the .so   kit.o, linked to shared libraries
#   the .a    one object: kit.o and the static libraries, in which only the interface is global
#
# These files take and give back what the system has; they call malloc(), open() and the like.
OUTER = error handle label room system owned libraries

# A tool's first module that the library does not need is what prints or knows command lines.
KIT_MODULES := base linux record stream resolved elf event process waits locate dwarf cfi names \
	       symbol code unwind labels resolve filter pprof rows stacks aggregate compare
KIT_SOURCES := $(filter-out lib/base/version.c,$(foreach m,$(KIT_MODULES),$(wildcard lib/$m/*.c)))
KIT_OUTER   := $(OUTER:%=$B/pic/lib/library/%.o)
KIT_INNER   := $(filter-out $(KIT_OUTER),$(patsubst %.c,$B/pic/%.o,$(wildcard lib/library/*.c lib/self/*.c)))
# The modules' own names for threads' variables cost nothing in a program that was linked to the
# library, and in one that loads it later, a few bytes of those that glibc keeps for this.
PIC  = -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections -Iinclude \
       -ftls-model=initial-exec $(if $(SANITIZE),-DCHECK_ROOMS)
KIT_LIBS = -lpfm -lprotobuf-c -lz -lzstd -ldeflate -llzma
SO   = libpmukit.so.0
# Below PREFIX.  Debian has lib/x86_64-linux-gnu, others lib64.
LIBDIR ?= lib

$B/pic/%.o: %.c Makefile lib/library/build.mk | $(READY)
	$(SAY) CC $@
	@mkdir -p $(@D)
	$Q$(CC) $(CPPFLAGS) $(OURS) $(HARDENED) $(CFLAGS) $(PIC) -MMD -MP -c -o $@ $<
$B/pic/%.o: $O/%.c lib/library/build.mk | $(READY)
	$(SAY) CC $@
	@mkdir -p $(@D)
	$Q$(CC) $(CPPFLAGS) $(OURS) $(HARDENED) $(CFLAGS) $(PIC) -c -o $@ $<
$(patsubst %.c,$B/pic/%.o,$(wildcard lib/pprof/*.c lib/library/*.c lib/self/*.c)): \
	$O/proto/profile.pb-c.c
# protoc-c's code would end the program.
$B/pic/proto/profile.pb-c.o: OURS += -DNDEBUG
$B/pic/lib/base/version.o: $B/version.h
$B/pic/lib/base/version.o: OURS += -include $B/version.h

# Where make install puts pmu-sample.
$B/pic/self/prefix.h: FORCE
	@mkdir -p $(@D)
	@echo '#define PMUKIT_PROGRAMS "$(PREFIX)/bin"' | cmp -s - $@ || \
		echo '#define PMUKIT_PROGRAMS "$(PREFIX)/bin"' >$@
$B/pic/lib/self/profile-find.o: $B/pic/self/prefix.h
$B/pic/lib/self/profile-find.o: OURS += -I$B/pic

# The functions of the interface, as the header declares them.
$B/pic/interface: include/pmukit.h lib/library/interface
	@mkdir -p $(@D)
	$Qlib/library/interface $< >$@

$B/pic/parts.a: $(KIT_SOURCES:%.c=$B/pic/%.o) $B/pic/proto/profile.pb-c.o $B/pic/event/maker_tables.o
	$(SAY) AR $@
	$Qrm -f $@ && $(AR) rcsD $@ $^
$B/pic/whole.o: $(KIT_INNER) $B/pic/lib/base/version.o $B/pic/parts.a
	$(SAY) LINK $@
	$Q$(CC) -r -nostdlib $(LDFLAGS) -o $@.new $^ -liberty
	$Q$(OBJCOPY) --redefine-syms=lib/library/renamed.txt $@.new $@ && rm $@.new
$B/pic/kit.o: $B/pic/whole.o $(KIT_OUTER)
	$(SAY) LINK $@
	$Q$(CC) -r -nostdlib -o $@ $^
$B/lib/$(SO): $B/pic/kit.o lib/library/version.map
	$(SAY) LINK $@
	@mkdir -p $(@D)
	$Q$(CC) -shared $(HARDENED_LINK) $(CFLAGS) $(LDFLAGS) -Wl,-soname,$(SO),-z,nodelete \
		$(if $(SANITIZE),,-Xlinker -z -Xlinker defs) \
		-Wl,--gc-sections,--version-script,lib/library/version.map -o $@ $< $(KIT_LIBS)
	$Qln -sf $(SO) $(@D)/libpmukit.so
# In the archive, the libraries are the static ones.
$B/lib/libpmukit.a: $B/pic/kit.o $B/pic/interface
	$(SAY) AR $@
	@mkdir -p $(@D)
	$Q$(CC) -r -nostdlib $(LDFLAGS) -Wl,--gc-sections $$(sed 's/^/-Wl,-u,/' $B/pic/interface) \
		-o $B/pic/pmukit.o $< -Wl,--start-group $(KIT_LIBS:-l%=-l:lib%.a) -Wl,--end-group
	$Q$(OBJCOPY) --keep-global-symbols=$B/pic/interface $B/pic/pmukit.o
	$Qrm -f $@ && $(AR) rcsD $@ $B/pic/pmukit.o
lib: $B/lib/$(SO) $B/lib/libpmukit.a

# For pkg-config, with the paths of make install.
$B/lib/pmukit.pc: lib/library/pmukit.pc.in $B/version.h FORCE
	@mkdir -p $(@D)
	@sed -e "s|@PREFIX@|$(PREFIX)|" -e "s|@LIBDIR@|$(LIBDIR)|" \
		-e "s|@VERSION@|$$(sed -n 's/.*PMU_VERSION "\(.*\)"/\1/p' $B/version.h)|" $< >$@
lib: $B/lib/pmukit.pc
