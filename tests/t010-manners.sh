#!/bin/sh
# What all tools do alike: options, help, pages, completions, bad input and output.
# kinds: quick release asan
. tests/lib.sh

tools=$(cd "$BIN" && echo pmu-*)
filters='pmu-unwind pmu-symbolize pmu-topprof'

# header PERFILE2, then a COMM record of 24 bytes (type 3)
printf 'PERFILE2\020\0\0\0\0\0\0\0' >"$scratch/empty"
{ cat "$scratch/empty"; printf '\3\0\0\0\0\0\030\0aaaabbbbcomm\0\0\0\0'; } >"$scratch/one"

# recorded: s.data is a recording, which several checks use, of 200 samples or so
recorded() {
	test -e "$scratch/s.data" || {	# a recording that failed is not one
		pmu-sample -e cpu-clock -F 1000 -o "$scratch/s.new" -- ten serial 0.2
		mv "$scratch/s.new" "$scratch/s.data"
	}
	cp "$scratch/s.data" .
}

check '--help and --version go to stdout, and exit 0' <<'END'
	for tool in $tools; do
		exits 0 "$tool" --help >help 2>err
		grep -q "^usage: $tool " help
		test ! -s err
		test "$(wc -l <help)" -le 61
		none awk 'length($0) > 100' help
		exits 0 "$tool" --version >version
		grep -qxE "$tool [0-9]+(\.[0-9]+)+(-[0-9]+)?(-g[0-9a-f]{10,})?(-dirty|-unknown)?" version
		for option in "--version -v" "-vV"; do
			exits 0 "$tool" $option >details
			head -n 1 details | same version -
			tail -n +2 details | cut -d : -f 1 >names
			printf "%s\n" commit compiler libraries | same - names
			grep -qE "^libraries: .*zlib [0-9]+(\.[0-9]+)+, zstd [0-9]" details
		done
	done
END

check 'wrong usage exits 2 and shows the usage line' <<'END'
	for tool in $tools; do
		exits 2 "$tool" --nonsense 2>err
		grep -q "^usage: $tool" err
	done
	for tool in $filters; do
		test $tool != pmu-topprof || continue	# it merges profiles
		exits 2 "$tool" a b 2>err
		grep -q "^$tool: more than one FILE" err
	done
END

# Two meanings of a letter, because perf or pprof users expect both: see ARCHITECTURE.md.
check 'a letter means the same option in all tools, except for those known' <<'END'
	unsanitized
	for tool in $tools; do
		"$tool" --help | sed -n "s/^  -\(.\), --\([a-z-]*\).*/\1 \2/p"
	done | sort -u >letters
	cut -d " " -f 1 letters | uniq -d | sed "s|.*|^& |" >several
	grep -f several letters >got
	same - got <<-EOF
		D delay
		D dump
		l label
		l listen
		n head
		n rows
		n runs
		t tid
		t type
	EOF
END

check '-i FILE is FILE as an operand, in every reader' <<'END'
	make-stream 20 5 2 >s.data
	pmu-topprof s.data >p.pb.gz
	for pair in 'pmu-stream s.data' 'pmu-topprof s.data' 'pmu-top p.pb.gz'; do
		set -- $pair
		"$1" "$2" >operand
		for form in "-i $2" "--input=$2" "-i$2"; do
			"$1" $form | cmp operand -
		done
		test $1 = pmu-topprof || exits 2 "$1" -i "$2" "$2" 2>err
	done
	pmu-symbolize -q s.data | pmu-topprof >p.pb.gz	# its command line is in its stream
	pmu-symbolize -q -i s.data | pmu-topprof -i - >q.pb.gz
	pmu-top p.pb.gz >top
	pmu-top q.pb.gz | same top -
	exits 2 pmu-symbolize -i s.data s.data 2>err
	pmu-topprof p.pb.gz p.pb.gz >both
	pmu-topprof -i p.pb.gz p.pb.gz | cmp both -
	pmu-stream --cat s.data s.data >both
	pmu-stream --cat -i s.data -i s.data | cmp both -
END

