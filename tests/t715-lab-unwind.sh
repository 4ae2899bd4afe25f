#!/bin/sh
# pmu-unwind and pmu-sample --unwind on arm64, whose return addresses are signed (PAC): chains
# that are known by construction (tests/chains.c), as perf on this machine reads them.
# kinds: release
. tests/lib.sh
. tests/lab.sh
stacks=$lab/stacks
export SYMFS="$scratch/root"	# the guest's programs
mkdir -p "$SYMFS/bin"

# make_programs: fixed and dyn, with signed return addresses; and, if Go is here, collect
make_programs() {
	protected="-g -O2 -fomit-frame-pointer -mbranch-protection=standard"
	libraries=$(dirname "$(aarch64-linux-gnu-gcc -print-file-name=libc.so.6)")
	aarch64-linux-gnu-gcc $protected -static tests/chains.c -o "$SYMFS/bin/fixed" -lpthread
	aarch64-linux-gnu-gcc $protected -Wl,--dynamic-linker=/bin/ld-linux-aarch64.so.1 \
		-Wl,-rpath,/bin tests/chains.c -o "$SYMFS/bin/dyn"
	cp "$libraries/libc.so.6" "$libraries/ld-linux-aarch64.so.1" "$SYMFS/bin"
	sed "s/i < ROUNDS/i < 6000/" "$TOP/tests/collect.go" >"$scratch/collect.go"
	! command -v go >/dev/null || GOARCH=arm64 \
		go build -o "$SYMFS/bin/collect" "$scratch/collect.go"
	find "$SYMFS/bin" -type f | sed 's/^/-p /' >"$scratch/programs"
}

test -n "$why" || {
	make_programs
	# impdef: a signature that the emulator computes faster than the architecture's
	start stacks -c max,pauth-impdef=on $(cat "$scratch/programs") <<'END'
s() { pmu-sample -e cycles:u -c 99991 "$@" </dev/null >/dev/null; }
both() {
	s -q --call-graph dwarf -o $2.s -- "$@" 30 10
	pmu-unwind -v -o $2.u $2.s 2>$2.said
}
both fixed rec
both fixed signal
both fixed thread
both dyn sort
both dyn frames
both dyn jumps
s -v --unwind -o live.u -- fixed rec 30 10 2>live.said
if test -e /bin/collect; then
	s -q --call-graph dwarf,16384 -o go.s -- collect
	pmu-unwind -v -o go.u go.s 2>go.said
	pmu-symbolize go.u | pmu-topprof --to folded >go.folded
fi
END
}

chains() { python3 "$TOP/tests/chains.py" "$@"; }

# all_whole STREAM LEAST: all stacks but 1 of 100 (a program's end has no stack any more)
all_whole() {
	chains whole "$1" >counts
	cat counts
	read -r whole total <counts
	at_least "$total" "$2"
	at_least "$((whole * 100))" $((total * 99))
}

check 'the guest ends' <<'END'
	in_lab
	ended_well stacks
END

for what in rec signal thread sort; do
	check "stacks of '$what': eleven calls of rec(), then main() or the thread's start" <<-END
		ended stacks
		cat $stacks/$what.said
		chains known $stacks/$what.u 11 >count
		at_least "\$(cat count)" 100
		all_whole $stacks/$what.u 100
	END
done

for what in frames jumps; do
	check "stacks of '$what' are whole" <<-END
		ended stacks
		cat $stacks/$what.said
		all_whole $stacks/$what.u 100
	END
done

check 'the return addresses on the stack were signed' <<'END'
	ended stacks
	chains signed $stacks/rec.s $stacks/rec.u >count
	cat count
	at_least "$(cat count)" 1000
END

check 'pmu-sample --unwind writes the same chains at once' <<'END'
	ended stacks
	cat $stacks/live.said
	chains known $stacks/live.u 11 >count
	at_least "$(cat count)" 100
	all_whole $stacks/live.u 100
END

check 'this machine unwinds the recording of another architecture to the same bytes' <<'END'
	ended stacks
	pmu-unwind --sysroot "$SYMFS" -o rec.u $stacks/rec.s
	# but for the command line of pmu-unwind, with its counts
	pmu-stream --dump rec.u | grep -v FEATURE | sed "s/^[^ ]* //" >here
	pmu-stream --dump $stacks/rec.u | grep -v FEATURE | sed "s/^[^ ]* //" >there
	at_least "$(grep -c SAMPLE here)" 100
	same here there
END

check 'a Go stack ends where the runtime changed to another stack' <<'END'
	ended stacks
	test -e $stacks/go.folded || skip "no go"
	cat $stacks/go.said
	at_least "$(grep -c "runtime.systemstack" $stacks/go.folded)" 5
	# systemstack and mcall call these before they change the stack
	grep -Ev ";(gosave_systemstack_switch|runtime.save_g) " $stacks/go.folded >after
	none grep -E ";.*;runtime.(systemstack|mcall|morestack);" after
END

done_testing
