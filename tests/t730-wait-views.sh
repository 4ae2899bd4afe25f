#!/bin/sh
# pmu-topprof --waits and pmu-prof --waits: one profile with a sample type for each side of a
# recording of waits.  The judge is go tool pprof, with profiles of the single sides.
# kinds: release asan
. tests/lib.sh

# recorded: s.data, of convoy beside a timer, and r.data, the same with names
recorded() {
	needs_tracepoints
	needs_command convoy
	record() { pmu-sample -q --waits -e cpu-clock -F 1000 -o "$1" -- convoy 0.5 2>said; }
	once sides.data lossless s.data record s.data
	pmu-symbolize -q s.data >r.data
}

# rows_of PROFILE TYPE: the rows of all functions, by pprof
rows_of() {
	go tool pprof -symbolize=none -top -unit ns -nodecount 100000 -nodefraction 0 \
		-sample_index "$2" "$1" 2>err-pprof | sed 1,/flat%/d | sort >rows
	test -s rows
	cat rows
}

check 'each type has the values of the profile of that side' <<'END'
	needs_command go
	recorded
	pmu-topprof --waits -o all.pb.gz r.data
	pmu-topprof --block -o block.pb.gz r.data
	pmu-topprof --mutex -o mutex.pb.gz r.data
	pmu-topprof --mutex=causes -o causes.pb.gz r.data
	pmu-topprof -o cpu.pb.gz r.data
	for side in block mutex causes; do
		rows_of $side.pb.gz delay >want
		rows_of all.pb.gz $side | same want -
		rows_of $side.pb.gz contentions >want
		rows_of all.pb.gz ${side}_samples | same want -
	done
	rows_of cpu.pb.gz cpu >want
	rows_of all.pb.gz cpu | same want -
	go tool pprof -raw all.pb.gz >raw 2>err
	sed -n "/^Samples:/{n;p}" raw | tr " " "\n" | sed "s,/.*,," | xargs >types
	echo cpu_samples cpu block_samples block mutex_samples mutex causes_samples causes |
		same - types
	grep -q " mutex/nanoseconds.dflt. " raw
	# it is one recording, with the time of one
	duration() { go tool pprof -raw $1 2>>err | sed -n "s/^Duration: //p"; }
	test "$(duration all.pb.gz)" = "$(duration mutex.pb.gz)"
	test "$(grep -c "^Comment: command: " raw)" = 1
END

check 'a pipe, a file and a raw stream give the same profile; nothing is left in TMPDIR' <<'END'
	any_user
	recorded
	mkdir own
	export TMPDIR=$PWD/own
	pmu-topprof --waits -Z none -o file.pb r.data
	pmu-topprof --waits -Z none <r.data >pipe.pb
	cat r.data | pmu-topprof --waits -Z none >cat.pb
	cmp file.pb cat.pb
	cmp file.pb pipe.pb
	pmu-topprof --waits -o raw.pb.gz s.data
	for type in cpu block mutex causes; do
		pmu-top --to csv -t $type file.pb >want
		pmu-top --to csv -t $type raw.pb.gz | same want -
	done
	test "$(ls -A own | wc -l)" = 0
	TMPDIR=/nowhere pmu-topprof --waits -Z none <r.data | cmp - file.pb
END

check 'statistics know that all waits are there, and how many samples the timer took' <<'END'
	any_user
	recorded
	pmu-topprof --waits -o all.pb.gz r.data
	facts all.pb.gz >facts
	cat facts
	grep -q "figures: .*mutex.*" facts
	none grep "contentions\|delay\|off-cpu\|waking" facts
	pmu-top -t mutex all.pb.gz >table
	grep "all events were recorded: shares are exact" table
	pmu-top -t cpu all.pb.gz >table
	grep "a share is within +/- in 95 of 100 recordings\|too few samples" table
	pmu-top -t block --by label:thread_comm all.pb.gz >table || pmu-top -t block all.pb.gz
END