check 'wrong values are refused by one rule for each type, and --help shows the default' <<'END'
	refused() {
		exits 2 "$@" 2>err </dev/null
		cat err
		grep -qF -- "$says, not '" err
	}
	says="--rows takes a number from 0 on" refused pmu-top -n x
	says="--pid takes a number from 0 to 2147483647" refused pmu-stream -p 2147483648
	says="--max-stacks takes a number from 2 to 4294967295" refused pmu-topprof --max-stacks 1
	says="--buffer takes a number of bytes from 1 on, such as 64Mi" refused pmu-sample --buffer 0
	says="--live takes a time such as 10s, up to 10m" refused pmu-top --live 10x
	says="--duration takes a time such as 10s, or a size such as 64Mi" refused pmu-sample -d 10m5
	says="--demangle takes one of none, simple, templates, full" \
		refused pmu-symbolize --demangle nice
	says="--lines takes one of yes, no" refused pmu-symbolize --lines maybe
	says="--zstd takes a number from 0 to 19" refused pmu-stream -z20
	says="--cpu takes a list of CPUs such as 0-3,8" refused pmu-sample -C 3-
	pmu-top -n 5 --help | grep -q "COUNT functions.* (20)$"
	pmu-symbolize --help | grep -q "none, simple, templates, full (templates)$"
	pmu-symbolize --help | grep -q "in total (5m)$"
	pmu-sample --help | grep -q "reader (64Mi)$"
	pmu-symbolize --help | grep -q -- "--lines=YES|NO .* (yes)$"
END

check 'options that pmu-prof passes on can be typed as --help prints them' <<'END'
	any_user
	pmu-prof --help | sed -n "/^and these/,/^\$/p" | grep -o -- "--[a-z-]*\[[^]]*\]" >forms
	grep -qx -- "--labels\[=LIST\]" forms
	none grep -v "\[=" forms
END

check 'help, man page and completions name the same options' <<'END'
	unsanitized
	for tool in $tools pmukit; do
		"$tool" --help | grep -o -- "^  ... --[a-z][a-z-]*" | grep -o -- "--.*" | sort -u >help
		shared=$("$tool" --help | sed -n "s/.* see \(pmu-[a-z]*\)(\(.\)):$/\1.\2/p")
		(cd "$TOP/man" && cat "$tool.1" $shared) >page
		grep "^\.It Fl" page | grep -o -- "Fl -[a-z][a-z-]*" |
			sed "s/Fl -/--/" | sort -u >man
		same help man
		for shell in bash zsh fish; do
			"$TOP/completions/generate" $shell "$(command -v "$tool")" >made
			case $shell in
			bash) file=bash/$tool ;;
			zsh) file=zsh/_$tool ;;
			fish) file=fish/$tool.fish ;;
			esac
			same made "$TOP/completions/$file"
		done
		bash -n "$TOP/completions/bash/$tool"
	done
END

check 'an option that needs, excludes or means another one names an option' <<'END'
	any_user
	for tool in $tools; do "$tool" --help; done | grep -o -- "--[a-z][a-z-]*" | sort -u >names
	cd "$TOP" || exit 1
	sed -n "s/.*\.\(needs\|excludes\|means\) = \"\([^\"]*\)\".*/\2/p
		s/^#define [A-Z]* \"\([a-z -]*\)\"$/\1/p" cmd/*.c lib/*/*.h lib/tool/*.c |
		tr " " "\n" | sort -u >"$OLDPWD/used"
	cd - || exit 1
	at_least "$(wc -l <used)" 20
	sed "s/^/--/" used | none grep -vxFf names
	exits 2 pmu-symbolize --cache-size 1Mi </dev/null 2>err
	grep -qx "pmu-symbolize: --cache-size needs --cache" err
	exits 2 pmu-sample --jit-map true 2>err
	grep -qx "pmu-sample: --jit-map needs one of --pid, --uid, --comm" err
	exits 2 pmu-stream --dump --check </dev/null 2>err
	grep -qx "pmu-stream: --dump does not go with --check" err
	exits 2 pmu-sample -c 1000 -F 1000 true 2>err
	grep -qx "pmu-sample: -c does not go with -F" err
	exits 2 pmu-sample -c 1000 --frequency=1000 true 2>err
	grep -qx "pmu-sample: -c does not go with --frequency" err
