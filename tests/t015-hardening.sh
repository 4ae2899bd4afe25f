#!/bin/sh
# What the tools are built with against their own defects, as the files show it.
# kinds: quick release
. tests/lib.sh

# names DIR: the tools there, and pmukit
names() { (cd "$1" && echo pmu*); }

# segment FILE TYPE: start, size and flags of its segments of a type, a line each
segment() {
	readelf -lW "$1" | awk -v type="$2" '$1 == type {
		flags = ""
		for (i = 7; i < NF; i++) flags = flags $i
		print $3, $6, flags
	}'
}

# got_outside FILE: the parts of its table of addresses (GOT) that are not read-only at run time
got_outside() {
	segment "$1" GNU_RELRO >relro
	read -r start size flags <relro
	readelf -SW "$1" | sed 's/\[ */[/' | awk '$2 ~ /^\.got/ { print $2, $4, $6 }' |
	while read -r name at bytes; do
		test $((0x$at)) -ge $((start)) &&
		test $((0x$at + 0x$bytes)) -le $((start + size)) || echo "$name"
	done
}

# is_defended DIR: what must be true of the headers of each tool
is_defended() {
	for tool in $(names "$1"); do
		file=$1/$tool
		readelf -hlSdW "$file" >headers
		echo "$tool"
		test "$(segment "$file" GNU_STACK | cut -d ' ' -f 3)" = RW
		test "$(segment "$file" GNU_RELRO | wc -l)" = 1
		segment "$file" LOAD >loads
		grep -q RE loads
		none grep W.*E loads
		none grep -E "TEXTREL|INTERP|NEEDED" headers
		readelf -SW "$file" | grep -q " \.got "
		none got_outside "$file"
		case $tool in
		pmu-events | pmu-sample | pmu-stat)	# libpfm4's tables: see the Makefile
			grep -q "Type: *EXEC" headers ;;
		*)	grep -q "Type: *DYN" headers
			grep -q "FLAGS_1.* NOW PIE" headers ;;
		esac
	done
}

# is_checked DIR NM: what must be true of the objects that were linked there, stripped or not
is_checked() {
	for tool in $(cd "$1/bin" && echo pmu-*); do
		"$2" "$1/cmd/$tool.o" | grep -q "U __stack_chk_fail"
	done
	"$2" "$1/libsampler.a" >symbols
	at_least "$(grep -c "U __stack_chk_fail" symbols)" 100
	at_least "$(grep -c "U __snprintf_chk" symbols)" 20
	# with checks there is no other way to print
	"$2" "$1"/cmd/*.o >>symbols
	none grep -E " U (v?f?printf|vsnprintf)$" symbols
}

check 'no stack is executable, no page writable and executable, no address table writable' <<'END'
	needs_single_tools
	is_defended "$BIN"
END

check 'the compiler guards the stack, and glibc checks the sizes that it knows' <<'END'
	needs "${BIN%/bin}/libsampler.a"
	is_checked "${BIN%/bin}" nm
END

check 'programs for arm64 are hardened in the same way' <<'END'
	built=$TOP/$("$TOP/tests/lab/built")
	needs "$built/bin" "$built/libsampler.a"
	needs_command aarch64-linux-gnu-nm
	test "$built/bin/pmu-sample" -nt "$TOP/Makefile" || skip "an old build of arm64"
	is_defended "$built/bin"
	# glibc's checks need an optimizer
	test "$built" != "$TOP/build/arm64" || is_checked "$built" aarch64-linux-gnu-nm
END

check 'a program that writes past the end of an array is ended' <<'END'
	ulimit -c 0
	exits 134 sh -c "overflow stack" >out 2>err
	grep -q "stack smashing detected" err
	exits 134 sh -c "overflow copy" >out 2>err
	grep -q "buffer overflow detected" err
	test ! -s out
END

# begin PID: where the program itself does
begin() { sed -n '\|/pmu-[a-z]*$|{s/-.*//p; q}' /proc/"$1"/maps; }

# maps PID: START END FLAGS of what it maps
maps() { sed -n 's/^\([0-9a-f]*\)-\([0-9a-f]*\) \(....\) .*/\1 \2 \3/p' /proc/"$1"/maps; }

# stays_readable PID FILE: what the file declares RELRO is read-only in that process
stays_readable() {
	segment "$2" GNU_RELRO >relro
	read -r start size flags <relro
	base=0
	readelf -hW "$2" | grep -q "Type: *EXEC" || base=$((0x$(begin "$1")))
	at=$((base + start))
	test "$(maps "$1" | while read -r from to flags; do
		test $((0x$from)) -gt $at || test $((0x$to)) -le $at || echo "$flags"
	done)" = r--p
}

check 'while they run they have no such page, and random addresses' <<'END'
	needs_single_tools
	mkfifo pipe
	for i in 1 2 3 4; do
		pmu-stream pipe >/dev/null 2>&1 &
		first=$!
		pmu-sample -e cpu-clock -o s.data -- sleep 600 &
		second=$!
		exec 3>pipe
		eventually pgrep -x -P $second sleep
		for pid in $first $second; do
			maps $pid >maps
			none grep "wx" maps
			grep "\[stack\]" /proc/$pid/maps | grep -q " rw-p "
		done
		stays_readable $first "$BIN/pmu-stream"
		stays_readable $second "$BIN/pmu-sample"
		begin $first >>begins
		exec 3>&-
		kill $second
		wait
	done
	cat begins
	test "$(cat /proc/sys/kernel/randomize_va_space)" = 2 || skip "addresses are not of chance here"
	at_least "$(sort -u begins | wc -l)" 2
END

done_testing