# same_rows PROFILE: a table and a page of each side have the same rows, and shares that fit values
same_rows() {
	pmu-flame -o page.html "$1"
	for side in block mutex causes; do
		pmu-top -n 10000 -t $side "$1" >table
		PYTHONDONTWRITEBYTECODE=1 python3 - $side "$TOP/tests" <<-"PY"
			import re, sys
			sys.path.insert(0, sys.argv[2])
			from flame import data_of, sums
			row = re.compile(r" *\S+ +([\d.]+)% .{7} *\S+ +([\d.]+)% .{7}(.*)")
			rows = filter(None, map(row.match, open("table")))
			want = {m[3].strip(): (float(m[1]), float(m[2])) for m in rows}
			page = sums(data_of("page.html"), sys.argv[1])
			whole = sum(flat for flat, cum in page.values())
			got = {name: (100 * flat / whole, 100 * cum / whole)
			       for name, (flat, cum) in page.items() if cum}
			assert len(want) > 3 and want.keys() == got.keys(), want.keys() ^ got.keys()
			for name in want:
			    assert all(abs(a - b) < 0.006 for a, b in zip(want[name], got[name])), name
		PY
		none grep " schedule$\| try_to_wake_up$" table
		rows_of "$1" ${side}_samples | awk '{ sum += $1 } END { print sum }' >sum
		pmu-top -t ${side}_samples "$1" | sed -n "2s/,//g; 2s/ contentions; .*//p" | same sum -
		sed -n "2s/,//g; 2s/ contentions; .*//p" table | same sum -
	done
}

check 'tables and the page have the same rows, and as many contentions as the profile' <<'END'
	needs_command go
	recorded
	pmu-topprof --waits -o all.pb.gz r.data
	same_rows all.pb.gz
END

check 'where samples were lost, nothing is known of the waits that they were of' <<'END'
	needs_command go
	needs_tracepoints
	needs_command convoy
	# the reader stalls until half of the recording is over
	pmu-sample --waits -e cpu-clock -F 1000 -m 1Mi --buffer 64Ki --call-graph dwarf,8192 -- \
		sh -c 'convoy 0.5; : >half; convoy 1' 2>err | { eventually test -e half; cat; } >s.data
	grep "samples were lost" err
	pmu-symbolize -q s.data >r.data
	pmu-topprof --waits -o all.pb.gz r.data
	same_rows all.pb.gz
	facts all.pb.gz | grep "lost=[1-9].*value=mutex"
	go tool pprof -comments all.pb.gz 2>/dev/null | grep "^lost: .*samples" >comment
	test "$(grep -c "they are at .lost.\|estimate" comment)" = "$(wc -l <comment)"
	pmu-topprof --block -o block.pb.gz r.data
	pmu-topprof --to folded block.pb.gz >folded
	none grep "lost" folded
	go tool pprof -comments block.pb.gz 2>/dev/null | grep "^lost: .*samples" >comment
	none grep "at .lost." comment
	# the losses are of all samples, so contentions were lost in proportion
	facts block.pb.gz >facts
	cat err facts
	sed -n 's/.* \([0-9]*\) of \([0-9]*\) samples were lost.*/\1 \2/p' err >losses
	sed -n 's/.*samples=\([0-9]*\).* lost=\([0-9]*\).*value=delay.*/\1 \2/p' facts >contentions
	paste -d " " losses contentions | awk '
		{ print; good = $4 > 0 && $4 < 1.1 * $3 * $1 / ($2 - $1) + 2 } END { exit !good }'
END

check 'a damaged stream is reported once, and exits 1 with the profile of what was whole' <<'END'
	any_user
	recorded
	head -c $(($(wc -c <r.data) * 3 / 4)) r.data >cut.data
	exits 1 pmu-topprof --waits -o cut.pb.gz cut.data 2>err
	cat err
	at_most "$(wc -l <err)" 2
	test -s cut.pb.gz
	pmu-top -t mutex cut.pb.gz | grep -q "of waiting\|^mutex"
	exits 1 pmu-topprof --waits -q -o quiet.pb.gz cut.data 2>err
	none cat err
	cmp cut.pb.gz quiet.pb.gz
	# before the first sample there is nothing to show
	head -c 1000 r.data >short
	exits 1 pmu-topprof --waits -o short.pb.gz short 2>err
	test "$(wc -l <err)" = 1
	test ! -e short.pb.gz
END