END

check 'the options are no more than a reader of --help can take in' <<'END'
	any_user
	at_most "$("$TOP/tests/count-options" "$BIN")" 200
	# the options that people use first come first, and are at most ten
	for tool in $tools; do
		"$tool" --help | awk "/^[A-Z].*:\$/ { exit } /^  (-.,|   ) --/" >first
		at_most "$(wc -l <first)" 10
		at_least "$(wc -l <first)" 1
	done
END

check 'every tool has a page, which says what is secure; mandoc has nothing to say of any' <<'END'
	unsanitized
	for tool in $tools pmukit; do
		test -s "$TOP/man/$tool.1"
		grep -qx "\.Sh SECURITY" "$TOP/man/$tool.1"
	done
	none mandoc -T lint -W warning "$TOP"/man/*.[1357]
END

check 'text, an executable, nothing and a missing file are not streams' <<'END'
	for tool in $filters; do
		echo hello, this is text >text
		exits 1 "$tool" text >out 2>err
		grep -q "^$tool: text: offset 0x0: not a stream or perf.data file" err
		grep -q ": it starts with 'hello, t', not 'PERFILE2'$" err
		test "$(wc -l <err)" = 1
		exits 1 "$tool" /bin/sh >out 2>err
		grep -q "offset 0x0: not a stream .* starts with 0x7f454c46" err
		exits 1 "$tool" </dev/null >out 2>err
		grep -q "^$tool: stdin: offset 0x0: empty: no stream came" err
		exits 1 "$tool" nosuch >out 2>err
		grep -qx "$tool: cannot open .nosuch.: No such file or directory" err
		exits 1 "$tool" "$scratch/empty" >out 2>err
		grep -q "no record came" err
	done
END

check 'a record shorter than its header ends the stream, and causes no loop' <<'END'
	{ cat "$scratch/one"; printf "\3\0\0\0\0\0\0\0"; } >bad
	for tool in $filters; do
		exits 1 timeout 600 "$tool" bad >out 2>err
		grep -qx "$tool: bad: offset 0x28: record of type 3 claims 0 bytes, less than its header" err
	done
END

check 'a recording that is cut inside a record is reported with the offset' <<'END'
	for tool in $filters; do
		for size in 17 20 25 39; do
			head -c "$size" "$scratch/one" >cut
			exits 1 "$tool" cut >out 2>err
			grep -q "^$tool: cut: offset 0x10: stream ends inside" err
		done
	done
END

check 'a cut stream goes through the pipe with what was whole, and the last filter fails' <<'END'
	make-stream 500 20 2 "$(command -v ten)" >whole
	size=$(wc -c <whole)
	for part in 3 4 6; do
		head -c $((size * part / 7)) whole >cut
		pmu-symbolize cut 2>err >resolved || test $? = 1
		grep -q "^pmu-symbolize: cut: offset 0x" err
		exits 1 pmu-topprof resolved 2>err >p.pb.gz
		grep -q "cut short" err
		test "$(pmu-top -t samples p.pb.gz | sed -n "s/^samples (count): *\([0-9]*\) .*/\1/p")" -gt 50
	done
END

check 'a terminal is neither input nor output for binary data' <<'END'
	needs_command script
	for tool in $filters; do
		exits 2 script -qec "$tool" /dev/null >out </dev/null
		grep -q "$tool: stdin is a terminal" out
		exits 2 script -qec "$tool $scratch/one" /dev/null >out </dev/null
		grep -q "$tool: will not write binary data to a terminal" out
	done
END

check 'a full disk is an error; a reader that goes away is not' <<'END'
	recorded
	pmu-symbolize s.data >r.data
	for pair in "pmu-symbolize s.data" "pmu-topprof r.data"; do
		set -- $pair
		rm -f gone
		{ eventually test -e gone; "$1" "$2" 2>err; echo $? >status; } |
			{ exec <&-; : >gone; }
		test "$(cat status)" = 0
		test ! -s err
		exits 1 sh -c "$1 $2 >/dev/full" 2>err
		grep -qx "$1: cannot write to stdout: No space left on device" err
		exits 1 "$1" -o /nonexistent/file "$2" 2>err
		grep -q "^$1: cannot open ./nonexistent/file. for writing" err
	done
