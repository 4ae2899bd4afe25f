#!/bin/sh
# pmu-unwind: callchains from copies of stacks, held against perf's own unwinder and against
# programs whose chains are known by construction (tests/chains.c).
# kinds: release asan
. tests/lib.sh

plain="-g -O2 -fomit-frame-pointer"
no_eh="-fno-asynchronous-unwind-tables -fno-exceptions -fno-unwind-tables"
source="$TOP/tests/chains.c"

# build OPTION...: ./chains, which the checks share
build() {
	needs_command gcc
	once "chains-$(echo ${CC:-gcc} "$@" | tr -c "A-Za-z0-9\n" _)" \
		${CC:-gcc} $plain "$source" -lpthread "$@" -o chains
}

chains() { python3 "$TOP/tests/chains.py" "$@"; }

# recorded WHAT MS [DEPTH]: s.data and, unwound, u.data; stacks of 8 KiB, or $BYTES
recorded() {
	needs_command perf python3
	pmu-sample -q -e cpu-clock -F 997 --call-graph "dwarf${BYTES:+,$BYTES}" -o s.data -- \
		./chains "$@" >/dev/null
	pmu-unwind -v -o u.data s.data 2>said
	cat said
}

# as_perf: every stack that perf unwinds whole is the same, and none is shorter; sanitizers only
# see it unwound
as_perf() {
	! sanitized || return 0
	chains same u.data s.data >counts
	cat counts
	read -r same theirs total whole <counts
	at_least "$total" 20
	at_least "$theirs" $((total / 2))	# perf loses registers that were popped
}

# nearly_all: $whole stacks of $total are all but 1 of 100, and one: a program's end, of which
# there may be a sample, has no stack any more
nearly_all() {
	at_least "$total" 20
	at_least "$(((whole + 1) * 100))" $((total * 99))
}

# all_whole: of u.data
all_whole() {
	chains whole u.data >counts
	cat counts
	read -r whole total <counts
	nearly_all
}

for what in sort signal clock frames pops jumps thread; do
	case $what in
	sort | signal | clock) some= ;;
	*) some=unsanitized ;;
	esac
	check "stacks of '$what' are those of perf script" <<-END
		$some
		build -mavx2 -DPOPS
		recorded $what 150 10
		whole=
		as_perf
		if test -n "\$whole"; then nearly_all; else all_whole; fi
	END
done

check 'stacks in stubs of the procedure linkage table are those of perf script' <<'END'
	unsanitized
	gcc -shared -fPIC -O2 -DLIBRARY "$source" -o libtiny.so
	for way in "-z,lazy" "-z,lazy,-z,ibtplt"; do
		gcc $plain -fcf-protection=full -DSTUB "$source" -o chains -Wl,$way -L. -ltiny \
			-Wl,-rpath,"$PWD" -lpthread
		recorded stub 100
		as_perf
	done
END

# A known depth, built in ways that perf's unwinder does not read.
known() {
	recorded rec 100 "$1"
	chains known u.data $(($1 + 1)) >counts
	cat counts
	read -r known whole total <counts
	at_least "$known" 20
	nearly_all
}

check 'a recursion of 20 calls has 21 frames' <<'END'
	build
	known 20
END

check 'the same from .debug_frame alone' <<'END'
	unsanitized
	build $no_eh
	none sh -c "readelf -wF chains | grep 'rec$'"
	known 20
END

check 'from a compressed .debug_frame' <<'END'
	build $no_eh -gz
	known 20
END

check 'from .debug_frame of a separate debug file' <<'END'
	build $no_eh
	mkdir -p debug
	objcopy --only-keep-debug chains chains.debug
	strip chains
	objcopy --add-gnu-debuglink=chains.debug chains
	known 20
END

check 'from .eh_frame without its header' <<'END'
	build -Wl,--no-eh-frame-hdr
	known 20
END

check 'in a static program, of fixed addresses or not' <<'END'
	unsanitized
	build -static
	known 20
	build -static-pie
	known 20
END

check 'after link time optimization, and by clang' <<'END'
	unsanitized
	build -flto
	known 20
	needs_command clang
	CC=clang build
	known 20
END

check 'in a file that was deleted' <<'END'
	unsanitized
	build
	mkfifo input
	cp chains gone
	echo "exec ./gone rec 400 20 <input" >script
	{ pmu-sample -q -e cpu-clock -F 997 --call-graph dwarf -- sh script |
		pmu-unwind -v -o u.data 2>said; } &
	exec 3>input
	eventually sh -c "ls -l /proc/[0-9]*/exe 2>&1 | grep -q '$PWD/gone\$'"
	rm gone
	eventually sh -c "test \$(stat -c %s u.data) -gt 20000"
	exec 3>&-
	wait
	cat said
	at_least "$(sed "s/.*frames: \([0-9]*\).*/\1/" said)" 97
	none grep "no CFI ('gone'" said
