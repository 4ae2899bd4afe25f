#!/bin/sh
# Callers of leaf functions on arm64, which only the register of the return address (LR) says:
# pmu-sample -g, and pmu-symbolize.  The truth is what tests/leaves.c calls from where.
# kinds: release
. tests/lib.sh
. tests/lab.sh
stacks=$lab/leaves
root=$scratch/root	# the guest's programs
mkdir -p "$root/bin"

# make_programs: plain; signed, whose leaf functions sign their return addresses, too (PAC); and,
# if Go is here, golang
make_programs() {
	options="-g -O2 -fno-omit-frame-pointer -momit-leaf-frame-pointer -static"
	aarch64-linux-gnu-gcc $options tests/leaves.c -o "$root/bin/plain"
	aarch64-linux-gnu-gcc $options -mbranch-protection=pac-ret+leaf tests/leaves.c \
		-o "$root/bin/signed"
	cat >"$scratch/leaves.go" <<-'END'
	package main

	var sink int

	//go:noinline
	func leaf_go() {
		for i := 0; i < 20000; i++ {
			sink += i
		}
	}

	//go:noinline
	func often() { leaf_go(); leaf_go(); leaf_go(); sink++ }

	//go:noinline
	func rarely() { leaf_go(); sink++ }

	func main() {
		for i := 0; i < 40; i++ {
			often()
			rarely()
		}
	}
	END
	! command -v go >/dev/null || GOARCH=arm64 \
		go build -o "$root/bin/golang" "$scratch/leaves.go"
	find "$root/bin" -type f | sed 's/^/-p /' >"$scratch/programs"
}

test -n "$why" || {
	make_programs
	start leaves -c max,pauth-impdef=on $(cat "$scratch/programs") <<'END'
for program in plain signed golang; do
	test -e /bin/$program || continue
	pmu-sample -q -g -e cycles -c 49999 -o $program.s -- $program 20
	pmu-symbolize -q $program.s | pmu-topprof -q --to folded >$program.there
done
END
	for stream in "$stacks"/*.s; do
		pmu-symbolize -q --sysroot "$root" "$stream" |
			pmu-topprof -q --to folded >"${stream%.s}.here"
	done
}

# callers PATTERN FILE: "COUNT CALLER FUNCTION" for functions with such names, without the kernel
callers() {
	sed -E 's/;(el0t_64_|\[kernel).* / /; s/main\.(leaf|often|rarely)/\1/g' "$2" |
	awk -v pattern="$1" '{
		frames = split($1, frame, ";")
		if (frame[frames] ~ pattern)
			count[frame[frames - 1] " " frame[frames]] += $2 / 49999
	}
	END { for (i in count) print count[i], i }' | sort -k 3
}

# leaves_are_known FILE FUNCTIONS: each sample of a leaf has its caller, three of four often()
leaves_are_known() {
	callers "^leaf_" "$1" | grep -v "recurse leaf_deep" >found
	cat found
	none grep -vE " (often|rarely) leaf_" found
	test "$(cut -d " " -f 3 found | sort -u | wc -l)" = "$2"
	near "$(awk '/often/ { n += $1 } { all += $1 } END { print 100 * n / all }' found)" 75 5
}

check 'the guest ends' <<'END'
	in_lab
	ended_well leaves
END

for what in plain signed; do
	for where in there here; do
		check "$what, symbolized $where: leaf functions have their callers" <<-END
			ended leaves
			leaves_are_known $stacks/$what.$where 9
			grep -q "main;recurse;recurse;recurse;recurse;recurse;leaf_deep" \
				$stacks/$what.$where
			none grep "recurse;recurse;recurse;recurse;recurse;recurse" \
				$stacks/$what.$where
		END
	done
	check "$what: where LR is not the return address, it adds no caller" <<-END
		ended leaves
		callers "^(saved|own)_" $stacks/$what.here >found
		cat found
		test "\$(wc -l <found)" -ge 6
		none grep decoy $stacks/$what.here
		# at its first instruction, LR is still right
		at_most "\$(awk '/ saved_/ && / (often|rarely) / { n += \$1 } END { print n + 0 }' \
			found)" 3
		none grep -vE " (main|often|rarely) (saved|own)_" found
		none grep -E "(often|rarely);(often|rarely)" $stacks/$what.here
		at_most "\$(awk '/ main own_/ { n += \$1 } END { print n + 0 }' found)" 3
	END
done

check 'Go: leaf functions have their callers' <<'END'
	ended leaves
	test -e $stacks/golang.s || skip "no go"
	leaves_are_known $stacks/golang.here 1
END

check 'the recording has the callchains of the kernel, which lack them, and LR beside these' <<'END'
	ended leaves
	at=$(aarch64-linux-gnu-nm "$root/bin/plain" | sed -n "s/^0*\([0-9a-f]*\). . leaf_plain\$/\1/p")
	pmu-stream --dump $stacks/plain.s | grep "SAMPLE.* ip=0x${at}[0-9a-f] " |
		sed "s/.* user_regs=\[\([^]]*\)\].* callchain=\[\([^]]*\)\].*/\1 \2,/" >words
	head -n 3 words
	at_least "$(wc -l <words)" 20
	none awk "NF < 4 || index(\$0, \" \" \$1 \",\")" words
END

done_testing
