#!/bin/sh
# pmu-serve --keep: a ring of profiles in a directory, and the history that it answers with.
# kinds: release asan user
. tests/lib.sh
. tests/serving.sh

# kept COUNT: there are so many profiles in the ring
kept() { test "$(ls ring | grep -c "^profile-")" -ge "$1"; }

# nanoseconds FILE...: their total, by pprof
nanoseconds() {
	go tool pprof -symbolize=none -raw "$@" 2>/dev/null |
		awk '/^Locations/ { exit } / [0-9]+: / { n += $2 } END { print n }'
}

# start_of FILE: what its name says, in s
start_of() { echo "$1" | sed 's/profile-\([0-9]*\)-1.pb.gz/\1/'; }

check 'profiles are kept in a ring, and added up for a range; their tools start again' <<'END'
	needs_command go curl
	workload
	export PPROF_TMPDIR=$PWD
	said() { grep -v "the kernel.s own code is not sampled" err; }	# to an ordinary user
	serve -p $target --call-graph fp --jobs 1 --keep 1h --interval 1s ring
	eventually kept 4
	ls ring >files
	first=$(sed -n 1p files) second=$(sed -n 2p files) fourth=$(sed -n 4p files)
	get "$url/history?to=$(start_of $fourth)" >p
	test "$(nanoseconds p)" = "$(cd ring && nanoseconds $(sed -n 1,3p ../files))"
	# a range is a part of it: the second file, or what it has at a moment
	from=$(date -u -d @$(start_of $second) +%FT%TZ)
	to=$(date -u -d @$(start_of $(sed -n 3p files)) +%FT%T+00:00)
	for range in "from=$from&to=$to" "from=$from&to=$from"; do
		get "$url/history?$range&label=none&types=one" >p
		go tool pprof -raw p >raw
		test "$(sed -n "/^Samples:/{n;p}" raw)" = "cpu/nanoseconds[dflt]"
		awk '/^Locations/ { exit } /^ *[0-9]+: / { n += $1 } END { print n }' raw >>of-second
	done
	nanoseconds ring/$second >want
	cat want want | same - of-second
	get "$url/history/flame?from=-10h" | grep -q "</html>"
	refused 404 "profiles cover $(date -u -d @$(start_of $first) +%FT%TZ) to 20" "$url/history?to=9"
	refused 400 "from takes a time such as .* not 'noon'" "$url/history?from=noon"
	refused 400 "from is after to" "$url/history?from=-1h&to=-2h"
	refused 400 "from is after to" "$url/history?from=-1h&to=0"
	refused 400 "unknown parameter 'file'" "$url/history?file=../x"
	refused 404 "nothing here" "$url/history/$first"
	# it is not a job: neither counted nor refused
	test "$(metric running)" = 0
	get -f "$url/debug/pprof/profile?seconds=0.1" >p
	at_least "$(metric keep_cpu_seconds_total)" 0.001
	at_least "$(metric keep_files)" 1
	none said
	get "$url/debug/pprof/" | grep -q "<form method=.get. action=./history/flame.>"
	exits 1 pmu-serve -l 127.0.0.1:0 -a --keep 1h ring 2>err-second
	grep -q "'ring': another pmu-serve does" err-second
	# what dies is started again, once said
	kill -KILL $(pgrep -P $server -x pmu-topprof)
	again() { test "$(metric keep_starts_total)" = 2; }
	eventually again
	before=$(ls ring | wc -l)
	eventually kept $((before + 1))
	test "$(said)" = "pmu-serve: no profiles are kept at the moment: pmu-topprof: signal 9 \
(Killed) ended it"
	kill $server
	exits 0 wait $server
	test "$(stat -c %a ring)" = 700	# other users must not read profiles
	gzip -t ring/*
	find ring -name ".*" -type f >hidden
	test "$(wc -l <hidden)" -le 1	# what was killed may leave one
END

check 'pprof shows a history with addresses without names, for which it asks the server' <<'END'
	any_user
	unsanitized
	needs_command go curl
	workload
	mkdir -m 700 ring
	make-stream 20 5 2 | pmu-topprof -q -o ring/profile-$(($(date +%s) - 100))-60.pb.gz
	serve -p $target --keep 1h --interval 100s ring
	get -f "$url/history" >p
	go tool pprof -raw p | grep -A 9 "^Mappings" | none grep "\[FN\]"
	go tool pprof -top "$url/history" >out 2>&1 || { cat out; exit 1; }
	test "$(get -d 0x1 "$url/symbolz")" = "num_symbols: 0"
END

check 'the ring is bounded in bytes and time; it serves files of earlier runs, no others' <<'END'
	any_user
	needs_command go curl
	workload
	mkdir ring
	echo secret >other
	ln -s ../other ring/profile-1000-60.pb.gz
	cp other ring/profile-x-60.pb.gz
	cp other ring/profile-01000-60.pb.gz
	pmu-sample -q -e cpu-clock -F 1000 -o s.data -- ten serial 0.05
	old=ring/profile-$(($(date +%s) - 1800))-60.pb.gz
	pmu-topprof -o "$old" s.data
	cp "$old" ring/profile-$(($(date +%s) - 7200))-60.pb.gz
	serve -p $target --call-graph fp --keep 1h --interval 1h ring
	ls ring >files
	test "$(wc -l <files)" = 4
	test -s "$old"
	get "$url/history" >p
	nanoseconds "$old" >want
	nanoseconds p | same want -
	kill $server
	exits 0 wait $server
	# a damaged file is left out, and the profile says so
	now=$(date +%s)
	damaged=ring/profile-$((now - 900))-60.pb.gz
	head -c 99 "$old" >"$damaged"
	serve -p $target --call-graph fp --keep 1h --interval 1h ring
	get "$url/history?to=-10m" >p
	nanoseconds p | same want -
	go tool pprof -comments p 2>err-comments | grep -q "^left out: 1 of 2 profiles"
	from=$(date -u -d @$((now - 900)) +%FT%TZ) to=$(date -u -d @$((now - 840)) +%FT%TZ)
	refused 500 "pmu-topprof: .*profile-.*" "$url/history?from=$from&to=$to"
	rm "$damaged"
	kill $server
	exits 0 wait $server
	serve -p $target --call-graph fp --keep 1h,1500 --interval 1s ring
	eventually test ! -e "$old"
	eventually kept 4		# with the link and the other names
	small() { at_most "$(metric keep_bytes)" 1500; }
	eventually small
	test -L ring/profile-1000-60.pb.gz
	same other ring/profile-x-60.pb.gz
	same other ring/profile-01000-60.pb.gz
	kill $target
	wait $target || :
	ended() { grep -q "no more profiles are kept: the process has ended" err; }
	eventually ended
	kill $server
	exits 0 wait $server
END

# sleeper: a process without samples, $!, to profile as any user
sleeper() {
	any_user
	needs_command curl
	needs_samples
	idler
}

# keeping: the sampler of --keep runs
keeping() { pgrep -P $server -x pmu-sample; }

check 'who reads the history all the time keeps no file for ever' <<'END'
	unsanitized
	sleeper
	mkdir ring
	fake pmu-topprof <<-EOF
		case "\$*" in
		*--split*) exec "$(command -v pmu-topprof)" "\$@" ;;
		*) exec sleep 600 ;;
		esac
	EOF
	serve -p $! --keep 1h,100 --interval 1s ring
	eventually keeping
	old=profile-$(($(date +%s) - 600))-60.pb.gz
	echo x >ring/$old
	readers() { test "$(metric running)" = $1; }
	curl -s "$url/history" >p &
	reader=$!
	eventually readers 1
	head -c 99 /dev/zero >ring/profile-$(($(date +%s) - 500))-60.pb.gz
	next_reader() {		# who starts before the other one ends
		test -e ring/$old || return 0
		before=$reader
		curl -s "$url/history" >p &
		reader=$!
		eventually readers 2
		test -e ring/$old || return 0
		kill $before
		eventually readers 1
		false
	}
	for i in $(seq 100); do
		! next_reader || break
		sleep 0.3
	done
	test ! -e ring/$old
	kill -0 $reader
END

check 'files that a wrong clock named go first, or when they are too far in the future' <<'END'
	unsanitized
	sleeper
	mkdir ring
	now=$(date +%s)
	for start in $((now - 600)) $((now - 300)) $((now + 600)) $((now + 9000)); do
		seq 200 >ring/profile-$start-60.pb.gz
	done
	serve -p $! --keep 1h,1500 --interval 1h ring
	ls ring >files
	test "$(cat files)" = "profile-$((now - 600))-60.pb.gz
profile-$((now - 300))-60.pb.gz"
END

check 'a directory that is replaced is used; what the tools report meanwhile is passed on' <<'END'
	sleeper
	fake pmu-topprof <<-EOF
		echo "pmu-topprof: cannot write 'x': No space left on device" >&2
		exec sleep 600
	EOF
	serve -p $! --keep 1h --interval 1s ring
	said() { grep -q "pmu-serve: --keep: pmu-topprof: cannot write .x.: No space left" err; }
	eventually said
	mv ring old
	eventually test -d ring
	echo x >ring/profile-1-60.pb.gz
	eventually test ! -e ring/profile-1-60.pb.gz
	rmdir ring
	echo x >ring
	none_kept() { grep -q "no profiles are kept at the moment: ring: Not a directory" err; }
	eventually none_kept
	eventually no_children
	rm ring
	eventually keeping
	kill $server
	exits 0 wait $server
END

check 'on a full disk whole files stay, and there are more as soon as there is room' <<'END'
	any_user
	needs_root
	needs_command curl
	workload
	mkdir ring bin
	cat >bin/pmu-serve <<-EOF
		#!/bin/sh
		mount -t tmpfs -o mode=700,size=256k none "$PWD/ring" && exec "$BIN/pmu-serve" "\$@"
	EOF
	chmod +x bin/pmu-serve
	unshare -m true 2>/dev/null || skip "no mount namespaces"
	printf '#!/bin/sh\nexec unshare -m "%s" "$@"\n' "$PWD/bin/pmu-serve" >bin/inside
	chmod +x bin/inside
	mkdir path
	ln -s ../bin/inside path/pmu-serve
	PATH=$PWD/path:$PATH PMU_PATH=$BIN serve -p $target --keep 1h --interval 1s ring
	full=/proc/$server/root$PWD/ring
	kept_there() { test "$(ls $full | grep -c "^profile")" -ge $1; }
	eventually kept_there 1
	exits 1 dd if=/dev/zero of=$full/filler bs=4096 2>dd-err
	said() { grep -q "pmu-serve: --keep: pmu-topprof: .*No space left on device" err; }
	eventually said
	failed() { test "$(metric keep_failed_writes_total)" -ge 5; }
	eventually failed
	test "$(grep -c "pmu-topprof: .*No space left" err)" = 3	# in this hour
	before=$(ls $full | grep -c "^profile")
	gzip -t $full/profile*
	get -f "$url/history?from=-1h" >p
	rm $full/filler
	eventually kept_there $((before + 2))
	gzip -t $full/profile*
	nothing_hidden() { none find $full -name ".*" -type f; }
	eventually nothing_hidden	# but for the file that is being written
	kill $server
	exits 0 wait $server
END

check 'more files than a command line can have are refused in a sentence' <<'END'
	unsanitized
	any_user
	needs_command curl python3
	sleep 600 &
	mkdir ring
	python3 -c "
import os, time
open('ring/x', 'w').close()
for i in range(3000):
    os.link('ring/x', 'ring/profile-%d-1.pb.gz' % (time.time() - 3000 + i))"
	target=$!
	(ulimit -s 256; exec pmu-serve -l 127.0.0.1:0 -p $target --keep 1h "$PWD/ring") \
		>addresses 2>err &
	eventually grep -q ^http addresses
	url=$(cat addresses)
	refused 400 "[0-9]* profiles are too many; ask for a shorter time" "$url/history"
END

check 'profiles are kept in a safe directory only, and their cost refuses nobody' <<'END'
	unsanitized
	any_user
	needs_command curl
	mkdir -m 777 open
	exits 1 pmu-serve -a -l 127.0.0.1:0 --keep 1h open 2>err
	grep -q "other users may replace what is in it" err
	exits 2 pmu-serve -a --keep 1h 2>err
	exits 2 pmu-serve -a ring 2>err
	exits 2 pmu-serve -a --interval 1s 2>err
	exits 2 pmu-serve --any --keep 1h ring 2>err
	exits 2 pmu-serve -a --keep 1h --keep-query "event=cycles&callgraph=x" ring 2>err
	grep -q "keep-query: callgraph takes one of" err
	test ! -e ring
	workload
	serve -p $target --call-graph fp --max-cost 0.0001% --keep 1h --interval 1s \
		--keep-query "event=cpu-clock&frequency=97&label=none" ring
	eventually kept 2
	kill -KILL $(pgrep -P $server -x pmu-sample)
	again() { test "$(metric keep_starts_total)" = 2; }
	eventually again
	get -f "$url/debug/pprof/events" | grep -q page-faults
	refused 429 "max-cost" "$url/debug/pprof/profile?seconds=0.2"
	eventually keeping
END

check 'with --labels, a --keep-query with a tracepoint is sampled without labels' <<'END'
	unsanitized
	any_user
	fake pmu-sample <<-EOF
		echo "\$*" >args
		exit 1
	EOF
	fake pmu-events <<-EOF
		case "\$*" in *:*) type=2 ;; *) type=1 ;; esac
		echo "[{\"base\": \"x\", \"type\": \$type}]"
	EOF
	for query in event=cycles "event=cycles&event=sched:sched_switch" frequency=19; do
		rm -f args
		serve -p $$ --labels --keep 1h --keep-query "$query" ring
		eventually grep -q -e --pid=$$ args
		kill $server
		exits 0 wait $server
		grep -c -e --labels args >>labelled || true
	done
	test "$(tr -d "\n" <labelled)" = 101
	serve -p $$ --labels --keep 1h --keep-query "event=a:b&label=label:user" ring
	eventually grep "labels of programs, which are not recorded at tracepoints" err
END

done_testing