END

check '500 frames are all written, and --max-stack limits them' <<'END'
	build
	BYTES=65528 recorded rec 100 500
	chains known u.data 501
	pmu-unwind --max-stack 100 -o u.data s.data
	chains frames u.data | awk '{ if (NF - 1 > most) most = NF - 1 } END { exit most != 100 }'
END

check 'code with frame pointers and no other information is followed by them' <<'END'
	build $no_eh -g0 -fno-omit-frame-pointer -fno-optimize-sibling-calls
	recorded rec 100 20
	all_whole
	chains frames u.data >names
	head -n 3 names
	recs=$(printf "%21s" "" | sed "s/ / rec/g")
	at_least "$(awk "/[^c]$recs main / { n += \$1 } END { print n + 0 }" names)" 20
	pmu-unwind --frame-pointers=no -o u.data s.data
	test "$(chains whole u.data | cut -d " " -f 1)" -lt 5
END

check 'without any information a stack ends, and nothing is invented' <<'END'
	build $no_eh -g0
	recorded rec 100 20
	grep "no CFI ('chains'" said
	chains frames u.data >names
	cat names
	# exit() ends with a call, so the address after that call is of no function
	none sh -c "sed 's/ __run_exit_handlers .unknown./ exit/' names | grep '.unknown.'"
	# burn() is in code without CFI: no caller may be shown but true ones
	none awk '$2 == "burn" && NF > 2 && $3 != "burn_some" && $3 != "inside"' names
END

check 'with musl, whose code has none, a stack ends where that begins, and is counted' <<'END'
	unsanitized
	needs_command musl-gcc
	musl-gcc $plain -static -D_GNU_SOURCE "$source" -o chains \
		-Wl,--unresolved-symbols=ignore-all	# it has no coroutines
	recorded rec 100 20
	grep "no CFI ('chains'" said
	chains frames u.data >names
	cat names
	recs=$(printf "%21s" "" | sed "s/ / rec/g")
	# main() itself is sampled now and then
	grep -E "(burn_some$recs |^[0-9]* )main( libc_start_main_stage2)?\$" names >whole
	at_least "$(awk "{ n += \$1 } END { print n }" whole)" 20
	none grep "\[unknown\]" names
	none sh -c "grep main names | grep -vFxf whole"
END

check 'a coroutine ends where makecontext() started it' <<'END'
	unsanitized
	build
	recorded context 150
	all_whole
	grep "100.0 % whole" said || grep "9[0-9].[0-9] % whole" said
END

check 'before the address that a signal interrupted there is a marker, for it is exact' <<'END'
	build
	recorded signal 150 10
	chains frames u.data | awk "/__restore_rt/ { n += \$1 } END { print n + 0 }" >handlers
	pmu-stream --dump u.data | grep -c "0xfffffffffffffe00.*0xfffffffffffffe00" >marked
	cat handlers marked
	at_least "$(cat handlers)" 5
	same handlers marked
END

check 'a Go stack ends where the runtime changed to another one: what is there is old' <<'END'
	unsanitized
	needs_command go
	cat >go.go <<"GO"
package main

import "time"

var kept []*[]*int

func main() {
	start := time.Now()
	for i := 0; i < 4000000; i++ {
		time.Since(start)
	}
	for i := 0; i < 400000; i++ {
		s := make([]*int, 50)
		for k := range s {
			s[k] = new(int)
		}
		kept = append(kept[:i%1000], &s)
	}
}
GO
	go build -o go go.go
	pmu-sample -q --user -e cpu-clock -F 1997 --call-graph dwarf,16384 -o g.data -- ./go
	pmu-unwind -v -o u.data g.data 2>said
	cat said
	pmu-symbolize u.data | pmu-topprof --to folded >folded
	at_least "$(grep -c "runtime.systemstack" folded)" 5
	# systemstack calls this one before it changes the stack
	grep -v ";gosave_systemstack_switch " folded >after
	none grep -E ";.*;runtime.(systemstack|mcall|morestack);" after
	# the vdso runs there, too, and the goroutine's stack pointer is in a register meanwhile
	at_least "$(grep -c "nanotime1.*vdso" folded)" 1
	share=$(sed -n "s/.* \([0-9]*\)[.0-9]* % at an address without code.*/\1/p" said)
	at_most "${share:-0}" 4
END

done_testing