END

check 'a limit of file sizes is reported, nothing hidden stays; programs get its signal' <<'END'
	recorded
	pmu-symbolize -q s.data >r.data
	pmu-topprof -q -o p.pb.gz r.data
	mkdir small
	cd small
	limited() {
		echo "$*"
		rm -f out x*
		exits 1 sh -c 'ulimit -f 1; exec "$@" 2>err' - "$@" >out
		grep -q "^$1: .*\(File too large\|cannot write all to stdout\)" err
		ls -A >left
		none grep -e "^[.]" left
	}
	for what in "pmu-sample -e cpu-clock -o x -- ten serial 0.1" \
			"pmu-unwind -o x ../s.data" "pmu-symbolize -o x ../s.data" \
			"pmu-topprof -o x ../r.data" "pmu-topprof ../r.data" \
			"pmu-stream -o x ../s.data" "pmu-stream --dump ../s.data" \
			"pmu-flame -o x ../p.pb.gz" "pmu-top ../p.pb.gz" "pmu-events --list" \
			"pmu-topprof --help"; do
		limited $what
	done
	# a profiled program has the disposition that the user gave it
	limits='grep SigIgn /proc/self/status >&2'
	for tool in "pmu-sample -q -e cpu-clock -o /dev/null" \
			"pmu-prof -q -e cpu-clock -F 10000 -o y"; do
		sh -c "$tool -- sh -c '$limits' || :" 2>&1 | sed -n 's/^SigIgn:.//p' >>ignored
		sh -c "trap '' XFSZ; $tool -- sh -c '$limits' || :" 2>&1 |
			sed -n 's/^SigIgn:.//p' >>ignored
	done
	test "$(sed 's/.*\(.\)......$/\1/' ignored | tr -d '\n')" = 0101
END

check 'text that cannot be written is reported, however it fills the buffers' <<'END'
	cat >mapped.py <<-END
	import struct, sys
	path = b"x" * int(sys.argv[1]) + b"\\0"
	path += bytes(-len(path) % 8)
	body = struct.pack("=IIQQQ", 1, 1, 4096, 4096, 0) + path
	sys.stdout.buffer.write(b"PERFILE2" + struct.pack("=Q", 16) +
	                        struct.pack("=IHH", 1, 2, 8 + len(body)) + body)
	END
	python3 mapped.py 3000 >s.data
	fixed=$(($(pmu-stream --dump s.data | wc -c) - 3000))
	for size in 4095 4096 4097 4098 5000; do
		python3 mapped.py $((size - fixed)) >s.data
		test "$(pmu-stream --dump s.data | wc -c)" = $size
		exits 1 sh -c "pmu-stream --dump s.data >/dev/full" 2>err
		cat err
		grep -q "^pmu-stream: cannot write .*stdout" err
		none grep Success err
		rm -f gone
		{ eventually test -e gone; pmu-stream --dump s.data 2>err; echo $? >status; } |
			{ exec <&-; : >gone; }
		cat err
		test "$(cat status)" = 0
		test ! -s err
	done
END

check 'what a stream says cannot move the cursor' <<'END'
	object=$(printf "%s/a\033[31mb" "$PWD")
	cp "$(command -v ten)" "$object"
	make-stream 10 10 1 "$object" | pmu-symbolize -v 2>err >r.data
	cat -v err
	grep -q "/a.\[31mb.: 10 frames" err
	none grep "$(printf "\033")" err
END

check 'quiet is quiet, and the exit status still shows errors' <<'END'
	for tool in $filters; do
		exits 1 "$tool" -q nosuch >out 2>err
		test ! -s err
	done
END