check 'a stream without waits is refused, and so are options that are for a single side' <<'END'
	any_user
	needs_sampling
	pmu-sample -q -e cpu-clock:u -o s.data -- ten serial 0.05
	for input in s.data -; do
		exits 1 pmu-topprof --waits -o p.pb.gz $input <s.data 2>err
		cat err
		grep -q "record with pmu-sample --waits" err
		test "$(wc -l <err)" = 1
		test ! -e p.pb.gz
	done
	pmu-topprof -q -o p.pb.gz s.data
	for input in p.pb.gz -; do
		exits 2 pmu-topprof --waits -o w.pb.gz $input <p.pb.gz 2>err
		grep "^pmu-topprof: --waits works on a stream, but the input is a profile" err
		test ! -e w.pb.gz
	done
	exits 2 pmu-topprof --waits -o w.pb.gz s.data s.data 2>err
	grep "^pmu-topprof: --waits works on one stream, not on 2 files" err
	for option in "--split 1s" "--to rows" "--add wall" "--types one" "-e cpu-clock" --pgo; do
		exits 2 pmu-topprof --waits $option -o w-%s.pb.gz s.data 2>err
		cat err
	done
	exits 1 pmu-topprof --waits no-such-file 2>err
	grep -q "cannot open 'no-such-file'" err
END

check 'pmu-prof --waits: a profile, a page with a switch, and both tables' <<'END'
	unsanitized
	needs_command go
	needs_tracepoints
	needs_command convoy
	needs_sampling
	# the bars of a recording in which samples were lost are not exact
	for attempt in 1 2 3 4 5 6 7 8; do
		pmu-prof --waits -o w -- convoy 0.5 >out 2>err
		cat err
		grep 'samples were lost\|records of .* were lost' err || break
	done
	grep -q "^block (nanoseconds): " err
	grep -q "^mutex (nanoseconds): " err
	awk '/^block/ { side = "block" } /^mutex/ { side = "mutex" }
		{ sub(/.* exact /, side " "); print }' err >names
	grep -q "^block lock_big$" names
	grep -q "^mutex hold_flush$" names
	grep -q "^block .waits: futex.$" names
	grep -q "^mutex .wakes: futex.$" names
	# the command of doc/waits.md
	grep -q '`pmu-top --by lock -t mutex waits.pb.gz`' "$TOP/doc/waits.md"
	pmu-top --by lock -t mutex w.pb.gz | grep " big$"
	none grep "schedule$\|try_to_wake_up$" names
	test "$(grep -n "^block (" err | cut -d: -f1)" -lt "$(grep -n "^mutex (" err | cut -d: -f1)"
	go tool pprof -raw w.pb.gz 2>/dev/null | grep -q " mutex/nanoseconds.dflt. "
	for type in cpu block mutex causes; do
		grep -q "\"name\":\"$type\"" w.html || { echo "no type $type"; exit 1; }
	done
	pmu-prof --waits --dry-run -o w -p 42 >line
	grep -q " --event=cpu-clock .*--waits .* | .*pmu-topprof --waits .* --output=w.pb.gz &&" line
	top="pmu-top --rows=20"
	grep -q "$top --type=block -- w.pb.gz >&2; .*$top -- w.pb.gz >&2" line
	# a program that never waits has a table of what runs
	pmu-prof --waits -o ten -- ten serial 0.1 2>err
	cat err
	grep -q "^block (nanoseconds):  *0.0ms in 0 functions$" err
	grep -q "^cpu (nanoseconds): " err
	grep -q " J$" err
	pmu-prof --waits --dry-run -e page-faults -o w -p 42 >line
	none grep -- --event=cpu-clock line
	# the line is what a shell runs
	pmu-prof --waits --dry-run -o again -- convoy 0.2 >line
	sh ./line >out 2>err
	pmu-top -t mutex again.pb.gz | grep -q ^mutex
END

check 'without room for the recording in TMPDIR the command goes on, and what came is shown' <<'END'
	unsanitized
	needs_sampling
	needs_root
	needs_tracepoints
	mkdir small
	printf '%s\n' 'mount -t tmpfs -o size=256k none small' \
		'TMPDIR=$PWD/small exec pmu-prof --waits -o w -- sh -c "convoy 1 && echo finished"' >script
	exits 1 unshare -m sh -e script >out 2>err
	cat err
	grep -x finished out
	grep -F "cannot copy all of 'stdin' to '$PWD/small' (set TMPDIR, or name a file): No space" err
	at_least "$(go tool pprof -sample_index=mutex -raw w.pb.gz 2>/dev/null | grep -c '^ .*: ')" 3
END

done_testing