check 'SIGTERM ends a filter properly; SIGINT leaves it the end of a pipe' <<'END'
	mkfifo pipe
	recorded
	{ cat s.data; : >sent; sleep 600; } >pipe &
	pmu-symbolize <pipe >r.data 2>err &
	filter=$!
	eventually test -e sent
	# TERM is the 15th signal: bit 14 of those caught
	eventually grep -q "^SigCgt:.*[4-7c-f]...$" /proc/$filter/status
	eventually grep -q "^State:.*sleeping" /proc/$filter/status
	kill -INT $filter
	sleep 0.2
	kill -0 $filter
	kill -TERM $filter
	exits 0 wait $filter
	exits 0 pmu-topprof -o p.pb.gz r.data
END

check 'they do the same to a filter that has not read a byte yet' <<'END'
	mkfifo pipe
	sleep 600 >pipe &
	for tool in pmu-symbolize "pmu-topprof -o p.pb.gz" pmu-unwind pmu-stream "pmu-stream --cat -"; do
		$tool <pipe >out 2>err &
		filter=$!
		eventually grep -q "^SigCgt:.*[4-7c-f]...$" /proc/$filter/status
		eventually grep -q "^State:.*sleeping" /proc/$filter/status
		kill -TERM $filter
		exits 0 wait $filter
		none cat err
	done
END

check 'a stream already resolved is reported so' <<'END'
	recorded
	pmu-symbolize s.data >r.data
	exits 1 pmu-symbolize r.data >again 2>err
	grep -q "resolved already" err
END

check 'the install puts everything where it belongs' <<'END'
	unsanitized
	make -s -C "$TOP" -o all -o build/release/bin/pmukit install LIBRARY= \
		DESTDIR="$PWD/root" PREFIX=/usr >log
	for tool in $tools; do
		test -x root/usr/bin/$tool
		test -s root/usr/share/man/man1/$tool.1
		test -s root/usr/share/bash-completion/completions/$tool
	done
	test -s root/usr/share/man/man5/pmu-stream.5
	file=$(readelf -l root/usr/bin/pmu-sample | grep -c INTERP) || :
	test "$file" = 0
END

check 'sources keep to 100 columns, without trailing space' <<'END'
	unsanitized
	cd "$TOP"
	none grep -nE ' +$|	+$' Makefile \
		$(find cmd lib tests man -type f -name "*.[ch1357]" -o -name "*.sh")
	none awk -F '\t' '
	{
		width = length($1)
		for (i = 2; i <= NF; i++)
			width += 8 - width % 8 + length($i)
	}
	width > 100 { print FILENAME ":" FNR }' $(find cmd lib tests -name "*.[ch]")
	none awk 'length > 100 { print FILENAME ":" FNR }' tests/*.sh tests/lab/* tests/run tests/parts
END

# plain FILE...: no text says "no error" where "not an error" is right.  "There is no X" is right,
# and so is "no longer".  Marks of comments, quotes, roff and the ends of lines do not matter.
plain() {
	none awk '
	function look() {
		text = tolower(text)
		gsub(/[ \t]+/, " ", text)
		gsub(/there ((can|may|must|should|will) be|are|is|was|were) no /, "", text)
		gsub(/ no (better|larger|longer|more|one|smaller)[^a-z]/, " ", text)
		while (match(text, /[^a-z](are|be|is|was|were) no [a-z]+/)) {
			print file ": ..." substr(text, RSTART - 20, RLENGTH + 20)
			text = substr(text, RSTART + RLENGTH)
		}
		text = ""
	}
	FNR == 1 { look(); file = FILENAME }
	{
		sub(/^[ \t]*[*#\/]+/, "")
		sub(/^[.][A-Z][a-z] /, "")
		gsub(/"/, "")
		text = text " " $0
	}
	END { look() }' "$@"
}

check 'what is not a thing is called "not a thing", and not "no thing"' <<'END'
	unsanitized
	cd "$TOP"
	plain *.md doc/*.md cmd/*.c cmd/*/*.c \
		lib/*/*.[ch] lib/*/*.js man/*.[1357] tests/*.sh tests/unit/*.[ch]
	cd "$OLDPWD"
	printf '/*\n * If this was\n * no error, it was no longer.\n * There was\n * no end\n */\n' >text
	plain text >found || :
	grep "^text: .*if this was.no error" found
	test "$(grep -o "was.no" found | wc -l)" = 1
END

done_testing
